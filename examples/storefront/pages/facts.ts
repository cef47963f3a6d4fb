// What all pages of an order show: its outcome as a mark, a heading and a sentence, and the facts of order and payment.

import type { Order } from '../orders.ts'
import type { Outcome, OutcomeKind } from '../outcome.ts'
import { type Texts, texts } from '../texts/texts.ts'
import { formatWon } from '../texts/won.ts'
import { type Html, html } from './html.ts'
import { dayOf, packageName, timeOf, type View } from './layout.ts'

const tones: Record<OutcomeKind, 'good' | 'bad' | 'plain'> = {
  confirmed: 'good',
  refused: 'bad',
  mismatch: 'bad',
  missing: 'bad',
  expired: 'plain',
  cancelled: 'plain',
  refunded: 'plain',
  awaiting: 'plain',
  unknown: 'plain',
}

export function toneOf({ kind }: Outcome): string {
  return tones[kind]
}

const check = html`<path d="m7 12.5 3.5 3.5L17 9"/>`
const cross = html`<path d="m8 8 8 8m0-8-8 8"/>`
const clock = html`<path d="M12 7v5.5l3.5 2"/>`
const back = html`<path d="M7 10h7a3.5 3.5 0 0 1 0 7h-3M7 10l3-3m-3 3 3 3"/>`

const marks: Record<OutcomeKind, Html> = {
  confirmed: check,
  refused: cross,
  mismatch: cross,
  missing: cross,
  expired: clock,
  awaiting: clock,
  unknown: clock,
  cancelled: back,
  refunded: back,
}

/** Mark, heading, sentence, and what goes back. `isChecking`: the page checks the outcome again by itself. */
export function outcomeHead(view: View, outcome: Outcome, isChecking = false): Html {
  const text = texts[view.language]
  const { kind, failure } = outcome
  const { heading, text: ofKind } = text.outcome[kind]
  const sentence = failure === null ? ofKind : text.failures[failure]
  return html`
        ${isChecking ? html`<span class="spinner" aria-hidden="true"></span>` : markOf(kind)}
        <h1>${heading}</h1>
        ${sentence && html`<p>${sentence}</p>`}
        ${refundSentences(view, outcome)}`
}

/** The last amount ended the order, unless it is still CONFIRMED; those before it are accepted parts. */
function refundSentences({ language }: View, { kind, refunds }: Outcome): Html | null {
  const { refunds: text } = texts[language]
  if (refunds.length === 0) return null
  const sentences = refunds.map(({ amount, refundedAt }, index) => {
    const isLast = index === refunds.length - 1
    const what = isLast && (kind === 'cancelled' || kind === 'refunded') ? kind : 'part'
    return html`<p>${text[what](dayOf(language, refundedAt), formatWon(amount))}${isLast ? ` ${text.shown}` : null}</p>`
  })
  return html`${sentences}`
}

export function markOf(kind: OutcomeKind): Html {
  return html`<svg class="mark-of-outcome" viewBox="0 0 24 24" aria-hidden="true">${marks[kind]}</svg>`
}

export type Fact = [term: string, value: string | Html | null]

/** Without those that are not known. */
export function factList(facts: Fact[]): Html {
  const known = facts.filter(([, value]) => value !== null)
  return html`
        <dl class="facts">${known.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** What was bought and, as far as it is known, how it was paid. */
export function orderFacts(view: View, order: Order, outcome?: Outcome): Html {
  const { language } = view
  const text = texts[language]
  const credits = outcome?.added?.credits ?? order.credits
  const paidAt = outcome?.confirmedAt ?? null
  return factList([
    [text.package, packageName(language, order.packageType)],
    [text.creditsOfOrder, credits === null ? null : text.credits(credits)],
    [text.amount, html`${formatWon(order.amount)} <small>${text.vatIncluded}</small>`],
    [text.paidAt, paidAt && timeOf(language, paidAt)],
    [text.paidWith, outcome?.paidWith ? paidWithText(text, outcome.paidWith) : null],
    ...slipFacts(text, outcome),
    [text.orderedAt, paidAt === null ? timeOf(language, order.purchasedAt) : null],
    [text.order, html`<code>${order.orderId}</code>`],
  ])
}

function paidWithText({ paid }: Texts, paidWith: NonNullable<Outcome['paidWith']>): string {
  const { method, provider, cardAmount, walletAmount, pointsAmount } = paidWith
  if (method !== 'EASY_PAY') return paid.methods[method]
  const parts = [
    cardAmount && paid.byCard(formatWon(cardAmount)),
    walletAmount && paid.fromWallet(formatWon(walletAmount)),
    pointsAmount && paid.points(formatWon(pointsAmount)),
  ]
  const wallet = provider && Object.hasOwn(paid.wallets, provider) ? paid.wallets[provider] : provider
  return [wallet || paid.methods[method], ...parts.filter((part) => !!part)].join(', ')
}

/** What the buyer finds on the card statement, as far as the gateway sent it. */
function slipFacts(text: Texts, outcome: Outcome | undefined): Fact[] {
  const { cardNumber = null, approvalNumber = null, receiptUrl = null } = outcome?.slip ?? {}
  return [
    [text.card, cardNumber],
    [text.approvalNumber, approvalNumber],
    [
      text.receipt,
      receiptUrl && html`<a href="${receiptUrl}" target="_blank" rel="noreferrer noopener">${text.openReceipt}</a>`,
    ],
  ]
}
