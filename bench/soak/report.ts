// A soak: the first full minute after the warm-up beside the last one. What grows between them would go on growing.
import { table, verdict } from '../report/report.ts'

export type Sample = {
  /** When the sample ended, since the start of the soak. */
  minute: number
  perSecond: number
  p99Ms: number
  /** Resident memory of the service; null where there is no /proc. */
  megabytes: number | null
}

const mostGrowth = 1.1
/** With fewer the last minute would be compared with itself. */
const leastMinutes = 3

const figures = {
  'memory, MB': ({ megabytes }: Sample) => megabytes,
  'requests a second': ({ perSecond }: Sample) => perSecond,
  'p99, ms': ({ p99Ms }: Sample) => p99Ms,
}

/** The mean of a minute, counted from one; null without a sample of it. */
function meanOf(samples: Sample[], number: number, of: (sample: Sample) => number | null): number | null {
  const values = samples.filter(({ minute }) => Math.ceil(minute) === number).flatMap((each) => of(each) ?? [])
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

export function tableOf(samples: Sample[], minutes: number): string {
  if (minutes < leastMinutes) return `Minute 2 and the last one are compared from ${leastMinutes} min on.\n`
  const rows = Object.entries(figures).map(([name, of]) => {
    const [second, last] = [meanOf(samples, 2, of), meanOf(samples, minutes, of)]
    const growth = second === null || last === null ? null : last / second
    const result = growth === null ? 'not measured' : verdict(growth <= mostGrowth)
    const wanted = of === figures['memory, MB'] ? `at most ${mostGrowth}: ${result}` : ''
    return [name, second?.toFixed(1) ?? '–', last?.toFixed(1) ?? '–', growth?.toFixed(2) ?? '–', wanted]
  })
  return table(['', 'minute 2', 'last minute', 'ratio', 'target'], rows)
}
