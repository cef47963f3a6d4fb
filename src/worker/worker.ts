// Runs jobs side by side, each at its own interval. A job that left work undone runs again at once, one that failed waits its
// interval like any other, and no job waits for another. Any number of instances may run the same jobs: the statements of a
// job share out the work. A stop waits for the runs under way.
import { setTimeout as delay } from 'node:timers/promises'
import { jittered } from '../core/backoff.ts'
import { createTallies, type Tallies, zeros } from '../core/tallies.ts'
import type { Log } from '../db/database.ts'

export type Job = {
  name: string
  everyMs: number
  /** `more`: there is work left. */
  run(stopping: AbortSignal): Promise<{ more: boolean }>
  /** After its last run. It does not fail. */
  end?(): Promise<void>
}

export type Worker = {
  /** Runs a job now instead of after its interval. */
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
      if (!more) await pause(job.everyMs, awake.promise)
    }
    await job.end?.()
  }

  async function runSafely(job: Job): Promise<boolean> {
    const ends = runs.get(job.name) ?? zeros(['done', 'failed'])
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

  /** With jitter: instances that started together drift apart. */
  async function pause(everyMs: number, awake: Promise<void>): Promise<void> {
    const timer = new AbortController()
    const signal = AbortSignal.any([timer.signal, stopping.signal])
    const interval = delay(jittered(everyMs, 0.25), undefined, { signal }).catch(() => undefined)
    await Promise.race([interval, awake])
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
