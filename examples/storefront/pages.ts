// The pages of the shop as functions of their data. No page decides anything: figures and outcome are arguments.

import { randomUUID } from 'node:crypto'
import type { CardSlip, CreditPackage } from '../../client/src/index.ts'
import type { ApiCode } from './api.ts'
import { type Html, html } from './html.ts'
import { actions, formatWon, layout, packageName, type View } from './layout.ts'
import type { Order } from './orders.ts'
import type { Outcome, OutcomeKind } from './outcome.ts'
import { type Texts, texts } from './texts.ts'

export function homePage(view: View, packages: CreditPackage[]): string {
  const text = texts[view.language]
  return layout(
    view,
    text.buyCredits,
    html`
      <h1>${text.buyCredits}</h1>
      <p class="lead">${text.buyCreditsText}</p>
      <ul class="packages">${packages.map((each) => packageCard(view, each))}
      </ul>`,
    'shop.js',
  )
}

/** The token makes a click one purchase, however often the form is sent. */
function packageCard(view: View, item: CreditPackage): Html {
  const text = texts[view.language]
  const name = packageName(view.language, item.packageType)
  const bonus = item.bonusCredits > 0 ? text.bonus(item.bonusPercentage, item.bonusCredits) : text.noBonus
  return html`
        <li class="package">
          <h2>${name}</h2>
          <p class="package-credits">${text.credits(item.credits)}</p>
          <p class="package-bonus">${bonus}</p>
          <p class="package-price">${formatWon(item.price)}</p>
          <form method="post" action="/buy">
            <input type="hidden" name="packageType" value="${item.packageType}">
            <input type="hidden" name="token" value="${randomUUID()}">
            <button type="submit" aria-label="${text.buy}: ${name}, ${formatWon(item.price)}">${text.buy}</button>
          </form>
        </li>`
}

/** The purchase got no answer: sends the same click again. */
export function buyAgainPage(view: View, code: ApiCode, packageType: string, token: string): string {
  const text = texts[view.language]
  return layout(
    view,
    text.unavailable,
    html`
      <section class="panel">
        <h1>${text.unavailable}</h1>
        <p>${text.errors[code]}</p>
        <form method="post" action="/buy">
          <input type="hidden" name="packageType" value="${packageType}">
          <input type="hidden" name="token" value="${token}">
          <button type="submit">${text.tryAgain}</button>
        </form>
      </section>`,
  )
}

export function payPage(view: View, order: Order, gatewayScriptUrl: string): string {
  const text = texts[view.language]
  const orderName = text.orderName(packageName(view.language, order.packageType))
  return layout(
    view,
    text.payHeading,
    html`
      <section class="panel" id="pay" data-gateway-script="${gatewayScriptUrl}" data-client-key="${order.clientKey}"
        data-order-id="${order.orderId}" data-order-name="${orderName}" data-amount="${order.amount}"
        data-success-url="${order.successUrl}" data-fail-url="${order.failUrl}">
        <h1>${text.payHeading}</h1>
        ${orderFacts(view, order)}
        <p>${text.payText}</p>
        <p class="problem" role="alert" hidden>${text.payProblem} <code></code></p>
        <noscript><p class="problem">${text.payNoScript}</p></noscript>
        <p class="actions">
          <button type="button">${text.payButton}</button>
          <a class="button quiet" href="/">${text.buyAgain}</a>
        </p>
      </section>`,
    'pay.js',
  )
}

const tones: Record<OutcomeKind, string> = {
  confirmed: 'good',
  refused: 'bad',
  mismatch: 'bad',
  missing: 'bad',
  cancelled: 'plain',
  refunded: 'plain',
  awaiting: 'plain',
  unknown: 'plain',
}

/** `retry` is set while the outcome is unknown: where to check again, and after how long the page does so by itself. */
export function outcomePage(
  view: View,
  order: Order,
  outcome: Outcome,
  retry: { address: string; afterMs: number | null } | null,
): string {
  const text = texts[view.language]
  const { heading, text: sentence } = text.outcome[outcome.kind]
  return layout(
    view,
    heading,
    html`
      <section class="panel ${tones[outcome.kind]}" aria-live="polite">
        <h1>${heading}</h1>
        ${outcome.creditsAdded === null ? null : html`<p class="added">${text.creditsAdded(text.credits(outcome.creditsAdded))}</p>`}
        <p>${sentence}</p>
        ${outcome.kind === 'confirmed' && view.balance !== null ? html`<p>${text.balanceNow(text.credits(view.balance))}</p>` : null}
        ${outcome.kind === 'unknown' && outcome.code ? html`<p>${text.errors[outcome.code]}</p>` : null}
        ${retry ? retryPart(view, retry) : null}
        ${orderFacts(view, order, outcome.slip)}
        ${outcomeActions(view, order, outcome, retry)}
      </section>`,
    retry ? 'outcome.js' : undefined,
  )
}

function retryPart(view: View, { address, afterMs }: { address: string; afterMs: number | null }): Html {
  const text = texts[view.language]
  if (afterMs === null) return html`<p>${text.checkedEnough}</p>`
  return html`<p id="retry" data-address="${address}" data-after-ms="${afterMs}">${text.checkingAgain}</p>`
}

function outcomeActions(view: View, order: Order, { kind }: Outcome, retry: { address: string } | null): Html {
  const text = texts[view.language]
  const pay = { href: `/pay/${order.orderId}`, label: text.payAgain }
  const see = { href: `/orders/${order.orderId}`, label: text.seeOrder }
  const shop = { href: '/', label: text.buyAgain }
  if (retry) return actions({ href: retry.address, label: text.checkAgain }, see)
  if (kind === 'awaiting' || kind === 'mismatch') return actions(pay, shop)
  return kind === 'confirmed' ? actions(see, shop) : actions(shop, see)
}

/** The code comes from an address and may be anything. */
export function failMessage({ fail, failOtherwise }: Texts, code: string): { heading: string; text: string } {
  return (Object.hasOwn(fail, code) ? fail[code] : undefined) ?? failOtherwise
}

/** `quoted` comes from the address: shown as a quotation, never in place of our own text. */
export function failPage(view: View, order: Order, code: string, quoted: { code: string; message: string }): string {
  const text = texts[view.language]
  const { heading, text: sentence } = failMessage(text, code)
  const known = Object.hasOwn(text.fail, code)
  return layout(
    view,
    heading,
    html`
      <section class="panel">
        <h1>${heading}</h1>
        <p>${sentence}</p>
        ${known ? null : html`<p class="quotation">${text.windowMessage}: <q>${quoted.message}</q> <code>${quoted.code}</code></p>`}
        ${orderFacts(view, order)}
        ${actions({ href: `/pay/${order.orderId}`, label: text.payAgain }, { href: '/', label: text.buyAgain })}
      </section>`,
  )
}

export function orderFacts(view: View, order: Order, slip: CardSlip | null = null): Html {
  const text = texts[view.language]
  const facts: [string, string | Html][] = [
    [text.package, packageName(view.language, order.packageType)],
    [text.amount, formatWon(order.amount)],
    [text.order, html`<code>${order.orderId}</code>`],
    ...slipFacts(text, slip),
  ]
  return html`
        <dl class="facts">${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** What the buyer finds on the card statement, as far as the gateway sent it. */
function slipFacts(text: Texts, slip: CardSlip | null): [string, string | Html][] {
  const { cardNumber = null, approvalNumber = null, receiptUrl = null } = slip ?? {}
  const facts: [string, string | Html | null][] = [
    [text.card, cardNumber],
    [text.approvalNumber, approvalNumber],
    [
      text.receipt,
      receiptUrl && html`<a href="${receiptUrl}" target="_blank" rel="noreferrer noopener">${text.openReceipt}</a>`,
    ],
  ]
  return facts.filter((fact): fact is [string, string | Html] => fact[1] !== null)
}
