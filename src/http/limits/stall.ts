// Notices when this process itself stood still: stopped, starved of a processor, or busy with one thing for too long.
// Requests that waited meanwhile look as if their senders had been slow, and are told to come again instead.

const tickMs = 250
/** Longer than any single piece of work takes. */
const stallMs = 1_000

export type StallWatch = { hasStalledWithin(ms: number): boolean; stop(): void }

export function watchForStalls(now: () => number = () => performance.now()): StallWatch {
  let lastTick = now()
  let lastStall = Number.NEGATIVE_INFINITY
  function look(): void {
    const time = now()
    if (time - lastTick > stallMs) lastStall = time
    lastTick = time
  }
  const timer = setInterval(look, tickMs)
  timer.unref()
  return {
    hasStalledWithin(ms) {
      // Whoever asks may have come before the timer.
      look()
      return now() - lastStall <= ms
    },
    stop: () => clearInterval(timer),
  }
}
