// The lots of a customer: what is left of each order that granted credits, newest first.
import { Stack, Text } from '@mantine/core'
import type { Data } from '../../api/client.ts'
import { usePages } from '../../api/hooks.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { Id } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'

type Lot = Data<'lots'>['lots'][number]

const amounts = ['credits', 'used', 'held', 'unused', 'takenBack'] as const satisfies (keyof Lot)[]

export function Lots({ customerId }: { customerId: string }) {
  const { lots: words } = useWords().customers
  const { columns: headers } = words
  const pages = usePages('lots', { params: { customerId } }, (data) => data.lots)
  const columns: Column<Lot>[] = [
    { header: headers.order, place: 'title', cell: ({ orderId }) => <Id value={orderId} short /> },
    { header: headers.bought, place: 'line', cell: ({ grantedAt }) => <Time at={grantedAt} /> },
    ...amounts.map(
      (name): Column<Lot> => ({
        header: headers[name],
        align: 'right',
        cell: (lot) => <Credits value={lot[name]} />,
      }),
    ),
    { header: headers.value, place: 'amount', align: 'right', cell: ({ value }) => <Won value={value} /> },
  ]
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {words.intro}
      </Text>
      <DataTable
        caption={words.caption}
        columns={columns}
        rows={pages.rows}
        keyOf={({ orderId }) => orderId}
        linkOf={({ orderId }) => `/orders/${orderId}`}
        pages={pages}
        empty={words.none}
      />
    </Stack>
  )
}
