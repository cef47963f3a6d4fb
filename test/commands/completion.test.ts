// The completion scripts, run in the shells that are installed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { commands } from '../../src/commands/command-table.ts'
import { completionScript, shells } from '../../src/commands/line/completion.ts'
import { optionsOf } from '../../src/commands/line/options.ts'

const hasShell = (name: string) => spawnSync(name, ['-c', 'exit 0']).status === 0

/** The completions after each of these lines; bash splits words at an equals sign. */
function completionsOf(lines: string[]): string[][] {
  const calls = lines.map((line) => {
    const words = line.replaceAll('=', ' = ').replaceAll(/ +/g, ' ').split(' ')
    return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _credits; echo "\${COMPREPLY[*]}"`
  })
  const script = [completionScript('bash', commands), 'compopt() { echo "completes $2 names"; }', ...calls].join('\n')
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
  assert.deepEqual([stderr, status], ['', 0])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter(Boolean))
}

const nouns = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
const verbs = (noun: string) =>
  commands.filter(({ name }) => name.startsWith(`${noun} `)).map(({ name }) => name.split(' ')[1])
const kinds = [
  'GRANT',
  'ROLLBACK',
  'REFUND',
  'SPEND',
  'HOLD',
  'CAPTURE',
  'RELEASE',
  'EXPIRE',
  'GOODWILL',
  'CORRECTION',
  'REVERSAL',
]

const cases: [line: string, expected: (string | undefined)[]][] = [
  ['credits ', [...nouns, 'help']],
  ['credits ke', ['keys']],
  ['credits --v', ['--version']],
  ['credits help ', nouns],
  ['credits keys ', verbs('keys')],
  ['credits help keys ', verbs('keys')],
  ['credits keys s', ['suspend']],
  ['credits keys issue ', ['--customer', '--by', '--yes', '--json', '--help']],
  ['credits keys issue --c', ['--customer']],
  ['credits keys issue --customer ', []],
  ['credits keys issue --customer acme ', ['--by', '--yes', '--json', '--help']],
  ['credits keys issue --customer=acme --j', ['--json']],
  ['credits keys issue --customer keys --', ['--by', '--yes', '--json', '--help']],
  ['credits --json keys ', verbs('keys')],
  ['credits orders refund ord_1 --y', ['--yes']],
  ['credits audit ', ['--checkpoint', '--json', '--help']],
  ['credits completion ', ['bash', 'zsh', 'fish']],
  ['credits completion z', ['zsh']],
  ['credits statements export --kind ', kinds],
  ['credits statements export --kind S', ['SPEND']],
  ['credits statements export --kind=S', ['SPEND']],
  ['credits statements export --kind SPEND,CAP', ['SPEND,CAPTURE']],
  ['credits endpoints add --types order.c', ['order.confirmed', 'order.cancelled']],
  ['credits frobnicate ', []],
  ['credits backup --to ', ['completes', 'default', 'names']],
]
test('bash completes nouns, verbs, remaining options, and values of options', {
  skip: hasShell('bash') ? false : 'there is no bash',
}, () => {
  const results = completionsOf(cases.map(([line]) => line))
  assert.deepEqual(
    results.slice(0, cases.length).map((words, index) => [cases[index]?.[0], words]),
    cases,
  )
})

const checks = { bash: ['-n'], zsh: ['-n'], fish: ['--no-execute'] }
for (const shell of shells) {
  test(`${shell}: the script is complete and valid for the shell`, {
    skip: hasShell(shell) ? false : `there is no ${shell}`,
  }, () => {
    const { stderr, status } = spawnSync(shell, checks[shell], {
      input: completionScript(shell, commands),
      encoding: 'utf8',
    })
    assert.deepEqual([stderr, status], ['', 0])
  })

  test(`${shell}: every command and every option is in the script`, () => {
    const script = completionScript(shell, commands)
    assert.doesNotMatch(script, /#: /)
    for (const command of commands) {
      assert.ok(script.includes(command.name), command.name)
      for (const { name } of optionsOf(command)) assert.match(script, new RegExp(`(--|-l )${name}\\b`))
    }
  })
}
