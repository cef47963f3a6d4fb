// What the event loop shows about this process: whether it stood still, and when everything that has arrived is read.

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
