// The line of sign-ins whose password is checked: one at a time, because hashing a password takes 64 MB and more than a third
// of a second, which payments must not lose. No network takes all places, so that a sign-in from another one still finds one.
import { createQueue, createSemaphore } from '../core/limit.ts'

export type SignInLine = {
  isFull(network: string): boolean
  /** Check `isFull` first, without an await in between. */
  run<Value>(network: string, work: () => Promise<Value>): Promise<Value>
}

export function createSignInLine(most: number, mostPerNetwork: number): SignInLine {
  const places = createSemaphore(most, mostPerNetwork)
  const oneAtATime = createQueue(1)
  return {
    isFull: (network) => places.free(network) === 0,
    run: (network, work) => places.run(() => oneAtATime.run(work), network),
  }
}
