// Credits as the customers saw them. A balance read lies between what must have happened by then and what may have; the
// last one is exact: granted, less what was rolled back, refunded and spent, all from the campaign's own record. And the
// spends: each reference once, with what its sibling service was told.
import { at, type BookedOrder, type Check, type Evidence, wasConfirmed } from './evidence.ts'

export function checkBalances(evidence: Evidence): Check[] {
  return [
    { id: 'I-24', title: 'every balance that was read can be explained', violations: unexplainedReads(evidence) },
    { id: 'I-20', title: 'the last balances are exact, by the record of the clients', violations: lastReads(evidence) },
    {
      id: 'I-22',
      title: 'every spend is in the ledger once, as it was told, and no other',
      violations: spends(evidence),
    },
  ]
}

/** When something may have begun to count at the earliest, and when it counted for certain. */
type Times = { order: BookedOrder; granted: Span; cancelled: Span; refundedFromMs: number }
type Span = { fromMs: number; certainMs: number }

const never = Number.POSITIVE_INFINITY

function timesOf({ callsOf, deeds, orders }: Evidence): Times[] {
  const confirms = Map.groupBy(callsOf.confirm, ({ request }) => request.orderId)
  const cancels = Map.groupBy(callsOf.cancel, ({ request }) => request.orderId)
  const byOrder = Map.groupBy(deeds, ({ orderId }) => orderId)
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

function spanOf(calls: { invokedAtMs: number; endedAtMs: number; outcome: { kind: string } }[]): Span {
  const succeeded = calls.filter(({ outcome }) => outcome.kind === 'ok')
  return {
    fromMs: Math.min(never, ...calls.map(({ invokedAtMs }) => invokedAtMs)),
    certainMs: Math.min(never, ...succeeded.map(({ endedAtMs }) => endedAtMs)),
  }
}

function unexplainedReads(evidence: Evidence): string[] {
  const times = Map.groupBy(timesOf(evidence), ({ order }) => order.customer)
  const spent = Map.groupBy(
    evidence.spends.filter(({ answers }) => answers.some((credits) => credits > 0)),
    ({ customer }) => customer,
  )
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
    for (const spend of spent.get(request.customer) ?? []) {
      if (spend.invokedAtMs <= endedAtMs) least -= spend.credits
      if ((spend.endedAtMs ?? never) <= invokedAtMs) most -= spend.credits
    }
    const explained = Number.isInteger(read) && read >= Math.max(0, least) && read <= most
    return explained ? [] : [`${at(call)}: customer ${request.customer} read ${read}, not between ${least} and ${most}`]
  })
}

const keptOf: Record<BookedOrder['status'], (order: BookedOrder) => number> = {
  PENDING: () => 0,
  FAILED: () => 0,
  CONFIRMED: ({ credits }) => credits,
  CANCELLED: () => 0,
  // What could not be taken back any more.
  REFUNDED: ({ refundShortfall }) => refundShortfall ?? 0,
}

/** By the status each order was last read with over HTTP, not by the books. */
function lastReads({ callsOf, orders, spends: all, shop, available }: Evidence): string[] {
  const lastStatus = new Map<string, string>()
  for (const { request, outcome } of callsOf.status) {
    if (outcome.kind === 'ok' && !Array.isArray(outcome.data))
      lastStatus.set(request.orderId, String(outcome.data.status))
  }
  const expected = shop.customers.map(() => 0)
  for (const order of orders.values()) {
    const status = (lastStatus.get(order.orderId) ?? order.status) as BookedOrder['status']
    expected[order.customer] = (expected[order.customer] ?? 0) + keptOf[status](order)
  }
  for (const { customer, answers } of all) expected[customer] = (expected[customer] ?? 0) - Math.max(0, ...answers)
  const read = new Map<number, number>()
  for (const { request, outcome } of callsOf.balance) {
    if (outcome.kind === 'ok' && !Array.isArray(outcome.data)) read.set(request.customer, Number(outcome.data.credits))
  }
  return shop.customers.flatMap(({ index }) => {
    const same = read.get(index) === expected[index] && available[index] === expected[index]
    if (same) return []
    return [`customer ${index}: read ${read.get(index)}, booked ${available[index]}, expected ${expected[index]}`]
  })
}

function spends({ spends: all, bookedSpends }: Evidence): string[] {
  const violations = all.flatMap(({ customer, reference, credits, answers }) => {
    const booked = bookedSpends.get(reference)
    const told = new Set(answers.filter((spent) => spent > 0))
    if (told.size > 1) return [`${reference} was told ${[...told].join(' and ')}`]
    if (told.size === 0) return booked ? [`${reference} was refused and has spent ${booked.credits}`] : []
    const same = booked?.customer === customer && booked.credits === credits && told.has(credits)
    return same ? [] : [`${reference}: asked ${credits}, told ${[...told]}, booked ${booked?.credits}`]
  })
  const known = new Set(all.map(({ reference }) => reference))
  const strangers = [...bookedSpends.keys()].filter((reference) => !known.has(reference))
  return [...violations, ...strangers.map((reference) => `${reference} is in the ledger, and nobody spent it`)]
}
