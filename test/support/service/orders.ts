// Orders in each state of section 3, brought there as in production: by requests, by the gateway's refusal, or, for REFUNDED,
// by the operator.
import assert from 'node:assert/strict'
import type { OrderStatus } from '../../../src/payments/kinds.ts'
import type { PackageType } from '../../../src/payments/packages.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { assertRefused, assertSuccess, type TestCustomer, type TestService } from './service.ts'

export async function orderInState(
  service: TestService,
  customer: TestCustomer,
  status: OrderStatus,
  packageType: PackageType = 'STANDARD',
) {
  const order = await customer.paidOrder(packageType, status === 'FAILED' ? 'decline' : 'approve')
  if (status === 'FAILED') assertRefused(await order.confirm(), 'VAL003')
  else if (status !== 'PENDING') assertSuccess(await order.confirm(), 200)
  if (status === 'CANCELLED') assertSuccess(await customer.cancel(order.paymentKey), 200)
  if (status === 'REFUNDED') await refund(service.payments, { orderId: order.orderId, reason: 'the platform says so' })
  assert.equal(await customer.status(order.orderId), status)
  return order
}

/** The movements of a customer's balance, oldest first; a hold does not change it. */
export async function movements(service: TestService, customerId: string): Promise<string[]> {
  const rows = await service.database.query<{ kind: string; delta: number }>(
    'select kind, delta from ledger_entries where customer_id = $1 and delta <> 0 order by entry_number',
    [customerId],
  )
  return rows.map(({ kind, delta }) => `${kind} ${delta}`)
}

export async function spend(service: TestService, customerId: string, credits: number): Promise<boolean> {
  const { spent } = await service.payments.credits.spend({
    customerId,
    credits,
    reference: crypto.randomUUID(),
    serviceId: 'svc_test',
  })
  return spent > 0
}

/** The number of gateway calls so far. */
export function totalCalls({ calls }: TestService): number {
  return Object.values(calls).reduce((sum, times) => sum + times, 0)
}
