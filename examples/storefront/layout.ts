// The layout of every page: head, navigation with the balance, language switch; and the page with only a heading and a
// sentence.

import { type Html, html } from './html.ts'
import { type Language, languageNames, texts } from './texts.ts'

export type View = {
  language: Language
  /** The address of this page, so that the switch leads back to it. */
  address: string
  /** Null when the service has not answered. */
  balance: number | null
}

export function layout(view: View, title: string, content: Html, script?: string): string {
  const text = texts[view.language]
  return html`<!doctype html>
<html lang="${view.language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · ${text.shop}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/assets/storefront.css">
    ${script === undefined ? null : html`<script type="module" src="/assets/${script}"></script>`}
  </head>
  <body>
    <a class="skip" href="#content">${text.skip}</a>
    <header>
      <div class="bar">
        <a class="brand" href="/">${text.shop}</a>
        <nav>
          <a href="/">${text.packages}</a>
          <a href="/orders">${text.orders}</a>
        </nav>
        <p class="balance">${text.balance} <strong>${view.balance === null ? '–' : text.credits(view.balance)}</strong></p>
        <p class="languages" role="group" aria-label="${text.language}">${languageSwitch(view)}</p>
      </div>
    </header>
    <main id="content">${content}
    </main>
  </body>
</html>
`.text
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

export function actions(...list: (Action | null)[]): Html {
  const links = list.filter((each) => each !== null)
  return html`
      <p class="actions">${links.map(
        ({ href, label }, index) => html`
        <a class="button${index === 0 ? '' : ' quiet'}" href="${href}">${label}</a>`,
      )}
      </p>`
}

export function messagePage(view: View, message: { heading: string; text: string }, ...links: Action[]): string {
  return layout(
    view,
    message.heading,
    html`
      <section class="panel">
        <h1>${message.heading}</h1>
        <p>${message.text}</p>
        ${links.length > 0 ? actions(...links) : null}
      </section>`,
  )
}

export function formatWon(amount: number): string {
  return `₩${amount.toLocaleString('en-US')}`
}

export function packageName(language: Language, packageType: string): string {
  return texts[language].packageNames[packageType] ?? packageType
}
