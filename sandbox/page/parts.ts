// What the page, its rows and its panels share: what is shown, addresses, times, and the answers to a webhook.

import { type Html, html } from '../checkout/html.ts'
import type { Language } from '../checkout/texts.ts'
import { koreanTime } from '../payments/payments.ts'
import type { Sandbox } from '../state.ts'
import type { Delivery } from '../webhooks/deliveries.ts'
import type { PageTexts } from './texts.ts'

/** What the address asks for. */
export type PageQuery = { language: Language; page: number; paymentKey: string | null }

export type View = PageQuery & { text: PageTexts; sandbox: Sandbox }

/** The language is always part of it, so that a form leads back to the same one. */
export function addressOf({ language, page, paymentKey }: PageQuery, path = '/sandbox'): string {
  const query = new URLSearchParams({ lang: language })
  if (paymentKey !== null) query.set('payment', paymentKey)
  else if (page > 1) query.set('page', String(page))
  return `${path}?${query}`
}

/** Korean time without its year; `at` is a time of the protocol or milliseconds. */
export function clockTime(at: string | number): Html {
  const iso = typeof at === 'number' ? koreanTime(new Date(at)) : at
  return html`<time datetime="${iso}">${iso.slice(5, 10)} ${iso.slice(11, 19)}</time>`
}

/** How each attempt was answered, and when the next one is due. */
export function attemptTexts(text: PageTexts, { attempts, fault, state, dueAtMs }: Delivery): Html {
  const answers = attempts.map(({ status, error }) =>
    status === null ? text.notAnswered(error ?? '') : text.answered(status),
  )
  const next = state === 'pending' ? html` · ${text.nextAttempt} ${clockTime(dueAtMs)}` : null
  return html`${answers.length === 0 ? null : ` · ${answers.join(', ')}`}${next}${fault === null ? null : html` <span class="fault">${fault}</span>`}`
}
