// How long a turn of the event loop takes. Everything that is ready is dealt with in one turn, in the order in which it
// came: with very many requests each turn is long, and whoever needs several of them, as a payment does, waits for as
// many times everybody else. Turns are counted by the loop itself; a timer would only see some of them.
import { type EventLoopUtilization, performance } from 'node:perf_hooks'

const tickMs = 100
const slowTurnMs = 20
/** One burst is no reason to send anybody away. */
const slowTicks = 5
/** Sending some away is what makes turns short: it goes on for a while, or they would all be back at once. */
const remedyTicks = 100

export type Pace = {
  /** Turns were long for half a second, not longer than some seconds ago. */
  isSlow(): boolean
  stop(): void
}

type Reading = { turns: number; used: EventLoopUtilization }

export function watchPace(): Pace {
  let last = read()
  let slowFor = 0
  let remedyFor = 0
  function look(): void {
    const next = read()
    const busyMs = performance.eventLoopUtilization(next.used, last.used).active
    slowFor = busyMs / (next.turns - last.turns) > slowTurnMs ? slowFor + 1 : 0
    remedyFor = slowFor >= slowTicks ? remedyTicks : Math.max(0, remedyFor - 1)
    last = next
  }
  const timer = setInterval(look, tickMs)
  timer.unref()
  return { isSlow: () => remedyFor > 0, stop: () => clearInterval(timer) }
}

function read(): Reading {
  return { turns: performance.nodeTiming.uvMetricsInfo.loopCount, used: performance.eventLoopUtilization() }
}

/**
 * Answers that are known at once are sent when all that has arrived is read: one after the other they wake their reader
 * once, and each between two reads wakes it anew, which costs a quarter of the whole.
 */
export function answerAfterReading(answer: () => unknown): void {
  setImmediate(answer)
}
