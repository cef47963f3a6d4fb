// Texts of callers in commands, log lines and files: invisible characters are shown as escapes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { render } from '../../src/commands/line/render.ts'
import { csvLine } from '../../src/core/csv.ts'
import { visible } from '../../src/core/visible.ts'
import { createLog } from '../../src/log.ts'

const between = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)
const bidirectional = [...between(0x202a, 0x202e), ...between(0x2066, 0x2069), 0x200e, 0x200f, 0x061c]
const invisible = [0x00, 0x1b, 0x7f, 0x9b, 0xad, 0x200b, 0x2028, 0x2029, 0x2060, 0x3164, 0xfeff, 0xe0041]
const textOf = (code: number) => `paid${String.fromCodePoint(code)}back`

test('every bidirectional control, and every other invisible character, is shown as its escape', () => {
  for (const code of [...bidirectional, ...invisible]) {
    assert.match(visible(textOf(code)), /^paid(\\u[0-9a-f]{4}){1,2}back$/, code.toString(16))
  }
})

test('visible text is not changed: Korean, other scripts, spaces, emoji with their joiners', () => {
  for (const text of ['환불해 주세요', 'déjà vu', 'עברית', 'العربية', 'a b\u00a0c', '💳 ❤️ 👩🏽‍💻 👨‍👩‍👧']) {
    assert.equal(visible(text), text)
  }
  assert.equal(visible('a\u200db \ufe0f'), 'a\\u200db \\ufe0f')
})

test('a command shows them as escapes, in a table, in a field, in an object; its JSON has the same value', () => {
  for (const code of [...bidirectional, ...invisible]) {
    const reason = textOf(code)
    for (const result of [{ reason }, [{ reason }], { rows: [{ detail: { reason } }] }]) {
      const shown = render(result)
      assert.ok(!shown.includes(reason) && shown.includes('\\u'), shown)
      const json = render(result, { json: true })
      assert.ok(!json.includes(reason), json)
      assert.deepEqual(JSON.parse(json), result)
    }
  }
})

test('a line of the log has them as escapes of JSON', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const name = textOf(0x202e)
  log.info({ name }, `about ${name}`)
  const [line = ''] = lines
  assert.ok(!line.includes('\u202e'), line)
  assert.deepEqual([JSON.parse(line).name, JSON.parse(line).msg], [name, `about ${name}`])
})

test('a text that a spreadsheet would run as a formula is quoted in a file, with every character that begins one; a number is not', () => {
  for (const begin of ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t']) {
    assert.equal(csvLine([`${begin}1`, -1]), `'${begin}1,-1\r\n`, begin)
  }
  for (const begin of ['\r', '\n']) assert.equal(csvLine([`${begin}=1`]), `"'${begin}=1"\r\n`)
  assert.equal(csvLine(['1=1', 'a-b']), '1=1,a-b\r\n')
})

test('a file has them as escapes; lines within a field stay lines', () => {
  assert.equal(csvLine([textOf(0x202e), 'a\r\nb\tc']), 'paid\\u202eback,"a\r\nb\tc"\r\n')
})
