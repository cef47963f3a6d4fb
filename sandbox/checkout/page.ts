// The pages of the checkout as HTML: the order with the ways to pay and its test cards, and how a session ended. Plain forms
// that work without JavaScript; the script only adds the Escape key.

import { type WayToPay, wallets, wayNames } from '../payments/ways-to-pay.ts'
import { type ChoiceProblem, cardNames, cards } from './cards.ts'
import { type Html, html } from './html.ts'
import type { Session } from './sessions.ts'
import { type EndedKind, type Language, languageNames, texts } from './texts.ts'

export function checkoutPage(session: Session, language: Language, problem: ChoiceProblem | null = null): string {
  const text = texts[language]
  const { request, id, seller } = session
  const amount = formatWon(request.amount)
  return layout(
    language,
    html`
      <section class="order">
        <h1>${request.orderName}</h1>
        <p class="amount"><span class="hidden">${text.amount}</span> ${amount}</p>
        <dl class="facts">
          <div><dt>${text.shop}</dt><dd>${seller}</dd></div>
          <div><dt>${text.orderId}</dt><dd class="order-id">${request.orderId}</dd></div>
        </dl>
      </section>
      <form method="post" action="/checkout/${id}/pay?lang=${language}">
        ${problem === null ? null : html`<p class="problem" role="alert">${text[problem]}</p>`}
        <fieldset class="methods">
          <legend>${text.chooseMethod}</legend>
          ${wayNames.map((name) => methodChoice(language, name))}
          <label class="wallet">${text.wallet}
            <select name="provider">${wallets.map((name) => html`<option value="${name}">${text.wallets[name]}</option>`)}</select>
          </label>
        </fieldset>
        <fieldset class="cards">
          <legend>${text.chooseCard}</legend>
          ${cardNames.map((name, index) => cardChoice(language, name, index === 0))}
        </fieldset>
        <div class="actions">
          <button type="submit" class="pay">${text.pay(amount)}</button>
          <button type="submit" class="cancel" formaction="/checkout/${id}/cancel?lang=${language}" formnovalidate>${text.cancel}</button>
        </div>
        <p class="keys">${text.keys}</p>
      </form>`,
  )
}

function methodChoice(language: Language, name: WayToPay): Html {
  return html`
          <label class="card">
            <input type="radio" name="method" value="${name}" required${name === 'card' ? html` checked` : null}>
            <span>${texts[language].methods[name]}</span>
          </label>`
}

function cardChoice(language: Language, name: (typeof cardNames)[number], chosen: boolean): Html {
  const { name: label, consequence } = texts[language].cards[name]
  return html`
          <label class="card">
            <input type="radio" name="card" value="${name}" required${chosen ? html` checked` : null}>
            <span class="card-text">
              <span class="card-name">${label}</span>
              <span class="card-number">${cards[name].number}</span>
              <span class="card-consequence">${consequence}</span>
            </span>
          </label>`
}

/** `location` leads back to the shop; an unknown session has none. */
export function endedPage(language: Language, kind: EndedKind, location: string | null): string {
  const text = texts[language]
  const { heading, text: explanation } = text.ended[kind]
  const way = kind === 'paid' ? text.continueToShop : text.backToShop
  return layout(
    language,
    html`
      <section class="ended">
        <h1>${heading}</h1>
        <p>${explanation}</p>
        ${location === null ? null : html`<p><a class="way" href="${location}">${way}</a></p>`}
      </section>`,
  )
}

export function layout(language: Language, content: Html): string {
  const text = texts[language]
  const page = html`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${text.title}</title>
    <link rel="icon" type="image/svg+xml" href="/checkout/assets/icon.svg">
    <link rel="stylesheet" href="/checkout/assets/checkout.css">
    <script type="module" src="/checkout/assets/checkout.js"></script>
  </head>
  <body>
    <header>
      <p class="note">${text.note}</p>
      <nav aria-label="${text.languages}">${languageSwitch(language)}</nav>
    </header>
    <main>${content}
    </main>
  </body>
</html>
`
  return page.text
}

/** A link with a query only keeps the path. */
function languageSwitch(current: Language): Html[] {
  return (['ko', 'en'] as const).map((language) =>
    language === current
      ? html`<span aria-current="true">${languageNames[language]}</span>`
      : html`<a href="?lang=${language}" lang="${language}" hreflang="${language}">${languageNames[language]}</a>`,
  )
}

export function formatWon(amount: number): string {
  return `₩${amount.toLocaleString('en-US')}`
}
