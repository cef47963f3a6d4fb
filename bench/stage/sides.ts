// Two sides beside each other: the same workloads on two stages with one service each, in turns.
import type { WorkloadName } from '../load/workloads.ts'
import { ratioWithin, type Spread } from '../report/figures.ts'
import { logLine } from '../report/progress.ts'
import { short } from '../report/report.ts'
import { removeOpenOrders } from './books.ts'
import { type Figures, measure } from './measure.ts'
import type { Stage } from './stage.ts'
import { takeAll, takeTurns } from './turns.ts'

export const connections = 64

export type Measurement<Side> = Figures & { round: number; workload: WorkloadName; side: Side }

type Wanted = { rounds: number; seconds: number; warmSeconds: number; workloads: WorkloadName[] }

/** `look` returns what else is noted of a side, as soon as its load has ended; `afterEach` is awaited before the next one. */
export async function measureSides<Side extends string, More extends object>(
  stages: Record<Side, Stage>,
  { rounds, seconds, warmSeconds, workloads }: Wanted,
  look: (side: Side) => Promise<More>,
  afterEach: (side: Side) => Promise<void> = async () => undefined,
): Promise<{ measurements: (Measurement<Side> & More)[]; failures: string[] }> {
  const sides = Object.keys(stages) as Side[]
  const groups = workloads.map((workload) => sides.map((side) => ({ workload, side })))
  const steps = takeTurns(rounds, groups)
  const measurements: (Measurement<Side> & More)[] = []
  const [{ parts }] = Object.values<Stage>(stages) as [Stage]
  logLine(`Measuring: ${steps.length} times ${seconds} s, and ${warmSeconds} s to warm up each ...`)
  const failures = await takeAll(parts, steps, {
    nameOf: ({ round, workload, side }) => `round ${round}, ${workload}, ${side}`,
    async take(step) {
      const { workload, side } = step
      const figures = await measure(stages[side], 'service', { workload, connections, seconds, warmSeconds })
      measurements.push({ ...step, ...figures, ...(await look(side)) })
      return `${figures.perSecond.toFixed(0)}/s, p99 ${short(figures.p99Ms)} ms`
    },
    async afterEach({ side }) {
      await afterEach(side)
      await removeOpenOrders(stages[side].books)
    },
  })
  return { measurements, failures }
}

/** `ratio`: requests a second of the first side to those of the other. */
export type Compared<Each> = { workload: WorkloadName; ones: Each[]; others: Each[]; ratio: Spread }

/** Without workloads of which no round has both sides. */
export function compareSides<Side, Each extends Measurement<Side>>(
  measurements: Each[],
  [first, second]: [Side, Side],
): Compared<Each>[] {
  return [...Map.groupBy(measurements, ({ workload }) => workload)].flatMap(([workload, group]) => {
    const of = (wanted: Side) => group.filter(({ side }) => side === wanted)
    const [ones, others] = [of(first), of(second)]
    const ratio = ratioWithin(ones, others, ({ perSecond }) => perSecond)
    return ratio ? [{ workload, ones, others, ratio }] : []
  })
}
