// The token buckets, with the test's own clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTokenBuckets } from '../../src/core/limit.ts'

function bucketsWithClock({ perSecond = 10, burst = 20 } = {}) {
  const clock = { ms: 0 }
  const { take } = createTokenBuckets({ perSecond, burst, now: () => clock.ms })
  const takeAll = (caller: string, share?: number) => {
    let taken = 0
    while (taken < 1_000 && take(caller, share)) taken += 1
    return taken
  }
  return { clock, take, takeAll }
}

test('a burst is let through, then as many as the rate allows', () => {
  const { clock, takeAll } = bucketsWithClock()
  assert.equal(takeAll('a'), 20)
  assert.equal(takeAll('a'), 0)
  clock.ms = 100
  assert.equal(takeAll('a'), 1)
  clock.ms = 1_100
  assert.equal(takeAll('a'), 10)
})

test('a long pause fills the bucket and not more', () => {
  const { clock, takeAll } = bucketsWithClock()
  takeAll('a')
  clock.ms = 3_600_000
  assert.equal(takeAll('a'), 20)
})

test('callers do not limit each other', () => {
  const { takeAll } = bucketsWithClock()
  takeAll('a')
  assert.equal(takeAll('b'), 20)
})

test('a reserved share is available to a request that leaves no reserve', () => {
  const { takeAll } = bucketsWithClock()
  assert.equal(takeAll('a', 0.2), 16)
  assert.equal(takeAll('a', 0.2), 0)
  assert.equal(takeAll('a'), 4)
})

test('with the smallest possible bucket one request goes through, whatever share is reserved', () => {
  const { takeAll } = bucketsWithClock({ perSecond: 1, burst: 1 })
  assert.equal(takeAll('a', 0.2), 1)
})

test('with very many callers memory is bounded, and a caller at its limit stays limited', () => {
  const { clock, take, takeAll } = bucketsWithClock({ perSecond: 1, burst: 2 })
  const before = usedHeap()
  takeAll('greedy')
  for (let each = 0; each < 1_000_000; each += 1) {
    clock.ms += 0.0001
    take(`caller ${each}`)
    // Too little time has passed for the bucket to refill.
    if (each % 10_000 === 0) assert.equal(take('greedy'), false)
  }
  const grown = usedHeap() - before
  assert.equal(take('greedy'), false)
  assert.ok(grown < 40_000_000, `${grown} bytes`)
})

/** Without what the collector has not freed yet, which depends on the machine. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
