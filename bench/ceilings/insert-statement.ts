// The plain insert of an order: the least that a purchase has to have written when it is answered, and no more than that.
import { packageOf } from '../../src/payments/packages.ts'

/** The columns the service writes, for a customer and an order as SQL tells them. */
export function insertOrderText({ customerId, orderId }: { customerId: string; orderId: string }): string {
  const { price, credits } = packageOf('BASIC')
  return (
    'insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key) ' +
    `values (${customerId}, ${orderId}, 'BASIC', 'CARD', ${price}, ${credits}, null)`
  )
}
