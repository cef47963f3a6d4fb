// How much of the console is under way at a time: its pages read from the connections that payments need too. A short line
// waits for a place, and whoever comes past its end is told to come again.
import { refuseBecause } from './refusals.ts'

export type Gate = {
  /** Refuses with SVC001 when the line is full. */
  enter<Value>(work: () => Promise<Value>): Promise<Value>
  /** For whoever was let in before and is not to be broken off: waits however long the line is. */
  goOn<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createGate(atOnce: number, mostWaiting: number): Gate {
  let underWay = 0
  const waiting: (() => void)[] = []
  /** A place that is left goes to the first in the line. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else underWay -= 1
  }
  async function goOn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (underWay === atOnce) await new Promise<void>((given) => waiting.push(given))
    else underWay += 1
    try {
      return await work()
    } finally {
      leave()
    }
  }
  return {
    goOn,
    async enter(work) {
      if (underWay === atOnce && waiting.length >= mostWaiting) {
        throw refuseBecause(
          'SVC001',
          'console busy',
          'Too much is asked of the console at once. Try again in a moment.',
        )
      }
      return goOn(work)
    },
  }
}

/** What waits for the gateway or for an endpoint is long under way: it takes no place of what is looked at. */
export type Gates = Record<'looking' | 'acting' | 'saving', Gate>

export function gateOf({ looking, acting }: Gates, method: string): Gate {
  return method === 'GET' ? looking : acting
}

export const lookingAtOnce = 4
export const mostLooksWaiting = 64

export function createGates(): Gates {
  return {
    looking: createGate(lookingAtOnce, mostLooksWaiting),
    acting: createGate(16, 16),
    saving: createGate(2, 8),
  }
}
