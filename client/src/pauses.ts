// How long to wait before the next attempt: exponential backoff with full jitter, so that clients that failed together
// do not retry together, and never less than Retry-After.
import type { Limits } from './settings.ts'

/** `random` is from 0 to 1. */
export function pauseBefore(
  attempt: number,
  retryAfterMs: number | null,
  { firstPauseMs, longestPauseMs }: Pick<Limits, 'firstPauseMs' | 'longestPauseMs'>,
  random: number,
): number {
  const ceilingMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 2))
  return (retryAfterMs ?? 0) + Math.floor(ceilingMs * random)
}

/** From seconds or a date; null otherwise. */
export function retryAfterMs(value: string | null, now: number): number | null {
  if (value === null) return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Ends early by the signal. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}
