// All orders, newest first, filtered by status and customer. The filter is in the URL.
import { Group, NativeSelect, Stack } from '@mantine/core'
import { usePages } from '../../api/hooks.ts'
import { useQueryState } from '../../parts/query-state.ts'
import { PageHeader } from '../../shell/page-header.tsx'
import { useWords } from '../../words/words.tsx'
import { CustomerFilter } from './customer-filter.tsx'
import { type OrderStatus, OrdersTable } from './orders-table.tsx'

const statuses = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const satisfies OrderStatus[]

export function OrdersPage() {
  const { orders, common } = useWords()
  const [status, setStatus] = useQueryState<OrderStatus | ''>('status', statuses, '')
  const [customerId, setCustomerId] = useQueryState<string>('customerId', null, '')
  const query = { ...(status && { status }), ...(customerId && { customerId }) }
  const pages = usePages('orders', { query }, (data) => data.orders)
  const isFiltered = status !== '' || customerId !== ''
  return (
    <>
      <PageHeader title={orders.title} />
      <Stack gap="md">
        <Group align="flex-start" gap="md" role="search" aria-label={orders.title}>
          <NativeSelect
            label={orders.filters.status}
            value={status}
            onChange={(event) => setStatus(event.currentTarget.value as OrderStatus | '')}
            data={[
              { value: '', label: orders.filters.everyStatus },
              ...statuses.map((value) => ({ value, label: common.statuses[value] })),
            ]}
            w={{ base: '100%', xs: 200 }}
          />
          <CustomerFilter value={customerId} onChange={setCustomerId} />
        </Group>
        <OrdersTable
          caption={orders.caption}
          pages={pages}
          withCustomer
          empty={pages.hasMore ? orders.lookedThrough : isFiltered ? orders.none : orders.noneYet}
        />
      </Stack>
    </>
  )
}
