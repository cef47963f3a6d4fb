// How a captured payment was paid: with a card, or with a wallet of the payment window, which charges a card or its own money,
// and may take points. It decides nothing: the payment is taken by its total. Wallets and methods are added without notice.
import type { PaidWith } from '../../core/paid-with.ts'
import type { PaymentDetail } from '../gateway.ts'
import { isObject, membersOf } from './members.ts'

const providerName = /^[\p{L}\p{N}\p{P}\p{S}][\p{L}\p{N}\p{P}\p{S} ]{0,49}$/u

type PaidFields = { totalAmount: number; method?: unknown; card?: unknown; easyPay?: unknown }

/** `wrongParts`: the parts that the gateway sent do not add up to the total. They are not kept. */
export function paidWithOf({ totalAmount, method, card, easyPay }: PaidFields): {
  paidWith: PaidWith | null
  wrongParts?: PaymentDetail
} {
  const kind = methodOf(method, card, easyPay)
  if (kind === null) return { paidWith: null }
  const { provider: name, amount: walletAmount = 0, discountAmount: pointsAmount = 0 } = membersOf(easyPay)
  const provider = typeof name === 'string' && providerName.test(name) ? name : null
  const parts = { cardAmount: isObject(card) ? membersOf(card).amount : 0, walletAmount, pointsAmount }
  const unknownParts = { cardAmount: null, walletAmount: null, pointsAmount: null }
  const areSent = (isObject(card) || isObject(easyPay)) && areNumbers(parts)
  if (!areSent) return { paidWith: { method: kind, provider, ...unknownParts } }
  const amounts = Object.values(parts)
  const isWhole = amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0)
  if (isWhole && amounts.reduce((sum, amount) => sum + amount) === totalAmount) {
    return { paidWith: { method: kind, provider, ...parts } }
  }
  return { paidWith: { method: kind, provider, ...unknownParts }, wrongParts: parts }
}

type Parts<Amount> = { cardAmount: Amount; walletAmount: Amount; pointsAmount: Amount }

function areNumbers(parts: Parts<unknown>): parts is Parts<number> {
  return Object.values(parts).every((amount) => typeof amount === 'number')
}

function methodOf(method: unknown, card: unknown, easyPay: unknown): PaidWith['method'] | null {
  if (isObject(easyPay) || method === '간편결제') return 'EASY_PAY'
  if (isObject(card) || method === '카드') return 'CARD'
  return typeof method === 'string' ? 'OTHER' : null
}
