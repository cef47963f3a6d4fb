// A notice about a run that was started here, until it has ended.
import { Alert, Anchor, Loader } from '@mantine/core'
import { useEffect, useEffectEvent } from 'react'
import { Link } from 'wouter'
import { useRefresh } from '../../../api/hooks.ts'
import { affectedByRun } from '../../../api/refreshes.ts'
import { useFormats } from '../../../format/formats.ts'
import { Problem } from '../../../parts/problem.tsx'
import { useWords } from '../../../words/words.tsx'
import { differenceOf, discrepanciesOf } from './run-figures.ts'
import { useRun } from './run-parts.tsx'

type Props = { day: string; reconciliationId: string; onClose(): void }

const colours = {
  'under way': 'blue',
  interrupted: 'red',
  finished: 'teal',
  agrees: 'teal',
  repaired: 'teal',
  explained: 'teal',
  differs: 'red',
} as const

export function RunProgress({ day, reconciliationId, onClose }: Props) {
  const { books } = useWords()
  const { won } = useFormats()
  const { data, error, refetch } = useRun(reconciliationId)
  const refresh = useEffectEvent(useRefresh())
  const state = data?.state ?? 'under way'
  useEffect(() => {
    if (state === 'under way') return
    void refresh(affectedByRun)
  }, [state])
  const { following } = books
  const texts = {
    'under way': () => following.started(day),
    interrupted: () => following.interrupted(day),
    finished: () => following.agrees(day),
    agrees: () => following.agrees(day),
    repaired: () => following.repaired(day),
    explained: () => (data?.result ? following.explained(day, won(differenceOf(data.result))) : ''),
    differs: () => (data?.result ? following.differs(day, won(differenceOf(data.result)), discrepanciesOf(data)) : ''),
  }
  const shown = data?.outcome ?? state
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  return (
    <Alert
      role="status"
      color={colours[shown]}
      icon={state === 'under way' ? <Loader size="xs" /> : undefined}
      withCloseButton
      closeButtonLabel={books.following.close}
      onClose={onClose}
    >
      {texts[shown]()}{' '}
      <Anchor component={Link} href={`/books/runs/${reconciliationId}`}>
        {books.days.run}
      </Anchor>
    </Alert>
  )
}
