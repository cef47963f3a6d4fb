// One payment on the page: a line that opens to everything the sandbox knows of it (what the shop sent, webhooks, cancels)
// and to what a person can do with it.

import { type Html, html } from '../checkout/html.ts'
import { formatWon } from '../checkout/page.ts'
import { receiptUrl } from '../payments/payment-object.ts'
import { balanceOf, type Payment, type PaymentStatus } from '../payments/payments.ts'
import type { LoggedRequest } from '../protocol/request-log.ts'
import { addressOf, attemptTexts, clockTime, type View } from './parts.ts'

const tones: Record<PaymentStatus, 'good' | 'bad' | 'open' | 'over'> = {
  READY: 'open',
  IN_PROGRESS: 'open',
  DONE: 'good',
  ABORTED: 'bad',
  EXPIRED: 'over',
  CANCELED: 'over',
  PARTIAL_CANCELED: 'good',
}

export function paymentRow(view: View, payment: Payment): Html {
  const { text } = view
  const { paymentKey, status } = payment
  const isPartly = status === 'PARTIAL_CANCELED'
  const sent = requestsOf(view, payment)
  const faults = [...new Set(sent.flatMap(({ fault }) => fault ?? []))]
  return html`
            <li>
              <details id="payment-${paymentKey}"${view.paymentKey === null ? null : html` open`}>
                <summary>
                  <span class="badge ${tones[status]}">${text.statuses[status]}</span>
                  <span class="what">${payment.orderName === undefined ? null : html`<span class="name">${payment.orderName}</span> `}<span class="id">${payment.orderId}</span>${faults.map((fault) => html` <span class="fault">${fault}</span>`)}</span>
                  <span class="amount">${formatWon(payment.amount)}${isPartly ? html` <span class="quiet">${text.balance(formatWon(balanceOf(payment)))}</span>` : null}</span>
                  ${clockTime(payment.requestedAt)}
                </summary>
                <div class="more">
                  ${facts(view, payment)}
                  ${requests(view, sent)}
                  ${webhooks(view, payment)}
                  ${actions(view, payment)}
                </div>
              </details>
            </li>`
}

function facts(view: View, payment: Payment): Html {
  const { text, language } = view
  const { failure, approvedAt, paymentKey } = payment
  const receipt = new URL(receiptUrl(payment)).pathname
  const rows: [string, Html | null][] = [
    [text.paymentKey, html`<code>${paymentKey}</code>`],
    [text.requestedAt, clockTime(payment.requestedAt)],
    [text.approvedAt, approvedAt === null ? null : clockTime(approvedAt)],
    [text.failure, failure === null ? null : html`<code>${failure.code}</code>`],
    [text.cancels, payment.cancels.length === 0 ? null : html`${cancels(payment)}`],
    [text.receipt, approvedAt === null ? null : html`<a href="${receipt}?lang=${language}">${text.openReceipt}</a>`],
  ]
  return html`<dl class="facts">${rows.map(([term, value]) =>
    value === null ? html`` : html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`
}

function cancels(payment: Payment): Html[] {
  return payment.cancels.map(
    ({ cancelAmount, cancelReason, canceledAt }) =>
      html`<span class="line">${formatWon(cancelAmount)} · ${cancelReason} · ${clockTime(canceledAt)}</span>`,
  )
}

function requestsOf({ sandbox }: View, { paymentKey, orderId }: Payment): LoggedRequest[] {
  return sandbox.requests
    .all()
    .filter((each) => each.paymentKey === paymentKey || (each.paymentKey === null && each.orderId === orderId))
}

function requests(view: View, sent: LoggedRequest[]): Html {
  const { text } = view
  const { time, operation, key, fault, answer } = text.request
  return html`<h3>${text.requests}</h3>
                  ${
                    sent.length === 0
                      ? html`<p class="quiet">${text.noRequests}</p>`
                      : html`<div class="scroll" tabindex="0" role="region" aria-label="${text.requests}"><table>
                    <thead><tr>${[time, operation, answer, fault, key].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
                    <tbody>${sent.map((each) => requestRow(view, each))}</tbody>
                  </table></div>`
                  }`
}

function requestRow({ text }: View, request: LoggedRequest): Html {
  const { status, code, fault, idempotencyKey, operation, amount } = request
  const answer = status === null ? text.noAnswer : [status, code].filter((part) => part !== null).join(' ')
  const isPost = operation === 'confirm' || operation === 'cancel'
  return html`
                      <tr>
                        <td>${clockTime(request.at)}</td>
                        <td>${text.targets[operation]}${amount === null ? null : html` ${formatWon(amount)}`}</td>
                        <td>${answer}${request.replay ? html` <span class="quiet">${text.replayed}</span>` : null}</td>
                        <td>${fault === null ? '–' : html`<span class="fault">${fault}</span>`}</td>
                        <td>${isPost ? html`<code>${idempotencyKey ?? text.noKey}</code>` : '–'}</td>
                      </tr>`
}

function webhooks({ text, sandbox }: View, { paymentKey }: Payment): Html | null {
  const deliveries = sandbox.deliveries.listOf(paymentKey)
  if (deliveries.length === 0) return null
  return html`<h3>${text.webhooks}</h3>
                  <ul class="lines">${deliveries.map(
                    (delivery) =>
                      html`<li>${clockTime(delivery.atMs)} ${text.statuses[delivery.payment.status]}: ${text.states[delivery.state]}${attemptTexts(text, delivery)}</li>`,
                  )}</ul>`
}

function actions(view: View, payment: Payment): Html {
  const { text, sandbox } = view
  const { paymentKey, status } = payment
  const canResend = sandbox.webhooks.url() !== null && status !== 'READY' && status !== 'IN_PROGRESS'
  const balance = balanceOf(payment)
  const canCancel = (status === 'DONE' || status === 'PARTIAL_CANCELED') && balance > 0
  const key = html`<input type="hidden" name="paymentKey" value="${paymentKey}">`
  return html`<div class="actions">
                    ${
                      canCancel
                        ? html`<form method="post" action="${addressOf(view, '/sandbox/page/cancel')}">${key}
                      <fieldset>
                        <legend>${text.cancelPart}</legend>
                        <label>${text.cancelAmount} <input type="number" name="cancelAmount" min="1" max="${balance}" value="${balance}" required></label>
                        <label class="wide">${text.cancelReason} <input name="cancelReason" maxlength="200" value="${text.cancelReasonDefault}" required></label>
                        <button type="submit">${text.cancelButton}</button>
                      </fieldset>
                    </form>`
                        : null
                    }
                    ${canResend ? html`<form method="post" action="${addressOf(view, '/sandbox/page/resend')}">${key}<button type="submit" class="quiet-button">${text.resend}</button></form>` : null}
                    ${view.paymentKey === null ? html`<p><a href="${addressOf({ ...view, paymentKey })}">${text.onlyThis}</a></p>` : null}
                  </div>`
}
