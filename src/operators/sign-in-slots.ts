// Limits sign-ins, in all and for each network, so that no network takes every place. Passwords are checked one at a time:
// hashing one takes 64 MB and more than a third of a second, which payments must not lose.
import { createQueue, createSemaphore } from '../core/limit.ts'

export type SignInSlots = {
  isFull(network: string): boolean
  /** Check `isFull` first, without an await in between. */
  run<Value>(network: string, work: () => Promise<Value>): Promise<Value>
}

export function createSignInSlots(most: number, mostPerNetwork: number): SignInSlots {
  const slots = createSemaphore(most, mostPerNetwork)
  return {
    isFull: (network) => slots.free(network) === 0,
    run: (network, work) => slots.run(work, network),
  }
}

/** The same, and one at a time. */
export function createSignInLine(most: number, mostPerNetwork: number): SignInSlots {
  const { isFull, run } = createSignInSlots(most, mostPerNetwork)
  const oneAtATime = createQueue(1)
  return { isFull, run: (network, work) => run(network, () => oneAtATime.run(work)) }
}
