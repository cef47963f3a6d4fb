// Payments and refunds of a span of days, with their sum: the list behind the figures of Home. A row links to the order.
import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import type { Data } from '../../api/client.ts'
import { usePages } from '../../api/hooks.ts'
import { Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { useWords } from '../../words/words.tsx'

type Payment = Data<'payments'>['payments'][number]

const groups = ['paid', 'refunded', 'failed'] as const satisfies Payment['group'][]

export function Payments() {
  const { books, orders } = useWords()
  const { payments: words } = books
  const { number, won } = useFormats()
  const chosen = useSpan()
  const [group, setGroup] = useQueryState<Payment['group'] | ''>('group', groups, '')
  const pages = usePages('payments', { query: { ...chosen.span, ...(group && { group }) } }, (data) => data.payments)
  const matched = pages.first?.matched
  const columns: Column<Payment>[] = [
    { header: words.time, place: 'line', cell: ({ closedAt }) => <Time at={closedAt} /> },
    {
      header: words.kind,
      place: 'badge',
      cell: ({ group, kind }) => (group === 'failed' ? words.groups.failed : words.kinds[kind]),
    },
    { header: words.order, place: 'title', cell: ({ orderId }) => <Id value={orderId} short /> },
    { header: words.customer, place: 'line', cell: ({ customerName }) => customerName ?? orders.nameless },
    { header: words.amount, align: 'right', place: 'amount', cell: ({ amount }) => <Won value={amount} /> },
    { header: words.credits, align: 'right', place: 'folded', cell: ({ credits }) => number(credits) },
  ]
  return (
    <Stack gap="md">
      <Text c="dimmed">{words.intro}</Text>
      <SpanChooser chosen={chosen} />
      <NativeSelect
        label={words.kind}
        value={group}
        onChange={(event) => setGroup(event.currentTarget.value as Payment['group'] | '')}
        data={[
          { value: '', label: words.paidAndRefunded },
          ...groups.map((value) => ({ value, label: words.groups[value] })),
        ]}
        w={{ base: '100%', xs: 240 }}
      />
      <Group justify="space-between" align="flex-start">
        <Text role="status" fw={600}>
          {matched ? words.sum(number(matched.count), won(matched.amount)) : ''}
        </Text>
        <SaveCsv name="payments" query={chosen.span} disabled={chosen.fault !== null} />
      </Group>
      <DataTable
        caption={words.caption}
        columns={columns}
        rows={pages.rows}
        pages={pages}
        keyOf={({ operationId }) => operationId}
        linkOf={({ orderId }) => `/orders/${orderId}`}
        empty={words.empty}
      />
    </Stack>
  )
}
