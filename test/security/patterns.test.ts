// Every regular expression of the source and of the schemas is run on long hostile texts: none takes more than linear time.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { apiDocument } from '../../src/listeners/api-document.ts'
import { regexLiterals } from '../support/written/regex-literals.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src/*.ts', 'src/**/*.ts'], {
  cwd: root,
  encoding: 'utf8',
})

const sources = files
  .split('\n')
  .filter(Boolean)
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

/** The patterns of the schemas of all routes: the API document has them unchanged. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'pattern' && typeof value === 'string' ? [value] : patternsIn(value),
  )
}

const patterns = new Map<string, RegExp>(
  [
    ...sources.flatMap(({ text }) => regexLiterals(text)),
    ...patternsIn(apiDocument()).map((pattern) => new RegExp(pattern, 'u')),
  ].map((pattern) => [`${pattern}`, pattern]),
)

/** Characters that many patterns repeat; the text ends with one that no pattern matches. */
const pieces = [
  'a',
  '0',
  ' ',
  '\t',
  '_',
  '-',
  '.',
  ':',
  '%',
  '/',
  '"',
  '\\',
  'é',
  '가',
  'ab ',
  'a1',
  ';charset=',
  '\ud800',
]
const length = 100_000

test('all patterns of the source and of the schemas are found', () => {
  for (const known of ['/^cpk_[0-9A-Za-z]{43}$/', '/^ord_[0-9A-HJKMNP-TV-Z]{36}$/'])
    assert.ok(patterns.has(known), known)
  assert.ok(patternsIn(apiDocument()).length > 5)
  // A literal stands before every call of test or exec on it.
  const used = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/(\/[dgimsuvy]*)\.(?:test|exec)\(/g)].map(() => file),
  )
  for (const file of new Set(used)) {
    const count = used.filter((each) => each === file).length
    const { text = '' } = sources.find((each) => each.file === file) ?? {}
    assert.ok(regexLiterals(text).length >= count, file)
  }
})

test('patterns that are built at run time contain no text of callers', () => {
  const made = sources.filter(({ text }) => text.includes('new RegExp(')).map(({ file }) => file)
  // Built from another pattern, and from the paths of the routes.
  assert.deepEqual(made, ['src/core/ids.ts', 'src/http/allow-header.ts'])
})

test('a pattern is distinguished from a division, a string, a template and a comment', () => {
  const text = [
    'const half = width / 2 / height; // no /pattern/ here',
    `const path = '/a/b/c'; /* nor /here/ */ const t = \`/x/$\{of(/inner/g, a / b / c)}/y/\``,
    'if (/^one$/.test(text)) return /two[/]/i',
    'list.map((each) => /three/.exec(each)) / 4 / five',
  ].join('\n')
  assert.deepEqual(regexLiterals(text).map(String), ['/inner/', '/^one$/', '/two[/]/i', '/three/'])
})

for (const [name, pattern] of patterns) {
  test(`${name} takes linear time on any text`, () => {
    const startedAt = performance.now()
    for (const piece of pieces) {
      for (const beginning of ['', 'cpk_', 'ord_', 'Bearer ', 'postgres://']) {
        pattern.test(`${beginning}${piece.repeat(Math.ceil(length / piece.length))}\u0000`)
      }
    }
    // Linear is a few milliseconds; a quadratic one would take minutes.
    assert.ok(performance.now() - startedAt < 5_000)
  })
}
