// The ways to pay in the card window, and which part of the amount each takes from a card, from a wallet's money and from
// points: amount = card + money + points. One that uses no wallet has no EasyPay.

import { boundedInteger, findBreach, oneOf, optional, text } from '../protocol/fields.ts'

/** `amount` is the wallet's money, `discountAmount` points or a coupon, as the protocol calls them. */
export type EasyPay = Readonly<{ provider: string; card: number; amount: number; discountAmount: number }>

/** Null: no wallet. `rest`: the part that what is not points is taken from. */
const waysToPay = {
  card: null,
  'easy-card': { rest: 'card', usualPoints: () => 0 },
  'easy-points': { rest: 'card', usualPoints: thirdOf },
  'easy-money': { rest: 'amount', usualPoints: () => 0 },
} as const

export type WayToPay = keyof typeof waysToPay

export const wayNames = Object.keys(waysToPay) as WayToPay[]

/** Those with points of their own; others are added by the gateway without notice. */
export const wallets = ['토스페이', '네이버페이', '카카오페이', '페이코'] as const

export function usesCard(way: WayToPay): boolean {
  return waysToPay[way]?.rest !== 'amount'
}

export type PaidWith = {
  method?: WayToPay | null | undefined
  provider?: string | null | undefined
  points?: number | null | undefined
}

export const paidWithFields = { method: optional(oneOf(wayNames)), provider: optional(text(50)) }

/** The fields are as `paidWithFields` has them. */
export function findWalletBreach({ method, provider, points }: PaidWith, amount: number): string | null {
  if (waysToPay[method ?? 'card'] !== null) {
    return findBreach({ points }, { points: optional(boundedInteger(0, amount)) })
  }
  const [field] = Object.entries({ provider, points }).find(([, value]) => (value ?? undefined) !== undefined) ?? []
  return field === undefined ? null : `${field}: a card alone has no wallet.`
}

export function easyPayOf({ method, provider, points }: PaidWith, amount: number): EasyPay | null {
  const way = waysToPay[method ?? 'card']
  if (way === null) return null
  const discountAmount = points ?? way.usualPoints(amount)
  const nothing = { card: 0, amount: 0 }
  return { provider: provider ?? wallets[0], ...nothing, discountAmount, [way.rest]: amount - discountAmount }
}

/** In hundreds of won. */
function thirdOf(amount: number): number {
  return Math.min(Math.max(Math.floor(amount / 300) * 100, 100), amount - 1)
}

/** How much of a cancel was points: they are returned last. */
export function pointsIn(easyPay: EasyPay | undefined, canceledBefore: number, cancelAmount: number): number {
  if (easyPay === undefined) return 0
  const money = easyPay.card + easyPay.amount
  const pointsOf = (canceled: number) => Math.max(0, canceled - money)
  return pointsOf(canceledBefore + cancelAmount) - pointsOf(canceledBefore)
}
