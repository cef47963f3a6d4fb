// The states of each order as the clients saw them: an answer with a state is a read at some moment between request and
// answer, and a later state has to be reachable from an earlier one. Then confirms and cancels one by one: what was
// acknowledged is true, what was refused had no effect, and nothing happened without a request.
import type { OrderStatus } from '../../../../src/payments/kinds.ts'
import type { Call } from '../../history.ts'
import { type ConsoleCall, dataOf } from '../../operators/console-client.ts'
import { at, type BookedOrder, type Check, checksOf, type Evidence, wasConfirmed } from '../evidence.ts'

type Confirm = Evidence['callsOf']['confirm'][number]
type Cancel = Evidence['callsOf']['cancel'][number]

export function checkOrders(evidence: Evidence): Check[] {
  const { callsOf } = evidence
  return checksOf({
    'I-24 no order was seen to go back, or to a state it cannot reach': backwards(evidence),
    'I-22 every acknowledged confirm is true: granted once, as in the answer': callsOf.confirm.flatMap((call) =>
      acknowledgedConfirm(evidence, call),
    ),
    'I-23 a confirm is refused for a reason, and a refused one had no effect': [
      ...callsOf.confirm.flatMap((call) => refusedConfirm(evidence, call)),
      ...differentReasons(callsOf.confirm),
      ...unrequested(evidence),
    ],
    'I-22 at most one 200 for each cancel, and it is true': acknowledgedCancels(evidence),
    'I-23 a cancel is refused for a reason, with what was sent in metadata': refusedCancels(evidence),
  })
}

const everConfirmed: OrderStatus[] = ['CONFIRMED', 'CANCELLED', 'REFUNDED']
const reachable: Record<OrderStatus, OrderStatus[]> = {
  PENDING: ['PENDING', 'FAILED', ...everConfirmed],
  CONFIRMED: everConfirmed,
  FAILED: ['FAILED'],
  CANCELLED: ['CANCELLED'],
  REFUNDED: ['REFUNDED'],
}

/** The rules about `orderId` in `metadata.fields` of a refused confirm. A CONFIRMED order may have changed since. */
const statesByRule: Record<string, OrderStatus[]> = {
  'the order is FAILED': ['FAILED'],
  'the order is CANCELLED': ['CANCELLED'],
  'the order is REFUNDED': ['REFUNDED'],
  'the order is CONFIRMED': everConfirmed,
}

type Observation = { name: string; invokedAtMs: number; endedAtMs: number; states: OrderStatus[] }

/**
 * A confirm that joined another in the same process may be answered from a moment before it: only the lower bound
 * counts.
 */
function statesIn({ request, outcome }: Call): OrderStatus[] {
  if (outcome.kind === 'ok' && request.op === 'status' && !Array.isArray(outcome.data)) {
    return [outcome.data.status as OrderStatus]
  }
  if (outcome.kind === 'ok' && request.op === 'confirm') return everConfirmed
  if (outcome.kind === 'ok' && request.op === 'cancel') return ['CANCELLED']
  if (outcome.kind !== 'fail' || request.op !== 'confirm') return []
  const fault = faultOf(outcome)
  return fault?.field === 'orderId' ? (statesByRule[fault.rule] ?? []) : []
}

/** The field that a VAL003 is about. */
function faultOf({ code, metadata }: Extract<Call['outcome'], { kind: 'fail' }>) {
  if (code !== 'VAL003') return undefined
  return (metadata as { fields?: { field: string; rule: string }[] } | null)?.fields?.[0]
}

/** The state in an answer of the console. */
function statesInConsole(call: ConsoleCall): OrderStatus[] {
  const { order, status } = (dataOf(call) ?? {}) as { order?: { status: OrderStatus }; status?: OrderStatus }
  const shown = order?.status ?? status
  return shown && call.params.orderId !== undefined ? [shown] : []
}

function backwards({ calls, consoleCalls }: Evidence): string[] {
  const observations = new Map<string, Observation[]>()
  function note(
    orderId: string,
    name: string,
    { invokedAtMs, endedAtMs }: Call | ConsoleCall,
    states: OrderStatus[],
  ): void {
    if (states.length > 0)
      observations.set(orderId, [...(observations.get(orderId) ?? []), { name, invokedAtMs, endedAtMs, states }])
  }
  for (const call of calls) {
    // The refusal of a cancel may be about another order with the same key: only answers about this order count.
    if (!('orderId' in call.request)) continue
    if (call.request.op === 'cancel' && call.outcome.kind === 'fail') continue
    note(call.request.orderId, at(call), call, statesIn(call))
  }
  for (const call of consoleCalls) note(call.params.orderId ?? '', `operator ${at(call)}`, call, statesInConsole(call))
  return [...observations].flatMap(([orderId, ofOrder]) => contradictions(orderId, ofOrder))
}

function contradictions(orderId: string, observations: Observation[]): string[] {
  return observations.flatMap((earlier) =>
    observations
      .filter(({ invokedAtMs }) => invokedAtMs > earlier.endedAtMs)
      .filter(({ states }) => !earlier.states.some((from) => states.some((to) => reachable[from].includes(to))))
      .map(({ name, states }) => `${orderId}: ${earlier.states} at ${earlier.name}, then ${states} at ${name}`),
  )
}

function acknowledgedConfirm({ orders }: Evidence, call: Confirm): string[] {
  const { request, outcome } = call
  if (outcome.kind !== 'ok' || Array.isArray(outcome.data)) return []
  const booked = orders.get(request.orderId)
  if (!booked || !wasConfirmed(booked))
    return [`${at(call)}: ${request.orderId} was acknowledged as confirmed, is ${booked?.status}`]
  const { orderId, creditsAdded, totalCredits } = outcome.data
  const requested = [request.customer, request.orderId, request.paymentKey, request.amount].join()
  const granted = [booked.customer, orderId, booked.paymentKey, booked.amount].join()
  if (requested !== granted) return [`${at(call)}: requested ${requested}, granted ${granted}`]
  const answer = [creditsAdded, totalCredits].join()
  const original = [booked.credits, booked.totalCredits].join()
  if (answer !== original)
    return [`${at(call)}: ${orderId} was answered with ${answer} credits added and in total, booked ${original}`]
  const total = Number(totalCredits)
  const fits = total >= booked.credits && total <= (booked.balanceAfterGrant ?? 0)
  return fits ? [] : [`${at(call)}: ${orderId} left ${total} credits, the ledger has ${booked.balanceAfterGrant}`]
}

function refusedConfirm({ orders }: Evidence, call: Confirm): string[] {
  const { request, outcome } = call
  if (outcome.kind !== 'fail') return []
  const booked = orders.get(request.orderId)
  const isOwn = booked?.customer === request.customer
  const { code, message } = outcome
  if (!isOwn) return code === 'NOT000' ? [] : [`${at(call)}: a foreign order was answered with ${code}`]
  if (code !== 'VAL003') return [`${at(call)}: ${request.orderId} was refused with ${code} ${message}`]
  const field = faultOf(outcome)?.field
  if ((field === 'amount') === (request.amount !== booked.amount)) return []
  return [`${at(call)}: ${request.orderId} for ${request.amount} was refused because of ${field}`]
}

/** An order fails once: all refusals that show it as FAILED have the same reason. */
function differentReasons(confirms: Confirm[]): string[] {
  const reasons = new Map<string, Set<unknown>>()
  for (const { request, outcome } of confirms) {
    if (outcome.kind !== 'fail' || faultOf(outcome)?.rule !== 'the order is FAILED') continue
    reasons.set(request.orderId, (reasons.get(request.orderId) ?? new Set()).add(outcome.metadata?.reason))
  }
  return [...reasons]
    .filter(([, all]) => all.size > 1)
    .map(([orderId, all]) => `${orderId} is FAILED for ${[...all].join(' and for ')}`)
}

/** Nothing is confirmed or closed without a request of its owner, or of the platform, that may have succeeded. */
function unrequested({ orders, callsOf, reversals }: Evidence): string[] {
  const mayHave = ({ outcome }: Call) => outcome.kind !== 'fail'
  const confirms = Map.groupBy(callsOf.confirm.filter(mayHave), ({ request }) => request.orderId)
  const cancels = Map.groupBy(callsOf.cancel.filter(mayHave), ({ request }) => request.orderId)
  const isConfirmOf =
    (order: BookedOrder) =>
    ({ request }: Confirm) =>
      request.customer === order.customer && request.paymentKey === order.paymentKey && request.amount === order.amount
  return [...orders.values()].flatMap((order) => {
    const { orderId, status, customer } = order
    const violations: string[] = []
    if (wasConfirmed(order) && !confirms.get(orderId)?.some(isConfirmOf(order))) {
      violations.push(`${orderId} is ${status}: no confirm can have caused that`)
    }
    if (status === 'CANCELLED' && !cancels.get(orderId)?.some(({ request }) => request.customer === customer)) {
      violations.push(`${orderId} is CANCELLED: no cancel can have caused that`)
    }
    if (
      status === 'REFUNDED' &&
      !reversals.some((reversal) => reversal.orderId === orderId && reversal.kind !== 'partial cancel') &&
      !order.isCancelledAtGateway
    ) {
      violations.push(`${orderId} is REFUNDED: no refund was requested`)
    }
    return violations
  })
}

function acknowledgedCancels({ orders, callsOf }: Evidence): string[] {
  const succeeded = callsOf.cancel.filter(({ outcome }) => outcome.kind === 'ok')
  return [...Map.groupBy(succeeded, ({ request }) => request.orderId)].flatMap(([orderId, calls]) => {
    const booked = orders.get(orderId)
    const violations = calls.length > 1 ? [`${orderId}: ${calls.length} cancels got the 200: ${calls.map(at)}`] : []
    for (const call of calls) {
      const own = booked?.customer === call.request.customer && booked.paymentKey === call.request.paymentKey
      if (booked?.status !== 'CANCELLED')
        violations.push(`${at(call)}: ${orderId} was acknowledged as cancelled, is ${booked?.status}`)
      if (!own) violations.push(`${at(call)}: ${orderId} was cancelled by another customer or with another key`)
    }
    return violations
  })
}

function refusedCancels({ orders, callsOf }: Evidence): string[] {
  const confirmsOf = Map.groupBy(callsOf.confirm, ({ request }) => request.orderId)
  const triedBy = new Set(callsOf.confirm.map(({ request }) => `${request.customer}/${request.paymentKey}`))
  const wasAcknowledged = ({ request, invokedAtMs }: Cancel) =>
    confirmsOf.get(request.orderId)?.some((call) => call.outcome.kind === 'ok' && call.endedAtMs < invokedAtMs)
  return callsOf.cancel.flatMap((call) => {
    const { request, outcome } = call
    if (outcome.kind !== 'fail') return []
    const booked = orders.get(request.orderId)
    const isOwn = booked?.customer === request.customer
    if (outcome.code === 'NOT000') {
      const known = isOwn && booked.paymentKey === request.paymentKey && wasAcknowledged(call)
      return known ? [`${at(call)}: ${request.orderId} was confirmed, and its cancel was answered with NOT000`] : []
    }
    if (outcome.code !== 'PAYMENT_CANCEL_FAILED') return [`${at(call)}: a cancel was refused with ${outcome.code}`]
    const { paymentKey, reason } = outcome.metadata ?? {}
    if (paymentKey !== request.paymentKey || reason !== request.reason) return [`${at(call)}: not what was sent`]
    // A customer who tried that key on an order of its own gets the answer about that order.
    if (isOwn || triedBy.has(`${request.customer}/${request.paymentKey}`)) return []
    return [`${at(call)}: a foreign payment key was answered with PAYMENT_CANCEL_FAILED`]
  })
}
