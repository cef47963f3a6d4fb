// Credits as the customers read them. A balance is between the bounds of the movements that are certain and those that are
// possible by then; the last one is exact: granted credits less those rolled back, refunded, spent and held, all from the
// campaign's own record.
import { at, type BookedOrder, type Check, checksOf, type Evidence, wasConfirmed } from '../evidence.ts'
import { listOutgoings, never, type Outgoing, type Span, spanOf, takenBetween } from './outgoings.ts'

export function checkBalances(evidence: Evidence): Check[] {
  const outgoings = Map.groupBy(listOutgoings(evidence), ({ customer }) => customer)
  const kept = keptCredits(evidence)
  return checksOf({
    'I-24 every balance that was read can be explained': unexplainedReads(evidence, outgoings),
    'I-20 the last balances are exact, by the record of the clients': lastReads(evidence, kept, outgoings),
    'X-1 no refunded credits were spent as well': spentAsWell(kept, outgoings),
  })
}

/** When an order's credits were granted and taken back. */
type Times = { order: BookedOrder; granted: Span; cancelled: Span; refundedFromMs: number }

function timesOf({ callsOf, reversals, orders }: Evidence): Times[] {
  const confirms = Map.groupBy(callsOf.confirm, ({ request }) => request.orderId)
  const cancels = Map.groupBy(callsOf.cancel, ({ request }) => request.orderId)
  const byOrder = Map.groupBy(reversals, ({ orderId }) => orderId)
  return [...orders.values()].filter(wasConfirmed).map((order) => {
    const refunds = (byOrder.get(order.orderId) ?? []).map(({ invokedAtMs }) => invokedAtMs)
    return {
      order,
      granted: spanOf(confirms.get(order.orderId) ?? []),
      cancelled: spanOf(cancels.get(order.orderId) ?? []),
      refundedFromMs: Math.min(never, ...refunds),
    }
  })
}

type Outgoings = Map<number, Outgoing[]>

function unexplainedReads(evidence: Evidence, outgoings: Outgoings): string[] {
  const times = Map.groupBy(timesOf(evidence), ({ order }) => order.customer)
  return evidence.callsOf.balance.flatMap((call) => {
    const { outcome, request, invokedAtMs, endedAtMs } = call
    if (outcome.kind !== 'ok' || Array.isArray(outcome.data)) return []
    const read = Number(outcome.data.credits)
    let [least, most] = [0, 0]
    for (const { order, granted, cancelled, refundedFromMs } of times.get(request.customer) ?? []) {
      if (granted.certainMs <= invokedAtMs) least += order.credits
      if (granted.fromMs <= endedAtMs) most += order.credits
      if (cancelled.certainMs <= invokedAtMs) most -= order.credits
      if (Math.min(cancelled.fromMs, refundedFromMs) <= endedAtMs) least -= order.credits
    }
    for (const outgoing of outgoings.get(request.customer) ?? []) {
      const taken = takenBetween(outgoing, invokedAtMs, endedAtMs)
      least -= taken.most
      most -= taken.least
    }
    const explained = Number.isInteger(read) && read >= Math.max(0, least) && read <= most
    return explained ? [] : [`${at(call)}: customer ${request.customer} read ${read}, not between ${least} and ${most}`]
  })
}

const keptOf: Record<BookedOrder['status'], (order: BookedOrder) => number> = {
  PENDING: () => 0,
  FAILED: () => 0,
  CONFIRMED: ({ credits, partsCredits }) => credits - partsCredits,
  CANCELLED: () => 0,
  // What was already spent.
  REFUNDED: ({ refundShortfall, partsCredits }) => (refundShortfall ?? 0) - partsCredits,
}

/** The credits of each customer's orders, by the status that was last read over HTTP, not by the books. */
function keptCredits({ callsOf, orders, shop }: Evidence): number[] {
  const lastStatus = new Map<string, string>()
  for (const { request, outcome } of callsOf.status) {
    if (outcome.kind === 'ok' && !Array.isArray(outcome.data))
      lastStatus.set(request.orderId, String(outcome.data.status))
  }
  const kept = shop.customers.map(() => 0)
  for (const order of orders.values()) {
    const status = (lastStatus.get(order.orderId) ?? order.status) as BookedOrder['status']
    kept[order.customer] = (kept[order.customer] ?? 0) + keptOf[status](order)
  }
  return kept
}

function lastReads({ callsOf, shop, available }: Evidence, kept: number[], outgoings: Outgoings): string[] {
  const read = new Map<number, number>()
  for (const { request, outcome } of callsOf.balance) {
    if (outcome.kind === 'ok' && !Array.isArray(outcome.data)) read.set(request.customer, Number(outcome.data.credits))
  }
  return shop.customers.flatMap(({ index }) => {
    const expected = (kept[index] ?? 0) - takenInTheEnd(outgoings, index)
    const same = read.get(index) === expected && available[index] === expected
    return same ? [] : [`customer ${index}: read ${read.get(index)}, booked ${available[index]}, expected ${expected}`]
  })
}

function takenInTheEnd(outgoings: Outgoings, customer: number): number {
  return (outgoings.get(customer) ?? []).reduce((sum, outgoing) => sum + outgoing.finally, 0)
}

/** A cancelled order counts nothing, a refunded one what had been spent of it: more must not be taken. */
function spentAsWell(kept: number[], outgoings: Outgoings): string[] {
  return kept.flatMap((credits, customer) => {
    const taken = takenInTheEnd(outgoings, customer)
    return taken <= credits ? [] : [`customer ${customer}: ${taken} spent or held of ${credits}`]
  })
}
