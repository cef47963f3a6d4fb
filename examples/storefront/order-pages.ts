// The list of the shop's orders, and one order with the form that cancels it.

import type { PaymentOrder } from '../../client/src/index.ts'
import type { Answer, ApiCode } from './api.ts'
import { type Html, html } from './html.ts'
import { actions, formatWon, layout, packageName, type View } from './layout.ts'
import type { Order } from './orders.ts'
import type { Outcome } from './outcome.ts'
import { orderFacts } from './pages.ts'
import { texts } from './texts.ts'

export type ListedOrder = { order: Order; status: Answer<PaymentOrder> }

export function ordersPage(view: View, listed: ListedOrder[]): string {
  const text = texts[view.language]
  return layout(
    view,
    text.orders,
    html`
      <h1>${text.orders}</h1>
      ${listed.length === 0 ? html`<p class="lead">${text.noOrders}</p>` : null}
      <ul class="orders">${listed.map((each) => orderRow(view, each))}
      </ul>
      ${listed.length === 0 ? actions({ href: '/', label: text.buyAgain }) : null}`,
  )
}

function orderRow(view: View, { order, status }: ListedOrder): Html {
  const { tone, label } = statusOf(view, order, status)
  return html`
        <li>
          <a href="/orders/${order.orderId}">
            <span class="orders-what">${packageName(view.language, order.packageType)}</span>
            <span class="orders-amount">${formatWon(order.amount)}</span>
            <time datetime="${order.purchasedAt}">${dateOf(view, order.purchasedAt)}</time>
            <span class="badge ${tone}">${label}</span>
          </a>
        </li>`
}

const tones: Record<string, string> = { CONFIRMED: 'good', FAILED: 'bad' }

function statusOf(view: View, order: Order, answer: Answer<PaymentOrder>): { tone: string; label: string } {
  const text = texts[view.language]
  if (!answer.ok) return { tone: '', label: answer.code === 'NOT000' ? text.statusMissing : text.statusUnknown }
  const { status } = answer.data
  if (status === 'PENDING' && order.paymentKey !== null) return { tone: '', label: text.statusUnknown }
  return { tone: tones[status] ?? '', label: text.statuses[status] }
}

function dateOf(view: View, instant: string): string {
  return new Date(instant).toLocaleString(view.language === 'ko' ? 'ko-KR' : 'en-GB', {
    timeZone: 'Asia/Seoul',
    dateStyle: 'medium',
    timeStyle: 'short',
  })
}

export function orderPage(view: View, order: Order, outcome: Outcome, reasonProblem: boolean): string {
  const text = texts[view.language]
  const { heading, text: sentence } = text.outcome[outcome.kind]
  const unknown = outcome.kind === 'unknown'
  return layout(
    view,
    heading,
    html`
      <section class="panel">
        <h1>${heading}</h1>
        <p>${sentence}</p>
        ${unknown && outcome.code ? html`<p>${text.errors[outcome.code]}</p>` : null}
        ${orderFacts(view, order, outcome.slip)}
        <p class="date">${text.date} <time datetime="${order.purchasedAt}">${dateOf(view, order.purchasedAt)}</time></p>
        ${outcome.kind === 'awaiting' ? actions({ href: `/pay/${order.orderId}`, label: text.payAgain }) : null}
        ${unknown ? actions({ href: againAddress(order), label: text.checkAgain }) : null}
      </section>
      ${outcome.kind === 'confirmed' && order.paymentKey !== null ? cancelPart(view, order, reasonProblem) : null}`,
  )
}

/** With a payment key the confirm is sent again, without one the status is read. */
export function againAddress({ orderId, paymentKey, amount }: Order): string {
  if (paymentKey === null) return `/orders/${orderId}`
  return `/success?${new URLSearchParams({ paymentKey, orderId, amount: String(amount) })}`
}

function cancelPart(view: View, order: Order, reasonProblem: boolean): Html {
  const text = texts[view.language]
  const last = order.cancelAnswer
  const open = last !== null && last.code !== 'SUCCESS' && isUnknown[last.code]
  return html`
      <section class="panel">
        <h2>${text.cancelHeading}</h2>
        <p>${text.cancelText}</p>
        ${last && last.code !== 'SUCCESS' ? lastAnswer(view, last.code, last.message) : null}
        ${reasonProblem ? html`<p class="problem" role="alert">${text.cancelReasonProblem}</p>` : null}
        <form method="post" action="/orders/${order.orderId}/cancel" class="cancel">
          <label for="reason">${text.cancelReason}</label>
          <input id="reason" name="reason" type="text" required maxlength="200" autocomplete="off" value="${open ? last.reason : ''}">
          <button type="submit" class="quiet">${open ? text.cancelAgain : text.cancelButton}</button>
        </form>
      </section>`
}

/** Whether the outcome of a failed cancel is unknown. */
const isUnknown: Record<ApiCode, boolean> = {
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

function lastAnswer(view: View, code: ApiCode, message: string | null): Html {
  const text = texts[view.language]
  if (isUnknown[code]) return html`<p class="problem" role="status">${text.cancelUnknown}</p>`
  // The service gives the reason in English.
  const reason = code === 'PAYMENT_CANCEL_FAILED' && message ? html` <span lang="en">${message}</span>` : null
  const sentence = code === 'PAYMENT_CANCEL_FAILED' ? null : html` ${text.errors[code]}`
  return html`<p class="problem" role="status">${text.cancelRefused}${reason}${sentence}</p>`
}
