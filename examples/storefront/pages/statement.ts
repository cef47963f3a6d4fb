// The statement: what was bought and what of it was used in all, and every movement of the balance, newest first.

import type { Lot, Lots, Statement, StatementEntry } from '../../../client/src/index.ts'
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

type Figure = { name: string; credits: number; note?: string | null }

/** Bought and used are sums over all orders: left out when there are more than one answer has. */
function totals(view: View, { balance }: Statement, lots: Lots | null): Html {
  const { statement: text, credits: creditsOf, balance: name } = texts[view.language]
  const held = balance.held ?? 0
  const figures: Figure[] = [
    ...(lots?.nextCursor === null ? figuresOf(view, lots) : []),
    { name, credits: balance.balance, note: held > 0 ? text.held(held) : null },
  ]
  return html`
      <dl class="figures">${figures.map(
        ({ name: term, credits, note = null }) => html`
        <div><dt>${term}</dt><dd>${creditsOf(credits)}${note && html` <small>${note}</small>`}</dd></div>`,
      )}
      </dl>`
}

function figuresOf(view: View, { lots, adjusted }: Lots): Figure[] {
  const { statement: text } = texts[view.language]
  const sumOf = (part: (lot: Lot) => number) => lots.reduce((sum, lot) => sum + part(lot), 0)
  return [
    { name: text.bought, credits: sumOf((lot) => lot.credits - lot.takenBack) },
    { name: text.usedOfBought, credits: sumOf((lot) => lot.used) },
    ...(adjusted > 0 ? [{ name: text.otherLeft, credits: adjusted }] : []),
  ]
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
