// How long to wait before the next attempt: exponential back-off with full jitter, so that those who failed together do
// not come back together, and never less than the service has asked for.
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

/** Seconds, or a date; null when there is neither. */
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
