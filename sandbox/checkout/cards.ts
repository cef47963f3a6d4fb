// What the form of the checkout page chooses: how to pay, in which wallet, and a test card with its outcome. All cards but
// the last pass the window, and the card company's answer comes at confirm, as at Toss; the last one is refused in the
// window itself. A wallet's money is always accepted.

import type { CheckoutResult } from '../payments/payments.ts'
import { type EasyPay, easyPayOf, usesCard, wallets, wayNames } from '../payments/ways-to-pay.ts'

export const cards = {
  approve: { number: '4330 **** 0014', result: 'approve' },
  decline: { number: '4330 **** 0022', result: 'decline' },
  insufficient: { number: '4330 **** 0030', result: 'insufficient' },
  limit: { number: '4330 **** 0063', result: 'limit' },
  'expired-card': { number: '4330 **** 0071', result: 'expired-card' },
  hang: { number: '4330 **** 0048', result: 'hang' },
  refused: { number: '4330 **** 0055', result: null },
} as const

export type CardName = keyof typeof cards

export const cardNames = Object.keys(cards) as CardName[]

/** `result` is null when the window itself refuses. */
export type Choice = { result: CheckoutResult | null; easyPay: EasyPay | null }

/** What is missing, as its text is called. */
export type ChoiceProblem = 'noCardChosen' | 'noMethodChosen'

type Form = { card?: unknown; method?: unknown; provider?: unknown }

export function readChoice(
  { card, method = 'card', provider = wallets[0] }: Form,
  amount: number,
): Choice | ChoiceProblem {
  if (!isOneOf(wayNames, method) || !isOneOf(wallets, provider)) return 'noMethodChosen'
  const easyPay = easyPayOf({ method, provider }, amount)
  if (!usesCard(method)) return { result: 'approve', easyPay }
  return isOneOf(cardNames, card) ? { result: cards[card].result, easyPay } : 'noCardChosen'
}

function isOneOf<Value>(values: readonly Value[], value: unknown): value is Value {
  return values.includes(value as Value)
}
