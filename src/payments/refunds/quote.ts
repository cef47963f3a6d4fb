// What a refund would do, shown before it: read from our books and from the gateway, without changes. A full refund takes what
// is left when it is made; a refund of the unused part does exactly what was quoted, or is refused.
import { assert } from '../../core/assert.ts'
import { Refusal } from '../../core/errors.ts'
import { findLot, isUndecided, type LotOfOrder } from '../../credits/lots/lots.sql.ts'
import type { FetchedPayment } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { findOrderForReview, type OrderForReview } from '../operations/read.sql.ts'
import { findOrderKeys, type Order, type OrderKey } from '../orders.sql.ts'
import { isFor } from '../recovery/review.ts'
import { orderNotFound, type RefundRefusal, refundBlockOf, refundRefusals } from '../refusals.ts'
import { type UnusedPart, unusedPartOf } from './rule.ts'

export type RefundQuote = {
  orderId: string
  customerId: string
  packageType: string
  /** KRW. */
  paid: number
  /** KRW of a full refund; null: not known, `gatewayCode` gives the reason. */
  backToTheCard: number | null
  /** Why it is not known. */
  gatewayCode: string | null
  creditsOfTheOrder: number
  creditsTakenBack: number
  /** Credits that are spent or on hold and cannot be taken back. */
  shortfall: number
  /** What a refund of the unused part would do; null: it would be refused because of `unusedRefusal`. */
  unused: UnusedPart | null
  unusedRefusal: RefundRefusal | null
}

/** Undefined when the order cannot be refunded now (refundBlockOf), or does not exist. */
export async function quoteRefund(context: PaymentContext, orderId: string): Promise<RefundQuote | undefined> {
  const key = (await findOrderKeys(context.database, [orderId])).get(orderId)
  const found = key && (await findOrderForReview(context.database, key))
  if (!key || !found || refundBlockOf(found.order.status, found.openOperation)) return undefined
  const { order } = found
  const sides = await readBothSides(context, found)
  const { lot, fetched } = sides
  const creditsLeft = order.credits - order.partsCredits
  const creditsTakenBack = Math.min(creditsLeft, lot.available)
  return {
    orderId,
    customerId: key.customerId,
    packageType: order.packageType,
    paid: order.amount,
    ...backTo(order, fetched),
    creditsOfTheOrder: order.credits,
    creditsTakenBack,
    shortfall: creditsLeft - creditsTakenBack,
    ...unusedOrRefusal(() => quoteRest(context, order, sides)),
  }
}

export type UnusedQuote = UnusedPart & { orderId: string; paid: number; creditsOfTheOrder: number; creditsUsed: number }

/** The unused part of an order, or the refusal that a refund of it would get. */
export async function quoteUnused(context: PaymentContext, key: OrderKey): Promise<UnusedQuote> {
  const found = await findOrderForReview(context.database, key)
  if (!found) throw orderNotFound()
  const { order, openOperation } = found
  if (order.refundedAmount !== null) throw refundRefusals.alreadyRefunded(order.refundedAmount)
  const block = refundBlockOf(order.status, openOperation)
  if (block?.refusal === 'open') throw refundRefusals.outcomeUnknown(block.message, openOperation)
  if (block) throw refundRefusals.notConfirmed(order.status)
  const sides = await readBothSides(context, found)
  const { orderId, amount: paid, credits: creditsOfTheOrder } = order
  return { orderId, paid, creditsOfTheOrder, creditsUsed: sides.lot.used, ...quoteRest(context, order, sides) }
}

/** `isOpen`: what is left of the order is undecided. */
type BothSides = { lot: LotOfOrder; isOpen: boolean; fetched: FetchedPayment }

async function readBothSides(
  { database, gateway }: PaymentContext,
  { customerId, order, paymentKey }: OrderForReview,
): Promise<BothSides> {
  assert(paymentKey, 'a confirmed order without the payment key of its confirm')
  const [lot, fetched] = await Promise.all([
    findLot(database, customerId, order.orderId),
    gateway.fetchPayment(paymentKey),
  ])
  assert(lot, 'a confirmed order without its lot')
  return { lot, isOpen: await isUndecided(database, customerId, lot), fetched }
}

/** A payment that the gateway does not show now is quoted by our books: the gateway itself refuses what it cannot return. */
function quoteRest(
  { settings }: PaymentContext,
  order: OrderForReview['order'],
  { lot, isOpen, fetched }: BothSides,
): UnusedPart {
  if (isOpen) throw refundRefusals.othersUnderWay()
  const isTouched =
    fetched.kind === 'payment' && isFor(order, fetched) && fetched.balance !== order.amount - order.partsAmount
  if (isTouched) throw refundRefusals.cancelledInPart()
  return unusedPartOf(lot, order.refundRule ?? settings.firstRefundRule)
}

function unusedOrRefusal(quote: () => UnusedPart): Pick<RefundQuote, 'unused' | 'unusedRefusal'> {
  try {
    return { unused: quote(), unusedRefusal: null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { unused: null, unusedRefusal: error.metadata?.reason as RefundRefusal }
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
