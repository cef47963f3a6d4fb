// Limits how many console requests run at a time: they read from the same connections that payments need. A short queue waits
// for a free slot; past its end a request is refused with SVC001.
import { createQueue } from '../core/limit.ts'
import { refuseBecause } from './refusals.ts'

export type ConcurrencyLimit = {
  /** Refuses with SVC001 when the queue is full. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
  /** For the next step of work that was admitted before: waits however long the queue is. */
  runAdmitted<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createConcurrencyLimit(maxConcurrent: number, maxQueued: number): ConcurrencyLimit {
  const queue = createQueue(maxConcurrent, maxQueued)
  return {
    runAdmitted: queue.run,
    async run(work) {
      if (queue.isFull()) {
        const message = 'Too many console requests at once. Try again in a moment.'
        throw refuseBecause('SVC001', 'console busy', message, { metadata: { began: false } })
      }
      return queue.run(work)
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
