// Whoever tries one key after the other gets slower answers: past a number of wrong keys from one address, each is told
// so a second later. Nobody is refused for it, so a key that is right works at once, from that address too; and whoever
// shares the address with a guesser, behind a proxy say, only waits for being told that a key is wrong.
import { setTimeout as sleep } from 'node:timers/promises'
import { toRefusal } from '../error-handler.ts'
import { createRateLimit } from './rate-limit.ts'

const wrongPerSecond = 10
const wrongAtOnce = 100
const lateMs = 1_000
/** Past it they are told at once: those who wait cost memory. */
const maxLate = 10_000

/** Gives the refusal back, late when there were too many of its kind. */
export function createSlowDown(now?: () => number): (address: string | undefined, refusal: unknown) => Promise<Error> {
  const wrongKeys = createRateLimit({ perSecond: wrongPerSecond, burst: wrongAtOnce, ...(now && { now }) })
  let late = 0
  return async (address, refusal) => {
    const isWrongKey = toRefusal(refusal)?.code === 'AUTH001'
    if (isWrongKey && !wrongKeys.take(networkOf(address)) && late < maxLate) {
      late += 1
      await sleep(lateMs, undefined, { ref: false }).finally(() => {
        late -= 1
      })
    }
    return refusal as Error
  }
}

/** Whoever has one address of IPv6 has a network of 2 to the 64th of them: they count as one. */
export function networkOf(address = ''): string {
  // Whoever has gone has no address any more.
  if (!address.includes(':')) return address
  // An address of IPv4 in the clothes of IPv6.
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
