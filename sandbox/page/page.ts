// The page at /sandbox as HTML: the payments, newest first, and the panels beside them (panels.ts). Plain links and forms
// that work without JavaScript; the script only refreshes the parts marked with `data-live`.

import { type Html, html } from '../checkout/html.ts'
import { languageNames } from '../checkout/texts.ts'
import type { Payment } from '../payments/payments.ts'
import type { Sandbox } from '../state.ts'
import { panels } from './panels.ts'
import { addressOf, type PageQuery, type View } from './parts.ts'
import { paymentRow } from './payment-row.ts'
import { pageTexts } from './texts.ts'

export const paymentsPerPage = 50

export function sandboxPage(sandbox: Sandbox, query: PageQuery, problem: string | null): string {
  const view: View = { ...query, text: pageTexts[query.language], sandbox }
  const { text, language } = view
  return html`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${text.title}</title>
    <link rel="icon" href="/sandbox/assets/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/sandbox/assets/page.css">
    <script type="module" src="/sandbox/assets/page.js"></script>
  </head>
  <body>
    <a class="skip" href="#payments">${text.skip}</a>
    <header>
      <div class="brand">
        <img src="/sandbox/assets/icon.svg" alt="" width="32" height="32">
        <div>
          <h1>${text.title}</h1>
          <p>${text.note}</p>
        </div>
      </div>
      <nav aria-label="${text.languages}">${languageSwitch(view)}</nav>
    </header>
    <main>
      <nav class="sections" aria-label="${text.sections}"><a href="#faults">${text.faults}</a> <a href="#clock">${text.clock}</a> <a href="#webhooks">${text.webhooks}</a></nav>
      ${problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`}
      <div class="columns">
        <section class="payments" id="payments" aria-labelledby="payments-title" data-live>${payments(view)}
        </section>
        <div class="panels">${panels(view)}
        </div>
      </div>
    </main>
  </body>
</html>
`.text
}

function languageSwitch(view: View): Html[] {
  return (['ko', 'en'] as const).map((language) =>
    language === view.language
      ? html`<span aria-current="true">${languageNames[language]}</span>`
      : html`<a href="${addressOf({ ...view, language })}" lang="${language}" hreflang="${language}">${languageNames[language]}</a>`,
  )
}

function payments(view: View): Html {
  const { text, sandbox, paymentKey } = view
  const all = sandbox.payments.all()
  if (paymentKey !== null) return onePayment(view, sandbox.payments.find(paymentKey))
  const end = Math.max(0, all.length - (view.page - 1) * paymentsPerPage)
  const shown = all.slice(Math.max(0, end - paymentsPerPage), end).reverse()
  return html`
          <div class="heading">
            <h2 id="payments-title">${text.payments} <span class="count">${all.length}</span></h2>
            <p><span class="quiet">${text.times}</span> <a href="/sandbox/payments">${text.json}</a></p>
          </div>
          ${shown.length === 0 ? html`<p class="empty">${text.noPayments}</p>` : list(view, shown)}
          ${pager(view, all.length)}`
}

function onePayment(view: View, payment: Payment | undefined): Html {
  const { text } = view
  return html`
          <div class="heading">
            <h2 id="payments-title">${text.onePayment}</h2>
            <p><a href="${addressOf({ ...view, paymentKey: null, page: 1 })}">${text.allPayments}</a></p>
          </div>
          ${payment === undefined ? html`<p class="empty">${text.unknownPayment}</p>` : list(view, [payment])}`
}

function list(view: View, shown: Payment[]): Html {
  return html`<ul class="rows">${shown.map((payment) => paymentRow(view, payment))}
          </ul>`
}

function pager(view: View, total: number): Html | null {
  const { text, page } = view
  const last = Math.ceil(total / paymentsPerPage)
  if (last <= 1) return null
  const link = (to: number, label: string) =>
    to < 1 || to > last ? null : html`<a href="${addressOf({ ...view, page: to })}">${label}</a>`
  return html`
          <nav class="pager" aria-label="${text.pages}">${link(page - 1, text.newer)} <span>${page} / ${last}</span> ${link(page + 1, text.older)}</nav>`
}
