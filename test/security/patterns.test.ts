// Every regular expression of the source on long hostile texts: none takes more than linear time.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src/*.ts', 'src/**/*.ts'], {
  ...{ cwd: root, encoding: 'utf8' },
})

/** A literal after what a value can follow. Comments hold paths, which are none. */
const literal = /(?<=[=(,:[!&|?{}] |[([!]|^\s*|return )\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/gm

function patternsOf(text: string): RegExp[] {
  const code = text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return [...code.matchAll(literal)].map(([, body = '', flags = '']) => new RegExp(body, flags.replace(/[gy]/g, '')))
}

const patterns = new Map(
  files
    .split('\n')
    .filter(Boolean)
    .flatMap((file) => patternsOf(readFileSync(join(root, file), 'utf8')).map((pattern) => [`${pattern}`, pattern])),
)

/** A run of what many patterns repeat, and an end that fits none. */
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

test('the patterns of the source are found', () => {
  assert.ok(patterns.size > 30, `${patterns.size}`)
  for (const known of ['/^cpk_[0-9A-Za-z]{43}$/', '/^ord_[0-9A-HJKMNP-TV-Z]{36}$/'])
    assert.ok(patterns.has(known), known)
})

for (const [name, pattern] of patterns) {
  test(`${name} is quick on whatever it is given`, () => {
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
