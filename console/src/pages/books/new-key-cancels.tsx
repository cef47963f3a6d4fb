// Cancels with an API key younger than a day, newest first; a row links to the order.
import { Stack, Text } from '@mantine/core'
import type { Data } from '../../api/client.ts'
import { usePages } from '../../api/hooks.ts'
import { Won } from '../../format/amounts.tsx'
import { Id } from '../../format/id.tsx'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Age, Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'

type Cancel = Data<'newKeyCancels'>['cancels'][number]

const tones: Record<Cancel['state'], Tone> = { OPEN: 'waiting', APPROVED: 'over', REJECTED: 'bad' }

export function NewKeyCancels() {
  const { books, orders } = useWords()
  const { newKeyCancels: words } = books
  const pages = usePages('newKeyCancels', {}, (data) => data.cancels)
  const columns: Column<Cancel>[] = [
    { header: words.order, cell: ({ orderId }) => <Id value={orderId} short /> },
    { header: words.customer, cell: ({ customerName }) => customerName ?? orders.nameless },
    { header: words.key, cell: ({ lastFour }) => <code>{`…${lastFour}`}</code> },
    { header: words.keyAge, align: 'right', cell: ({ keyAgeSeconds }) => <Age seconds={keyAgeSeconds} /> },
    { header: words.amount, align: 'right', cell: ({ amount }) => <Won value={amount} /> },
    { header: words.begun, cell: ({ openedAt }) => <Time at={openedAt} /> },
    {
      header: words.state,
      cell: ({ state }) => <StatusBadge status={state} label={words.states[state]} tone={tones[state]} />,
    },
  ]
  return (
    <Stack gap="md">
      <Text c="dimmed">{words.intro}</Text>
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
