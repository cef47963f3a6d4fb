// Slows down guessing of keys: past a number of wrong keys from one network, AUTH001 is sent a second later. No request is
// refused for it, so a right key works at once from that network too. Other callers behind the same address, a proxy for
// example, only wait longer for the refusal of a wrong key.
import { setTimeout as sleep } from 'node:timers/promises'
import { createSemaphore, createTokenBuckets } from '../../core/limit.ts'
import { toRefusal } from '../error-handler.ts'

const wrongPerSecond = 10
const wrongAtOnce = 100
const delayMs = 1_000
/** Past it refusals are sent at once: each one that waits costs memory. */
const maxDelayed = 10_000

/** Returns the refusal, late when there were too many wrong keys. */
export function createWrongKeyDelay(
  now?: () => number,
): (address: string | undefined, refusal: unknown) => Promise<Error> {
  const wrongKeys = createTokenBuckets({ perSecond: wrongPerSecond, burst: wrongAtOnce, ...(now && { now }) })
  const delayed = createSemaphore(maxDelayed)
  return async (address, refusal) => {
    const isWrongKey = toRefusal(refusal)?.code === 'AUTH001'
    if (isWrongKey && !wrongKeys.take(networkOf(address)) && delayed.free() > 0) {
      await delayed.run(() => sleep(delayMs, undefined, { ref: false }))
    }
    return refusal as Error
  }
}

/** An IPv6 caller usually has a network of 2^64 addresses: they count as one. */
export function networkOf(address = ''): string {
  // A closed connection has no address, and IPv4 counts by address.
  if (!address.includes(':')) return address
  // IPv4-mapped IPv6.
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
