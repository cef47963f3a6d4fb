// What a refund would do, for the person who is asked before it: read from the books and from the gateway, nothing changed.
// Between the question and the answer the customer may spend; what is taken then is what is left then.
import { findCancelSubject } from './begin-sql.ts'
import type { PaymentContext } from './context.ts'
import { findOrderKeys } from './order-sql.ts'
import { findReviewSubject } from './review-sql.ts'

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
  if (!key || !subject?.paymentKey || subject.order.status !== 'CONFIRMED' || subject.open) return undefined
  const { customerId } = key
  const { paymentKey, order } = subject
  const [books, sighting] = await Promise.all([
    findCancelSubject(database, { customerId, paymentKey }),
    gateway.look(paymentKey),
  ])
  const creditsTakenBack = Math.min(order.credits, books?.available ?? 0)
  return {
    ...{ orderId, customerId, packageType: order.packageType, paid: order.amount },
    backToTheCard: sighting.kind === 'payment' ? sighting.balance : null,
    gatewayCode: sighting.kind === 'payment' ? null : codeOf(sighting),
    ...{ creditsOfTheOrder: order.credits, creditsTakenBack, shortfall: order.credits - creditsTakenBack },
  }
}

/** Of a payment that it does not have: as it says so itself. */
function codeOf(sighting: { kind: 'absent' } | { kind: 'unknown'; code: string }): string {
  return sighting.kind === 'absent' ? 'NOT_FOUND_PAYMENT' : sighting.code
}
