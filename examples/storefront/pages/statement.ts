// The statement: what was bought and spent in all, and every movement of the balance, newest first.

import type { Lots, Statement, StatementEntry } from '../../../client/src/index.ts'
import type { Orders } from '../orders.ts'
import { texts } from '../texts/texts.ts'
import { type Html, html } from './html.ts'
import { layout, packageName, timeOf, type View } from './layout.ts'
import { historyTabs } from './orders.ts'

export function statementPage(view: View, statement: Statement, lots: Lots | null, orders: Orders): string {
  const { statement: text } = texts[view.language]
  const { entries, nextCursor } = statement
  return layout(
    view,
    text.title,
    html`
      <h1>${text.title}</h1>
      ${historyTabs(view, 'statement')}
      <p class="lead">${text.text}</p>
      ${totals(view, statement, lots)}
      ${entries.length === 0 ? html`<p class="lead">${text.noEntries}</p>` : entryTable(view, entries, orders)}
      ${nextCursor === null ? null : html`<p class="more"><a class="button quiet" href="/statement?${new URLSearchParams({ cursor: nextCursor }).toString()}">${text.older}</a></p>`}`,
  )
}

/** Bought and spent are sums over all orders: left out when there are more than one answer has. */
function totals(view: View, { balance }: Statement, lots: Lots | null): Html {
  const { statement: text, credits, balance: name } = texts[view.language]
  const all = lots?.nextCursor === null ? lots : null
  const sum = (of: (lot: Lots['lots'][number]) => number) =>
    all ? all.lots.reduce((total, lot) => total + of(lot), 0) : 0
  const held = balance.held ?? 0
  const figures: [string, string, string | null][] = [
    [name, credits(balance.balance), held > 0 ? text.held(held) : null],
  ]
  if (all) {
    figures.unshift(
      [text.bought, credits(sum((lot) => lot.credits - lot.takenBack)), null],
      [text.spent, credits(sum((lot) => lot.used)), null],
    )
    if (all.adjusted > 0) figures.splice(2, 0, [text.other, credits(all.adjusted), null])
  }
  return html`
      <dl class="figures">${figures.map(
        ([term, value, note]) => html`
        <div><dt>${term}</dt><dd>${value}${note && html` <small>${note}</small>`}</dd></div>`,
      )}
      </dl>`
}

function entryTable(view: View, entries: StatementEntry[], orders: Orders): Html {
  const { statement: text } = texts[view.language]
  return html`
      <table class="entries">
        <thead><tr><th scope="col">${text.what}</th><th scope="col">${text.change}</th><th scope="col">${text.balanceAfter}</th></tr></thead>
        <tbody>${entries.map((entry) => entryRow(view, entry, orders))}
        </tbody>
      </table>`
}

function entryRow(view: View, entry: StatementEntry, orders: Orders): Html {
  const { kind, delta, balanceAfter, createdAt } = entry
  const { statement: text } = texts[view.language]
  const sign = delta > 0 ? '+' : delta < 0 ? '−' : ''
  return html`
          <tr>
            <td>${text.kinds[kind]} ${detailOf(view, entry, orders)} ${timeOf(view.language, createdAt)}</td>
            <td class="${delta > 0 ? 'plus' : 'minus'}">${sign}${Math.abs(delta).toLocaleString('en-US')}</td>
            <td>${balanceAfter.toLocaleString('en-US')}</td>
          </tr>`
}

/** The order, or what the platform's service wrote to its spend. */
function detailOf(view: View, { kind, orderId, reference }: StatementEntry, orders: Orders): Html | null {
  const { statement: text } = texts[view.language]
  const order = orderId === null ? undefined : orders.find(orderId)
  if (order) return html`<a href="/orders/${order.orderId}">${packageName(view.language, order.packageType)}</a>`
  if (kind === 'GRANT') return html`<small>${text.byApi}</small>`
  return reference === null ? null : html`<small>${reference}</small>`
}
