// The packages, and the page after a click on Buy that got no answer.

import { randomUUID } from 'node:crypto'
import type { CreditPackage } from '../../../client/src/index.ts'
import type { ApiCode } from '../api.ts'
import { texts } from '../texts/texts.ts'
import { formatWon } from '../texts/won.ts'
import { type Html, html } from './html.ts'
import { actions, layout, packageName, type View } from './layout.ts'

export function homePage(view: View, packages: CreditPackage[]): string {
  const text = texts[view.language]
  const lowest = Math.min(...packages.map(perCredit))
  return layout(
    view,
    text.buyCredits,
    html`
      <h1>${text.buyCredits}</h1>
      <p class="lead">${text.buyCreditsText}</p>
      <ul class="packages">${packages.map((each) => packageCard(view, each, perCredit(each) === lowest))}
      </ul>`,
    { script: 'shop.js' },
  )
}

function perCredit({ price, credits }: CreditPackage): number {
  return Math.round(price / credits)
}

function packageCard(view: View, item: CreditPackage, isBest: boolean): Html {
  const text = texts[view.language]
  const name = packageName(view.language, item.packageType)
  return html`
        <li class="package${isBest ? ' best' : ''}">
          <div class="package-head">
            <h2>${name}</h2>
            ${isBest ? html`<p class="mark">${text.bestValue}</p>` : null}
          </div>
          <p class="package-credits">${text.credits(item.credits)}</p>
          <p class="package-price">${formatWon(item.price)} <small>${text.vatIncluded}</small></p>
          <ul class="package-notes">
            <li>${text.perCredit(perCredit(item))}</li>
            ${item.bonusCredits > 0 ? html`<li>${text.bonus(item.bonusPercentage, item.bonusCredits)}</li>` : null}
          </ul>
          ${buyForm(item.packageType, html`<button type="submit" aria-label="${text.buy}: ${name}, ${formatWon(item.price)}">${text.buy}</button>`)}
        </li>`
}

/** The token makes a click one purchase, however often the form is sent. */
export function buyForm(packageType: string, button: Html, token: string = randomUUID()): Html {
  return html`
          <form method="post" action="/buy">
            <input type="hidden" name="packageType" value="${packageType}">
            <input type="hidden" name="token" value="${token}">
            ${button}
          </form>`
}

/** The purchase got no answer: sends the same click again. */
export function buyAgainPage(view: View, code: ApiCode, packageType: string, token: string): string {
  const text = texts[view.language]
  return layout(
    view,
    text.unavailable,
    html`
      <section class="panel outcome">
        <h1>${text.unavailable}</h1>
        <p>${text.errors[code]}</p>
        ${actions(buyForm(packageType, html`<button type="submit">${text.tryAgain}</button>`, token))}
      </section>`,
    { script: 'shop.js' },
  )
}
