// Ends that are consistent and still wrong: an order that failed although its payment was good, one that expired too
// early, a discrepancy without a reason.
import type { Lies } from '../../world/gateway.ts'
import { limits } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'
import { type Check, checksOf, type Evidence } from './evidence.ts'

export async function checkReasons(world: World, evidence: Evidence, lies: Lies): Promise<Check[]> {
  return checksOf({
    'C-17 no good payment was refused': await refusedGoodPayments(world, evidence, lies),
    'E-7 no order failed before its time was over': await earlyExpiries(world),
    'R-6 every open discrepancy has a reason': groundless(evidence),
  })
}

/** With which a confirm is refused after such a lookup. */
const codeOfLie = 'PAYMENT_OF_ANOTHER_ORDER'

/** With which a cancel ends a confirm that did not arrive. */
const codeOfCancel = 'ABANDONED'

type Refusal = { orderId: string; paymentKey: string; code: string | null; isLeaseOver: boolean }

/**
 * Good: the buyer paid for this order with a card that works, and the payment was not cancelled. A lookup that reports
 * another order for the payment costs the order, and its money is returned: such a payment may be refused. So may one whose
 * confirm was cancelled before it arrived, a lease after it was sent.
 */
export async function refusedGoodPayments(
  { books }: Pick<World, 'books'>,
  evidence: Pick<Evidence, 'reversals' | 'shop'>,
  lies: Lies,
): Promise<string[]> {
  const rows = await books.query<Refusal>(
    `select order_id as "orderId", payment_key as "paymentKey", gateway_code as "code",
      closed_at - sent_at >= interval '${limits.operationLeaseMs} ms' as "isLeaseOver"
    from payment_operations where kind = 'CONFIRM' and state = 'REJECTED'`,
  )
  const takenBack = new Set(evidence.reversals.map(({ paymentKey }) => paymentKey))
  const refused = rows.filter(({ orderId, paymentKey, code, isLeaseOver }) => {
    const checkout = evidence.shop.orders.get(orderId)?.checkouts.find((each) => each.paymentKey === paymentKey)
    const isGood = checkout !== undefined && ['approve', 'hang'].includes(checkout.result) && !takenBack.has(paymentKey)
    const isLost = !lies.isComplete && code === codeOfLie
    const isCancelled = code === codeOfCancel && isLeaseOver
    return isGood && !isLost && !isCancelled && !lies.about.has(paymentKey) && !lies.about.has(orderId)
  })
  return refused.map(({ orderId, paymentKey, code }) => `${orderId}: ${paymentKey} was refused with ${code}`)
}

async function earlyExpiries({ books }: World): Promise<string[]> {
  const rows = await books.query<{ orderId: string; ageMs: number }>(
    `select order_id as "orderId", extract(epoch from p.closed_at - o.created_at)::float8 * 1000 as "ageMs"
    from payment_operations p join orders o using (customer_id, order_id)
    where p.state = 'EXPIRED' and p.closed_at < o.created_at + interval '${limits.pendingOrderLifetimeMs} ms'`,
  )
  return rows.map(({ orderId, ageMs }) => `${orderId} failed after ${Math.round(ageMs)} ms`)
}

/**
 * After a reconciliation with a gateway that lists correctly only these reasons are left. Other discrepancies of the
 * same order stay open: a person has to look at that order anyway, or has looked and left it as it is.
 */
export function groundless({
  discrepancies,
  reversals,
  shop,
}: Pick<Evidence, 'discrepancies' | 'reversals' | 'shop'>): string[] {
  const takenInPart = new Set(reversals.filter(({ kind }) => kind === 'partial cancel').map(({ orderId }) => orderId))
  const cancelled = new Set(reversals.filter(({ kind }) => kind !== 'refund').map(({ orderId }) => orderId))
  const reasons: Record<string, (orderId: string) => boolean> = {
    PARTLY_CANCELLED_AT_GATEWAY: (orderId) => takenInPart.has(orderId),
    REFUNDED_MORE_AT_GATEWAY: (orderId) => cancelled.has(orderId),
    SECOND_PAYMENT: (orderId) => (shop.orders.get(orderId)?.checkouts.length ?? 0) > 1,
  }
  const grounded = discrepancies.filter(({ kind, orderId }) => reasons[kind]?.(orderId ?? ''))
  const looked = new Set(grounded.map(({ orderId }) => orderId))
  return discrepancies
    .filter(({ orderId, isOpen }) => isOpen && !looked.has(orderId))
    .map(({ kind, subject }) => `${kind} of ${subject}`)
}
