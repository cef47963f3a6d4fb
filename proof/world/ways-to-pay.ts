// How a buyer of the proof pays an order: it follows from the id of the order, so that a check knows it without a record.
import type { PaidColumns } from '../../src/core/paid-with.ts'

const ways = ['card', 'easy-card', 'easy-points', 'easy-money'] as const

/** As the sandbox takes it, and as our books have it. */
export function wayToPay(orderId: string, amount: number) {
  const method = ways[(orderId.codePointAt(orderId.length - 1) ?? 0) % ways.length] ?? 'card'
  const pointsAmount = method === 'easy-points' ? amount / 10 : 0
  const walletAmount = method === 'easy-money' ? amount : 0
  const isEasy = method !== 'card'
  const wallet = isEasy ? { provider: '카카오페이', points: pointsAmount } : {}
  const kept: PaidColumns = {
    paidMethod: isEasy ? 'EASY_PAY' : 'CARD',
    paidProvider: isEasy ? '카카오페이' : null,
    cardAmount: amount - walletAmount - pointsAmount,
    walletAmount,
    pointsAmount,
  }
  return { chosen: { method, ...wallet }, kept }
}
