// The load: many clients, each doing one action after the other, chosen by weight from a table. The actions follow from
// the seed; what happens to them does not.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../harness/random.ts'
import { packageTypes } from '../../../src/payments/packages.ts'
import { anyOf, type KnownOrder, takeAny } from '../../world/shop.ts'
import type { ConfirmVariant } from '../history.ts'
import { type Client, type ClientParts, createClient } from './client.ts'
import { invalidRequests } from './invalid-requests.ts'
import { createSiblings, type Siblings } from './siblings.ts'

export type DriverParts = Omit<ClientParts, 'random'> & { seed: number; clients: number; pauseMs: number }

export type CustomerContext = Pick<ClientParts, 'world' | 'shop' | 'history'> & {
  client: Client
  random: Random
  siblings: Siblings
}
type Context = CustomerContext

export type Driver = ReturnType<typeof startDriver>

export function startDriver(parts: DriverParts) {
  const { seed, clients, pauseMs, stopped } = parts
  let over = false
  const siblings = createSiblings(parts)
  const failures: string[] = []

  async function work(number: number): Promise<void> {
    const random = createRandom(seed * 1_000 + number)
    const context = { ...parts, random, siblings, client: createClient({ ...parts, random }) }
    while (!over && !stopped.aborted) {
      await chooseAction(random)(context).catch((error) => failures.push(`client ${number}: ${(error as Error).stack}`))
      await sleep(random.integer(0, 2 * pauseMs))
    }
  }

  const done = Promise.all(Array.from({ length: clients }, (_, number) => work(number)))
  return {
    siblings,
    /** Errors of the campaign itself. */
    failures,
    /** Starts no new action; returns when every client has its answer or has given up. */
    async finish(): Promise<void> {
      over = true
      await done
      await siblings.finish()
    },
  }
}

type Action = (context: Context) => Promise<void>

/** What customers and sibling services do, and how often. */
export const customerActions = {
  purchase: { weight: 22, act: purchase },
  confirm: { weight: 26, act: confirm },
  cancel: { weight: 10, act: cancel },
  'cancel several orders at once': { weight: 4, act: cancelSeveral },
  spend: { weight: 14, act: spend },
  hold: { weight: 12, act: hold },
  reverse: { weight: 6, act: reverse },
  receipt: { weight: 3, act: getReceipt },
  'read status': { weight: 8, act: readStatus },
  'read balance': { weight: 8, act: readBalance },
  'read with a former key': { weight: 3, act: readWithFormerKey },
  'read packages': { weight: 1, act: readPackages },
  'send an invalid request': { weight: 3, act: sendInvalidRequest },
} as const satisfies Record<string, { weight: number; act: Action }>

const actions: { weight: number; act: Action }[] = Object.values(customerActions)
const totalWeight = actions.reduce((sum, { weight }) => sum + weight, 0)

function chooseAction(random: Random): Action {
  let left = random.integer(1, totalWeight)
  const chosen = actions.find(({ weight }) => {
    left -= weight
    return left <= 0
  })
  return chosen?.act ?? purchase
}

const keyedShare = 0.7
const changedBodyShare = 0.1

/** With a key several times at once, sometimes with a changed body under the same key; then the buyer pays. */
async function purchase(context: Context): Promise<void> {
  const { shop, client, random } = context
  const customer = shop.anyCustomer(random).index
  const packageType = anyOf(random, [...packageTypes, 'BASIC', 'STANDARD'] as const) ?? 'BASIC'
  const idempotencyKey = random.chance(keyedShare)
    ? `key-${random.integer(0, 2 ** 31)}-${random.integer(0, 2 ** 31)}`
    : null
  const copies = idempotencyKey !== null && random.chance(0.3) ? random.integer(2, 8) : 1
  const request = { op: 'purchase', customer, packageType, idempotencyKey } as const
  const sent = [client.sendInParallel(request, copies)]
  if (copies > 1 && random.chance(changedBodyShare)) {
    sent.push(client.sendInParallel({ ...request, packageType: packageType === 'PRO' ? 'BASIC' : 'PRO' }, 1))
  }
  const orders = new Set<KnownOrder>()
  for (const { outcome, request: made } of (await Promise.all(sent)).flat()) {
    if (outcome.kind !== 'ok' || Array.isArray(outcome.data)) continue
    orders.add(shop.learn(customer, String(outcome.data.orderId), made.packageType))
  }
  for (const order of orders) await checkOut(context, order)
}

const paidShare = 0.88
const results = { approve: 180, decline: 8, insufficient: 5, expire: 3, hang: 2 }
const draws = Object.entries(results).flatMap(([result, weight]) => Array<string>(weight).fill(result))

/** The rest never pays, and those orders expire. Some go through the checkout twice. */
async function checkOut({ world, shop, random }: Context, order: KnownOrder): Promise<void> {
  if (!random.chance(paidShare)) return
  const times = random.chance(0.03) ? 2 : 1
  for (let time = 0; time < times; time += 1) {
    const result = anyOf(random, draws) ?? 'approve'
    const paymentKey = await world.gateway.pay(order.orderId, order.amount, result)
    if (paymentKey !== undefined) order.checkouts.push({ paymentKey, result })
  }
  if (order.checkouts.length > 0) shop.payable.push(order)
}

const variants: { share: number; as: ConfirmVariant }[] = [
  { share: 0.03, as: 'wrong amount' },
  { share: 0.03, as: 'wrong key' },
  { share: 0.03, as: 'foreign order' },
]

async function confirm({ shop, client, random }: Context): Promise<void> {
  // One in twelve is confirmed again, long after the first time.
  const order = (random.chance(0.92) && takeAny(random, shop.payable)) || shop.anyOrder(random)
  const checkout = order && anyOf(random, order.checkouts)
  if (!order || !checkout) return
  const as = variants.find(({ share }) => random.chance(share))?.as ?? 'right'
  const stranger = (order.customer + random.integer(1, shop.customers.length - 1)) % shop.customers.length
  const request = {
    op: 'confirm',
    as,
    customer: as === 'foreign order' ? stranger : order.customer,
    orderId: order.orderId,
    paymentKey: as === 'wrong key' ? wrongKey(random, shop.anyOrder(random)) : checkout.paymentKey,
    amount: as === 'wrong amount' ? order.amount + random.integer(1, 5) : order.amount,
  } as const
  const copies = random.chance(0.3) ? random.integer(2, 16) : 1
  const calls = await client.sendInParallel(request, copies)
  // The right one follows later, if ever.
  if (as !== 'right' && random.chance(0.8)) shop.payable.push(order)
  if (as !== 'right' || order.confirmedBy !== null || !calls.some(({ outcome }) => outcome.kind === 'ok')) return
  order.confirmedBy = checkout.paymentKey
  shop.cancellable.push(order)
}

/** Either never issued, or of another order. */
function wrongKey(random: Random, other: KnownOrder | undefined): string {
  const theirs = other && anyOf(random, other.checkouts)
  return theirs && random.chance(0.5) ? theirs.paymentKey : `never_issued_${random.integer(0, 2 ** 31)}`
}

async function cancel(context: Context): Promise<void> {
  const { shop, random } = context
  await cancelOrder(context, (random.chance(0.85) && takeAny(random, shop.cancellable)) || shop.anyOrder(random))
}

/** All orders of one customer: together they need more credits than any of them alone. */
async function cancelSeveral(context: Context): Promise<void> {
  const { shop, random } = context
  const first = anyOf(random, shop.cancellable)
  const orders = shop.cancellable.filter(({ customer }) => customer === first?.customer)
  await Promise.all(orders.map((order) => cancelOrder(context, order)))
}

async function cancelOrder({ shop, client, random }: Context, order: KnownOrder | undefined): Promise<void> {
  const checkout = order && anyOf(random, order.checkouts)
  if (!order || !checkout) return
  const foreign = random.chance(0.04)
  const customer = foreign ? (order.customer + 1) % shop.customers.length : order.customer
  const reason = `reason ${random.integer(0, 2 ** 31)}`
  const request = {
    op: 'cancel',
    customer,
    orderId: order.orderId,
    paymentKey: checkout.paymentKey,
    reason,
    foreign,
  } as const
  const calls = await client.sendInParallel(request, random.chance(0.25) ? random.integer(2, 8) : 1)
  if (calls.some(({ outcome }) => outcome.kind === 'ok')) order.cancelled = true
}

/** Not awaited: a sibling service has its own pace. */
async function spend({ random, siblings }: Context): Promise<void> {
  siblings.begin('spend', random.integer(0, 2 ** 31))
}

async function hold({ random, siblings }: Context): Promise<void> {
  siblings.begin('hold', random.integer(0, 2 ** 31))
}

async function reverse({ random, siblings }: Context): Promise<void> {
  siblings.begin('reverse', random.integer(0, 2 ** 31))
}

async function getReceipt({ random, siblings }: Context): Promise<void> {
  siblings.begin('receipt', random.integer(0, 2 ** 31))
}

async function readStatus({ shop, client, random }: Context): Promise<void> {
  const order = shop.anyOrder(random)
  if (!order) return
  const foreign = random.chance(0.1)
  const customer = foreign ? (order.customer + 1) % shop.customers.length : order.customer
  await client.send({ op: 'status', customer, orderId: order.orderId, foreign })
}

async function readBalance({ shop, client, random }: Context): Promise<void> {
  await client.send({ op: 'balance', customer: shop.anyCustomer(random).index })
}

/** A program that was not given the new key. */
async function readWithFormerKey({ shop, client, random }: Context): Promise<void> {
  const replaced = anyOf(
    random,
    shop.customers.filter(({ formerKeys }) => formerKeys.length > 0),
  )
  const key = replaced && anyOf(random, replaced.formerKeys)
  if (key) await client.sendWithKey(key, random.integer(0, 1), { op: 'balance', customer: replaced.index })
}

async function readPackages({ shop, client, random }: Context): Promise<void> {
  await client.send({ op: 'packages', customer: shop.anyCustomer(random).index })
}

async function sendInvalidRequest({ shop, client, random }: Context): Promise<void> {
  const [what, { codes }] = anyOf(random, Object.entries(invalidRequests)) ?? ['', { codes: [] }]
  await client.send({ op: 'invalid', customer: shop.anyCustomer(random).index, what, codes })
}
