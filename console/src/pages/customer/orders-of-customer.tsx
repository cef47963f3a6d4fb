// The orders of one customer, newest first.
import { Anchor, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { usePages } from '../../api/hooks.ts'
import { useWords } from '../../words/words.tsx'
import { OrdersTable } from '../orders/orders-table.tsx'

export function OrdersOfCustomer({ customerId }: { customerId: string }) {
  const { orders } = useWords().customers
  const pages = usePages('orders', { query: { customerId } }, (data) => data.orders)
  return (
    <Stack gap="sm">
      <Anchor component={Link} href={`/orders?customerId=${customerId}`} size="sm">
        {orders.all}
      </Anchor>
      <OrdersTable caption={orders.caption} pages={pages} empty={orders.none} withCustomer={false} />
    </Stack>
  )
}
