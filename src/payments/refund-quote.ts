// What a refund would do, for the person who is asked before it: read from the books and from the gateway, nothing changed.
// Between the question and the answer the customer may spend; what is taken then is what is left then.
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
  /** KRW; null: not known. */
  backToTheCard: number | null
  /** What the gateway says instead. */
  gatewayCode: string | null
  creditsOfTheOrder: number
  creditsTakenBack: number
  /** What the customer keeps, because it is spent or set aside. */
  shortfall: number
}

/** Undefined where nothing would be moved: there is no such order, it is not CONFIRMED, or something on it is open. */
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

/** What the gateway says of another order or amount is not repeated to whoever decides by it. */
function backTo(order: Order, sighting: Sighting): Pick<RefundQuote, 'backToTheCard' | 'gatewayCode'> {
  const unknown = (gatewayCode: string) => ({ backToTheCard: null, gatewayCode })
  // Of a payment that it does not have: as it says so itself.
  if (sighting.kind === 'absent') return unknown('NOT_FOUND_PAYMENT')
  if (sighting.kind === 'unknown') return unknown(sighting.code)
  if (!isFor(order, sighting)) return unknown('PAYMENT_DIFFERS')
  return { backToTheCard: sighting.balance, gatewayCode: null }
}
