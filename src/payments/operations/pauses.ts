// How a request waits for an operation whose lease another holder has.
import { type Deadline, sleep } from '../../core/clock.ts'

const firstPauseMs = 20
const longestPauseMs = 250

/** Pauses before the next try: longer each time, never past the deadline; false when there is no time left. */
export function createPauses(deadline: Deadline): () => Promise<boolean> {
  let pauseMs = firstPauseMs
  return async () => {
    if (deadline.remainingMs() === 0) return false
    await sleep(Math.min(pauseMs, deadline.remainingMs()))
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    return true
  }
}
