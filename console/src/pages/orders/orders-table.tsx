// A table of orders, of all customers or of one.
import type { ReactNode } from 'react'
import type { Data } from '../../api/client.ts'
import type { Pages } from '../../api/hooks.ts'
import { Credits, Won } from '../../format/amounts.tsx'
import { Id } from '../../format/id.tsx'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'

export type OrderRow = Data<'orders'>['orders'][number]
export type OrderStatus = OrderRow['status']

type Props = { caption: string; pages: Pages<OrderRow>; empty: ReactNode; withCustomer: boolean }

export function OrdersTable({ caption, pages, empty, withCustomer }: Props) {
  const { orders } = useWords()
  const { columns: headers } = orders
  const customer: Column<OrderRow> = {
    header: headers.customer,
    cell: ({ customerName }) => customerName ?? orders.nameless,
  }
  const columns: Column<OrderRow>[] = [
    { header: headers.order, cell: ({ orderId }) => <Id value={orderId} short /> },
    { header: headers.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(withCustomer ? [customer] : []),
    { header: headers.package, cell: ({ packageType }) => packageType },
    { header: headers.amount, align: 'right', cell: ({ amount }) => <Won value={amount} /> },
    { header: headers.credits, align: 'right', cell: ({ credits }) => <Credits value={credits} /> },
    { header: headers.status, cell: ({ status }) => <StatusBadge status={status} /> },
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
