// What each step does: the actions of the campaign's customers, sibling services, operators and platform, each with the
// random numbers of its own step.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../../harness/random.ts'
import { may } from '../../../../src/operators/permissions.ts'
import { createClient } from '../../../model/actions/client.ts'
import { type CustomerContext, customerActions } from '../../../model/actions/driver.ts'
import {
  cancelAtGateway,
  noteReversal,
  outsideActions,
  refundUnusedPartOf,
} from '../../../model/actions/outside-actions.ts'
import type { Request } from '../../../model/history.ts'
import { operatorActions, type StaffContext } from '../../../model/operators/operators.ts'
import { beSignedIn } from '../../../model/operators/sign-in.ts'
import type { Line } from '../../../report/edn.ts'
import { anyOf } from '../../../world/shop.ts'
import type { Actor, Step } from '../plan/steps.ts'
import { faultOf } from './faults.ts'
import type { Stage } from './stage.ts'

export type Action = (stage: Stage, random: Random) => Promise<void>

/** `readHome` is "read home". */
const spoken = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const ofOperators = new Map(operatorActions.map((row) => [spoken(row.act.name), row]))

function ofCustomer(what: string): Action | undefined {
  if (what === 'rival confirms') return rivalConfirms
  if (what === 'cancel of the last confirm') return cancelLastConfirm
  if (what === 'spend by the customer of the last refund') return spendDuringRefund
  const isOnce = what.endsWith(once)
  const row = customerActions[what.replace(once, '') as keyof typeof customerActions]
  return row && ((stage, random) => row.act(isOnce ? impatient(stage, random) : customerContext(stage, random)))
}

function customerContext(stage: Stage, random: Random): CustomerContext {
  return { ...stage, random, client: createClient({ ...stage, random }) }
}

/** At the end of an action: without its answer it is not sent again, and what it has begun must be finished without it. */
const once = ' and leave'

function impatient(stage: Stage, random: Random): CustomerContext {
  const context = customerContext(stage, random)
  const { client } = context
  return {
    ...context,
    client: { ...client, sendInParallel: async (request) => [await client.send(request, random.integer(0, 1), 0)] },
  }
}

/** The buyer has paid twice, and both payments are confirmed at once. */
async function rivalConfirms(stage: Stage, random: Random): Promise<void> {
  const { shop, world } = stage
  const order = anyOf(random, shop.payable)
  if (!order) return
  const paymentKey = await world.gateway.pay(order.orderId, order.amount, 'approve')
  if (paymentKey !== undefined) order.checkouts.push({ paymentKey, result: 'approve' })
  const { client } = customerContext(stage, random)
  const { customer, orderId, amount } = order
  const requests = order.checkouts.map(
    (checkout): Extract<Request, { op: 'confirm' }> => ({
      op: 'confirm',
      customer,
      orderId,
      amount,
      paymentKey: checkout.paymentKey,
      as: 'right',
    }),
  )
  const attempt = random.integer(0, 1)
  const calls = await Promise.all(requests.map((request) => client.send(request, attempt)))
  const confirmed = calls.find(({ outcome }) => outcome.kind === 'ok')
  if (!confirmed || order.confirmedBy !== null) return
  order.confirmedBy = confirmed.request.paymentKey
  shop.cancellable.push(order)
}

/** Sends one cancel, to the service that was not asked for the confirm. */
async function cancelLastConfirm(stage: Stage, random: Random): Promise<void> {
  const line = lastConfirm(stage)
  const order = line && stage.shop.orders.get(String(line.orderId))
  if (!order) return
  const { client } = customerContext(stage, random)
  const { customer, orderId } = order
  const reason = `reason ${random.integer(0, 2 ** 31)}`
  const request = {
    op: 'cancel',
    customer,
    orderId,
    paymentKey: String(line.paymentKey),
    reason,
    foreign: false,
  } as const
  const { outcome } = await client.send(request, line.service === 'a' ? 1 : 0, 0)
  if (outcome.kind === 'ok') order.cancelled = true
}

/** One credit of the customer whose order is being refunded. */
async function spendDuringRefund(stage: Stage, random: Random): Promise<void> {
  const last = stage.outside.reversals.findLast(({ kind }) => kind === 'refund')
  const order = last && stage.shop.orders.get(last.orderId)
  if (!order) return
  const { client } = customerContext(stage, random)
  const reference = `refunded-${random.integer(0, 2 ** 31)}`
  await client.sendPatiently({ op: 'spend', customer: order.customer, sibling: 0, credits: 1, reference })
}

function ofOperator(what: string): Action | undefined {
  const row = ofOperators.get(what)
  if (!row) return undefined
  return async (stage, random) => {
    const { operators, world, outside } = stage
    const able = operators.filter(({ role }) => may(role, row.for))
    const operator = anyOf(random, able)
    if (!operator) return
    const client = createClient({ ...stage, random })
    const context: StaffContext = {
      ...stage,
      secrets: world.secrets,
      operator,
      random,
      client,
      reversals: outside.reversals,
    }
    await beSignedIn(context)
    if (operator.session) await row.act(context)
  }
}

function ofPlatform(what: string): Action | undefined {
  if (what === 'last payment cancelled in the dashboard') return cancelLastPayment
  if (what === 'refund of the oldest order') return refundOldestOrder
  const row = outsideActions.find(({ name }) => name === what)
  return row && ((stage, random) => row.act({ ...stage, ...stage.outside, random }))
}

/** Its customer has another order. What is spent meanwhile is of this one, unless the other was confirmed before it. */
async function refundOldestOrder(stage: Stage): Promise<void> {
  const { shop, outside } = stage
  const refunded = new Set(outside.reversals.map(({ orderId }) => orderId))
  const left = [...shop.orders.values()].filter(
    ({ orderId, confirmedBy, cancelled }) => confirmedBy !== null && !cancelled && !refunded.has(orderId),
  )
  const oldest = left.find(({ customer }, place) => left.slice(place + 1).some((other) => other.customer === customer))
  if (oldest) await refundUnusedPartOf({ ...stage, ...outside }, oldest)
}

/** The last confirm by a customer with the right payment. */
function lastConfirm({ world }: Stage): Line | undefined {
  return world.lines.findLast(({ type, op, as }) => type === 'invoke' && op === 'confirm' && as === 'right')
}

/** The one that a customer has just tried to confirm. */
async function cancelLastPayment(stage: Stage): Promise<void> {
  const { shop, outside, history, count } = stage
  const line = lastConfirm(stage)
  const order = line && shop.orders.get(String(line.orderId))
  if (!order) return
  const paymentKey = String(line.paymentKey)
  noteReversal({ reversals: outside.reversals, history }, 'dashboard cancel', order, paymentKey, order.amount)
  if (await cancelAtGateway(stage, paymentKey, {})) count('dashboard cancel')
}

const rotationPauseMs = 500

/** Retried while the database is unavailable. */
async function rotateSecret({ world, shop }: Stage): Promise<void> {
  const { rotatedAt } = world.consumer
  while (world.consumer.rotatedAt === rotatedAt) {
    await world.consumer.rotate(shop.database, world.peppers).catch(() => sleep(rotationPauseMs))
  }
}

/** What is in none of them is a fault. */
const actionsOf: Partial<Record<Actor, (what: string) => Action | undefined>> = {
  customer: ofCustomer,
  service: ofCustomer,
  operator: ofOperator,
  platform: ofPlatform,
  consumer: (what) => (what === 'secret rotated' ? rotateSecret : undefined),
}

export function actionOf({ actor, what }: Pick<Step, 'actor' | 'what'>): Action {
  const found = actionsOf[actor]?.(what) ?? faultOf(actor, what)
  if (!found) throw new Error(`there is no step "${what}" of ${actor}`)
  return found
}

/** Not awaited by the one that starts it. What is answered wrongly is recorded; an error means that the step could not be done. */
export async function perform(stage: Stage, { actor, what, seed }: Step): Promise<void> {
  stage.history.note('step', { actor, what })
  stage.count(`${actor}: ${what}`)
  await actionOf({ actor, what })(stage, createRandom(seed))
}
