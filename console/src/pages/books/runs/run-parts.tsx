// Shared by the list of runs, the page of a run and the notice about a run.
import { Text } from '@mantine/core'
import type { Data } from '../../../../../src/console/contract.ts'
import { koreanDayOf } from '../../../../../src/core/korean-days.ts'
import { useEndpoint } from '../../../api/hooks.ts'
import { useFormats } from '../../../format/formats.ts'
import { StatusBadge, type Tone } from '../../../format/status-badge.tsx'
import { useWords } from '../../../words/words.tsx'

export type Run = Data<'run'>
export type Result = NonNullable<Run['result']>

/** A row of the list has no bridge. */
export type ListedRun = Omit<Run, 'bridge'>
type Outcome = NonNullable<Run['outcome']>

const tones: Record<Run['state'], Tone> = { 'under way': 'calm', finished: 'good', interrupted: 'bad' }
const outcomeTones: Record<Outcome, Tone> = { agrees: 'good', repaired: 'good', differs: 'bad' }
export const pollEveryMs = 1_000

/** Polls until the run has ended. */
export function useRun(reconciliationId: string) {
  const until = (run: Run) => run.state !== 'under way'
  return useEndpoint('run', { params: { reconciliationId } }, { refetchMs: pollEveryMs, until })
}

export function gatewayNetOf({ captured, cancelled }: Result): number {
  return captured - cancelled
}

/** What our books have, matched or not confirmed by the gateway. */
export function booksNetOf(result: Result): number {
  const { bookedCaptured, bookedCancelled, missingCaptured = 0, missingCancelled = 0 } = result
  return bookedCaptured + missingCaptured - bookedCancelled - missingCancelled
}

/** KRW. */
export function differenceOf(result: Result): number {
  return gatewayNetOf(result) - booksNetOf(result)
}

/** The discrepancies that the run has found or seen again. */
export function discrepanciesOf({ bridge, result }: Pick<Run, 'bridge' | 'result'>): number {
  const ids = new Set(bridge?.lines.flatMap(({ discrepancyId }) => discrepancyId ?? []))
  return ids.size + (result?.notListed ?? 0)
}

export function reviewedOf(result: Result | null): number | null {
  return result && Object.values(result.reviewed).reduce((sum, count) => sum + count, 0)
}

/** A finished run is shown by its result. */
export function RunState({ run: { state, outcome } }: { run: ListedRun }) {
  const { books } = useWords()
  return outcome ? (
    <StatusBadge status={outcome} label={books.days.states[outcome]} tone={outcomeTones[outcome]} />
  ) : (
    <StatusBadge status={state} label={books.runs.states[state]} tone={tones[state]} />
  )
}

const commandLine = /^(.*) on the command line$/

/** Who ran it: the worker, the name of an operator, or who typed the command. */
export function RunBy({ run: { cause, requestedBy } }: { run: ListedRun }) {
  const { runs } = useWords().books
  if (requestedBy === null) return runs.causes[cause]
  const [, typedBy] = commandLine.exec(requestedBy) ?? []
  return typedBy ? runs.onCommandLine(typedBy) : requestedBy
}

/** The days in Korea that a period touches. */
export function RunSpan({ run }: { run: Pick<Run, 'from' | 'to'> }) {
  const { day } = useFormats()
  return (
    <Text span style={{ whiteSpace: 'nowrap' }}>
      {daysOf(run, day)}
    </Text>
  )
}

export function daysOf({ from, to }: Pick<Run, 'from' | 'to'>, dayText: (day: string) => string): string {
  const [first, last] = [koreanDayOf(new Date(from)), koreanDayOf(new Date(to))]
  return first === last ? dayText(first) : `${dayText(first)} – ${dayText(last)}`
}
