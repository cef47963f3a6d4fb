// What operators do with orders: search, read one's page, settle it with the gateway, refund it after a quote, resend
// its events. A refund whose answer was lost is retried a few times, and then left to the worker.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Data } from '../../../src/console/contract.ts'
import { anyOf, confirmedOrder, type KnownOrder, type Shop } from '../../world/shop.ts'
import type { Reversal } from '../actions/outside-actions.ts'
import type { History } from '../history.ts'
import { dataOf } from './console-client.ts'
import type { OperatorContext } from './sign-in.ts'

export type OrderContext = OperatorContext & {
  shop: Shop
  history: History
  reversals: Reversal[]
}

/** Half of them are recent. */
function someOrder({ shop, random }: OrderContext): KnownOrder | undefined {
  return random.chance(0.5) ? shop.recentOrder(random) : shop.anyOrder(random)
}

export async function readStory(context: OrderContext): Promise<void> {
  const order = someOrder(context)
  if (order)
    await context.console.send(context.operator, context.random, 'order', { params: { orderId: order.orderId } })
}

/** By any of the texts that a customer may give. */
export async function search(context: OrderContext): Promise<void> {
  const { console, operator, random, shop } = context
  const order = someOrder(context)
  const customer = order && shop.customers[order.customer]
  if (!order || !customer) return
  // The service does not know a payment that was not confirmed, nor the other one of a buyer who paid twice.
  const paid = order.confirmedBy === null ? [] : [order.confirmedBy]
  const texts = [order.orderId, customer.customerId, customer.key.keyId, `customer ${customer.index}`, ...paid]
  await console.send(operator, random, 'search', { query: { q: anyOf(random, texts) ?? order.orderId } })
}

export async function settle(context: OrderContext): Promise<void> {
  const order = someOrder(context)
  if (order)
    await context.console.send(context.operator, context.random, 'settleOrder', { params: { orderId: order.orderId } })
}

const refundAttempts = 4
const refundPauseMs = 400

export async function refund(context: OrderContext): Promise<void> {
  const { console, operator, random, shop, history, reversals } = context
  const order = confirmedOrder(shop, random)
  if (!order) return
  const { orderId, amount } = order
  const params = { orderId }
  const quote = await console.send(operator, random, 'refundQuote', { params })
  const quoted = dataOf(quote) as Data<'refundQuote'> | undefined
  if (!quoted) return
  const { unused } = quoted
  const part = unused && random.chance(0.6) ? { amount: unused.amount, credits: unused.credits } : undefined
  const invokedAtMs = history.nowMs()
  reversals.push({ kind: 'refund', orderId, paymentKey: order.checkouts[0]?.paymentKey ?? '', amount, invokedAtMs })
  for (let attempt = 0; attempt < refundAttempts; attempt += 1) {
    const { outcome } = await (part
      ? console.send(operator, random, 'refundUnused', { params, body: part })
      : console.send(operator, random, 'refundOrder', { params }))
    if (outcome.kind !== 'info') return
    await sleep(refundPauseMs)
  }
}

export async function resendEvents(context: OrderContext): Promise<void> {
  const { console, operator, random, shop } = context
  const order = random.chance(0.8) ? confirmedOrder(shop, random) : shop.anyOrder(random)
  if (order) await console.send(operator, random, 'resendEvents', { params: { orderId: order.orderId } })
}
