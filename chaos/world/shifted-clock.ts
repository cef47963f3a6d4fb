// A machine whose clock is wrong, for one process: a module to be loaded before everything else, in which the wall clock
// is ahead or behind. What the service stores and compares has to come from the database, so nothing may change by it.

/** For `node --import`. Timers and performance.now() keep the right pace: only the time of day is off. */
export function shiftedClock(offsetMs: number): string {
  const source = `
    const Right = Date
    globalThis.Date = class Date extends Right {
      constructor(...values) {
        if (values.length === 0) super(Right.now() + ${offsetMs})
        else super(...values)
      }
      static now() {
        return Right.now() + ${offsetMs}
      }
    }`
  return `data:text/javascript,${encodeURIComponent(source)}`
}
