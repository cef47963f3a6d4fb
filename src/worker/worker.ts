// Runs jobs side by side, each in its own rhythm: a job that had its hands full runs again at once, one that failed waits
// like any other, and none waits for another. Any number of instances may run the same jobs: the statements of a job
// share the work out. Stopping lets what is under way come to its end.
import { setTimeout as delay } from 'node:timers/promises'
import { createTallies, type Tallies, zeroOf } from '../core/tallies.ts'
import type { Log } from '../db/database.ts'

export type Job = {
  name: string
  everyMs: number
  /** `more`: there is more to do than was done. */
  run(stopping: AbortSignal): Promise<{ more: boolean }>
}

export type Worker = {
  /** Has a job run now instead of when its time comes. */
  wake(name: string): void
  stop(): Promise<void>
}

export function startWorker(jobs: Job[], log: Log, { jobs: runs }: Pick<Tallies, 'jobs'> = createTallies()): Worker {
  const stopping = new AbortController()
  const wakers = new Map<string, () => void>()

  async function loop(job: Job): Promise<void> {
    while (!stopping.signal.aborted) {
      const awake = Promise.withResolvers<void>()
      wakers.set(job.name, awake.resolve)
      const more = await runSafely(job)
      if (!more) await rest(job.everyMs, awake.promise)
    }
  }

  async function runSafely(job: Job): Promise<boolean> {
    const ends = runs.get(job.name) ?? zeroOf(['done', 'failed'])
    runs.set(job.name, ends)
    try {
      const { more } = await job.run(stopping.signal)
      ends.done += 1
      return more
    } catch (error) {
      ends.failed += 1
      log.error({ job: job.name, err: error }, 'a job failed')
      return false
    }
  }

  /** Not to the moment: instances that started together do not stay together. */
  async function rest(everyMs: number, awake: Promise<void>): Promise<void> {
    const timer = new AbortController()
    const signal = AbortSignal.any([timer.signal, stopping.signal])
    const pause = delay(everyMs * (0.75 + 0.5 * Math.random()), undefined, { signal }).catch(() => undefined)
    await Promise.race([pause, awake])
    timer.abort()
  }

  const loops = jobs.map(loop)
  return {
    wake: (name) => wakers.get(name)?.(),
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
