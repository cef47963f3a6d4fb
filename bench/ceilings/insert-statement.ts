// The plain insert of an order: the least that a purchase has to write before its answer.
import { packageOf } from '../../src/payments/packages.ts'

/** The columns the service writes; customer and order are SQL expressions. */
export function insertOrderText({ customerId, orderId }: { customerId: string; orderId: string }): string {
  const { price, credits } = packageOf('BASIC')
  return (
    'insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key) ' +
    `values (${customerId}, ${orderId}, 'BASIC', 'CARD', ${price}, ${credits}, null)`
  )
}
