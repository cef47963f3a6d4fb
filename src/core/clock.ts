// Time within the process: waiting, and deadlines that do not depend on the wall clock. Times that are stored, or compared with
// stored ones, are the database's.
import { setTimeout as delay } from 'node:timers/promises'

/** Rejects when it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal && { signal })
}

export type Deadline = { remainingMs(): number }

export function deadlineIn(ms: number): Deadline {
  const end = performance.now() + ms
  return { remainingMs: () => Math.max(0, end - performance.now()) }
}

/** The promise's value, or `late` when it takes longer; the work itself is not stopped. */
export async function within<Value, Late>(
  deadline: Deadline,
  promise: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  const timer = new AbortController()
  const timeout = delay(deadline.remainingMs(), late, { signal: timer.signal }).catch(() => late)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    timer.abort()
  }
}

/** A time with its offset, in ISO 8601; undefined when it is not a valid time. */
export function readMoment(text: string): Date | undefined {
  const day = text.slice(0, 10)
  const [begin, time] = [new Date(`${day}T00:00:00Z`), new Date(text)]
  if (Number.isNaN(begin.getTime()) || Number.isNaN(time.getTime())) return undefined
  // 30 February parses, as 2 March.
  return begin.toISOString().startsWith(day) ? time : undefined
}
