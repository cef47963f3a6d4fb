// Whoever tries one key after the other gets slower answers: past a number of wrong keys from one address, each is told
// so a second later. Nobody is refused for it, so a key that is right works at once, from that address too; and whoever
// shares the address with a guesser, behind a proxy say, only waits for being told that a key is wrong.
import { setTimeout as sleep } from 'node:timers/promises'
import { toRefusal } from './error-handler.ts'
import { createRateLimit } from './rate-limit.ts'

const wrongPerSecond = 10
const wrongAtOnce = 100
const lateMs = 1_000
/** Past it they are told at once: those who wait cost memory. */
const maxLate = 10_000

/** Gives the refusal back, late when there were too many of its kind. */
export function createSlowDown(now?: () => number): (address: string, refusal: unknown) => Promise<Error> {
  const wrongKeys = createRateLimit({ perSecond: wrongPerSecond, burst: wrongAtOnce, ...(now && { now }) })
  let late = 0
  return async (address, refusal) => {
    const isWrongKey = toRefusal(refusal)?.code === 'AUTH001'
    if (isWrongKey && !wrongKeys.take(address) && late < maxLate) {
      late += 1
      await sleep(lateMs, undefined, { ref: false }).finally(() => {
        late -= 1
      })
    }
    return refusal as Error
  }
}
