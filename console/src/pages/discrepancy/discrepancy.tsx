// One discrepancy: its meaning, both sides, the actions that are possible now, its timeline, and other discrepancies of the same
// order or payment with what was said of them.
import { Anchor, Stack, Title } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { discrepancyText, resolutionText } from '../order/timeline/moment-text.ts'
import { Timeline } from '../order/timeline/timeline.tsx'
import { Actions } from './actions.tsx'
import { Headline } from './headline.tsx'
import { Sides } from './sides.tsx'

/** Shows what the worker or another operator does meanwhile. */
const refetchMs = 15_000

export function DiscrepancyPage({ params: { discrepancyId = '' } }: { params: { discrepancyId?: string } }) {
  const words = useWords()
  const { discrepancy: own } = words
  const { won } = useFormats()
  const { data, error, refetch } = useEndpoint('discrepancy', { params: { discrepancyId } }, { refetchMs })
  function tabOf({ kind, amount, customerName }: Data<'discrepancy'>['discrepancy']): string {
    const parts = [amount === null ? null : won(amount), customerName, discrepancyText(words, kind).name]
    return parts.filter((part) => part !== null).join(' · ')
  }
  return (
    <>
      <PageHeader
        title={data ? discrepancyText(words, data.discrepancy.kind).name : own.title}
        tab={data && tabOf(data.discrepancy)}
        detail={<Id value={discrepancyId} />}
        actions={
          <Anchor component={Link} href="/books?tab=discrepancies" size="sm">
            {own.back}
          </Anchor>
        }
      />
      <Stack gap="md">
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {data ? (
          <>
            <Headline discrepancy={data.discrepancy} order={data.order} />
            <Sides detail={data.discrepancy.detail} paymentUrl={data.paymentUrl} />
            <Actions discrepancy={data.discrepancy} order={data.order} actions={data.actions} />
            <Timeline moments={data.history} title={own.history} caption={own.historyCaption} />
            {data.others.length > 0 && <Others others={data.others} />}
          </>
        ) : (
          !error && <Waiting />
        )}
      </Stack>
    </>
  )
}

function Others({ others }: Pick<Data<'discrepancy'>, 'others'>) {
  const words = useWords()
  const { discrepancy: own, books } = words
  return (
    <section aria-labelledby="others">
      <Title order={2} size="h4" mb="xs" id="others">
        {own.others}
      </Title>
      <DataTable
        caption={own.others}
        rows={others}
        keyOf={(row) => row.discrepancyId}
        linkOf={(row) => `/books/discrepancies/${row.discrepancyId}`}
        columns={[
          { header: books.discrepancies.kind, cell: ({ kind }) => discrepancyText(words, kind).name },
          { header: books.discrepancies.found, cell: ({ foundAt }) => <Time at={foundAt} /> },
          { header: own.resolvedAt, cell: ({ resolvedAt }) => (resolvedAt ? <Time at={resolvedAt} /> : <Open />) },
          {
            header: books.discrepancies.resolution,
            cell: ({ resolution }) => (resolution ? resolutionText(words, resolution) : '–'),
          },
        ]}
      />
    </section>
  )
}

function Open() {
  const { books } = useWords()
  return <StatusBadge status="open" label={books.discrepancies.open} tone="bad" />
}
