// What operators do about orders: look one up and read its story, settle it with the gateway, refund it after a quote, send
// its events once more. A refund whose answer was lost is asked for a few times more, and then left to the worker.
import { setTimeout as sleep } from 'node:timers/promises'
import type { History } from '../history.ts'
import type { Deed } from '../load/operator.ts'
import { anyOf, confirmedOrder, type KnownOrder, type Shop } from '../world/shop.ts'
import { dataOf } from './console.ts'
import type { Seat } from './roster.ts'

export type OrderTurn = Seat & {
  shop: Shop
  history: History
  deeds: Deed[]
}

/** Half of them lately made. */
function someOrder({ shop, random }: OrderTurn): KnownOrder | undefined {
  return random.chance(0.5) ? shop.recentOrder(random) : shop.anyOrder(random)
}

export async function readStory(turn: OrderTurn): Promise<void> {
  const order = someOrder(turn)
  if (order) await turn.console.ask(turn.operator, turn.random, 'order', { params: { orderId: order.orderId } })
}

/** By each of the texts that a customer may give. */
export async function search(turn: OrderTurn): Promise<void> {
  const { console, operator, random, shop } = turn
  const order = someOrder(turn)
  const customer = order && shop.customers[order.customer]
  if (!order || !customer) return
  // A payment that nobody has confirmed is not known here, nor the other one of a buyer who went through the checkout twice.
  const paid = order.confirmedBy === null ? [] : [order.confirmedBy]
  const texts = [order.orderId, customer.customerId, customer.key.keyId, `customer ${customer.index}`, ...paid]
  await console.ask(operator, random, 'search', { query: { q: anyOf(random, texts) ?? order.orderId } })
}

export async function settle(turn: OrderTurn): Promise<void> {
  const order = someOrder(turn)
  if (order) await turn.console.ask(turn.operator, turn.random, 'settleOrder', { params: { orderId: order.orderId } })
}

const refundAttempts = 4
const refundPauseMs = 400

export async function refund(turn: OrderTurn): Promise<void> {
  const { console, operator, random, shop, history, deeds } = turn
  const order = confirmedOrder(shop, random)
  if (!order) return
  const { orderId, amount } = order
  const params = { orderId }
  const quote = await console.ask(operator, random, 'refundQuote', { params })
  if (!dataOf(quote)) return
  const invokedAtMs = history.nowMs()
  deeds.push({ kind: 'refund', orderId, paymentKey: order.checkouts[0]?.paymentKey ?? '', amount, invokedAtMs })
  for (let attempt = 0; attempt < refundAttempts; attempt += 1) {
    const { outcome } = await console.ask(operator, random, 'refundOrder', { params })
    if (outcome.kind !== 'info') return
    await sleep(refundPauseMs)
  }
}

export async function resendEvents(turn: OrderTurn): Promise<void> {
  const { console, operator, random, shop } = turn
  const order = random.chance(0.8) ? confirmedOrder(shop, random) : shop.anyOrder(random)
  if (order) await console.ask(operator, random, 'resendEvents', { params: { orderId: order.orderId } })
}
