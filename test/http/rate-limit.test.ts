// How often somebody may do something, with a clock of the test's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenBuckets } from '../../src/core/limit.ts'

function atATime({ perSecond = 10, burst = 20 } = {}) {
  const clock = { ms: 0 }
  const { take } = createTokenBuckets({ perSecond, burst, now: () => clock.ms })
  const takeAll = (who: string, share?: number) => {
    let taken = 0
    while (taken < 1_000 && take(who, share)) taken += 1
    return taken
  }
  return { clock, take, takeAll }
}

test('a burst is let through, then as many as the pace allows', () => {
  const { clock, takeAll } = atATime()
  assert.equal(takeAll('a'), 20)
  assert.equal(takeAll('a'), 0)
  clock.ms = 100
  assert.equal(takeAll('a'), 1)
  clock.ms = 1_100
  assert.equal(takeAll('a'), 10)
})

test('a long rest fills the bucket and no more', () => {
  const { clock, takeAll } = atATime()
  takeAll('a')
  clock.ms = 3_600_000
  assert.equal(takeAll('a'), 20)
})

test('nobody is limited by what others do', () => {
  const { takeAll } = atATime()
  takeAll('a')
  assert.equal(takeAll('b'), 20)
})

test('a share that has to stay is there for whoever needs none', () => {
  const { takeAll } = atATime()
  assert.equal(takeAll('a', 0.2), 16)
  assert.equal(takeAll('a', 0.2), 0)
  assert.equal(takeAll('a'), 4)
})

test('with the smallest bucket of all a request goes through, whatever share has to stay', () => {
  const { takeAll } = atATime({ perSecond: 1, burst: 1 })
  assert.equal(takeAll('a', 0.2), 1)
})

test('with very many callers memory is bounded, and whoever is at the limit stays there', () => {
  const { clock, take, takeAll } = atATime({ perSecond: 1, burst: 2 })
  takeAll('greedy')
  for (let each = 0; each < 250_000; each += 1) {
    clock.ms += 0.001
    take(`caller ${each}`)
    // Less than the bucket could fill with since.
    if (each % 10_000 === 0) assert.equal(take('greedy'), false)
  }
  const { heapUsed } = process.memoryUsage()
  assert.ok(heapUsed < 400_000_000, `${heapUsed} bytes`)
})
