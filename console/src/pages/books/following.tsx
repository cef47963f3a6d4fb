// Follows one comparison until it ends and says how, in a line above the days.
import { Alert, Anchor, Loader } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { EndpointName } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import { useWords } from '../../words/words.tsx'
import { useRun } from './run-parts.tsx'

type Props = { day: string; reconciliationId: string; onClose(): void }

const colours = { 'under way': 'blue', finished: 'teal', interrupted: 'red' } as const
const changed: EndpointName[] = ['days', 'runs', 'discrepancies', 'home']

export function Following({ day, reconciliationId, onClose }: Props) {
  const { books } = useWords()
  const { data, error, refetch } = useRun(reconciliationId)
  const queries = useQueryClient()
  const state = data?.state ?? 'under way'
  useEffect(() => {
    if (state === 'under way') return
    for (const name of changed) void queries.invalidateQueries({ queryKey: [name] })
  }, [state, queries])
  const says = {
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
      {says[state](day)}{' '}
      <Anchor component={Link} href={`/books/runs/${reconciliationId}`}>
        {books.days.run}
      </Anchor>
    </Alert>
  )
}
