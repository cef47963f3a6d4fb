// One order, with the form that cancels it, and the question before it is cancelled. The form is offered only where the
// cancellation can succeed: while no credits of the order are used or on hold.

import type { ApiCode } from '../api.ts'
import type { CancelAnswer, CancelReason, Order } from '../orders.ts'
import type { Outcome, OutcomeKind } from '../outcome.ts'
import { type Texts, texts } from '../texts/texts.ts'
import { formatWon } from '../texts/won.ts'
import { factList, orderFacts, outcomeHead, toneOf } from './facts.ts'
import { type Html, html } from './html.ts'
import { type Action, actions, layout, packageName, type View } from './layout.ts'
import { buyAgain } from './payment.ts'

/** After an unknown answer: the service has mostly settled the cancellation by then, and the status of the order says how. */
const settledAfterMs = 10 * 60_000

/** A reason that was typed and not accepted. */
export type Typed = { reason: string } | null

export type OrderPageOptions = {
  /** The credits that were bought and are neither used nor on hold; null: not known. */
  paidCredits: number | null
  /** Whether the shop can get receipts of the log. */
  hasReceipt: boolean
  typed?: Typed
}

/** Outcomes of orders that have moved credits. */
const withReceipt: OutcomeKind[] = ['confirmed', 'cancelled', 'refunded']

export function orderPage(view: View, order: Order, outcome: Outcome, options: OrderPageOptions): string {
  const text = texts[view.language]
  const { paidCredits, hasReceipt, typed = null } = options
  return layout(
    view,
    text.outcome[outcome.kind].heading,
    html`
      <section class="panel outcome ${toneOf(outcome)}">
        ${outcomeHead(view, outcome)}
        ${orderFacts(view, order, outcome)}
        ${nextStep(view, order, outcome)}
      </section>
      ${hasReceipt && withReceipt.includes(outcome.kind) ? receiptPart(view, order) : null}
      ${outcome.kind === 'confirmed' && order.paymentKey !== null ? cancelPart(view, order, outcome, { paidCredits, typed }) : null}`,
    { script: 'shop.js' },
  )
}

/** The file proves that the entries of the order are in the log of the service. */
function receiptPart(view: View, { orderId }: Order): Html {
  const { proof: text } = texts[view.language]
  return html`
      <section class="panel">
        <h2>${text.heading}</h2>
        <p>${text.text}</p>
        <p><a href="/receipt?order=${orderId}">${text.link}</a> · <a href="/verify?order=${orderId}">${text.verify}</a></p>
      </section>`
}

function nextStep(view: View, order: Order, { kind }: Outcome): Html | null {
  const text = texts[view.language]
  if (kind === 'awaiting') return actions({ href: `/pay/${order.orderId}`, label: text.payAgain })
  if (kind === 'unknown') return actions({ href: againAddress(order), label: text.checkAgain })
  if (kind === 'refused' || kind === 'expired') return actions(buyAgain(view, order))
  return null
}

/** With a payment key the confirm is sent again, without one the status is read. */
function againAddress({ orderId, paymentKey, amount }: Order): string {
  if (paymentKey === null) return `/orders/${orderId}`
  return `/success?${new URLSearchParams({ paymentKey, orderId, amount: String(amount) })}`
}

function cancelPart(
  view: View,
  order: Order,
  outcome: Outcome,
  { paidCredits, typed }: { paidCredits: number | null; typed: Typed },
): Html {
  const { cancel: text } = texts[view.language]
  const last = order.cancelAnswer
  if (last && isUnknown(last) && Date.now() - Date.parse(last.at) < settledAfterMs) {
    return html`
      <section class="panel">
        <h2>${text.heading}</h2>
        <p class="problem" role="status">${text.unknown}</p>
        ${cancelForm(order, last.reason, text.again)}
      </section>`
  }
  const blocked = blockedBy(view, order, paidCredits)
  if (blocked) {
    return html`
      <section class="panel">
        <h2>${text.heading}</h2>
        <p${last ? html` role="status"` : null}>${text.refusals[blocked]}</p>
      </section>`
  }
  const problem = typed ? text.reasonProblem : lastProblem(texts[view.language], order)
  return html`
      <details class="panel fold"${problem === null ? null : html` open`}>
        <summary>${text.heading}</summary>
        ${consequences(view, order, outcome)}
        ${problem === null ? null : html`<p class="problem" role="alert" id="problem">${problem}</p>`}
        <form method="get" action="/orders/${order.orderId}/cancel" class="cancel">
          <label for="reason">${text.reason}</label>
          <input id="reason" name="reason" type="text" required maxlength="200" autocomplete="off" value="${typed?.reason ?? last?.reason ?? ''}"${problem === null ? null : html` aria-describedby="problem"`}>
          <button type="submit" class="quiet">${text.next}</button>
        </form>
      </details>`
}

/**
 * Why a cancellation cannot succeed now; null: it can. By the rule of the service: as many bought credits are left as the order
 * has added. Where these are not known, the balance decides. It may contain credits that pay for no cancellation, returned ones
 * for example, so a refusal stays until the balance is higher.
 */
export function blockedBy(
  { balance }: View,
  { credits, cancelAnswer }: Order,
  paidCredits: number | null,
): CancelReason | null {
  const refusal = (cancelAnswer?.refusalReason ?? null) as CancelReason | null
  const left = paidCredits ?? balance
  if (left !== null && credits !== null && left < credits) return 'credits-spent'
  if (refusal !== 'credits-spent') return refusal
  const isHigher = balance !== null && balance > (cancelAnswer?.balance ?? 0)
  return paidCredits !== null || isHigher ? null : refusal
}

function lastProblem(text: Texts, { cancelAnswer }: Order): string | null {
  if (!cancelAnswer || cancelAnswer.code === 'SUCCESS') return null
  if (cancelAnswer.refusalReason || isUnknown(cancelAnswer)) return null
  return `${text.cancel.refused} ${text.errors[cancelAnswer.code]}`
}

/** What comes back, and what is taken: of an order with accepted parts what they have left. */
function consequences(view: View, { amount, credits }: Order, { refunds }: Outcome): Html {
  const { cancel: text } = texts[view.language]
  const returned = refunds.reduce((sum, refund) => sum + refund.amount, 0)
  return html`
        <ul class="consequences">
          <li>${text.back(formatWon(amount - returned))}</li>
          <li>${credits === null || returned > 0 ? text.takenAll : text.taken(credits)}</li>
        </ul>`
}

/** Cancels for good. */
function cancelForm({ orderId }: Order, reason: string, label: string): Html {
  return html`
        <form method="post" action="/orders/${orderId}/cancel">
          <input type="hidden" name="reason" value="${reason}">
          <input type="hidden" name="confirmed" value="yes">
          <button type="submit" class="grave">${label}</button>
        </form>`
}

/** The question before the order is cancelled. */
export function cancelQuestionPage(view: View, order: Order, outcome: Outcome, reason: string): string {
  const text = texts[view.language]
  const keep: Action = { href: `/orders/${order.orderId}`, label: text.cancel.no }
  return layout(
    view,
    text.cancel.question,
    html`
      <section class="panel outcome">
        <h1>${text.cancel.question}</h1>
        ${consequences(view, order, outcome)}
        <p>${text.cancel.final}</p>
        ${factList([
          [text.package, packageName(view.language, order.packageType)],
          [text.order, html`<code>${order.orderId}</code>`],
          [text.cancel.reason, reason],
        ])}
        ${actions(cancelForm(order, reason, text.cancel.yes), keep)}
      </section>`,
    { script: 'shop.js' },
  )
}

function isUnknown({ code }: CancelAnswer): boolean {
  return code !== 'SUCCESS' && leavesUnknown[code]
}

/** Whether the outcome of a failed cancel is unknown. */
const leavesUnknown: Record<ApiCode, boolean> = {
  SVC001: true,
  INT001: true,
  UNREACHABLE: true,
  PAYMENT_CANCEL_FAILED: false,
  NOT000: false,
  VAL001: false,
  VAL002: false,
  VAL003: false,
  VAL004: false,
  BUS002: false,
  INVALID_API_KEY: false,
  AUTH001: false,
  AUTH003: false,
}
