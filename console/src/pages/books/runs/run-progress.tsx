// A notice about a run that was started here, until it has ended.
import { Alert, Anchor, Loader } from '@mantine/core'
import { useEffect, useEffectEvent } from 'react'
import { Link } from 'wouter'
import { useRefresh } from '../../../api/hooks.ts'
import { affectedByRun } from '../../../api/refreshes.ts'
import { Problem } from '../../../parts/problem.tsx'
import { useWords } from '../../../words/words.tsx'
import { useRun } from './run-parts.tsx'

type Props = { day: string; reconciliationId: string; onClose(): void }

const colours = { 'under way': 'blue', finished: 'teal', interrupted: 'red' } as const

export function RunProgress({ day, reconciliationId, onClose }: Props) {
  const { books } = useWords()
  const { data, error, refetch } = useRun(reconciliationId)
  const refresh = useEffectEvent(useRefresh())
  const state = data?.state ?? 'under way'
  useEffect(() => {
    if (state === 'under way') return
    void refresh(affectedByRun)
  }, [state])
  const texts = {
    'under way': books.following.started,
    finished: books.following.finished,
    interrupted: books.following.interrupted,
  }
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  return (
    <Alert
      role="status"
      color={colours[state]}
      icon={state === 'under way' ? <Loader size="xs" /> : undefined}
      withCloseButton
      closeButtonLabel={books.following.close}
      onClose={onClose}
    >
      {texts[state](day)}{' '}
      <Anchor component={Link} href={`/books/runs/${reconciliationId}`}>
        {books.days.run}
      </Anchor>
    </Alert>
  )
}
