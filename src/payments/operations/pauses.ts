// How a request waits for an operation whose lease another holder has.
import { backoffMs } from '../../core/backoff.ts'
import { type Deadline, sleep } from '../../core/clock.ts'

const pauses = { firstMs: 20, longestMs: 250 }

/** Pauses before the next try: longer each time, never past the deadline; false when there is no time left. */
export function createPauses(deadline: Deadline): () => Promise<boolean> {
  let retry = 0
  return async () => {
    if (deadline.remainingMs() === 0) return false
    await sleep(Math.min(backoffMs(retry, pauses), deadline.remainingMs()))
    retry += 1
    return true
  }
}
