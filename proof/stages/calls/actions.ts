// The actions to which faults are applied. Each runs in a process of its own, simulated by what it has: the two seams.
import { silentLog } from '../../../harness/silent-log.ts'
import { Refusal } from '../../../src/core/errors.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import { createCredits } from '../../../src/credits/credits.ts'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import { capturePart, endHold, openHold } from '../../../src/credits/holds/holds.ts'
import { createDatabase } from '../../../src/db/database.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import { reconcile, reconcileDay } from '../../../src/payments/books/reconcile.ts'
import { cancel } from '../../../src/payments/cancel.ts'
import { confirm } from '../../../src/payments/confirm.ts'
import { createPaymentContext, type PaymentContext } from '../../../src/payments/context.ts'
import { purchase } from '../../../src/payments/purchase.ts'
import { expireOrders } from '../../../src/payments/recovery/expire.ts'
import { insertNotification } from '../../../src/payments/recovery/notifications.sql.ts'
import { processNotifications } from '../../../src/payments/recovery/notifications.ts'
import { recover } from '../../../src/payments/recovery/recover.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { testSettings } from '../../../test/support/service/service.ts'
import { createFaultyCalls, type FaultAt, type FaultyCalls } from './faulty-calls.ts'
import { amount, held, reason, serviceId } from './givens.ts'
import type { ActionName, Scenario, Subject } from './scenario.ts'
import type { World } from './world.ts'

const minuteMs = 60_000

const caller = { serviceId, mayManageHolds: false }

const actions: Record<ActionName, (context: PaymentContext, subject: Subject) => Promise<unknown>> = {
  purchase: (context, { customerId, reference }) =>
    purchase(context, customerId, { packageType: 'STANDARD', paymentMethod: 'CARD', idempotencyKey: reference }),
  confirm: (context, { customerId, orderId, paymentKey }) =>
    confirm(context, customerId, { orderId, paymentKey, amount }),
  cancel: (context, { customerId, paymentKey }) => cancel(context, customerId, { paymentKey, reason }),
  async spend(context, { customerId, reference }) {
    const { spent, available } = await context.credits.spend({ customerId, credits: 5, reference, serviceId })
    return { spent, available }
  },
  hold: ({ credits }, { customerId, reference }) =>
    openHold(credits, serviceId, { customerId, credits: held, reference, expiresInSeconds: 3_600 }),
  part: ({ credits }, { customerId, holdId, reference }) =>
    capturePart(credits, caller, { customerId, holdId, credits: 5, reference }),
  capture: ({ credits }, { customerId, holdId }) =>
    endHold(credits, caller, { customerId, holdId, ending: 'CAPTURE', captured: 5 }),
  release: ({ credits }, { customerId, holdId }) =>
    endHold(credits, caller, { customerId, holdId, ending: 'RELEASE', captured: null }),
  refund: (context, { orderId }) => refund(context, { orderId, reason: 'a goodwill' }),
  refundUnused: (context, { orderId }) =>
    refund(context, { orderId, reason: 'as quoted', unused: { amount: 15_000, credits: 16 } }),
  notify: ({ database }, subject) => notify(database, subject, 'DONE'),
  process: (context) => processNotifications(context),
  expire: ({ database, settings }) => expireOrders(database, settings.pendingOrderLifetimeMs),
  expireHolds: ({ database }) => expireHolds(database),
  recover: (context) => recover(context),
  reconcile: (context) => {
    const now = Date.now()
    return reconcile(context, { from: new Date(now - 10 * minuteMs), to: new Date(now) })
  },
  reconcileDay: (context) => reconcileDay(context, new AbortController().signal),
}

/** Stores it like the webhook listener; a repeated transmission of the gateway has the same id. */
export function notify(
  database: PaymentContext['database'],
  { orderId, paymentKey, reference }: Subject,
  status: 'DONE' | 'CANCELED',
): Promise<void> {
  const notification = { transmissionId: reference, eventType: 'PAYMENT_STATUS_CHANGED', orderId, paymentKey, status }
  return insertNotification(database, notification)
}

/** Either a clock that is moved past every lease between two calls, or the real clock with short leases. */
const clocks = {
  moved: { ...testSettings, operationLeaseMs: 60_000, operationWaitMs: 2_000 },
  real: { ...testSettings, operationLeaseMs: 150, operationWaitMs: 5_000 },
}
export type Clock = keyof typeof clocks

export type Answer = { code: string; message: string | null; data: unknown }
export type Attempt = {
  action: ActionName
  calls: FaultyCalls
  /** Null when there was none: the process had died or was paused. */
  answer: Answer | null
  finished: Promise<Answer>
}

/** Starts a simulated process over the seams, and lets it do one action. */
export async function attempt(
  { connections, sandbox, openedAt }: World,
  subject: Subject,
  { alone = false, gateway: wrap = (gateway) => gateway }: Scenario,
  action: ActionName,
  fault: FaultAt | null,
  clock: Clock = 'moved',
): Promise<Attempt> {
  const calls = createFaultyCalls(fault, openedAt)
  const database = createDatabase(calls.connections(connections), silentLog)
  const gateway = calls.gateway(wrap(alone ? listingOnly(subject, sandbox.gateway) : sandbox.gateway))
  const tallies = createTallies()
  const credits = createCredits(database, tallies)
  const parts = { database, gateway, credits, settings: clocks[clock], log: silentLog, tallies }
  const finished = answerOf(() => actions[action](createPaymentContext(parts), subject))
  const answer = await Promise.race([finished, calls.cutOff.then(() => null)])
  return { action, calls, answer, finished }
}

/** Hides the movements of earlier cases at the gateway. */
function listingOnly({ orderId }: Subject, gateway: Gateway): Gateway {
  return {
    ...gateway,
    async listMovements(query) {
      const page = await gateway.listMovements(query)
      if (page.kind !== 'page') return page
      return { ...page, movements: page.movements.filter((movement) => movement.orderId === orderId) }
    },
  }
}

async function answerOf(request: () => Promise<unknown>): Promise<Answer> {
  try {
    return { code: 'SUCCESS', message: null, data: await request() }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message, data: null }
    return { code: 'INT001', message: String(error), data: null }
  }
}

export function isPaused({ calls }: Attempt): boolean {
  return calls.tookEffect() && (calls.fault?.kind.startsWith('paused') ?? false)
}
