// The rules of the console page that a program can check, beside those of test/tidy.test.ts: what it imports from the
// service, and what no page may do to its users.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { repository } from '../../../harness/processes.ts'

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const pages = globSync('console/src/**/*.{ts,tsx}', { cwd: repository }).sort()
const styles = globSync('console/src/**/*.css', { cwd: repository })

/** The modules that page and service both need at run time. */
const shared = [
  'src/console/endpoints.ts',
  'src/console/session/times.ts',
  'src/core/token-scopes.ts',
  'src/core/korean-days.ts',
  'src/operators/permissions.ts',
]

test('the page imports types from the service, and a few small files without imports', () => {
  const taken = pages.flatMap((file) =>
    [...read(file).matchAll(/^import (type )?[^']*'((?:\.\.\/)+src\/[^']+)'/gm)].map(([, type, path = '']) => ({
      file,
      isType: type !== undefined,
      from: normalize(join(dirname(file), path)),
    })),
  )
  assert.ok(taken.some(({ isType }) => isType) && taken.some(({ isType }) => !isType))
  assert.deepEqual(
    taken.filter(({ isType, from }) => !isType && !shared.includes(from)),
    [],
    'an import that is not a type import pulls the service into the page',
  )
  assert.deepEqual(
    shared.filter((file) => /^import /m.test(read(file))),
    [],
  )
  const made = read('console/build.ts')
  assert.deepEqual(
    shared.filter((file) => !made.includes(`'${file}'`)),
    [],
    'a change of it makes the page stale',
  )
})

test('displayed texts are isolated from the text beside them, in either writing direction', () => {
  assert.match(read('console/src/page.css'), /^td,\ndd,\na,\ncode,\nspan,\nstrong \{\n {2}unicode-bidi: isolate;\n\}/m)
})

/** Patterns that no file of the page may contain, and why. */
const banned: [pattern: RegExp, why: string, allowed?: string[]][] = [
  [/dangerouslySetInnerHTML|\.innerHTML|\beval\(|new Function\(/, 'texts are not markup or code'],
  [/https?:\/\//, 'everything comes from the service itself'],
  [/\bfetch\(/, 'requests go through the API client', ['console/src/api/client.ts']],
  [/\b(local|session)Storage\./, 'no data of the books is stored on a device', ['console/src/scheme.ts']],
  [/document\.cookie/, 'the session is not for scripts'],
  [/target="_blank"(?![^>]*noopener)/, 'an opened window must not reach this one'],
  [
    /\btoLocale(Date|Time)?String\(|new Intl\./,
    'one way to write numbers and times',
    ['console/src/format/formats.ts'],
  ],
]

test('no page matches a banned pattern', () => {
  const found = banned.flatMap(([pattern, why, allowed = []]) =>
    pages.filter((file) => pattern.test(read(file)) && !allowed.includes(file)).map((file) => `${file}: ${why}`),
  )
  assert.deepEqual(found, [])
})

test('styles load nothing from elsewhere', () => {
  assert.ok(styles.length > 0)
  assert.deepEqual(
    styles.filter((file) => /@import|url\(/.test(read(file))),
    [],
  )
})

test('no page contains Korean: texts are in both languages or in none', () => {
  const outside = pages.filter((file) => !file.startsWith('console/src/words/'))
  assert.deepEqual(
    outside.filter((file) => /[가-힣]/.test(read(file))),
    [],
  )
  for (const file of globSync('console/src/words/en/*.ts', { cwd: repository })) {
    assert.doesNotMatch(read(file), /[가-힣]/, file)
    assert.match(read(file.replace('/en/', '/ko/')), /[가-힣]/, file)
  }
})

/** Synonyms of terms that the page uses. */
const secondWords = /홀드|거부|결제사|감사 기록|작업 기록|주문 이력|환급|수신처|실행자|거래 명세|크레딧 부족|\(으\)로/

test('one thing has one term in Korean', () => {
  const words = globSync('console/src/words/ko/*.ts', { cwd: repository })
  assert.deepEqual(
    words.filter((file) => secondWords.test(read(file))),
    [],
  )
})
