// Checks a shop by what the gateway saw and what the shop says of its order. A pure function: the runner asks it again until
// nothing is open or the time is over.

import { formatWon } from '../checkout/page.ts'
import type { LoggedRequest } from '../protocol/request-log.ts'
import type { Ending } from './scenarios.ts'

export const rules = {
  'captured-twice': 'an order is captured once',
  'wrong-amount': 'the captured amount, and the amount in a confirm, is the one of the order',
  'repeated-blindly': 'a request is sent again with the same Idempotency-Key, or after a lookup that was answered',
  'not-captured': 'the payment is captured',
  'captured-anyway': 'no money is taken for an order that is not to be paid',
  'unknown-as-refused': 'an order whose money was taken is not called failed',
  'paid-without-money': 'an order is called paid only when the gateway has its money',
  'left-open': 'the shop reaches a final state in time',
  'not-returned': 'a cancelled order has its money returned, once',
  'webhook-not-received': 'a webhook is answered with 200 within 10 seconds, a busy shop may wait for the next attempt',
  'error-page': 'the buyer gets a page',
  'shop-fails': 'the shop goes on to create orders, to open pages and to answer --status',
} as const

export type RuleName = keyof typeof rules

/** What the shop says of an order. */
export type ShopStatus = 'paid' | 'failed' | 'cancelled' | 'pending'

export type GatewayPayment = {
  paymentKey: string
  orderId: string
  status: string
  approvedAt: string | null
  totalAmount: number
  balanceAmount: number
  cancels: { cancelAmount: number }[] | null
}

export type WebhookDelivery = {
  paymentKey: string
  state: string
  attempts: { status: number | null; error: string | null }[]
}

export type Evidence = {
  order: { orderId: string; amount: number }
  /** All that the buyer began for the order. */
  payments: GatewayPayment[]
  /** Requests about these payments and this order, oldest first. */
  requests: LoggedRequest[]
  deliveries: WebhookDelivery[]
  /** The HTTP statuses of the pages that the buyer opened; null: no answer. */
  pages: (number | null)[]
  /** Null: the shop cannot be asked. */
  status: ShopStatus | null
  /** Why the shop did not say its status, although it can be asked. */
  problem: string | null
}

/** `mayPass`: more time may resolve it. */
export type Finding = { rule: RuleName; text: string; mayPass: boolean }

export function evaluate(evidence: Evidence, ending: Ending): Finding[] {
  return [
    ...checkAmounts(evidence),
    ...checkRepeats(evidence),
    ...checkMoney(evidence, ending),
    ...checkStatus(evidence, ending),
    ...checkWebhooks(evidence),
    ...checkPages(evidence),
    ...checkAnswers(evidence),
  ]
}

const forGood = (rule: RuleName, text: string): Finding => ({ rule, text, mayPass: false })
const forNow = (rule: RuleName, text: string): Finding => ({ rule, text, mayPass: true })

const isCaptured = ({ approvedAt }: GatewayPayment) => approvedAt !== null

function checkAmounts({ order, payments, requests }: Evidence): Finding[] {
  const captured = payments
    .filter((payment) => isCaptured(payment) && payment.totalAmount !== order.amount)
    .map(({ totalAmount }) => `${formatWon(totalAmount)} was captured for an order of ${formatWon(order.amount)}.`)
  const sent = requests
    .filter(({ operation, amount }) => operation === 'confirm' && amount !== order.amount)
    .map(({ amount }) => `A confirm was sent with ${amount ?? 'no amount'} for an order of ${formatWon(order.amount)}.`)
  return [...captured, ...sent].map((text) => forGood('wrong-amount', text))
}

/** 429: the first was not processed, and any key will do. A lookup may say that there is no payment: 404. */
function checkRepeats({ requests }: Evidence): Finding[] {
  const findings: Finding[] = []
  for (const [at, request] of requests.entries()) {
    const { operation, paymentKey, idempotencyKey } = request
    if (operation !== 'confirm' && operation !== 'cancel') continue
    const before = requests.slice(0, at)
    const first = before.findLastIndex((each) => each.operation === operation && each.paymentKey === paymentKey)
    const earlier = before[first]
    if (earlier === undefined || earlier.status === 429) continue
    const hasSameKey = idempotencyKey !== null && idempotencyKey === earlier.idempotencyKey
    const lookedUp = before.slice(first).some(isAnsweredLookup)
    if (hasSameKey || lookedUp) continue
    const how = idempotencyKey === null ? 'without an Idempotency-Key' : 'with another Idempotency-Key'
    findings.push(forGood('repeated-blindly', `The ${operation} was sent again ${how} and without a lookup before.`))
  }
  return findings
}

const isAnsweredLookup = ({ operation, status }: LoggedRequest) =>
  operation === 'lookup' && (status === 200 || status === 404)

const balanceOf = (payments: GatewayPayment[]) =>
  payments.filter(isCaptured).reduce((sum, { balanceAmount }) => sum + balanceAmount, 0)

function checkMoney({ order, payments }: Evidence, ending: Ending): Finding[] {
  const held = payments.filter((payment) => isCaptured(payment) && payment.balanceAmount > 0)
  const balance = balanceOf(payments)
  if (held.length > 1) {
    return [
      forNow('captured-twice', `${held.length} payments of the order are captured, ${formatWon(balance)} in all.`),
    ]
  }
  if (ending === 'unpaid' && balance > 0) return [forNow('captured-anyway', `${formatWon(balance)} was captured.`)]
  if (ending === 'paid' && balance === 0) return [forNow('not-captured', 'The payment was not captured.')]
  if (ending !== 'cancelled') return []
  const returned = payments.flatMap(({ cancels }) => cancels ?? [])
  const sum = returned.reduce((total, { cancelAmount }) => total + cancelAmount, 0)
  if (returned.length === 1 && sum === order.amount) return []
  return [
    forNow('not-returned', `${returned.length} cancels returned ${formatWon(sum)} of ${formatWon(order.amount)}.`),
  ]
}

function checkStatus({ payments, status }: Evidence, ending: Ending): Finding[] {
  if (status === null) return []
  const balance = balanceOf(payments)
  if (balance === 0 && status === 'paid') {
    return [forNow('paid-without-money', 'The shop says paid, and the gateway has no money of this order.')]
  }
  if (balance > 0 && (status === 'failed' || status === 'cancelled')) {
    const text = `The gateway has ${formatWon(balance)} of this order, and the shop says ${status}.`
    return [forNow('unknown-as-refused', text)]
  }
  if (ending === 'cancelled' && status !== 'cancelled') return [forNow('left-open', `The shop says ${status}.`)]
  if (ending !== 'unpaid' && status === 'pending') return [forNow('left-open', 'The shop still says pending.')]
  return []
}

/** A busy shop gets the webhook again. One that was delivered counts, whatever the earlier attempts were. */
function checkWebhooks({ deliveries }: Evidence): Finding[] {
  return deliveries.flatMap(({ state, attempts }) => {
    if (state === 'pending' && attempts.length === 0)
      return [forNow('webhook-not-received', 'A webhook is on its way.')]
    const last = attempts.at(-1)
    if (last === undefined || state === 'delivered') return []
    const { status, error } = last
    const isBusy = status === null ? error === 'TimeoutError' : status === 429 || status >= 500
    const text = `A webhook was answered with ${status ?? `nothing (${error})`}.`
    return [
      isBusy && state === 'pending' ? forNow('webhook-not-received', text) : forGood('webhook-not-received', text),
    ]
  })
}

function checkAnswers({ problem }: Evidence): Finding[] {
  return problem === null ? [] : [forNow('shop-fails', problem)]
}

function checkPages({ pages }: Evidence): Finding[] {
  return pages
    .filter((status) => status === null || status >= 500)
    .map((status) =>
      forGood('error-page', `The buyer got ${status === null ? 'no page' : `an error page (${status})`}.`),
    )
}
