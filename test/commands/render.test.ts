// The output of a result: aligned tables with numbers to the right, local times, readable in narrow terminals; as JSON for
// scripts, unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { displayWidth } from '../../src/commands/line/layout.ts'
import { localTime, render } from '../../src/commands/line/render.ts'

const rows = [
  { name: 'acme', credits: 1_234_567, status: 'ACTIVE' },
  { name: '토스페이먼츠', credits: null, status: 'SUSPENDED' },
  { name: 'b', credits: 21, status: 'ACTIVE' },
]

test('a table has its columns aligned by displayed width, and its numbers to the right with separators', () => {
  const lines = render(rows).split('\n')
  assert.deepEqual(lines, [
    'name            credits  status',
    'acme          1,234,567  ACTIVE',
    '토스페이먼츠          -  SUSPENDED',
    'b                    21  ACTIVE',
    '',
  ])
})

test('a Hangul letter is two columns wide, composed or not, and a combining mark none', () => {
  for (const [text, width] of [
    ['abc', 3],
    ['가나', 4],
    ['가나'.normalize('NFD'), 4],
    ['漢字', 4],
    ['e\u0301\u0300', 1],
    ['🙂', 2],
  ] as const) {
    assert.equal(displayWidth(text), width, text)
  }
})

test('when a table does not fit the terminal each row is a paragraph; without a terminal lines are not limited', () => {
  assert.equal(render(rows.slice(0, 2), { columns: 34 }).split('\n').length, 4)
  const paragraphs = [
    'name:    acme',
    'credits: 1,234,567',
    'status:  ACTIVE',
    '',
    'name:    토스페이먼츠',
    'credits: -',
    'status:  SUSPENDED',
    '',
  ]
  assert.deepEqual(render(rows.slice(0, 2), { columns: 33 }).split('\n'), paragraphs)
})

test('fields come first, then lists as tables', () => {
  const shown = render({
    orderId: 'ord_1',
    amount: 20_000,
    reviewed: { agrees: 1_000, repaired: 0 },
    entries: rows,
    none: [],
  })
  assert.match(shown, /^orderId: {5}ord_1\namount: {6}20,000\nreviewed: {4}agrees 1,000, repaired 0\n\nentries\nname /)
  assert.ok(shown.endsWith('\n\nnone\nNone.\n'))
  assert.equal(render([]), 'None.\n')
})

test('a list of texts or of numbers is the value of its field, and no table', () => {
  const shown = 'types:       a,b\nperDay:      1,000; 20\n'
  assert.equal(render({ types: ['a', 'b'], perDay: [1_000, 20] }), shown)
})

test('with --json the result is one document as it is', () => {
  for (const result of [rows, { at: new Date(0), rows }]) {
    assert.equal(render(result, { json: true, colour: true, columns: 10 }), `${JSON.stringify(result)}\n`)
  }
})

test('colours are added to the same text, and only when they are enabled', () => {
  for (const result of [rows, { ok: false, rows }]) {
    const coloured = render(result, { colour: true })
    assert.notEqual(coloured, render(result))
    assert.equal(stripVTControlCharacters(coloured), render(result))
    assert.equal(render(result).includes('\x1b'), false)
  }
  assert.ok(render({ ok: false }, { colour: true }).includes('\x1b[31mfalse\x1b[39m'))
})

test('a time is shown in the local time zone, with its offset from UTC', () => {
  const time = new Date('2026-01-31T23:30:15.678Z')
  for (const [minutesAhead, expected] of [
    [540, '2026-02-01T08:30:15+09:00'],
    [0, '2026-01-31T23:30:15Z'],
    [-210, '2026-01-31T20:00:15-03:30'],
  ] as const) {
    assert.equal(localTime(time, minutesAhead), expected)
    assert.equal(Date.parse(expected), Math.floor(time.getTime() / 1_000) * 1_000)
  }
  const here = localTime(time)
  assert.equal(render({ at: time }), `at:          ${here}\n`)
  assert.equal(render({ at: time.toISOString() }), `at:          ${here}\n`)
})

test('foreign text cannot send control sequences to the terminal', () => {
  assert.equal(render({ name: 'a\x1b[2Jb\n' }), 'name:        a\\u001b[2Jb\\u000a\n')
})
