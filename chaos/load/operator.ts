// What others do to the same orders: the platform refunds some, somebody cancels payments in the gateway's own
// dashboard, wholly or in part, and strangers send notifications that are not true. One after the other, in the rhythm
// of the seed, while the faults are on.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../harness/random.ts'
import { Refusal } from '../../src/core/errors.ts'
import { refund } from '../../src/payments/refund.ts'
import type { History } from '../history.ts'
import type { Platform } from '../world/platform.ts'
import { anyOf, confirmedOrder, type KnownOrder, type Shop } from '../world/shop.ts'
import type { World } from '../world/world.ts'
import { type CommandResult, runCommand, runReconciliation } from './commands.ts'
import type { Exchanger } from './exchange.ts'
import { forgeries } from './forgeries.ts'

export type DeedKind = 'refund' | 'dashboard cancel' | 'partial cancel'
export type Deed = { kind: DeedKind; orderId: string; paymentKey: string; amount: number; invokedAtMs: number }

export type OperatorParts = {
  world: World
  shop: Shop
  history: History
  exchanger: Exchanger
  platform: Platform
  seed: number
  stopped: AbortSignal
  count(name: string, times?: number): void
}

type Turn = OperatorParts & { random: Random; deeds: Deed[]; wrong: string[] }

const rhythmMs = 350

/** How often each is chosen, and what must have happened in a minute. */
export const deedTable: { name: string; weight: number; leastPerMinute: number; act(turn: Turn): Promise<void> }[] = [
  { name: 'platform refund', weight: 6, leastPerMinute: 4, act: refundOne },
  { name: 'refund by command', weight: 2, leastPerMinute: 1, act: refundByCommand },
  { name: 'reconciliation by command', weight: 1, leastPerMinute: 1, act: reconcileByCommand },
  { name: 'dashboard cancel', weight: 4, leastPerMinute: 2, act: cancelInDashboard },
  { name: 'partial cancel', weight: 3, leastPerMinute: 1, act: cancelInPart },
  { name: 'forged notification', weight: 10, leastPerMinute: 8, act: forge },
]
const lots = deedTable.flatMap((row) => Array(row.weight).fill(row) as typeof deedTable)

export type Operator = ReturnType<typeof startOperator>

export function startOperator(parts: OperatorParts) {
  const random = createRandom(parts.seed)
  const deeds: Deed[] = []
  const wrong: string[] = []
  const underWay = new Set<Promise<void>>()
  let over = false

  async function work(): Promise<void> {
    while (!over && !parts.stopped.aborted) {
      await sleep(random.integer(rhythmMs / 2, rhythmMs * 1.5))
      const row = anyOf(random, lots)
      const doing = row?.act({ ...parts, random, deeds, wrong }).catch((error) => {
        wrong.push(`${row.name}: ${(error as Error).stack}`)
      })
      if (!doing) continue
      underWay.add(doing)
      doing.finally(() => underWay.delete(doing))
    }
  }

  const done = work()
  return {
    deeds,
    /** Answers that nobody may get here. */
    wrong,
    async finish(): Promise<void> {
      over = true
      await done
      await Promise.all(underWay)
    },
  }
}

function note({ deeds, history }: Turn, kind: DeedKind, order: KnownOrder, paymentKey: string, amount: number): void {
  const deed = { kind, orderId: order.orderId, paymentKey, amount, invokedAtMs: history.nowMs() }
  deeds.push(deed)
  history.note(kind, deed)
}

const refundAttempts = 4
const refundPauseMs = 400

/** An operator who is told "not known yet" asks again a few times, and then leaves it to the worker. */
async function refundOne(turn: Turn): Promise<void> {
  const { platform, count, wrong } = turn
  const order = confirmedOrder(turn.shop, turn.random)
  if (!order) return
  note(turn, 'refund', order, order.checkouts[0]?.paymentKey ?? '', order.amount)
  for (let attempt = 0; attempt < refundAttempts; attempt += 1) {
    try {
      await refund(platform.context, { orderId: order.orderId, reason: 'goodwill' })
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

/** As the operator does it; every other one is killed, early or late. */
async function refundByCommand(turn: Turn): Promise<void> {
  const { world, random, count, wrong } = turn
  const order = confirmedOrder(turn.shop, turn.random)
  if (!order || commandsUnderWay.has(world)) return
  note(turn, 'refund', order, order.checkouts[0]?.paymentKey ?? '', order.amount)
  const killAfterMs = random.chance(0.5) ? random.integer(300, 1_500) : undefined
  const args = ['orders', 'refund', order.orderId, '--reason', 'goodwill']
  const { code, stderr } = await oneAtATime(world, () => runCommand(world, args, { killAfterMs }))
  count('refund by command')
  // 1: refused, or not known yet.
  if (code !== null && code > 1) wrong.push(`orders refund ended with ${code}: ${stderr}`)
}

/** Beside everything else, with the gateway in whatever state it is: it may say that it could not conclude. */
async function reconcileByCommand({ world, count, wrong }: Turn): Promise<void> {
  if (commandsUnderWay.has(world)) return
  const { code, stderr } = await oneAtATime(world, () => runReconciliation(world))
  count('reconciliation by command')
  if (code !== null && code > 1) wrong.push(`reconcile ended with ${code}: ${stderr}`)
}

const commandsUnderWay = new WeakSet<World>()

/** A command costs a start of a process: on two cores one at a time is enough. */
async function oneAtATime(world: World, run: () => Promise<CommandResult>): Promise<CommandResult> {
  commandsUnderWay.add(world)
  try {
    return await run()
  } finally {
    commandsUnderWay.delete(world)
  }
}

/** Any payment that was captured, also one of which our books do not know yet. */
async function cancelInDashboard(turn: Turn): Promise<void> {
  const { shop, random } = turn
  const order = random.chance(0.5) ? confirmedOrder(turn.shop, turn.random) : shop.anyOrder(random)
  const checkout = order && anyOf(random, order.checkouts)
  if (!checkout) return
  note(turn, 'dashboard cancel', order, checkout.paymentKey, order.amount)
  if (await cancelAtGateway(turn, checkout.paymentKey, {})) turn.count('dashboard cancel')
}

/** At most one for an order, so that what is left of its price is known. */
async function cancelInPart(turn: Turn): Promise<void> {
  const order = confirmedOrder(turn.shop, turn.random)
  const checkout = order && anyOf(turn.random, order.checkouts)
  if (!checkout || turn.deeds.some(({ kind, orderId }) => kind === 'partial cancel' && orderId === order.orderId))
    return
  const amount = turn.random.integer(1, order.amount - 1)
  note(turn, 'partial cancel', order, checkout.paymentKey, amount)
  if (await cancelAtGateway(turn, checkout.paymentKey, { cancelAmount: amount })) turn.count('partial cancel')
}

const dashboardAttempts = 3
const dashboardTimeoutMs = 3_000

/** With the same idempotency key each time: it happens once or not at all, and the journal knows. */
async function cancelAtGateway({ world, exchanger }: Turn, paymentKey: string, amount: object): Promise<boolean> {
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

async function forge(turn: Turn): Promise<void> {
  const { world, shop, history, exchanger, random, count, wrong } = turn
  const forgery = forgeries[random.integer(0, forgeries.length - 1)]
  if (!forgery) return
  const service = world.services[random.integer(0, 1) as 0 | 1]
  // Half of them about orders that may be PENDING: there a lie would be worth something.
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
    // 503: the database is away, and a notification that is not stored is not taken.
    if (answer.status === 503 || statuses.includes(answer.status)) continue
    wrong.push(`${forgery.what} was answered ${answer.status} ${answer.text.slice(0, 200)}`)
  }
}
