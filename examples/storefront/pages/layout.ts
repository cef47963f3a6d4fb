// The layout of every page: head, navigation with the balance, language switch, and the footer with the seller; the page
// with only a heading and a sentence; and the formats of times and names.

import { type Language, languageNames, texts } from '../texts/texts.ts'
import { Html, html } from './html.ts'

/** Who sells, and what the pages say about it. */
export type ShopInfo = {
  /** Null: the name of the example shop, in the language of the page. */
  name: string | null
  /** Company, representative, registration numbers, address and phone, as the law asks for them. */
  seller: string | null
  termsUrl: string | null
  /** Null: the platform's rule in words. */
  refundRule: string | null
  /** KRW: less than this of an unused part is not refunded. */
  smallestRefund: number
  /** Percent of the value of what is unused. */
  refundShare: number
  /** Whose credits are bought; null: not shown. */
  customer: string | null
  /** Whether payments are only pretended. */
  isTest: boolean
}

export type View = {
  language: Language
  /** The address of this page, so that the switch leads back to it. */
  address: string
  /** Null when the service has not answered yet. */
  balance: number | null
  shop: ShopInfo
}

export type PageOptions = {
  script?: string | undefined
  /** Without scripts the page is requested again from there, after that time. */
  refresh?: { address: string; afterMs: number } | undefined
  /** Style and script in the page itself, instead of files of the shop. */
  inline?: { style: string; script: string } | undefined
}

export function layout(view: View, title: string, content: Html, options: PageOptions = {}): string {
  const { script, refresh, inline } = options
  const text = texts[view.language]
  const { shop } = view
  const name = shop.name ?? text.shop
  return html`<!doctype html>
<html lang="${view.language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · ${name}</title>
    <link rel="icon" type="image/svg+xml" href="/assets/icon.svg">
    ${inline === undefined ? html`<link rel="stylesheet" href="/assets/storefront.css">` : inlined(inline)}
    ${script === undefined ? null : html`<script type="module" src="/assets/${script}"></script>`}
    ${refresh === undefined ? null : html`<noscript><meta http-equiv="refresh" content="${Math.ceil(refresh.afterMs / 1_000)};url=${refresh.address}"></noscript>`}
  </head>
  <body>
    <a class="skip" href="#content">${text.skip}</a>
    <header>
      ${shop.isTest ? html`<p class="ribbon">${text.testMode}</p>` : null}
      <div class="bar">
        <a class="brand" href="/">${name}</a>
        <nav class="places" aria-label="${text.navigation}">${navigation(view)}</nav>
        <p class="balance">${text.balance} <strong>${view.balance === null ? '–' : text.credits(view.balance)}</strong></p>
        <p class="languages" role="group" aria-label="${text.language}">${languageSwitch(view)}</p>
      </div>
    </header>
    <main id="content">${content}
    </main>
    <footer>
      <div class="foot">${footer(view)}
      </div>
    </footer>
  </body>
</html>
`.text
}

function inlined({ style, script }: NonNullable<PageOptions['inline']>): Html {
  return new Html(`<style>${style}</style>\n    <script type="module">${script}</script>`)
}

function navigation({ language, address }: View): Html[] {
  const text = texts[language]
  const isOrders = /^\/(orders|statement)\b/.test(address)
  const places = [
    { href: '/', label: text.packages, isCurrent: /^\/(\?|$)/.test(address) },
    { href: '/orders', label: text.orders, isCurrent: isOrders },
  ]
  return places.map(({ href, label, isCurrent }) => navigationLink(href, label, isCurrent))
}

export function navigationLink(href: string, label: string, isCurrent: boolean): Html {
  return html`<a href="${href}"${isCurrent ? html` aria-current="page"` : null}>${label}</a>`
}

function footer({ language, shop }: View): Html {
  const { footer: text, shop: ownName } = texts[language]
  const { name, seller, termsUrl, customer } = shop
  return html`
        <p><strong>${name ?? ownName}</strong></p>
        <p>${text.seller}: ${seller ?? text.noSeller}</p>
        <p>${text.refunds}: ${refundRuleOf(language, shop)}</p>
        <p><a href="/verify">${text.verify}</a></p>
        ${termsUrl === null ? null : html`<p><a href="${termsUrl}">${text.terms}</a></p>`}
        ${customer === null ? null : html`<p>${text.customer(customer)}</p>`}`
}

function refundRuleOf(language: Language, { refundRule, smallestRefund, refundShare }: ShopInfo): string {
  return refundRule ?? texts[language].footer.refundRule(smallestRefund, refundShare)
}

function languageSwitch({ language: current, address }: View): Html[] {
  return (['ko', 'en'] as const).map((language) => {
    if (language === current) return html`<span aria-current="true">${languageNames[language]}</span>`
    // The query only: a path from the visitor could lead to another host.
    const query = new URLSearchParams(address.split('?')[1])
    query.set('lang', language)
    const link = `${address === '/' ? '/' : ''}?${query}`
    return html`<a href="${link}" lang="${language}" hreflang="${language}">${languageNames[language]}</a>`
  })
}

export type Action = { href: string; label: string }

/** The first stands out. A form among them is a button that changes something. */
export function actions(...list: (Action | Html)[]): Html {
  return html`
        <div class="actions">${list.map((each, index) => ('href' in each ? actionLink(each, index === 0) : each))}
        </div>`
}

function actionLink({ href, label }: Action, isFirst: boolean): Html {
  return html`
          <a class="button${isFirst ? '' : ' quiet'}" href="${href}">${label}</a>`
}

export function messagePage(view: View, message: { heading: string; text: string }, ...links: Action[]): string {
  return layout(
    view,
    message.heading,
    html`
      <section class="panel outcome">
        <h1>${message.heading}</h1>
        <p>${message.text}</p>
        ${links.length > 0 ? actions(...links) : null}
      </section>`,
  )
}

/** In Korea's time. */
export function timeOf(language: Language, instant: string): Html {
  const text = new Date(instant).toLocaleString(language === 'ko' ? 'ko-KR' : 'en-GB', {
    timeZone: 'Asia/Seoul',
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
  })
  return html`<time datetime="${instant}">${text}</time>`
}

export function dayOf(language: Language, instant: string): string {
  return new Date(instant).toLocaleDateString(language === 'ko' ? 'ko-KR' : 'en-GB', {
    timeZone: 'Asia/Seoul',
    dateStyle: 'long',
  })
}

export function packageName(language: Language, packageType: string): string {
  return texts[language].packageNames[packageType] ?? packageType
}
