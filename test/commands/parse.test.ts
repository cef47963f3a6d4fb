// The parsed command line: calls, requests for help, and faults with the nearest valid spelling.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commands } from '../../src/commands/command-table.ts'
import { type Parsed, parse } from '../../src/commands/line/parse.ts'
import { distanceBetween, nearest } from '../../src/commands/line/suggest.ts'

const parsed = (line: string): Parsed => parse(commands, line.split(' ').filter(Boolean))

function faultOf(line: string): string {
  const result = parsed(line)
  return result.kind === 'fault' ? result.text : assert.fail(`${line}: ${result.kind}`)
}

test('options may be anywhere, with a blank or an equals sign, and the remaining words are arguments', () => {
  for (const line of [
    'orders refund ord_1 --reason twice --json',
    '--json orders --reason twice refund ord_1',
    'orders refund --reason=twice --json ord_1',
  ]) {
    const result = parsed(line)
    assert.ok(result.kind === 'call', line)
    assert.equal(result.command.name, 'orders refund')
    assert.deepEqual(result.input, { positionals: ['ord_1'], values: { reason: 'twice', json: true } })
  }
})

test('an argument and an option that may be repeated give lists', () => {
  const result = parsed('verify a.json --key a+00000000+AA== b.json --key=b+00000000+AA==')
  assert.ok(result.kind === 'call')
  const key = ['a+00000000+AA==', 'b+00000000+AA==']
  assert.deepEqual(result.input, { positionals: ['a.json', 'b.json'], values: { key } })
  assert.equal(faultOf('verify a.json --key a+00000000+AA== --key none'), '--key: expected name+id+base64')
  assert.equal(faultOf('verify --key a+00000000+AA=='), 'FILE is needed')
})

for (const [line, topic] of [
  ['--help', undefined],
  ['-h', undefined],
  ['help', undefined],
  ['help keys', 'keys'],
  ['keys --help', 'keys'],
  ['help keys issue', 'keys issue'],
  ['keys issue --help', 'keys issue'],
  ['keys issue --customer --help', 'keys issue'],
  ['help audit', 'audit'],
  ['orders refund ord_1 --help', 'orders refund'],
] as const) {
  test(`"${line}" requests help about ${topic ?? 'everything'}`, () => {
    const result = parsed(line)
    assert.ok(result.kind === 'help')
    assert.equal(typeof result.topic === 'object' ? result.topic.name : result.topic, topic)
  })
}

test('--version is for the program, not for a command', () => {
  for (const line of ['--version', '--json --version']) assert.deepEqual(parsed(line), { kind: 'version' })
  assert.equal(faultOf('keys list --version'), 'there is no option --version.')
})

for (const [line, expected] of [
  ['kyes list', 'There is no command "kyes list". Did you mean "keys list"?'],
  ['keys lsit', 'There is no command "keys lsit". Did you mean "keys list"?'],
  ['key', 'There is no command "key". Did you mean "keys"?'],
  ['adit', 'There is no command "adit". Did you mean "audit"?'],
  ['order refund ord_1', 'There is no command "order refund". Did you mean "orders refund"?'],
  ['keys burn', 'There is no command "keys burn". Commands of keys: issue, suspend, activate, list.'],
  ['help keys burn', 'There is no command "keys burn". Commands of keys: issue, suspend, activate, list.'],
  ['frobnicate', 'There is no command "frobnicate".'],
  ['--json', 'No command was given.'],
  ['keys issue --custmer acme', 'there is no option --custmer. Did you mean --customer?'],
  ['keys issue --frobnicate', 'there is no option --frobnicate.'],
  ['keys issue --customer acme --limit 1', '--limit is not an option of this command'],
  ['keys list --by Kim', '--by is not an option of this command'],
  ['keys list --yes', '--yes is not an option of this command'],
  ['keys issue --customer', '--customer NAME|UUID: the value is missing'],
  ['keys issue --customer --json', '--customer NAME|UUID: the value is missing'],
  ['keys list --json=yes', '--json takes no value'],
  ['keys list acme', 'unexpected argument "acme": put a text with spaces in quotes'],
  ['statements export --customer acme --json', 'it writes CSV: leave out --json'],
  ['completion powershell', 'SHELL: "powershell" is not one of bash, zsh, fish'],
  ['completion', 'exactly one SHELL is needed'],
  ['keys list --constructor', 'there is no option --constructor.'],
] as const) {
  test(`"${line}" is refused: ${expected}`, () => {
    assert.equal(faultOf(line), expected)
  })
}

test('a value that begins with a dash is joined to its option by an equals sign, and a negative number need not be', () => {
  const valuesOf = (line: string) => {
    const result = parsed(line)
    return result.kind === 'call' ? result.input.values : assert.fail(JSON.stringify(result))
  }
  assert.equal(valuesOf('orders refund ord_1 --reason=-too-late').reason, '-too-late')
  assert.equal(faultOf('orders refund ord_1 --reason -too-late'), '--reason TEXT: the value is missing')
  const correct = 'adjustments correct --customer acme --reason twice'
  for (const credits of ['--credits -3', '--credits=-3']) assert.equal(valuesOf(`${correct} ${credits}`).credits, '-3')
  assert.equal(faultOf('keys issue --customer acme --by -'), '--by NAME: the value is missing')
  assert.equal(faultOf('actions list --limit -1'), '--limit: expected a number from 1 to 1000')
})

test('an empty line and a noun alone are not spelling errors: they show the available commands', () => {
  assert.deepEqual(parsed(''), { kind: 'incomplete', noun: undefined })
  assert.deepEqual(parsed('orders'), { kind: 'incomplete', noun: 'orders' })
})

test('the distance counts letters that are added, left out, replaced and swapped', () => {
  for (const [one, other, distance] of [
    ['keys', 'keys', 0],
    ['', 'keys', 4],
    ['kyes', 'keys', 1],
    ['key', 'keys', 1],
    ['kexs', 'keys', 1],
    ['audit', 'actions', 5],
  ] as const) {
    assert.equal(distanceBetween(one, other), distance, `${one} ${other}`)
    assert.equal(distanceBetween(other, one), distance, `${other} ${one}`)
  }
})

test('the nearest word is meant where at most one letter in three is wrong, and at least one may be', () => {
  assert.equal(nearest('list', ['issue', 'last', 'list']), 'list')
  assert.deepEqual(
    ['xyz', 'lift', 'acxizn', 'bcxizn', 'gs'].map((typed) => nearest(typed, ['go', 'lost', 'action'])),
    [undefined, undefined, 'action', undefined, 'go'],
  )
})
