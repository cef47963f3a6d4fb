// The progress that a long command shows on stderr.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgressBar } from '../../src/commands/line/progress.ts'

function screen(options: { isTTY?: boolean; columns?: number } = {}) {
  const written: string[] = []
  let now = 1_000
  const output = { ...options, write: (text: string) => written.push(text) }
  return { written, progress: createProgressBar('rows', output, () => now), pass: (ms: number) => (now += ms) }
}

test('without a terminal there is a plain line every five seconds, and none before', () => {
  const { written, progress, pass } = screen()
  for (const [ms, done] of [
    [0, 0],
    [4_999, 10_000],
    [1, 25_000],
    [2_500, 40_000],
    [2_500, 50_000],
  ] as const) {
    pass(ms)
    progress.update(done, 100_000)
  }
  progress.end()
  assert.deepEqual(written, [
    'rows: 25,000 of 100,000 (25 %), 15 s left\n',
    'rows: 50,000 of 100,000 (50 %), 10 s left\n',
  ])
})

test('on a terminal a bar is redrawn in place, at most ten times a second, and erased at the end', () => {
  const { written, progress, pass } = screen({ isTTY: true, columns: 120 })
  for (const [ms, done] of [
    [1_000, 100],
    [99, 150],
    [901, 200],
    [1_000, 400],
  ] as const) {
    pass(ms)
    progress.update(done, 400)
  }
  progress.end()
  progress.end()
  assert.deepEqual(written, [
    '\r\x1b[K[########----------------------] rows: 100 of 400 (25 %), 3 s left',
    '\r\x1b[K[###############---------------] rows: 200 of 400 (50 %), 2 s left',
    '\r\x1b[K[##############################] rows: 400 of 400 (100 %), 0 s left',
    '\r\x1b[K',
  ])
})

test('the bar becomes shorter and disappears before the line would wrap', () => {
  for (const [columns, expected] of [
    [60, '[#######--------------------] rows: 1 of 4 (25 %), 3 s left'],
    [33, 'rows: 1 of 4 (25 %), 3 s left'],
    [10, 'rows: 1 o'],
  ] as const) {
    const { written, progress, pass } = screen({ isTTY: true, columns })
    pass(1_000)
    progress.update(1, 4)
    assert.ok(expected.length < columns)
    assert.deepEqual(written, [`\r\x1b[K${expected}`])
  }
})

test('long times are shown in minutes and hours, and none before any progress', () => {
  for (const [done, total, expected] of [
    [0, 100, '0 of 100 (0 %)'],
    [0, 0, '0 of 0 (0 %)'],
    [1, 10, '1 of 10 (10 %), 1 min 30 s left'],
    [1, 1_000, '1 of 1,000 (0 %), 2 h 46 min left'],
    [12, 10, '12 of 10 (100 %), 0 s left'],
  ] as const) {
    const { written, progress, pass } = screen()
    pass(10_000)
    progress.update(done, total)
    assert.deepEqual(written, [`rows: ${expected}\n`])
  }
})

test('progress that ends before the first line prints nothing', () => {
  const { written, progress } = screen({ isTTY: true })
  progress.end()
  assert.deepEqual(written, [])
})
