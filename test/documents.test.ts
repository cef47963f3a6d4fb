// The documents agree with the code: the state diagram and its table, the numbers of the decisions, the statements,
// constraints and settings that docs/lost-answer.md names, the tree of the source, links, and every name and number that the
// code has, too.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../harness/processes.ts'
import { scenarios } from '../sandbox/scenarios/scenarios.ts'
import { commands } from '../src/commands/command-table.ts'
import { packages } from '../src/payments/packages.ts'
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

const readmes = ['README.md', 'README.ko.md', 'SECURITY.md', 'CONTRIBUTING.md', 'test/README.md', 'client/README.md']
const documents = [...readmes, 'sandbox/README.md', ...filesBelow('docs')].filter((file) => file.endsWith('.md'))

/** What a pattern finds in the documents, by its group, with the document. */
const inDocuments = (pattern: RegExp) =>
  documents.flatMap((file) => [...read(file).matchAll(pattern)].map(([, name = '']) => ({ file, name })))

const code = ['src', 'console/src', 'sandbox', 'client', 'examples', 'ops', 'harness', 'proof', 'bench', 'test']
  .flatMap(filesBelow)
  .filter(
    (file) =>
      /\.(ts|tsx|sql|ya?ml)$/.test(file) && !file.includes('node_modules') && !file.endsWith('documents.test.ts'),
  )
  .map(read)
  .concat(schema, read('package.json'))
  .join('\n')
/** Names of PostgreSQL, Patroni, OpenTelemetry, PgBouncer and nginx. */
const namesOfOthers =
  /^(pg_|patroni_|OTEL_|(max_slot_wal_keep_size|wal_compression|ignore_startup_parameters|keepalive_timeout)$)/

test('every table, column, metric, setting and code that a document names is in the code', () => {
  const named = inDocuments(/`([a-z]+(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g)
  assert.ok(named.length > 300, `${named.length}`)
  const unknown = named.filter(({ name }) => !namesOfOthers.test(name) && !new RegExp(`\\b${name}`).test(code))
  assert.deepEqual(unknown, [])
})

test('every command, script and address that a document names is there', () => {
  const scripts = new Set(Object.keys(JSON.parse(read('package.json')).scripts))
  const ofScripts = inDocuments(/npm run (?:-s )?([\w:-]+)/g)
  assert.ok(ofScripts.length > 20)
  assert.deepEqual(
    ofScripts.filter(({ name }) => !scripts.has(name)),
    [],
  )
  const lines = inDocuments(/(?:`credits|npm run -s credits --) ([a-z][a-z-]*(?: [a-z][a-z-]*)?)(?=[` \n])/g)
  assert.ok(lines.length > 20)
  // `credits held` is a reason of a refusal.
  const isKnown = (line: string) =>
    line === 'held' ||
    commands.some(({ name }) => `${line} `.startsWith(`${name} `) || name.startsWith(`${line} `)) ||
    /^help\b/.test(line)
  assert.deepEqual(
    lines.filter(({ name }) => !isKnown(name)),
    [],
  )
  const paths = new Set(Object.keys(JSON.parse(read('openapi.json')).paths))
  const addresses = inDocuments(/`(?:GET|POST|PUT|DELETE) (\/(?:public|internal)\/[^ `?]+)/g)
  assert.ok(addresses.length > 10)
  assert.deepEqual(
    addresses.filter(({ name }) => !paths.has(name)),
    [],
  )
})

test('no document speaks of a version that is not there yet, and numbers of things are those of the code', () => {
  const { version, allowScripts } = JSON.parse(read('package.json')) as { version: string; allowScripts: object }
  const order = (text: string) => text.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0)
  const later = inDocuments(/version (\d+\.\d+\.\d+)/g).filter(({ name }) => order(name) > order(version))
  assert.deepEqual(later, [])
  const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
  const counted: [RegExp, number][] = [
    [/tests a shop by (\w+) scenarios/g, scenarios.length],
    [/catalogue that changes \((\w+) packages/g, packages.length],
    [/install scripts of (\w+) packages/g, Object.keys(allowScripts).length],
  ]
  for (const [pattern, count] of counted) {
    const found = inDocuments(pattern)
    assert.ok(found.length > 0, `${pattern}`)
    for (const { file, name } of found)
      assert.equal(name, count === 20 ? 'twenty' : words[count], `${file}: ${pattern}`)
  }
})

test('every link of a document leads to a file, and every link to a heading leads to one', () => {
  const headingsOf = (file: string) =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    )
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)/g)].flatMap(([whole, path = '', heading]) => {
      const target = path === '' ? file : join(dirname(file), path)
      if (!existsSync(join(repository, target))) return [`${file}: ${whole}`]
      return heading && !headingsOf(target).includes(heading) ? [`${file}: ${whole}`] : []
    }),
  )
  assert.deepEqual(broken, [])
})
