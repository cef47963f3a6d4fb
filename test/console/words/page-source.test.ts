// The rules of the page of the console that a program can check, beside those that every file here keeps: what it takes
// from the service, and what no page may do to the people who use it.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { repository } from '../../../harness/processes.ts'

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const pages = globSync('console/src/**/*.{ts,tsx}', { cwd: repository }).sort()
const styles = globSync('console/src/**/*.css', { cwd: repository })

/** What page and service both need while they run. */
const shared = [
  'src/console/endpoints.ts',
  'src/console/session/times.ts',
  'src/core/korean-days.ts',
  'src/operators/permissions.ts',
]

test('the page takes types from the service, and a few small files that import nothing', () => {
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
    'what is more than a type brings the service into the page',
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

test('what is shown of a text stays apart from what stands beside it, in whichever direction it is read', () => {
  assert.match(read('console/src/page.css'), /^td,\ndd,\na,\ncode,\nspan,\nstrong \{\n {2}unicode-bidi: isolate;\n\}/m)
})

/** What no file of the page may contain, and why. */
const banned: [pattern: RegExp, why: string, allowed?: string[]][] = [
  [/dangerouslySetInnerHTML|\.innerHTML|\beval\(|new Function\(/, 'texts are texts'],
  [/https?:\/\//, 'everything comes from the service itself'],
  [/\bfetch\(/, 'the client of the API asks', ['console/src/api/client.ts']],
  [/\b(local|session)Storage\./, 'nothing of the books stays on a device', ['console/src/scheme.ts']],
  [/document\.cookie/, 'the session is not for scripts'],
  [/target="_blank"(?![^>]*noopener)/, 'a window that was opened knows nothing of this one'],
  [
    /\btoLocale(Date|Time)?String\(|new Intl\./,
    'one way to write numbers and times',
    ['console/src/format/formats.ts'],
  ],
]

test('no page does what is banned', () => {
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

test('no Korean stands in a page: words are in both languages or in none', () => {
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

test('one thing has one word in Korean', () => {
  const words = globSync('console/src/words/ko/*.ts', { cwd: repository })
  assert.deepEqual(
    words.filter((file) => secondWords.test(read(file))),
    [],
  )
})
