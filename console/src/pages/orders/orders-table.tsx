// A table of orders, of all customers or of one.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Data } from '../../api/client.ts'
import type { Pages } from '../../api/hooks.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import type { Sort } from '../../parts/sort.ts'
import { useWords } from '../../words/words.tsx'

export type OrderRow = Data<'orders'>['orders'][number]
export type OrderStatus = OrderRow['status']

type Props = {
  caption: string
  pages: Pages<OrderRow>
  empty: ReactNode
  withCustomer: boolean
  /** For a list that can be sorted. */
  sortOf?(by: 'newest' | 'highest'): Sort
}

export function OrdersTable({ caption, pages, empty, withCustomer, sortOf }: Props) {
  const { orders } = useWords()
  const { columns: headers } = orders
  const customer: Column<OrderRow> = {
    header: headers.customer,
    place: 'line',
    cell: ({ customerName }) => customerName ?? orders.nameless,
  }
  const columns: Column<OrderRow>[] = [
    { header: headers.order, place: 'title', cell: ({ orderId }) => <Id value={orderId} short /> },
    {
      header: headers.created,
      place: 'line',
      ...(sortOf && { sort: sortOf('newest') }),
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    ...(withCustomer ? [customer] : []),
    { header: headers.package, place: 'line', cell: ({ packageType }) => packageType },
    {
      header: headers.amount,
      align: 'right',
      place: 'amount',
      ...(sortOf && { sort: sortOf('highest') }),
      cell: ({ amount }) => <Won value={amount} />,
    },
    { header: headers.credits, align: 'right', place: 'folded', cell: ({ credits }) => <Credits value={credits} /> },
    {
      header: headers.status,
      place: 'badge',
      cell: ({ status, failure }) => <StatusBadge status={status} failure={failure?.reason ?? null} />,
    },
    { header: headers.failure, place: 'line', cell: (row) => <Reason row={row} /> },
  ]
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={pages.rows}
      keyOf={({ orderId }) => orderId}
      linkOf={({ orderId }) => `/orders/${encodeURIComponent(orderId)}`}
      pages={pages}
      empty={empty}
    />
  )
}

/** Why it failed, that its outcome is not known yet, or what of a confirmed order was cancelled at the gateway. */
function Reason({ row: { status, failure, openOperation, refundedAmount } }: { row: OrderRow }) {
  const { orders } = useWords()
  const { won } = useFormats()
  const partly = status === 'CONFIRMED' && refundedAmount !== null && orders.partlyCancelled(won(refundedAmount))
  const text = failure ? orders.failures[failure.reason].label : openOperation ? orders.inProgress : partly
  return text ? (
    <Text span inherit size="sm">
      {text}
    </Text>
  ) : null
}
