// Prepares customers for the start of a scenario. Many at a time and through one process, so that they share statements
// like the customers of a service; each then waits for its case.
import assert from 'node:assert/strict'
import { silentLog } from '../../../harness/silent-log.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import { createCredits } from '../../../src/credits/credits.ts'
import { openHold } from '../../../src/credits/holds/holds.ts'
import { createDatabase } from '../../../src/db/database.ts'
import type { Gateway, Unknown } from '../../../src/gateway/gateway.ts'
import { cancel } from '../../../src/payments/cancel.ts'
import { confirm } from '../../../src/payments/confirm.ts'
import { createPaymentContext, type PaymentContext } from '../../../src/payments/context.ts'
import { purchase } from '../../../src/payments/purchase.ts'
import { expireOrders } from '../../../src/payments/recovery/expire.ts'
import { recover } from '../../../src/payments/recovery/recover.ts'
import { testSettings } from '../../../test/support/service/service.ts'
import type { Given, Subject } from './scenario.ts'
import { postpone, type World } from './world.ts'

export const amount = 20_000
export const reason = 'changed my mind'
/** The credits of a STANDARD package. */
export const credits = 21
/** The credits of a hold. */
export const held = 8
export const serviceId = 'svc_calls'

type Step = (world: World, context: PaymentContext, subjects: Subject[]) => Promise<unknown>

const noAnswer: Unknown = { kind: 'unknown', code: 'ECONNRESET' }
const losingAnswers = (gateway: Gateway): Gateway => ({
  ...gateway,
  confirm: async (intent) => gateway.confirm(intent).then(() => noAnswer),
  cancel: async (intent) => gateway.cancel(intent).then(() => noAnswer),
})
const unreachableGateway = (gateway: Gateway): Gateway => ({ ...gateway, confirm: async () => noAnswer })

/** Runs the same step for each of them, concurrently. */
const each =
  (step: (world: World, context: PaymentContext, subject: Subject) => unknown): Step =>
  (world, context, subjects) =>
    Promise.all(subjects.map((subject) => step(world, context, subject)))

const buy = each(async (_world, context, subject) => {
  const order = { packageType: 'STANDARD', paymentMethod: 'CARD', idempotencyKey: null } as const
  subject.orderId = (await purchase(context, subject.customerId, order)).orderId
})

const pay = (result: 'approve' | 'decline' = 'approve'): Step =>
  each(async ({ sandbox }, _context, subject) => {
    subject.paymentKey = sandbox.pay(subject.orderId, amount, result)
  })

const requestConfirm = (context: PaymentContext, { customerId, orderId, paymentKey }: Subject) =>
  confirm(context, customerId, { orderId, paymentKey, amount })

const confirmed = each((_world, context, subject) => requestConfirm(context, subject))
const refused = each((_world, context, subject) => assert.rejects(requestConfirm(context, subject), { code: 'VAL003' }))

/** Sends the request with a gateway that does not answer; afterwards its operation is open. */
const unanswered = (wrap: (gateway: Gateway) => Gateway, request = requestConfirm): Step =>
  each((_world, context, subject) => {
    const process = createPaymentContext({ ...context, gateway: wrap(context.gateway) })
    return assert.rejects(request(process, subject), { code: 'SVC001' })
  })
const cancelUnanswered = unanswered(losingAnswers, async (context, { customerId, paymentKey }) => {
  await cancel(context, customerId, { paymentKey, reason })
  return assert.fail()
})

const spend = (spent: number): Step =>
  each((_world, context, { customerId, reference }) =>
    context.credits.spend({ customerId, credits: spent, reference: `${reference} before`, serviceId }),
  )
const hold = each(async (_world, context, subject) => {
  const { customerId, reference } = subject
  const request = { customerId, credits: held, reference: `${reference} before`, expiresInSeconds: 3_600 }
  subject.holdId = (await openHold(context.credits, serviceId, request)).holdId
})
const captured = each(({ sandbox }, _context, { paymentKey }) => sandbox.capture(paymentKey))
const cancelledElsewhere = each(({ sandbox }, _context, { paymentKey }) => sandbox.cancel(paymentKey))

const recovered: Step = async ({ database }, context, subjects) => {
  const customerIds = subjects.map(({ customerId }) => customerId)
  await database.query(
    `update payment_operations set settle_at = now(), lease_until = now() where customer_id = any($1)`,
    [customerIds],
  )
  while ((await recover(context)).more);
}

const expired: Step = async (world, context, subjects) => {
  for (const subject of subjects) await age(world, subject)
  await expireOrders(context.database, context.settings.pendingOrderLifetimeMs)
}

export async function age({ database }: World, { customerId }: Subject): Promise<void> {
  // The schema lets no expiry get earlier.
  await database.queryUnguarded(
    `with hold as (
      update holds set expires_at = now() where customer_id = $1
    )
    update orders set created_at = created_at - interval '25 hours' where customer_id = $1`,
    [customerId],
  )
}

const confirmedOrder = [buy, pay(), confirmed]
const lostCapture = [buy, pay(), unanswered(losingAnswers)]

const steps: Record<Given, Step[]> = {
  'a customer': [],
  'a paid order': [buy, pay()],
  'an order the card company will refuse': [buy, pay('decline')],
  'a confirmed order': confirmedOrder,
  'a confirmed order with some credits spent': [...confirmedOrder, spend(5)],
  'a confirmed order with all credits spent': [...confirmedOrder, spend(credits)],
  'a hold': [...confirmedOrder, hold],
  'a captured payment whose answer was lost': lostCapture,
  'a confirm that never arrived': [buy, pay(), unanswered(unreachableGateway)],
  'a refused confirm whose answer was lost': [buy, pay('decline'), unanswered(losingAnswers)],
  'a captured payment whose answer was lost, cancelled since': [...lostCapture, cancelledElsewhere],
  'a cancel that the background has finished': [...confirmedOrder, cancelUnanswered, recovered],
  'a confirmed order cancelled in the dashboard': [...confirmedOrder, cancelledElsewhere],
  'a capture outside this service': [buy, pay(), captured],
  'a capture for an order that was refused': [buy, pay('decline'), refused, pay(), captured],
  'a capture for an order that has expired': [buy, pay(), captured, expired],
}

const preparedAtATime = 24

/** The next prepared subject. */
export async function takeSubject(world: World, given: Given, alone = false): Promise<Subject> {
  const stock = world.stock.get(given) ?? []
  if (stock.length === 0) stock.push(...(await prepare(world, given, alone ? 1 : preparedAtATime)))
  world.stock.set(given, stock)
  const subject = stock.pop()
  assert.ok(subject)
  return subject
}

async function prepare(world: World, given: Given, length: number): Promise<Subject[]> {
  const database = createDatabase(world.connections, silentLog)
  const tallies = createTallies()
  const parts = { database, gateway: world.sandbox.gateway, credits: createCredits(database, tallies), log: silentLog }
  const context = createPaymentContext({ ...parts, tallies, settings: { ...testSettings, operationWaitMs: 0 } })
  const subjects = Array.from({ length }, () => ({
    customerId: crypto.randomUUID(),
    reference: crypto.randomUUID(),
    orderId: '',
    paymentKey: '',
    holdId: '',
  }))
  for (const { customerId } of subjects) {
    await world.database.query('insert into customers (customer_id) values ($1)', [customerId])
  }
  for (const step of steps[given]) await step(world, context, subjects)
  await postpone(
    world,
    subjects.map(({ customerId }) => customerId),
  )
  return subjects
}
