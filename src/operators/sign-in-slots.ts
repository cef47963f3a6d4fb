// Limits sign-ins, in all and for each network, so that no network takes every place. Passwords are checked one at a time:
// hashing one takes 64 MB and more than a third of a second, which payments must not lose.
import { createQueue, createSemaphore } from '../core/limit.ts'

export type Places = {
  isFull(network: string): boolean
  /** Check `isFull` first, without an await in between. */
  hold<Value>(network: string, work: () => Promise<Value>): Promise<Value>
}

export function createPlaces(most: number, mostPerNetwork: number): Places {
  const places = createSemaphore(most, mostPerNetwork)
  return {
    isFull: (network) => places.free(network) === 0,
    hold: (network, work) => places.run(work, network),
  }
}

/** The same, and one at a time. */
export function createTurns(most: number, mostPerNetwork: number): Places {
  const { isFull, hold } = createPlaces(most, mostPerNetwork)
  const oneAtATime = createQueue(1)
  return { isFull, hold: (network, work) => hold(network, () => oneAtATime.run(work)) }
}
