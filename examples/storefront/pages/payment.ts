// The pages on the way to a payment and back: the payment window, the outcome, and a window that ended without one. No
// page decides anything: figures and outcome are arguments.

import type { Order } from '../orders.ts'
import type { Outcome } from '../outcome.ts'
import { type Texts, texts } from '../texts/texts.ts'
import { markOf, orderFacts, outcomeHead, toneOf } from './facts.ts'
import { buyForm } from './home.ts'
import { type Html, html } from './html.ts'
import { actions, layout, packageName, type View } from './layout.ts'

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
        <p>${text.payText}</p>
        ${orderFacts(view, order)}
        <p class="problem" role="alert" hidden>${text.payProblem} <code></code></p>
        <noscript><p class="problem">${text.payNoScript}</p></noscript>
        <div class="actions">
          <button type="button">${text.payButton}</button>
          <a class="button quiet" href="/">${text.choosePackage}</a>
        </div>
      </section>`,
    { script: 'pay.js' },
  )
}

/** Where to check an unknown outcome again, and after how long the page does so by itself; null: no more. */
export type Retry = { address: string; afterMs: number | null }

/** `retry` is set while the outcome is unknown. */
export function outcomePage(view: View, order: Order, outcome: Outcome, retry: Retry | null): string {
  const text = texts[view.language]
  const { added } = outcome
  const isChecking = retry !== null && retry.afterMs !== null
  return layout(
    view,
    text.outcome[outcome.kind].heading,
    html`
      <section class="panel outcome ${toneOf(outcome)}" aria-live="polite">
        ${outcomeHead(view, outcome, isChecking)}
        ${
          added &&
          html`<p class="added">${text.added(added.credits)}</p>
        <p class="change">${text.balanceChange(added.balance - added.credits, added.balance)}</p>`
        }
        ${retry?.afterMs === null ? html`<p>${text.checkedEnough}</p>` : null}
        ${orderFacts(view, order, outcome)}
        ${outcomeActions(view, order, outcome, retry)}
      </section>`,
    retry && retry.afterMs !== null
      ? { script: 'outcome.js', refresh: { address: retry.address, afterMs: retry.afterMs } }
      : { script: 'shop.js' },
  )
}

function outcomeActions(view: View, order: Order, { kind }: Outcome, retry: Retry | null): Html {
  const text = texts[view.language]
  const pay = { href: `/pay/${order.orderId}`, label: text.payAgain }
  const see = { href: `/orders/${order.orderId}`, label: text.seeOrder }
  const shop = { href: '/', label: text.choosePackage }
  if (retry?.afterMs === null) return actions({ href: retry.address, label: text.checkAgain }, see)
  // The page checks by itself; the link is for a browser without scripts.
  if (retry)
    return html`<p><a id="retry" href="${retry.address}" data-after-ms="${retry.afterMs}">${text.checkAgain}</a></p>`
  if (kind === 'awaiting' || kind === 'mismatch') return actions(pay, shop)
  if (kind === 'confirmed') return actions({ href: '/', label: text.toShop }, see)
  if (kind === 'refused' || kind === 'expired') return actions(buyAgain(view, order), see)
  return actions(shop, see)
}

/** Starts the same purchase again, as a new order. */
export function buyAgain(view: View, { packageType }: Order): Html {
  const label = texts[view.language].buyPackageAgain(packageName(view.language, packageType))
  return buyForm(packageType, html`<button type="submit">${label}</button>`)
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
  const isRefused = code === 'REJECT_CARD_COMPANY'
  return layout(
    view,
    heading,
    html`
      <section class="panel outcome ${isRefused ? 'bad' : 'plain'}">
        ${markOf(isRefused ? 'refused' : 'awaiting')}
        <h1>${heading}</h1>
        <p>${sentence}</p>
        ${known ? null : html`<p class="quotation">${text.windowMessage}: <q>${quoted.message}</q> <code>${quoted.code}</code></p>`}
        ${orderFacts(view, order)}
        ${actions({ href: `/pay/${order.orderId}`, label: text.payAgain }, { href: '/', label: text.choosePackage })}
      </section>`,
  )
}
