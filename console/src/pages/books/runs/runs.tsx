// All reconciliation runs, newest first; a row links to its result.
import { Stack, Text } from '@mantine/core'
import { usePages } from '../../../api/hooks.ts'
import { Won } from '../../../format/amounts.tsx'
import { Time } from '../../../format/time.tsx'
import { type Column, DataTable } from '../../../parts/data-table.tsx'
import { useWords } from '../../../words/words.tsx'
import { differenceOf, reviewedOf } from './run-figures.ts'
import { type ListedRun, pollEveryMs, RunBy, RunSpan, RunState } from './run-parts.tsx'

/** Including runs that other operators have started. */
const areAllFinished = (runs: ListedRun[]) => runs.every(({ state }) => state !== 'under way')

export function Runs() {
  const { books } = useWords()
  const pages = usePages('runs', {}, (data) => data.runs, { refetchMs: pollEveryMs, until: areAllFinished })
  const columns: Column<ListedRun>[] = [
    { header: books.runs.started, place: 'folded', cell: ({ startedAt }) => <Time at={startedAt} /> },
    { header: books.runs.span, place: 'title', cell: (run) => <RunSpan run={run} /> },
    { header: books.runs.cause, place: 'line', cell: (run) => <RunBy run={run} /> },
    { header: books.runs.state, place: 'badge', cell: (run) => <RunState run={run} /> },
    { header: books.runs.movements, place: 'folded', align: 'right', cell: ({ result }) => result?.movements ?? '–' },
    { header: books.runs.reviewed, place: 'folded', align: 'right', cell: ({ result }) => reviewedOf(result) ?? '–' },
    {
      header: books.runs.difference,
      place: 'amount',
      align: 'right',
      cell: ({ result }) => (result ? <Won value={differenceOf(result)} /> : '–'),
    },
  ]
  return (
    <Stack gap="md">
      <Text c="dimmed">{books.runs.intro}</Text>
      <DataTable
        caption={books.runs.caption}
        columns={columns}
        rows={pages.rows}
        pages={pages}
        keyOf={(run) => run.reconciliationId}
        linkOf={(run) => `/books/runs/${run.reconciliationId}`}
        empty={books.runs.empty}
      />
    </Stack>
  )
}
