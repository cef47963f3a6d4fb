// Waiting within the process: a pacer that keeps its rate under load, and sleeps that can be aborted. And Korean days.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deadlineIn, readMoment, sleep, within } from '../../src/core/clock.ts'
import {
  addDays,
  daysFromTo,
  endOfKoreanDay,
  koreanDayOf,
  koreanTimeOf,
  startOfKoreanDay,
} from '../../src/core/korean-days.ts'
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

test('a Korean day begins and ends at 15:00 UTC: its first moment is part of it, and the next one of the next day', () => {
  const begin = new Date('2026-01-30T15:00:00.000Z')
  const [before, end] = [new Date(begin.getTime() - 1), new Date('2026-01-31T15:00:00.000Z')]
  assert.deepEqual([before, begin].map(koreanDayOf), ['2026-01-30', '2026-01-31'])
  assert.deepEqual([before, begin].map(koreanTimeOf), ['2026-01-30 23:59:59', '2026-01-31 00:00:00'])
  assert.deepEqual([before, begin].map(endOfKoreanDay), [begin, end])
  assert.deepEqual(startOfKoreanDay('2026-01-31'), begin)
})

test('days are counted over the ends of months, both included, and backwards there are none', () => {
  assert.deepEqual([addDays('2026-02-28', 1), addDays('2026-03-01', -1)], ['2026-03-01', '2026-02-28'])
  assert.deepEqual(daysFromTo('2026-02-27', '2026-03-01'), ['2026-02-27', '2026-02-28', '2026-03-01'])
  assert.deepEqual(daysFromTo('2026-02-27', '2026-02-27'), ['2026-02-27'])
  assert.deepEqual(daysFromTo('2026-03-01', '2026-02-28'), [])
})

test('a day that the calendar does not have is no day, and no time of it is one', () => {
  for (const day of ['2026-02-30', '2026-13-01', 'today', '']) {
    assert.equal(startOfKoreanDay(day), undefined, day)
    assert.equal(readMoment(`${day}T09:00:00+09:00`), undefined, day)
  }
  assert.deepEqual(readMoment('2026-02-28T00:30:00+09:00'), new Date('2026-02-27T15:30:00Z'))
})
