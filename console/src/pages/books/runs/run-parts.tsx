// Shared by the list of runs, the page of a run and the notice about a run.
import { Text } from '@mantine/core'
import { koreanDayOf } from '../../../../../src/core/korean-days.ts'
import { useEndpoint } from '../../../api/hooks.ts'
import { useFormats } from '../../../format/formats.ts'
import { StatusBadge, type Tone } from '../../../format/status-badge.tsx'
import { useWords } from '../../../words/words.tsx'
import type { Run } from './run-figures.ts'

/** A row of the list has no bridge. */
export type ListedRun = Omit<Run, 'bridge'>
type Outcome = NonNullable<Run['outcome']>

const tones: Record<Run['state'], Tone> = { 'under way': 'calm', finished: 'good', interrupted: 'bad' }
const outcomeTones: Record<Outcome, Tone> = { agrees: 'good', repaired: 'good', explained: 'good', differs: 'bad' }
export const pollEveryMs = 1_000

/** Polls until the run has ended. */
export function useRun(reconciliationId: string) {
  const until = (run: Run) => run.state !== 'under way'
  return useEndpoint('run', { params: { reconciliationId } }, { refetchMs: pollEveryMs, until })
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
