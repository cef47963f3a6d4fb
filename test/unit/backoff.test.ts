// The pauses before retries: exponential up to a cap, with jitter around them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs, jittered } from '../../src/core/backoff.ts'

const pauses: [what: string, options: Parameters<typeof backoffMs>[1], expectedMs: number[]][] = [
  ['doubles up to the longest', { firstMs: 5_000, longestMs: 30_000 }, [5_000, 10_000, 20_000, 30_000, 30_000]],
  ['grows by another factor', { firstMs: 20, factor: 7.5, longestMs: 400 }, [20, 150, 400]],
  ['is the longest pause if that is shorter than the first', { firstMs: 5, longestMs: 2 }, [2, 2]],
]
for (const [what, options, expectedMs] of pauses) {
  test(`a pause ${what}`, () => {
    assert.deepEqual(
      expectedMs.map((_, retry) => backoffMs(retry, options)),
      expectedMs,
    )
    assert.equal(backoffMs(100_000, options), options.longestMs, 'a very high retry count does not overflow')
  })
}

test('jitter makes a pause longer or shorter by its share at most', () => {
  const drawn = Array.from({ length: 1_000 }, () => jittered(100, 0.25))
  assert.ok(drawn.every((ms) => ms >= 75 && ms <= 125))
  assert.ok(Math.min(...drawn) < 85 && Math.max(...drawn) > 115)
})
