// The result of a soak: the first full minute after the warm-up beside the last one. What grows between them would go
// on growing.

export type Sample = {
  /** When the sample ended, since the start of the soak. */
  minute: number
  perSecond: number
  p99Ms: number
  /** Resident memory of the service; null where there is no /proc. */
  megabytes: number | null
}

export type Minute = { perSecond: number; p99Ms: number; megabytes: number | null }

export type Summary = {
  second: Minute
  last: Minute
  throughputRatio: number
  memoryRatio: number | null
  /** Null where memory could not be read. */
  met: boolean | null
}

export const mostGrowth = 1.1
/** With fewer the last minute would be compared with itself. */
export const leastMinutes = 3

export function summarise(samples: Sample[], minutes: number): Summary | null {
  if (minutes < leastMinutes) return null
  const [second, last] = [minuteOf(samples, 2), minuteOf(samples, minutes)]
  if (!second || !last) return null
  const memoryRatio = last.megabytes === null || second.megabytes === null ? null : last.megabytes / second.megabytes
  return {
    second,
    last,
    throughputRatio: last.perSecond / second.perSecond,
    memoryRatio,
    met: memoryRatio === null ? null : memoryRatio <= mostGrowth,
  }
}

/** Counted from one. */
function minuteOf(samples: Sample[], number: number): Minute | null {
  const within = samples.filter(({ minute }) => Math.ceil(minute) === number)
  if (within.length === 0) return null
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const megabytes = within.flatMap((each) => each.megabytes ?? [])
  return {
    perSecond: mean(within.map(({ perSecond }) => perSecond)),
    p99Ms: mean(within.map(({ p99Ms }) => p99Ms)),
    megabytes: megabytes.length === 0 ? null : mean(megabytes),
  }
}
