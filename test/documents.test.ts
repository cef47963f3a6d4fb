// The documents agree with the code: the state diagram and its table, the numbers of the decisions, the statements,
// constraints and settings that docs/lost-answer.md names, the tree of the source, and links.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../harness/processes.ts'
import { readNumberDefaults } from './support/documents/config-settings.ts'

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const filesBelow = (folder: string) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`)

/** The cells of each row of a document's tables, without the rows of dashes. */
function rowsOf(text: string): string[][] {
  return [...text.matchAll(/^\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | ').map((cell) => cell.trim()))
}

/** Section 3 of the specification and the additions of the decisions: from, kind and outcome of the operation, to. */
const specified = [
  ['PENDING', 'CONFIRM approved', 'CONFIRMED'],
  ['PENDING', 'CONFIRM rejected', 'FAILED'],
  ['PENDING', 'CONFIRM expired', 'FAILED'],
  ['CONFIRMED', 'CANCEL approved', 'CANCELLED'],
  ['CONFIRMED', 'CANCEL rejected', 'CONFIRMED'],
  ['CONFIRMED', 'REFUND approved', 'REFUNDED'],
  ['CONFIRMED', 'REFUND rejected', 'CONFIRMED'],
  ['FAILED', 'RETURN approved', 'FAILED'],
  ['FAILED', 'RETURN rejected', 'FAILED'],
]

const tour = read('docs/tour.md')
const schema = read('schema.sql')

test('3: the state diagram has every transition, and no other', () => {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(tour) ?? []
  const arrows = [...diagram.matchAll(/^ {2}(\S+) --> (\S+): (.+)$/gm)].flatMap(([, from, to, events = '']) =>
    events.split(', ').map((event) => `${from} ${event} ${to}`),
  )
  const wanted = specified.map(([from, event, to]) => `${from} ${event} ${to}`)
  assert.deepEqual(arrows.sort(), ['[*] purchase PENDING', ...wanted].sort())
})

test('3: the table beside the diagram has the same transitions', () => {
  const events = new Set(specified.map(([, event]) => event))
  const rows = rowsOf(tour).filter(([, event]) => events.has(event ?? ''))
  assert.deepEqual(
    rows.map((cells) => cells.slice(0, 3)),
    specified,
  )
})

test('3: the diagram has the kinds of operations and the changes of state that the database allows', () => {
  const [, kinds = ''] = /check_operation_and_slip[^;]*?not \(kind in \((.*?)\)/.exec(schema) ?? []
  const allowedKinds = [...kinds.matchAll(/'(\w+)'/g)].map(([, kind]) => kind)
  assert.deepEqual([...new Set(specified.map(([, event = '']) => event.split(' ')[0]))].sort(), allowedKinds.sort())

  const [, condition = ''] = /^CREATE TRIGGER orders_transitions .* WHEN (.*) EXECUTE/m.exec(schema) ?? []
  const pairs = [...condition.matchAll(/old\.status <> '(\w+)'::text OR new\.status <> '(\w+)'/g)]
  const changes = specified.filter(([from, , to]) => from !== to).map(([from, , to]) => `${from} ${to}`)
  assert.deepEqual([...new Set(changes)].sort(), pairs.map(([, from, to]) => `${from} ${to}`).sort())
})

const lostAnswer = read('docs/lost-answer.md')

test('the page about a lost answer names statements, constraints and settings that exist, with their defaults', () => {
  const statements = read('statements.sql')
  const named = new Set([...lostAnswer.matchAll(/\bpayments\.[a-z]\w+/g)].map(([name]) => name))
  assert.ok(named.size > 5)
  assert.deepEqual(
    [...named].filter((name) => !statements.includes(`${name}\n`)),
    [],
  )
  const guards = [...lostAnswer.matchAll(/(?:unique index|trigger) `(\w+)`/g)].map(([, name = '']) => name)
  assert.ok(guards.length > 5)
  assert.deepEqual(
    guards.filter((name) => !new RegExp(`^CREATE (UNIQUE INDEX|TRIGGER) ${name} `, 'm').test(schema)),
    [],
  )
  const defaults = readNumberDefaults()
  const settings = [...lostAnswer.matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)]
  assert.ok(settings.length > 5)
  for (const [, name = '', value] of settings) assert.equal(Number(value), defaults.get(name), name)
})

test('the tree of the source has every folder of src, and no other', () => {
  const folders = filesBelow('src').filter((file) => statSync(join(repository, file)).isDirectory())
  const listed = rowsOf(read('docs/source.md')).flatMap(([name = '']) => /^`(src\b[\w/-]*)`$/.exec(name)?.[1] ?? [])
  assert.deepEqual(listed.sort(), ['src', ...folders].sort())
})

test('the decisions are numbered, each number once, and every number that a file cites exists', () => {
  const numbers = rowsOf(read('docs/decisions.md')).flatMap(([first = '']) => /^\d+[a-z]?$/.exec(first)?.[0] ?? [])
  assert.equal(new Set(numbers).size, numbers.length)
  assert.ok(numbers.length > 50)
  const cited = ['src', 'test', 'proof', 'docs']
    .flatMap(filesBelow)
    .filter((file) => /\.(ts|md)$/.test(file))
    .flatMap((file) => [...read(file).matchAll(/\brows? ([\d\w ,]+?) of (?:the\s+(?:\/\/ )?decisions|\[decisions)/gi)])
    .flatMap(([, list = '']) => list.match(/\d+[a-z]?/g) ?? [])
  assert.ok(cited.length > 10)
  assert.deepEqual(
    cited.filter((number) => !numbers.includes(number)),
    [],
  )
})

test('every link of a document leads to a file, and every link to a heading leads to one', () => {
  const documents = ['README.md', 'README.ko.md', 'SECURITY.md', 'CONTRIBUTING.md', ...filesBelow('docs')]
  const headingsOf = (file: string) =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    )
  const broken = documents
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)/g)].flatMap(([whole, path = '', heading]) => {
        const target = path === '' ? file : join(dirname(file), path)
        if (!existsSync(join(repository, target))) return [`${file}: ${whole}`]
        return heading && !headingsOf(target).includes(heading) ? [`${file}: ${whole}`] : []
      }),
    )
  assert.deepEqual(broken, [])
})
