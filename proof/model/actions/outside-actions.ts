// Actions on the same orders and accounts that do not come from customers: refunds by the platform, cancels in the gateway's
// own dashboard, whole or partial, forged notifications, and what operators do to accounts. Started one after the other
// while the faults are on, at times that follow from the seed.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { asOperator } from '../../../harness/as-operator.ts'
import { createRandom } from '../../../harness/random.ts'
import { Refusal } from '../../../src/core/errors.ts'
import { findDoubtsOfOrder } from '../../../src/payments/recovery/discrepancies.sql.ts'
import { partlyCancelled, review } from '../../../src/payments/recovery/review.ts'
import { acceptPart } from '../../../src/payments/refunds/accept.ts'
import { quoteUnused } from '../../../src/payments/refunds/quote.ts'
import { refund, refundOrder } from '../../../src/payments/refunds/refund.ts'
import type { CommandResult } from '../../world/commands.ts'
import type { Platform } from '../../world/platform.ts'
import { unusedReason } from '../../world/settings.ts'
import { anyOf, confirmedOrder, type KnownOrder, type Shop } from '../../world/shop.ts'
import type { World } from '../../world/world.ts'
import type { History } from '../history.ts'
import {
  type AccountContext,
  type AdjustmentCall,
  adjustOne,
  exceedDailyLimit,
  raiseBudget,
  type Suspension,
  suspendCustomer,
} from './account-actions.ts'
import type { Exchanger } from './exchange.ts'
import { forgedNotifications } from './forged-notifications.ts'
import { runReconciliation } from './reconciliation.ts'

export type ReversalKind = 'refund' | 'dashboard cancel' | 'partial cancel'
export type Reversal = { kind: ReversalKind; orderId: string; paymentKey: string; amount: number; invokedAtMs: number }

export type OutsideParts = {
  world: World
  shop: Shop
  history: History
  exchanger: Exchanger
  platform: Platform
  seed: number
  stopped: AbortSignal
  count(name: string, times?: number): void
}

export type OutsideContext = OutsideParts & AccountContext & { reversals: Reversal[] }
type Context = OutsideContext

const intervalMs = 250

/** How often each is chosen, and how many a minute of load has to have. */
export const outsideActions: {
  name: string
  weight: number
  leastPerMinute: number
  act(context: Context): Promise<void>
}[] = [
  { name: 'platform refund', weight: 6, leastPerMinute: 4, act: refundOne },
  { name: 'refund of the unused part', weight: 6, leastPerMinute: 3, act: refundUnusedPart },
  { name: 'refund by command', weight: 2, leastPerMinute: 1, act: refundByCommand },
  { name: 'reconciliation by command', weight: 1, leastPerMinute: 1, act: reconcileByCommand },
  { name: 'dashboard cancel', weight: 4, leastPerMinute: 2, act: cancelInDashboard },
  { name: 'partial cancel', weight: 3, leastPerMinute: 1, act: cancelInPart },
  { name: 'accepted partial cancel', weight: 2, leastPerMinute: 0, act: acceptOnePart },
  { name: 'forged notification', weight: 10, leastPerMinute: 8, act: forge },
  { name: 'adjustment', weight: 8, leastPerMinute: 6, act: adjustOne },
  { name: 'adjustments beyond the daily limit', weight: 1, leastPerMinute: 0, act: exceedDailyLimit },
  { name: 'budget raised', weight: 5, leastPerMinute: 3, act: raiseBudget },
  { name: 'customer suspended', weight: 2, leastPerMinute: 1, act: suspendCustomer },
]
const weighted = outsideActions.flatMap((row) => Array(row.weight).fill(row) as typeof outsideActions)

export type OutsideActions = ReturnType<typeof startOutsideActions>

/** What they leave for the checks. */
export type OutsideRecords = {
  reversals: Reversal[]
  adjustmentCalls: AdjustmentCall[]
  suspensions: Suspension[]
  /** Answers that must not occur. */
  wrong: string[]
}

export const newOutsideRecords = (): OutsideRecords => ({
  reversals: [],
  adjustmentCalls: [],
  suspensions: [],
  wrong: [],
})

export function startOutsideActions(parts: OutsideParts) {
  const random = createRandom(parts.seed)
  const records = newOutsideRecords()
  const { wrong } = records
  const context = { ...parts, random, ...records }
  const underWay = new Set<Promise<void>>()
  let over = false

  async function work(): Promise<void> {
    while (!over && !parts.stopped.aborted) {
      await sleep(random.integer(intervalMs / 2, intervalMs * 1.5))
      const row = anyOf(random, weighted)
      const doing = row?.act(context).catch((error) => {
        wrong.push(`${row.name}: ${(error as Error).stack}`)
      })
      if (!doing) continue
      underWay.add(doing)
      doing.finally(() => underWay.delete(doing))
    }
  }

  const done = work()
  return {
    ...records,
    async finish(): Promise<void> {
      over = true
      await done
      await Promise.all(underWay)
    },
  }
}

export function noteReversal(
  { reversals, history }: Pick<Context, 'reversals' | 'history'>,
  kind: ReversalKind,
  order: KnownOrder,
  paymentKey: string,
  amount: number,
): void {
  const reversal = { kind, orderId: order.orderId, paymentKey, amount, invokedAtMs: history.nowMs() }
  reversals.push(reversal)
  history.note(kind, reversal)
}

const refundAttempts = 4
const refundPauseMs = 400

/** "Not known yet" is retried a few times, and then left to the worker. */
async function refundOne(context: Context): Promise<void> {
  const { platform, count, wrong } = context
  const order = confirmedOrder(context.shop, context.random)
  if (!order) return
  noteReversal(context, 'refund', order, order.checkouts[0]?.paymentKey ?? '', order.amount)
  for (let attempt = 0; attempt < refundAttempts; attempt += 1) {
    try {
      const { orderId } = order
      await asOperator(platform.context.database, { command: 'orders refund', subject: orderId }, () =>
        refund(platform.context, { orderId, reason: 'goodwill' }),
      )
      return count('platform refund')
    } catch (error) {
      const code = error instanceof Refusal ? error.code : undefined
      if (code === 'PAYMENT_CANCEL_FAILED') return
      if (code !== 'SVC001') {
        wrong.push(`the refund of ${order.orderId}: ${(error as Error).message}`)
        return
      }
    }
    await sleep(refundPauseMs)
  }
  count('platform refund')
}

async function refundUnusedPart(context: Context): Promise<void> {
  const order = confirmedOrder(context.shop, context.random)
  if (order) await refundUnusedPartOf(context, order)
}

type RefundContext = Pick<Context, 'platform' | 'shop' | 'count' | 'wrong' | 'reversals' | 'history'>

/** As a support page does: a quote, then the refund; if credits have moved in between it is refused. */
export async function refundUnusedPartOf(context: RefundContext, order: KnownOrder): Promise<void> {
  const { platform, shop, count, wrong } = context
  const customerId = shop.customers[order.customer]?.customerId
  if (!customerId) return
  const { orderId } = order
  const key = { customerId, orderId }
  noteReversal(context, 'refund', order, order.checkouts[0]?.paymentKey ?? '', order.amount)
  try {
    const unused = await quoteUnused(platform.context, key)
    for (let attempt = 0; attempt < refundAttempts; attempt += 1) {
      const isDone = await asOperator(platform.context.database, { command: 'orders refund', subject: orderId }, () =>
        refundOrder(platform.context, key, { reason: unusedReason, unused }),
      ).then(
        () => true,
        (error) => (error instanceof Refusal && error.code === 'SVC001' ? false : Promise.reject(error)),
      )
      if (isDone) return count('refund of the unused part')
      await sleep(refundPauseMs)
    }
  } catch (error) {
    const isRefused = error instanceof Refusal && ['PAYMENT_CANCEL_FAILED', 'SVC001'].includes(error.code)
    if (!isRefused) wrong.push(`the refund of the unused part of ${orderId}: ${(error as Error).message}`)
  }
  count('refund of the unused part')
}

/** Who accepts partial cancels. */
export const accepter = 'campaign'

/** A person accepts a partial cancel, and takes some credits back or none. */
async function acceptOnePart(context: Context): Promise<void> {
  const { platform, shop, random, reversals, count, wrong } = context
  // One of the latest: what is left of an older one was cancelled, refunded or accepted meanwhile.
  const parts = reversals.filter(({ kind }) => kind === 'partial cancel')
  const part = anyOf(random, parts.slice(-4))
  const order = part && shop.orders.get(part.orderId)
  const customerId = order && shop.customers[order.customer]?.customerId
  if (!customerId) return
  const credits = random.chance(0.5) ? undefined : random.integer(0, 3)
  try {
    const { database } = platform.context
    const key = { customerId, orderId: part.orderId }
    // Its notification may be lost, or late.
    await review(platform.context, key)
    const doubt = (await findDoubtsOfOrder(database, key)).find(({ kind }) => kind === partlyCancelled)
    if (!doubt) return
    const { discrepancyId } = doubt
    const acceptance = { ...key, discrepancyId, credits, reason: 'agreed', actor: accepter }
    await asOperator(database, { command: 'discrepancies accept', subject: discrepancyId, credits }, () =>
      acceptPart(platform.context, acceptance, { perDay: 1_000_000, approvalAbove: 1_000 }),
    )
    count('accepted partial cancel')
  } catch (error) {
    if (!(error instanceof Refusal)) wrong.push(`accepting a part of ${part.orderId}: ${(error as Error).message}`)
  }
}

/** Every other command is killed, early or late. */
async function refundByCommand(context: Context): Promise<void> {
  const { world, random, count, wrong } = context
  const order = confirmedOrder(context.shop, context.random)
  if (!order || commandsUnderWay.has(world)) return
  noteReversal(context, 'refund', order, order.checkouts[0]?.paymentKey ?? '', order.amount)
  const killAfterMs = random.chance(0.5) ? random.integer(300, 1_500) : undefined
  const args = ['orders', 'refund', order.orderId, '--reason', 'goodwill']
  const { code, stderr } = await oneAtATime(world, () => world.runCommand(args, { killAfterMs }))
  count('refund by command')
  // 1: refused, or not known yet.
  if (code !== null && code > 1) wrong.push(`orders refund ended with ${code}: ${stderr}`)
}

/** With the gateway in any state: it may end without a conclusion. */
async function reconcileByCommand({ world, count, wrong }: Context): Promise<void> {
  if (commandsUnderWay.has(world)) return
  const { code, stderr } = await oneAtATime(world, () => runReconciliation(world))
  count('reconciliation by command')
  if (code !== null && code > 1) wrong.push(`reconcile ended with ${code}: ${stderr}`)
}

const commandsUnderWay = new WeakSet<World>()

/** Each command starts a process: on two cores one at a time is enough. */
async function oneAtATime(world: World, run: () => Promise<CommandResult>): Promise<CommandResult> {
  commandsUnderWay.add(world)
  try {
    return await run()
  } finally {
    commandsUnderWay.delete(world)
  }
}

/** Any captured payment, also one that is not in our books yet. */
async function cancelInDashboard(context: Context): Promise<void> {
  const { shop, random } = context
  const order = random.chance(0.5) ? confirmedOrder(context.shop, context.random) : shop.anyOrder(random)
  const checkout = order && anyOf(random, order.checkouts)
  if (!checkout) return
  noteReversal(context, 'dashboard cancel', order, checkout.paymentKey, order.amount)
  if (await cancelAtGateway(context, checkout.paymentKey, {})) context.count('dashboard cancel')
}

/** At most one per order, so that the rest of its price is known. */
async function cancelInPart(context: Context): Promise<void> {
  const order = confirmedOrder(context.shop, context.random)
  const checkout = order && anyOf(context.random, order.checkouts)
  if (
    !checkout ||
    context.reversals.some(({ kind, orderId }) => kind === 'partial cancel' && orderId === order.orderId)
  )
    return
  const amount = context.random.integer(1, order.amount - 1)
  noteReversal(context, 'partial cancel', order, checkout.paymentKey, amount)
  if (await cancelAtGateway(context, checkout.paymentKey, { cancelAmount: amount })) context.count('partial cancel')
}

const dashboardAttempts = 3
const dashboardTimeoutMs = 3_000

/** With the same idempotency key each time: it happens at most once, and the journal has it. */
export async function cancelAtGateway(
  { world, exchanger }: Pick<Context, 'world' | 'exchanger'>,
  paymentKey: string,
  amount: object,
): Promise<boolean> {
  const { url, secretKey } = world.gateway
  const idempotencyKey = randomUUID()
  for (let attempt = 0; attempt < dashboardAttempts; attempt += 1) {
    const answer = await exchanger.exchange({
      url: `${url}/v1/payments/${paymentKey}/cancel`,
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify({ cancelReason: 'in the dashboard', ...amount }),
      timeoutMs: dashboardTimeoutMs,
    })
    if (answer.kind === 'answer' && answer.status === 200) return true
    if (answer.kind === 'answer' && answer.status < 500) return false
    await sleep(200)
  }
  return false
}

async function forge(context: Context): Promise<void> {
  const { world, shop, history, exchanger, random, count, wrong } = context
  const forgery = forgedNotifications[random.integer(0, forgedNotifications.length - 1)]
  if (!forgery) return
  const service = world.services[random.integer(0, 1) as 0 | 1]
  // Half of them are about orders that may be PENDING, where a forged payment would be worth something.
  const order = random.chance(0.5) ? shop.recentOrder(random) : shop.anyOrder(random)
  const { token, body, statuses, copies = 1 } = forgery.make(random, order)
  const transmissionId = `forged_${random.integer(0, 2 ** 31)}`
  history.note('forged notification', { what: forgery.what, orderId: order?.orderId })
  const answers = await Promise.all(
    Array.from({ length: copies }, () =>
      exchanger.exchange({
        url: token === 'right' ? service.webhookUrl : `${service.webhookBase}/${token}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'tosspayments-webhook-transmission-id': transmissionId },
        body,
        timeoutMs: 10_000,
      }),
    ),
  )
  for (const answer of answers) {
    if (answer.kind === 'none') continue
    count('forged notification')
    // 503: the database is down, and a notification that cannot be stored is not accepted.
    if (answer.status === 503 || statuses.includes(answer.status)) continue
    wrong.push(`${forgery.what} was answered with ${answer.status} ${answer.text.slice(0, 200)}`)
  }
}
