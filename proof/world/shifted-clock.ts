// A wrong clock for one process: a module, loaded before everything else, that shifts the wall clock. The times that
// the service stores and compares have to come from the database, so the shift must change nothing.

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
