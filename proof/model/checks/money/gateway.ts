// The gateway's own journal of every movement of money, compared with our books to the won.
import { isDeepStrictEqual } from 'node:util'
import type { Movement } from '../../../../sandbox/payments/movements.ts'
import { wayToPay } from '../../../world/ways-to-pay.ts'
import { type BookedOrder, type Check, checksOf, type Evidence } from '../evidence.ts'

export function checkGateway(evidence: Evidence): Check[] {
  return checksOf({
    'I-19 no payment was captured twice, or cancelled beyond what was captured': twice(evidence),
    'I-18 the gateway has kept the price of our confirmed orders, to the won': kept(evidence),
    'I-18 every captured payment is of an order of ours, for its amount': captures(evidence),
    'I-18 how a payment was paid is kept as the buyer chose it': paid(evidence),
    'C-18 no credits were granted for a payment that the gateway had shown as returned': grantedAfterReturn(evidence),
    'F-6 every partial cancel at the gateway was accepted, or has a discrepancy that is open or that an operator has resolved':
      unseen(evidence),
  })
}

function paid({ orders }: Evidence): string[] {
  return [...orders.values()].flatMap(({ orderId, amount, paidWith }) =>
    paidWith === null || isDeepStrictEqual(paidWith, wayToPay(orderId, amount).kept)
      ? []
      : [`${orderId}: ${JSON.stringify(paidWith)}`],
  )
}

function sum(movements: Movement[], kind: Movement['kind']): number {
  return movements.filter((movement) => movement.kind === kind).reduce((total, { amount }) => total + amount, 0)
}

function twice({ movements }: Evidence): string[] {
  return [...Map.groupBy(movements, ({ paymentKey }) => paymentKey)].flatMap(([paymentKey, ofPayment]) => {
    const captured = ofPayment.filter(({ kind }) => kind === 'capture').length
    const [taken, given] = [sum(ofPayment, 'capture'), sum(ofPayment, 'cancel')]
    return captured === 1 && given <= taken
      ? []
      : [`${paymentKey}: captured ${captured} times, ${taken} captured, ${given} refunded`]
  })
}

/** The partial cancel of an order, which may have happened: there is at most one for an order. */
function partOf({ reversals }: Evidence, orderId: string): number | undefined {
  return reversals.find((reversal) => reversal.kind === 'partial cancel' && reversal.orderId === orderId)?.amount
}

function kept(evidence: Evidence): string[] {
  const byOrder = Map.groupBy(evidence.movements, ({ orderId }) => orderId)
  const violations = [...evidence.orders.values()].flatMap((order) => {
    const ofOrder = byOrder.get(order.orderId) ?? []
    const balance = sum(ofOrder, 'capture') - sum(ofOrder, 'cancel')
    const part = partOf(evidence, order.orderId) ?? 0
    const keeps = keptOf(order)
    // After a refund of the unused part more may be cancelled in the dashboard; that has a discrepancy.
    const isMore = order.status === 'REFUNDED' && balance < keeps && hasDiscrepancy(evidence, order.orderId)
    return [keeps, ...(order.status === 'CONFIRMED' ? [order.amount - part] : [])].includes(balance) || isMore
      ? []
      : [`${order.orderId} is ${order.status}, and the gateway keeps ${balance}: ${list(ofOrder)}`]
  })
  const total = sum(evidence.movements, 'capture') - sum(evidence.movements, 'cancel')
  const owed = [...evidence.orders.values()].reduce((won, order) => won + expectedOf(evidence, byOrder, order), 0)
  if (violations.length === 0 && total !== owed) violations.push(`the gateway keeps ${total}, our orders cost ${owed}`)
  return violations
}

/** What our books say that the gateway keeps. */
function keptOf({ status, amount, refundedAmount, partsAmount }: BookedOrder): number {
  if (status === 'CONFIRMED') return amount - partsAmount
  return status === 'REFUNDED' ? amount - partsAmount - (refundedAmount ?? amount) : 0
}

function hasDiscrepancy({ discrepancies }: Evidence, orderId: string): boolean {
  return discrepancies.some((each) => each.orderId === orderId)
}

/** The price of a confirmed order, less what the journal has as partially cancelled. */
function expectedOf(evidence: Evidence, byOrder: Map<string, Movement[]>, order: BookedOrder): number {
  if (order.status === 'REFUNDED' && hasDiscrepancy(evidence, order.orderId)) {
    const ofOrder = byOrder.get(order.orderId) ?? []
    return sum(ofOrder, 'capture') - sum(ofOrder, 'cancel')
  }
  if (order.status !== 'CONFIRMED') return keptOf(order)
  const part = partOf(evidence, order.orderId)
  const given = part === undefined ? 0 : sum(byOrder.get(order.orderId) ?? [], 'cancel')
  return order.amount - given
}

function list(movements: Movement[]): string {
  return (
    movements.map(({ kind, amount, at, paymentKey }) => `${kind} ${amount} ${at} ${paymentKey}`).join(', ') ||
    'no movement'
  )
}

function captures({ movements, orders }: Evidence): string[] {
  return movements.flatMap(({ kind, orderId, amount, paymentKey }) => {
    if (kind !== 'capture') return []
    const order = orders.get(orderId)
    return order?.amount === amount
      ? []
      : [`${paymentKey}: ${amount} captured for ${orderId}, which costs ${order?.amount}`]
  })
}

/** The order may be refunded by now: this looks at what the gateway had shown when the confirm was approved. */
function grantedAfterReturn({ movements, orders }: Evidence): string[] {
  const byPayment = Map.groupBy(movements, ({ paymentKey }) => paymentKey)
  return [...orders.values()].flatMap(({ orderId, paymentKey, transactionKey }) => {
    const ofPayment = byPayment.get(paymentKey ?? '') ?? []
    const shown = ofPayment.slice(0, ofPayment.findIndex((each) => each.transactionKey === transactionKey) + 1)
    const isReturned = shown.length > 0 && sum(shown, 'capture') === sum(shown, 'cancel')
    return isReturned ? [`${orderId} was granted for ${paymentKey}: ${list(shown)}`] : []
  })
}

/** Confirmed orders of which the gateway has returned another amount than was accepted, without a discrepancy. */
function unseen(evidence: Evidence): string[] {
  const seen = new Set(evidence.discrepancies.map(({ orderId, subject }) => orderId ?? subject))
  const byOrder = Map.groupBy(evidence.movements, ({ orderId }) => orderId)
  return [...evidence.orders.values()]
    .map(({ status, orderId, partsAmount }) => ({
      orderId,
      differs: status === 'CONFIRMED' && sum(byOrder.get(orderId) ?? [], 'cancel') !== partsAmount,
    }))
    .filter(({ differs, orderId }) => differs && !seen.has(orderId))
    .map(({ orderId }) => `${orderId} was cancelled in part, which was not accepted, and no discrepancy is open`)
}
