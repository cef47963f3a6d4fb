// The history of the shop: its orders, the unpaid ones folded, and beside it the statement.

import type { Order as KnownOrder } from '../../../client/src/index.ts'
import type { Answer } from '../api.ts'
import type { Order } from '../orders.ts'
import { texts } from '../texts/texts.ts'
import { formatWon } from '../texts/won.ts'
import { type Html, html } from './html.ts'
import { actions, layout, navigationLink, packageName, timeOf, type View } from './layout.ts'

export type ListedOrder = { order: Order; status: Answer<KnownOrder> }
/** `more` leads to the next part of the list; null: this is the end. */
export type OrderList = { listed: ListedOrder[]; more: string | null; count: number }

/** Paid orders, with the unpaid ones folded below, or one of both lists alone. */
export function ordersPage(view: View, lists: { paid?: OrderList; unpaid?: OrderList }, hasStatement: boolean): string {
  const { history: text, orders, choosePackage } = texts[view.language]
  const { paid, unpaid } = lists
  const title = paid ? orders : text.unpaid
  const isEmpty = paid?.count === 0
  return layout(
    view,
    title,
    html`
      <h1>${title}</h1>
      ${paid && hasStatement ? historyTabs(view, 'orders') : null}
      ${isEmpty ? html`<p class="lead">${text.noOrders}</p>` : null}
      ${paid && !isEmpty ? orderTable(view, paid) : null}
      ${isEmpty ? actions({ href: '/', label: choosePackage }) : null}
      ${unpaid && unpaid.count > 0 ? unpaidPart(view, unpaid, paid !== undefined) : null}
      ${paid ? null : html`<p class="more"><a class="button quiet" href="/orders">${orders}</a></p>`}`,
  )
}

export function historyTabs(view: View, current: 'orders' | 'statement'): Html {
  const { history, orders, statement } = texts[view.language]
  return html`
      <nav class="tabs" aria-label="${history.list}">
        ${navigationLink('/orders', orders, current === 'orders')}
        ${navigationLink('/statement', statement.title, current === 'statement')}
      </nav>`
}

function unpaidPart(view: View, unpaid: OrderList, isFolded: boolean): Html {
  const { history: text } = texts[view.language]
  if (!isFolded) return html`<p class="lead">${text.unpaidText}</p>${orderTable(view, unpaid)}`
  return html`
      <details class="fold unpaid">
        <summary>${text.unpaidCount(unpaid.count)}</summary>
        <p class="lead">${text.unpaidText}</p>
        ${orderTable(view, unpaid)}
      </details>`
}

function orderTable(view: View, { listed, more }: OrderList): Html {
  const text = texts[view.language]
  return html`
      <div class="orders">
        <p class="orders-head" aria-hidden="true"><span>${text.package}</span><span>${text.history.date}</span><span>${text.amount}</span><span>${text.history.status}</span></p>
        <ul>${listed.map((each) => orderRow(view, each))}
        </ul>
      </div>
      ${more === null ? null : html`<p class="more"><a class="button quiet" href="${more}">${text.history.more}</a></p>`}`
}

function orderRow(view: View, { order, status }: ListedOrder): Html {
  const { tone, label } = statusOf(view, order, status)
  const text = texts[view.language]
  const name = packageName(view.language, order.packageType)
  return html`
        <li>
          <a href="/orders/${order.orderId}">
            <span class="orders-what"><strong>${name}</strong>${order.credits === null ? null : html` <span>${text.credits(order.credits)}</span>`}</span>
            ${timeOf(view.language, order.purchasedAt)}
            <span class="orders-amount">${formatWon(order.amount)}</span>
            <span class="badge ${tone}">${label}</span>
          </a>
        </li>`
}

const tones: Record<string, string> = { CONFIRMED: 'good', FAILED: 'bad' }

function statusOf(view: View, order: Order, answer: Answer<KnownOrder>): { tone: string; label: string } {
  const text = texts[view.language]
  if (!answer.ok) return { tone: '', label: answer.code === 'NOT000' ? text.statusMissing : text.statusUnknown }
  const { status, refusalReason } = answer.data
  if (status === 'PENDING' && order.paymentKey !== null) return { tone: '', label: text.statusUnknown }
  if (refusalReason === 'order-expired' || refusalReason === 'payment-expired')
    return { tone: '', label: text.statusExpired }
  return { tone: tones[status] ?? '', label: text.statuses[status] }
}
