// How long to pause before a retry: exponential, with a cap, and with jitter so that processes that failed together do not
// retry together.

export type Backoff = {
  /** Before the first retry. */
  firstMs: number
  longestMs: number
  /** Each pause is this many times as long as the one before. */
  factor?: number
  /** A pause is longer or shorter by up to this share of it. */
  jitter?: number
}

/** `retry` counts from 0. */
export function backoffMs(retry: number, { firstMs, longestMs, factor = 2, jitter = 0 }: Backoff): number {
  return jittered(Math.min(longestMs, firstMs * factor ** retry), jitter)
}

export function jittered(ms: number, jitter: number): number {
  return ms * (1 - jitter + 2 * jitter * Math.random())
}
