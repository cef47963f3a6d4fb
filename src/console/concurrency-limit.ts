// Limits how many console requests run at a time: they read from the same connections that payments need. A short queue waits
// for a free slot; past its end a request is refused with SVC001.
import { refuseBecause } from './refusals.ts'

export type ConcurrencyLimit = {
  /** Refuses with SVC001 when the queue is full. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
  /** For the next step of work that was admitted before: waits however long the queue is. */
  runAdmitted<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createConcurrencyLimit(maxConcurrent: number, maxQueued: number): ConcurrencyLimit {
  let running = 0
  const queue: (() => void)[] = []
  /** A freed slot goes to the first in the queue. */
  function release(): void {
    const next = queue.shift()
    if (next) next()
    else running -= 1
  }
  async function runAdmitted<Value>(work: () => Promise<Value>): Promise<Value> {
    if (running === maxConcurrent) await new Promise<void>((resolve) => queue.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      release()
    }
  }
  return {
    runAdmitted,
    async run(work) {
      if (running === maxConcurrent && queue.length >= maxQueued) {
        const message = 'Too many console requests at once. Try again in a moment.'
        throw refuseBecause('SVC001', 'console busy', message, { metadata: { began: false } })
      }
      return runAdmitted(work)
    },
  }
}

/** Actions wait for the gateway or an endpoint and run long: they take no slots of reads. */
export type ConcurrencyLimits = Record<'reads' | 'actions' | 'exports', ConcurrencyLimit>

export function limitFor({ reads, actions }: ConcurrencyLimits, method: string): ConcurrencyLimit {
  return method === 'GET' ? reads : actions
}

export const maxConcurrentReads = 4
export const maxQueuedReads = 64

export function createConcurrencyLimits(): ConcurrencyLimits {
  return {
    reads: createConcurrencyLimit(maxConcurrentReads, maxQueuedReads),
    actions: createConcurrencyLimit(16, 16),
    exports: createConcurrencyLimit(2, 8),
  }
}
