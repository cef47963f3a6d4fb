// Shared by the list of runs, the page of a run and the notice about a run.
import { Text } from '@mantine/core'
import type { Data } from '../../../../../src/console/contract.ts'
import { koreanDayOf } from '../../../../../src/core/korean-days.ts'
import { useEndpoint } from '../../../api/hooks.ts'
import { StatusBadge, type Tone } from '../../../format/status-badge.tsx'
import { Day } from '../../../format/time.tsx'
import { useWords } from '../../../words/words.tsx'

export type Run = Data<'run'>
export type Result = NonNullable<Run['result']>

const tones: Record<Run['state'], Tone> = { 'under way': 'calm', finished: 'good', interrupted: 'bad' }
export const pollEveryMs = 1_000

/** Polls until the run has ended. */
export function useRun(reconciliationId: string) {
  const until = (run: Run) => run.state !== 'under way'
  return useEndpoint('run', { params: { reconciliationId } }, { refetchMs: pollEveryMs, until })
}

/** KRW: net of the gateway, less what our books have, matched or not confirmed by the gateway. */
export function differenceOf(result: Result): number {
  const { captured, cancelled, bookedCaptured, bookedCancelled, missingCaptured = 0, missingCancelled = 0 } = result
  return captured - cancelled - (bookedCaptured + missingCaptured - bookedCancelled - missingCancelled)
}

export function reviewedOf(result: Result | null): number | null {
  return result && Object.values(result.reviewed).reduce((sum, count) => sum + count, 0)
}

export function RunState({ state }: { state: Run['state'] }) {
  const { books } = useWords()
  return <StatusBadge status={state} label={books.runs.states[state]} tone={tones[state]} />
}

/** The days in Korea that a period touches. */
export function RunSpan({ run: { from, to } }: { run: Pick<Run, 'from' | 'to'> }) {
  const [first, last] = [koreanDayOf(new Date(from)), koreanDayOf(new Date(to))]
  return (
    <Text span style={{ whiteSpace: 'nowrap' }}>
      <Day day={first} />
      {first !== last && (
        <>
          {' – '}
          <Day day={last} />
        </>
      )}
    </Text>
  )
}
