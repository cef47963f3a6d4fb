// What a refund would do, for the operator to confirm: read from the books and the gateway, nothing is changed. The customer
// may spend between quote and refund; the refund takes the credits that are left then.
import type { Sighting } from '../gateway/gateway.ts'
import type { PaymentContext } from './context.ts'
import { findCancelSubject } from './operations/begin.sql.ts'
import { findOrderKeys, type Order } from './orders.sql.ts'
import { findReviewSubject } from './recovery/review.sql.ts'
import { isFor } from './recovery/review.ts'
import { refundBlockOf } from './refusals.ts'

export type RefundQuote = {
  orderId: string
  customerId: string
  packageType: string
  /** KRW. */
  paid: number
  /** KRW; null: not known, `gatewayCode` gives the reason. */
  backToTheCard: number | null
  gatewayCode: string | null
  creditsOfTheOrder: number
  creditsTakenBack: number
  /** Credits that cannot be taken back, because they are spent or held. */
  shortfall: number
}

/** Undefined when the order cannot be refunded now: see refundBlockOf; or there is no such order. */
export async function quoteRefund(context: PaymentContext, orderId: string): Promise<RefundQuote | undefined> {
  const { database, gateway } = context
  const key = (await findOrderKeys(database, [orderId])).get(orderId)
  const subject = key && (await findReviewSubject(database, key))
  if (!key || !subject?.paymentKey || refundBlockOf(subject.order.status, subject.open)) return undefined
  const { customerId } = key
  const { paymentKey, order } = subject
  const [books, sighting] = await Promise.all([
    findCancelSubject(database, { customerId, paymentKey }),
    gateway.look(paymentKey),
  ])
  const creditsTakenBack = Math.min(order.credits, books?.available ?? 0)
  return {
    orderId,
    customerId,
    packageType: order.packageType,
    paid: order.amount,
    ...backTo(order, sighting),
    creditsOfTheOrder: order.credits,
    creditsTakenBack,
    shortfall: order.credits - creditsTakenBack,
  }
}

/** If the gateway's payment is for another order or amount, its balance is not shown. */
function backTo(order: Order, sighting: Sighting): Pick<RefundQuote, 'backToTheCard' | 'gatewayCode'> {
  const unknown = (gatewayCode: string) => ({ backToTheCard: null, gatewayCode })
  // The gateway's own code for a payment that it does not have.
  if (sighting.kind === 'absent') return unknown('NOT_FOUND_PAYMENT')
  if (sighting.kind === 'unknown') return unknown(sighting.code)
  if (!isFor(order, sighting)) return unknown('PAYMENT_DIFFERS')
  return { backToTheCard: sighting.balance, gatewayCode: null }
}
