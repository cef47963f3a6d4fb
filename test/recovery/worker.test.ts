// The worker: concurrent jobs, each with its own interval, none delayed by another, and a stop that lets running jobs
// finish.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import type { Database } from '../../src/db/database.ts'
import type { Deliverer } from '../../src/events/deliverer.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import type { PublicationContext } from '../../src/transparency/publication/publish.ts'
import { eventJobs, paymentJobs, publicationJobs } from '../../src/worker/jobs.ts'
import { type Job, startWorker } from '../../src/worker/worker.ts'

const hourMs = 3_600_000

/** A job that counts its runs; `outcome` returns whether each has more work. */
function job(name: string, everyMs: number, outcome: (run: number) => Promise<boolean> | boolean) {
  const runs = { count: 0, running: 0, most: 0 }
  const made: Job = {
    name,
    everyMs,
    async run() {
      runs.count += 1
      runs.running += 1
      runs.most = Math.max(runs.most, runs.running)
      try {
        return { more: await outcome(runs.count) }
      } finally {
        runs.running -= 1
      }
    },
  }
  return { made, runs }
}

test('every job runs at once, and one that has more work runs again at once', async () => {
  const busy = job('busy', hourMs, (run) => run < 5)
  const idle = job('idle', hourMs, () => false)
  const worker = startWorker([busy.made, idle.made], silentLog)
  await until('the busy job is done', () => busy.runs.count === 5)
  await sleep(30)
  assert.deepEqual([busy.runs.count, idle.runs.count, busy.runs.most], [5, 1, 1])
  await worker.stop()
})

test('a job runs again after its interval, and never twice at the same time', async () => {
  const regular = job('regular', 5, () => sleep(5, false))
  const worker = startWorker([regular.made], silentLog)
  await until('it has run ten times', () => regular.runs.count >= 10)
  await worker.stop()
  assert.equal(regular.runs.most, 1)
  const { count } = regular.runs
  await sleep(30)
  assert.equal(regular.runs.count, count)
})

test('a job that fails is logged, waits for its interval, runs again, and delays no other job', async () => {
  const logged: object[] = []
  const fail = () => sleep(1).then(() => Promise.reject(new Error('out of order')))
  const failing = job('failing', 5, fail)
  const seldom = job('seldom', hourMs, fail)
  const other = job('other', 5, () => false)
  const log = { warn: () => undefined, error: (fields: object) => logged.push(fields) as never }
  const worker = startWorker([failing.made, seldom.made, other.made], log)
  await until('both have run five times', () => failing.runs.count >= 5 && other.runs.count >= 5)
  await worker.stop()
  assert.equal(seldom.runs.count, 1)
  assert.equal(logged.length, failing.runs.count + 1)
  assert.equal((logged[0] as { job: string }).job, 'failing')
})

test('a job that hangs does not delay the others', async () => {
  const released = Promise.withResolvers<boolean>()
  const hanging = job('hanging', 5, () => released.promise)
  const other = job('other', 5, () => false)
  const worker = startWorker([hanging.made, other.made], silentLog)
  await until('the other job has run five times', () => other.runs.count >= 5)
  assert.equal(hanging.runs.count, 1)
  released.resolve(false)
  await worker.stop()
})

test('wake runs one job now, and no other; a wake during a run is not lost', async () => {
  const gate = Promise.withResolvers<boolean>()
  const sleeper = job('sleeper', hourMs, (run) => (run === 2 ? gate.promise : false))
  const other = job('other', hourMs, () => false)
  const worker = startWorker([sleeper.made, other.made], silentLog)
  await until('both jobs are idle', () => sleeper.runs.count === 1 && sleeper.runs.running === 0)
  await sleep(5)
  worker.wake('sleeper')
  await until('it runs', () => sleeper.runs.count === 2)
  worker.wake('sleeper')
  worker.wake('unknown')
  gate.resolve(false)
  await until('it has run for the second wake', () => sleeper.runs.count === 3)
  await sleep(20)
  assert.deepEqual([sleeper.runs.count, other.runs.count], [3, 1])
  await worker.stop()
})

test('stop waits for running jobs, aborts their signal, starts nothing new, and ends each job once', async () => {
  let signal: AbortSignal | undefined
  let finished = false
  const ends: boolean[] = []
  const long: Job = {
    name: 'long',
    everyMs: 1,
    async run(stopping) {
      signal = stopping
      await sleep(100)
      finished = true
      return { more: true }
    },
    async end() {
      ends.push(finished)
    },
  }
  const worker = startWorker([long], silentLog)
  await until('the job has started', () => signal !== undefined)
  const stopped = worker.stop()
  assert.deepEqual([signal?.aborted, finished], [true, false])
  await stopped
  assert.deepEqual(ends, [true])
})

test('stop does not wait for the pause between two runs', async () => {
  const worker = startWorker([job('resting', hourMs, () => false).made], silentLog)
  await sleep(5)
  await worker.stop()
})

test('what is kept for a number of days is deleted each hour, and events once a day', () => {
  const jobs = [
    ...eventJobs({} as Deliverer, {} as Database, { eventsKeptDays: 1, eventAttemptsKeptDays: 1 }),
    ...paymentJobs({ database: {}, settings: { pendingOrderLifetimeMs: hourMs } } as PaymentContext, []),
  ]
  assert.deepEqual(
    jobs.filter(({ name }) => name.startsWith('forget')).map(({ name, everyMs }) => [name, everyMs / hourMs]),
    [
      ['forget events', 24],
      ['forget attempts', 1],
      ['forget notifications', 1],
      ['forget movements', 1],
    ],
  )
})

test('orders expire and checkpoints are published at most a quarter of their time late, and both are looked at each minute at least', () => {
  const everyMs = (jobs: Job[], name: string) => jobs.find((each) => each.name === name)?.everyMs
  const payments = (pendingOrderLifetimeMs: number) =>
    paymentJobs({ database: {}, settings: { pendingOrderLifetimeMs } } as PaymentContext, [])
  const publication = (everySeconds: number) => publicationJobs({ settings: { everySeconds } } as PublicationContext)
  assert.deepEqual(
    [8_000, 24 * hourMs].map((ms) => everyMs(payments(ms), 'expire')),
    [2_000, 60_000],
  )
  assert.deepEqual(
    [8, 86_400].map((s) => everyMs(publication(s), 'publish checkpoint')),
    [2_000, 60_000],
  )
})
