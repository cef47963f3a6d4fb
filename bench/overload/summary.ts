// Summarises the measurements of an overload. Ratios are taken within a round: the work done to that round's own peak,
// the payers' rate to their own beside few readers.
import type { Metered } from '../load/meter.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import type { Phase, Step } from './plan.ts'

export type Taken = Omit<Step, 'play' | 'besides'> & {
  connections: number
  measured: Metered
  /** Of the second load. */
  besides?: Metered
}

export type Line = {
  subject: Step['subject']
  phase: Phase
  /** Of the peak: those of the best count in each round. */
  connections: number[]
  work: Spread
  refused: Spread
  workP50Ms: Spread
  workP99Ms: Spread
  /** Null where no request was refused. */
  refusedP50Ms: Spread | null
  refusedP99Ms: Spread | null
}

export type Judged = { name: string; bound: 'at least' | 'at most'; limit: number; measured: Spread; met: boolean }

/** The payers' work are confirms and cancels; purchases only prepare them. */
export function workOf({ subject, measured }: Pick<Taken, 'subject' | 'measured'>): number {
  return (subject === 'payers' ? measured.settled : measured.done.count) / measured.seconds
}

/** The best peak of each round. */
export function bestOf(taken: Taken[]): Taken[] {
  const groups = Map.groupBy(taken, ({ round, subject, phase }) => `${round} ${subject} ${phase}`)
  return [...groups.values()].flatMap((group) =>
    group.toSorted((left, right) => workOf(right) - workOf(left)).slice(0, 1),
  )
}

export function linesOf(taken: Taken[]): Line[] {
  const groups = Map.groupBy(bestOf(taken), ({ subject, phase }) => `${subject} ${phase}`)
  return [...groups.values()].map((group) => {
    const [{ subject, phase }] = group as [Taken]
    const over = (of: (each: Taken) => number) => spreadOf(group.map(of)) as Spread
    const refusing = group.filter(({ measured }) => measured.refused.count > 0)
    return {
      subject,
      phase,
      connections: [...new Set(group.map(({ connections }) => connections))],
      work: over(workOf),
      refused: over(({ measured }) => measured.refused.count / measured.seconds),
      workP50Ms: over(({ measured }) => measured.done.p50Ms),
      workP99Ms: over(({ measured }) => measured.done.p99Ms),
      refusedP50Ms: spreadOf(refusing.map(({ measured }) => measured.refused.p50Ms)),
      refusedP99Ms: spreadOf(refusing.map(({ measured }) => measured.refused.p99Ms)),
    }
  })
}

export const keptShare = 0.9

/** The phase that each is compared with. */
const against: Partial<Record<Phase, Phase>> = { polite: 'peak', rude: 'peak', crowded: 'calm' }

/** By the median; refusals of payers by the most of any round. */
export function judge(taken: Taken[]): Judged[] {
  const best = bestOf(taken)
  const pairs = best.flatMap((each) => {
    const beside = best.find(
      ({ round, subject, phase }) => round === each.round && subject === each.subject && phase === against[each.phase],
    )
    return beside ? [{ ...each, ratio: workOf(each) / workOf(beside) }] : []
  })
  const groups = Map.groupBy(pairs, ({ subject, phase }) => `${subject}, ${phase}: work to its ${against[phase]}`)
  const kept = [...groups].map(([name, group]): Judged => {
    const measured = spreadOf(group.map(({ ratio }) => ratio)) as Spread
    return { name, bound: 'at least', limit: keptShare, measured, met: measured.median >= keptShare }
  })
  const refusals = spreadOf(
    best.filter(({ phase }) => phase === 'crowded').map(({ measured }) => measured.settlesRefused),
  )
  if (!refusals) return kept
  const name = 'payers, crowded: confirms and cancels refused'
  return [...kept, { name, bound: 'at most', limit: 0, measured: refusals, met: refusals.most === 0 }]
}
