// What a refund would do, shown to the operator before it: read from our books and from the gateway, without changes. The
// customer may spend between the quote and the refund; the refund takes what is left then.
import type { FetchedPayment } from '../gateway/gateway.ts'
import type { PaymentContext } from './context.ts'
import { findOrderForCancel, findOrderForReview } from './operations/read.sql.ts'
import { findOrderKeys, type Order } from './orders.sql.ts'
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
  /** Why it is not known. */
  gatewayCode: string | null
  creditsOfTheOrder: number
  creditsTakenBack: number
  /** Credits that are spent or on hold and cannot be taken back. */
  shortfall: number
}

/** Undefined when the order cannot be refunded now (refundBlockOf), or does not exist. */
export async function quoteRefund(context: PaymentContext, orderId: string): Promise<RefundQuote | undefined> {
  const { database, gateway } = context
  const key = (await findOrderKeys(database, [orderId])).get(orderId)
  const found = key && (await findOrderForReview(database, key))
  if (!key || !found?.paymentKey || refundBlockOf(found.order.status, found.openOperation)) return undefined
  const { customerId } = key
  const { paymentKey, order } = found
  const [books, fetched] = await Promise.all([
    findOrderForCancel(database, { customerId, paymentKey }),
    gateway.fetchPayment(paymentKey),
  ])
  const creditsTakenBack = Math.min(order.credits, books?.available ?? 0)
  return {
    orderId,
    customerId,
    packageType: order.packageType,
    paid: order.amount,
    ...backTo(order, fetched),
    creditsOfTheOrder: order.credits,
    creditsTakenBack,
    shortfall: order.credits - creditsTakenBack,
  }
}

/** A payment of another order or amount is not shown to the operator who decides by it. */
function backTo(order: Order, fetched: FetchedPayment): Pick<RefundQuote, 'backToTheCard' | 'gatewayCode'> {
  const unknown = (gatewayCode: string) => ({ backToTheCard: null, gatewayCode })
  // The gateway's own code for a payment that it does not have.
  if (fetched.kind === 'absent') return unknown('NOT_FOUND_PAYMENT')
  if (fetched.kind === 'unknown') return unknown(fetched.code)
  if (!isFor(order, fetched)) return unknown('PAYMENT_DIFFERS')
  return { backToTheCard: fetched.balance, gatewayCode: null }
}
