// Waiting within the process: a pacer that keeps its rate under load, and sleeps that can be aborted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deadlineIn, sleep, within } from '../../src/core/clock.ts'
import { createPacer } from '../../src/core/limit.ts'

/** How early a timer may fire. */
const earlyMs = 2

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

test('a pacer allows a fixed number per second, in order of the calls, and no burst after a pause', async () => {
  const pace = createPacer(100)
  const order: number[] = []
  let calls = 0
  const all = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => {
        const place = calls++
        return pace().then(() => order.push(place))
      }),
    )
  // As on a busy machine: timers that are due together, set for different times.
  const allWhileBusy = () => {
    const first = all(3)
    for (const until = performance.now() + 35; performance.now() < until; );
    return Promise.all([first, all(17)])
  }
  assert.ok((await tookMs(allWhileBusy)) >= 190 - earlyMs)
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, place) => place),
  )
  await sleep(100)
  assert.ok((await tookMs(() => all(5))) >= 40 - earlyMs)
})

test('an aborted sleep rejects at once, and does not begin when its signal is already aborted', async () => {
  const stopping = new AbortController()
  const sleeping = sleep(3_600_000, stopping.signal)
  stopping.abort()
  await assert.rejects(sleeping, { name: 'AbortError' })
  await assert.rejects(sleep(3_600_000, stopping.signal), { name: 'AbortError' })
})

test('within returns the value, or its fallback when the value is late; a failure is not hidden', async () => {
  assert.equal(await within(deadlineIn(10_000), Promise.resolve(1), 'late'), 1)
  assert.equal(await within(deadlineIn(10), sleep(3_600_000, AbortSignal.timeout(100)), 'late'), 'late')
  await assert.rejects(within(deadlineIn(10_000), Promise.reject(new Error('no')), 'late'), { message: 'no' })
  assert.equal(deadlineIn(0).remainingMs(), 0)
})
