// An overload beside its peak. Ratios are taken within a round: the work done to that round's own peak, the payers' rate to
// their own beside few readers.
import type { Metered, Tally } from '../load/meter.ts'
import type { WorkloadName } from '../load/workloads.ts'
import { ratioWithin, spreadOver } from '../report/figures.ts'
import { brief, columnsTable, counted, type Report, type TargetResult, targetsTable, whole } from '../report/report.ts'

export const overloaded = ['balance', 'purchase', 'mixed day'] as const satisfies WorkloadName[]
export type Overloaded = (typeof overloaded)[number]
export type Phase = 'peak' | 'polite' | 'rude' | 'calm' | 'crowded'

export type Taken = {
  round: number
  subject: Overloaded | 'payers'
  phase: Phase
  connections: number
  measured: Metered
  /** The measurement of the second load. */
  besides?: Metered
}

/** The payers' work are confirms and cancels; purchases only prepare them. */
export function workOf({ subject, measured }: Pick<Taken, 'subject' | 'measured'>): number {
  return (subject === 'payers' ? measured.settled : measured.done.count) / measured.seconds
}

/** What was taken of a phase: the best count of connections in each round. */
function linesOf(taken: Taken[]): Taken[][] {
  const best = [...Map.groupBy(taken, ({ round, subject, phase }) => `${round} ${subject} ${phase}`).values()].flatMap(
    (group) => group.toSorted((left, right) => workOf(right) - workOf(left)).slice(0, 1),
  )
  return [...Map.groupBy(best, ({ subject, phase }) => `${subject} ${phase}`).values()]
}

const keptShare = 0.9

/** The phase that each is compared with. */
const against: Partial<Record<Phase, Phase>> = { polite: 'peak', rude: 'peak', crowded: 'calm' }

/** By the median; refusals of payers by the most of any round. */
export function targetResults(taken: Taken[]): TargetResult[] {
  const lines = linesOf(taken)
  const lineOf = (wanted: Taken['subject'], ofPhase?: Phase) =>
    lines.find(([first]) => first?.subject === wanted && first.phase === ofPhase) ?? []
  const kept = lines.flatMap((line): TargetResult[] => {
    const [{ subject, phase }] = line as [Taken]
    const measured = ratioWithin(line, lineOf(subject, against[phase]), workOf)
    const name = `${subject}, ${phase}: work to its ${against[phase]}`
    return measured ? [{ name, wanted: `≥ ${keptShare}`, measured, met: measured.median >= keptShare }] : []
  })
  const measured = spreadOver(lineOf('payers', 'crowded'), (each) => each.measured.settlesRefused)
  if (!measured) return kept
  const name = 'payers, crowded: confirms and cancels refused'
  return [...kept, { name, wanted: '0', measured, met: measured.most === 0 }]
}

/** Latencies of refusals only where there were any. */
const latency = (line: Taken[], kind: 'done' | 'refused', which: 'p50Ms' | 'p99Ms') =>
  brief(spreadOver(line, ({ measured }) => tallyOf(measured[kind], which)))
const tallyOf = (tally: Tally, which: 'p50Ms' | 'p99Ms') => (tally.count > 0 ? tally[which] : null)

const columns: Record<string, (line: Taken[]) => string> = {
  load: ([first]) => `${first?.subject}, ${first?.phase}`,
  connections: (line) => [...new Set(line.map(({ connections }) => connections))].join(', '),
  'work/s': (line) => whole(spreadOver(line, workOf)),
  'refused/s': (line) => whole(spreadOver(line, ({ measured }) => measured.refused.count / measured.seconds)),
  'p50 of work, ms': (line) => latency(line, 'done', 'p50Ms'),
  'p99 of work, ms': (line) => latency(line, 'done', 'p99Ms'),
  'p50 of refusals, ms': (line) => latency(line, 'refused', 'p50Ms'),
  'p99 of refusals, ms': (line) => latency(line, 'refused', 'p99Ms'),
}

export function reportOf(
  taken: Taken[],
  { rounds, seconds }: { rounds: number; seconds: number },
): Pick<Report, 'how' | 'tables'> {
  return {
    how: `${counted(rounds, 'round')} of ${seconds} s. The payers’ work is their confirms and cancels.`,
    tables: [targetsTable(targetResults(taken)), columnsTable(linesOf(taken), columns)],
  }
}
