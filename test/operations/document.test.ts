// docs/operations.md is checked against the code: every setting with its default, every heading that an alert links to,
// every command.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../../harness/processes.ts'
import { commands } from '../../src/commands/command-table.ts'
import { readNumberDefaults, readSettingNames } from '../support/documents/config-settings.ts'

const text = readFileSync(join(repository, 'docs/operations.md'), 'utf8')

/** Read by `npm run docs`, and by the library that sends traces. */
const readElsewhere = ['DOCS_PORT', 'OTEL_EXPORTER_OTLP_HEADERS']

const settings = [...text.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \| [^|]*\|$/gm)].map(([, name = '', value = '']) => ({
  name,
  value: value.trim(),
}))

test('the table has every setting, and no other', () => {
  assert.deepEqual(settings.map(({ name }) => name).sort(), [...readSettingNames(), ...readElsewhere].sort())
})

test('every numeric default equals the default in the code', () => {
  const defaults = readNumberDefaults()
  const numeric = settings.filter(({ name }) => defaults.has(name))
  assert.deepEqual(
    numeric.map(({ name, value }) => [name, Number(value)]),
    numeric.map(({ name }) => [name, defaults.get(name)]),
  )
  assert.equal(numeric.length, defaults.size)
})

const anchors = [...text.matchAll(/^#{2,3} (.+)$/gm)].map(([, title = '']) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-'),
)

test('every link into the document, from an alert or from itself, leads to a heading', () => {
  const directory = join(repository, 'ops')
  const files = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : []
  const alerts = files
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .map((name) => readFileSync(join(directory, name), 'utf8'))
  const linked = [
    ...alerts.flatMap((each) => [...each.matchAll(/operations\.md#([\w-]+)/g)].map(([, anchor = '']) => anchor)),
    ...[...text.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor = '']) => anchor),
  ]
  assert.ok(linked.length > 5)
  assert.deepEqual(
    linked.filter((anchor) => !anchors.includes(anchor)),
    [],
  )
  for (const anchor of [
    'stuck-operation',
    'gateway-outage',
    'key-leak',
    'discrepancy',
    'moving-to-a-server',
    'container',
  ]) {
    assert.ok(anchors.includes(anchor), anchor)
  }
})

test('every command in it exists and has the options that are used', () => {
  const lines = [...text.matchAll(/(?:^|`|\s)(?:credits|src\/cli\.ts) ((?:[a-z-]+ )?[a-z-]+[^`\n]*)/gm)]
    .map(([, line = '']) => line.split('  #')[0]?.trim() ?? '')
    .filter((line) => commands.some(({ name }) => line.startsWith(name.split(' ')[0] ?? '')))
  assert.ok(lines.length > 20, `${lines.length}`)
  for (const line of lines) {
    const command = commands.find(({ name }) => `${line} `.startsWith(`${name} `))
    assert.ok(command, line)
    const named = [...line.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name)
    assert.deepEqual(
      named.filter((name) => !['json', 'by', 'yes', ...Object.keys(command.options ?? {})].includes(name)),
      [],
      line,
    )
  }
})
