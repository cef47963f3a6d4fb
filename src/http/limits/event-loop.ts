// What the event loop shows about this process: whether its iterations are long (too much work is ready at a time), and
// whether it stood still altogether.
import { performance } from 'node:perf_hooks'

const sampleEveryMs = 100
const slowIterationMs = 20
/** A single burst is no reason to refuse requests. */
const slowSamples = 5
/** Refusals are what makes iterations short again: they go on for ten seconds, or the load would be back at once. */
const reliefSamples = 100

export type LoopWatch = {
  /** Iterations were long for half a second, within the last ten seconds. */
  isSlow(): boolean
  stop(): void
}

/** Since the start of the process. */
export type LoopReading = { iterations: number; busyMs: number }

/**
 * One iteration handles everything that is ready, in order of arrival. With very many requests each iteration is long, and a
 * request that needs several of them, as a payment does, waits several times for all the others. The loop counts its
 * iterations itself; a timer would only see some of them.
 */
export function watchForSlowLoop(readLoop: () => LoopReading = readOwnLoop): LoopWatch {
  let last = readLoop()
  let slowFor = 0
  let reliefFor = 0
  function compare(): void {
    const next = readLoop()
    const iterationMs = (next.busyMs - last.busyMs) / (next.iterations - last.iterations)
    slowFor = iterationMs > slowIterationMs ? slowFor + 1 : 0
    reliefFor = slowFor >= slowSamples ? reliefSamples : Math.max(0, reliefFor - 1)
    last = next
  }
  const timer = setInterval(compare, sampleEveryMs)
  timer.unref()
  return { isSlow: () => reliefFor > 0, stop: () => clearInterval(timer) }
}

function readOwnLoop(): LoopReading {
  const { active } = performance.eventLoopUtilization()
  return { iterations: performance.nodeTiming.uvMetricsInfo.loopCount, busyMs: active }
}

const stallTickMs = 250
/** Longer than any single piece of work takes. */
const stallMs = 1_000

export type StallWatch = { hasStalledWithin(ms: number): boolean; stop(): void }

/**
 * Detects that this process stood still: it was stopped, had no processor, or was busy with one thing for too long. Requests
 * that waited meanwhile look as if their senders had been slow; they get SVC001 instead of VAL001.
 */
export function watchForStalls(now: () => number = () => performance.now()): StallWatch {
  let lastTick = now()
  let lastStall = Number.NEGATIVE_INFINITY
  function check(): void {
    const time = now()
    if (time - lastTick > stallMs) lastStall = time
    lastTick = time
  }
  const timer = setInterval(check, stallTickMs)
  timer.unref()
  return {
    hasStalledWithin(ms) {
      // The call may come before the timer.
      check()
      return now() - lastStall <= ms
    },
    stop: () => clearInterval(timer),
  }
}

/**
 * Sends an answer that is known at once only when everything that has arrived is read. Answers that are sent one after the
 * other wake their reader once; each one between two reads wakes it again, which costs a quarter of the whole.
 */
export function answerAfterReading(answer: () => unknown): void {
  setImmediate(answer)
}
