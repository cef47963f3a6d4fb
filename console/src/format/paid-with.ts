// How an order was paid, in words: "Toss Pay, ₩10,000 by card, ₩5,000 points".
import type { Data } from '../api/client.ts'
import type { Words } from '../words/words.tsx'

type PaidWith = NonNullable<Data<'order'>['order']['paidWith']>

export function paidWithText(words: Words, won: (value: number) => string, paidWith: PaidWith): string {
  const { methods, wallet, byCard, fromWallet, points } = words.orders.order.paid
  const { method, provider, cardAmount, walletAmount, pointsAmount } = paidWith
  if (method !== 'EASY_PAY') return methods[method]
  const parts = [
    cardAmount && byCard(won(cardAmount)),
    walletAmount && fromWallet(won(walletAmount)),
    pointsAmount && points(won(pointsAmount)),
  ]
  return [provider === null ? methods[method] : wallet(provider), ...parts.filter((part) => !!part)].join(', ')
}
