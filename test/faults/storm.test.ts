// Random load from a seed: purchases, confirms, cancels, spends and reads of a few customers at two services, while the
// gateway fails, resets, hangs and is slow. Then the faults end, every caller retries until there is a definite answer, and
// the books, the gateway and all earlier answers must agree.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, forSeeds, type Random } from '../../harness/random.ts'
import {
  type Cluster,
  type ClusterCustomer,
  definite,
  type PaidOrder,
  startCluster,
} from '../support/service/cluster.ts'
import type { Fault } from '../support/service/service.ts'

const seeds = 8
const customers = 4
const actorsPerCustomer = 6
const stepsPerActor = 6

let cluster: Cluster
before(async () => {
  cluster = await startCluster(2, {
    callTimeoutMs: 250,
    settings: { operationLeaseMs: 700, operationWaitMs: 300, pendingOrdersPerCustomer: 0 },
  })
})
after(() => cluster.close())

type Known = PaidOrder & { statuses: string[]; confirmed: boolean; cancelled: boolean; cancelRequested: boolean }
type Story = { customer: ClusterCustomer; orders: Known[]; spent: number; wrong: string[] }

const kinds = ['error-before', 'error-after', 'reset-before', 'reset-after', 'hang-after', 'delay'] as const

function randomFaults(random: Random): Fault[] {
  return Array.from({ length: random.integer(2, 6) }, () => {
    const kind = random.pick(kinds)
    const fault = { on: random.pick(['confirm', 'cancel', 'lookup']), kind, times: random.integer(1, 3) }
    return kind === 'delay' ? { ...fault, delayMs: random.integer(1, 60) } : fault
  })
}

/** A wrong answer is recorded and asserted at the end, so that it does not stop the other actors. */
function recordIfWrong(story: Story, request: string, code: string, allowed: string[]): void {
  if (!allowed.includes(code)) story.wrong.push(`${request} was answered ${code}`)
}

const steps: ((story: Story, random: Random, index: number) => Promise<void>)[] = [
  async function buy({ customer, orders }, random, index) {
    const packageType = random.pick(['BASIC', 'STANDARD'])
    const key = crypto.randomUUID()
    const twice = await Promise.all(
      [0, 1].map((each) => definite(() => customer.at(index + each).purchase(packageType, key))),
    )
    const [orderId, again] = twice.map((answer) => answer.body.data.orderId)
    assert.ok(orderId !== undefined && orderId === again)
    const price = packageType === 'BASIC' ? { amount: 1_000, credits: 1 } : { amount: 20_000, credits: 21 }
    const paymentKey = await cluster.sandbox.pay(orderId, price.amount, random.chance(0.15) ? 'decline' : 'approve')
    const fresh = { statuses: [], confirmed: false, cancelled: false, cancelRequested: false }
    orders.push({ orderId, paymentKey, ...price, ...fresh })
  },
  async function pay(story, random, index) {
    const order = story.orders[random.integer(0, story.orders.length)]
    if (!order) return
    const { body } = await story.customer.at(index).confirm(order)
    if (body.code === 'SUCCESS') order.confirmed = true
    recordIfWrong(story, 'a confirm', body.code, ['SUCCESS', 'VAL003', 'SVC001'])
  },
  async function cancel(story, random, index) {
    const order = story.orders[random.integer(0, story.orders.length)]
    if (!order || random.chance(0.4)) return
    order.cancelRequested = true
    const { body } = await story.customer.at(index).cancel(order)
    if (body.code === 'SUCCESS' && order.cancelled) story.wrong.push('two cancels of one payment succeeded')
    if (body.code === 'SUCCESS') order.cancelled = true
    recordIfWrong(story, 'a cancel', body.code, ['SUCCESS', 'NOT000', 'PAYMENT_CANCEL_FAILED', 'SVC001'])
  },
  async function spend(story, random, index) {
    const [credits, reference] = [random.integer(1, 6), crypto.randomUUID()]
    const outcomes = await Promise.all([0, 1].map((each) => story.customer.at(index + each).spend(credits, reference)))
    if (outcomes.some((outcome) => outcome.spent)) story.spent += credits
  },
  async function read(story, random, index) {
    const order = story.orders[random.integer(0, story.orders.length)]
    if ((await story.customer.at(index).credits()) < 0) story.wrong.push('a negative balance')
    if (order) order.statuses.push(await story.customer.at(index).status(order.orderId))
  },
]

async function act(story: Story, seed: number): Promise<void> {
  const random = createRandom(seed)
  for (let index = 0; index < stepsPerActor; index += 1) {
    const step = steps[random.integer(0, steps.length - 1)]
    await step?.(story, random, random.integer(0, 1)).catch((error) => story.wrong.push(`${step.name}: ${error}`))
    await sleep(random.integer(0, 8))
  }
}

/** Every caller without a definite answer retries. */
async function settle({ customer, orders }: Story): Promise<void> {
  for (const [index, order] of orders.entries()) {
    await definite(() => customer.at(index).confirm(order))
    if (!order.cancelRequested) continue
    const { body } = await definite(() => customer.at(index + 1).cancel(order))
    if (body.code === 'SUCCESS') order.cancelled = true
  }
}

const rank = ['PENDING', 'FAILED', 'CONFIRMED', 'CANCELLED']

async function check({ customer, orders, spent, wrong }: Story): Promise<void> {
  let granted = 0
  for (const { orderId, credits, statuses, confirmed, cancelled } of orders) {
    const status = await customer.status(orderId)
    if (status === 'CONFIRMED') granted += credits
    if (status === 'PENDING') wrong.push(`${orderId} is still PENDING`)
    if (confirmed && status === 'FAILED') wrong.push(`${orderId} was answered as confirmed and is FAILED`)
    if (cancelled && status !== 'CANCELLED') wrong.push(`${orderId} was answered as cancelled and is ${status}`)
    if (rank.indexOf(status) < Math.max(...statuses.map((each) => rank.indexOf(each)))) {
      wrong.push(`${orderId} is ${status} and was seen as ${statuses}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.equal(await customer.credits(), granted - spent)
}

test('3, 4.2, 4.4 and 4.6: with random requests and gateway faults at once, every order ends in a definite state, counted once, and books and gateway agree', async (t) => {
  const ends: Record<string, number> = {}
  await forSeeds(seeds, async (random, seed) => {
    const stories: Story[] = []
    for (let index = 0; index < customers; index += 1) {
      stories.push({ customer: await cluster.newCustomer(), orders: [], spent: 0, wrong: [] })
    }
    const storm = Promise.all(
      stories.flatMap((story, index) =>
        Array.from({ length: actorsPerCustomer }, (_, actor) => act(story, seed * 1_000 + index * 100 + actor)),
      ),
    )
    let over = false
    const faultLoop = (async () => {
      while (!over) {
        await cluster.sandbox.setFaults(random.chance(0.7) ? randomFaults(random) : [])
        await sleep(random.integer(5, 40))
      }
    })()
    await storm
    over = true
    await faultLoop
    await cluster.sandbox.clearFaults()
    await Promise.all(stories.map(settle))
    for (const story of stories) await check(story)
    await cluster.check()
    for (const { customer, orders } of stories) {
      for (const { orderId } of orders) {
        const status = await customer.status(orderId)
        ends[status] = (ends[status] ?? 0) + 1
      }
    }
  })
  t.diagnostic(`${seeds} seeds: ${JSON.stringify(ends)}`)
})
