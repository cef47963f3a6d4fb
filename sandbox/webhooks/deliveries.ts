// The webhooks in memory: which changes of a payment are notified, how far each notification is and what comes next.
// Like payments.ts it writes nothing: announcements and progress take effect when they are in the journal.

import type { Behaviour } from '../faults/behaviour.ts'
import type { Faults, WebhookFaultKind } from '../faults/faults.ts'
import {
  koreanTime,
  newTransactionKey,
  type Payment,
  type PaymentStatus,
  randomAlphanumeric,
} from '../payments/payments.ts'
import { errorAnswer } from '../protocol/errors.ts'

export type Announcement = {
  /** The transmission id of the first attempt. */
  id: string
  paymentKey: string
  atMs: number
  dueAtMs: number
  fault?: WebhookFaultKind
  /** What is notified, where it is not the payment as it is. */
  opposite?: Payment
}

/** `status` is the HTTP status, null when there was no answer; `error` is the reason then. */
export type Attempt = {
  transmissionId: string
  retriedCount: number
  atMs: number
  status: number | null
  error: string | null
}

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'dropped'

export type Progress = { id: string; attempts: Attempt[]; state: DeliveryState; retriedCount: number; dueAtMs: number }

/** `payment` is the value that is notified, `retriedCount` the number of the attempt that comes next. */
export type Delivery = {
  readonly id: string
  readonly sequence: number
  readonly payment: Payment
  readonly atMs: number
  readonly fault: WebhookFaultKind | null
  readonly attempts: Attempt[]
  state: DeliveryState
  retriedCount: number
  dueAtMs: number
}

const isNotified = {
  READY: false,
  IN_PROGRESS: false,
  DONE: true,
  ABORTED: true,
  EXPIRED: true,
  CANCELED: true,
  PARTIAL_CANCELED: true,
} as const satisfies Record<PaymentStatus, boolean>

/** How long a webhook that is to be reordered waits for one that overtakes it. */
const reorderLimitMs = 1000

/** As seen at Toss. */
const contradictionMs = 46

/** After 1, 4, 16, 64, 256, 1024 and 4096 minutes. */
export const retryDelaysMs = Array.from({ length: 7 }, (_, retry) => 4 ** retry * 60_000)

export function newTransmissionId(): string {
  return `whtrans_${randomAlphanumeric(24)}`
}

/** The notification of a payment as it is now, null when its status is not notified. */
export function announcePayment({ paymentKey, status }: Payment, nowMs: number): Announcement | null {
  return isNotified[status] ? { id: newTransmissionId(), paymentKey, atMs: nowMs, dueAtMs: nowMs } : null
}

/** The notifications of these changes, each with its fault. */
export function announceChanges(
  changed: readonly Payment[],
  before: (paymentKey: string) => Payment | undefined,
  nowMs: number,
  faults: Faults,
  behaviour: Behaviour,
): Announcement[] {
  return changed.flatMap((payment) => {
    const again = payment.status === 'PARTIAL_CANCELED' && before(payment.paymentKey)?.status === payment.status
    const announcement = announcePayment(payment, nowMs)
    if (announcement === null || (again && behaviour.partialCancelWebhook === 'first')) return []
    const opposite = oppositeOf(payment, nowMs)
    const fault = faults.takeForWebhook(opposite !== null)
    if (fault === undefined) return [announcement]
    const { kind, delayMs = 0 } = fault
    const heldBackMs = { delay: delayMs, reorder: reorderLimitMs, contradict: contradictionMs, duplicate: 0, drop: 0 }
    const struck = { ...announcement, dueAtMs: nowMs + heldBackMs[kind], fault: kind }
    // The last of a payment is the one that is resent: the true one.
    return opposite === null || kind !== 'contradict'
      ? [struck]
      : [{ ...struck, id: newTransmissionId(), opposite }, announcement]
  })
}

/** DONE for ABORTED and the other way round, null for what is neither. */
function oppositeOf(payment: Payment, nowMs: number): Payment | null {
  if (payment.status === 'DONE') {
    const failure = errorAnswer('REJECT_CARD_COMPANY').error
    return { ...payment, status: 'ABORTED', approvedAt: null, lastTransactionKey: null, failure }
  }
  if (payment.status !== 'ABORTED') return null
  const approvedAt = koreanTime(new Date(nowMs))
  return { ...payment, status: 'DONE', approvedAt, lastTransactionKey: newTransactionKey(), failure: null }
}

/** After a scheduled attempt: the end, or the next attempt. */
export function progressAfterAttempts(
  delivery: Delivery,
  attempts: Attempt[],
  behaviour: Behaviour,
  nowMs: number,
): Progress {
  const { id, retriedCount } = delivery
  // It may have been resent and delivered while this attempt was under way.
  if (delivery.state === 'delivered' || attempts.some((attempt) => isReceived(attempt, behaviour))) {
    return { id, attempts, state: 'delivered', retriedCount, dueAtMs: nowMs }
  }
  const delayMs = retryDelaysMs[retriedCount]
  if (delayMs === undefined) return { id, attempts, state: 'failed', retriedCount, dueAtMs: nowMs }
  return { id, attempts, state: 'pending', retriedCount: retriedCount + 1, dueAtMs: nowMs + delayMs }
}

/** The failure of a resend changes neither the state nor the schedule. */
export function progressAfterResend(delivery: Delivery, attempt: Attempt, behaviour: Behaviour): Progress {
  const { id, retriedCount, dueAtMs } = delivery
  const state = isReceived(attempt, behaviour) ? 'delivered' : delivery.state
  return { id, attempts: [attempt], state, retriedCount, dueAtMs }
}

function isReceived({ status }: Attempt, behaviour: Behaviour): boolean {
  if (status === null) return false
  return behaviour.webhookReceived === '2xx' ? status >= 200 && status < 300 : status === 200
}

export type Deliveries = ReturnType<typeof createDeliveries>

export function createDeliveries() {
  const byId = new Map<string, Delivery>()
  const ofPayment = new Map<string, Delivery[]>()
  return {
    add({ id, atMs, dueAtMs, fault, opposite }: Announcement, current: Payment): void {
      const payment = opposite ?? current
      const state = fault === 'drop' ? 'dropped' : 'pending'
      const sequence = byId.size
      const fresh = { id, sequence, payment, atMs, fault: fault ?? null, attempts: [], state, retriedCount: 0, dueAtMs }
      byId.set(id, fresh as Delivery)
      ofPayment.set(payment.paymentKey, [...(ofPayment.get(payment.paymentKey) ?? []), fresh as Delivery])
    },
    advance({ id, attempts, state, retriedCount, dueAtMs }: Progress): void {
      const delivery = byId.get(id)
      delivery?.attempts.push(...attempts)
      if (delivery !== undefined) Object.assign(delivery, { state, retriedCount, dueAtMs })
    },
    find: (id: string): Delivery | undefined => byId.get(id),
    /** Oldest first. */
    listOf: (paymentKey: string): readonly Delivery[] => ofPayment.get(paymentKey) ?? [],
    findLatestOf: (paymentKey: string): Delivery | undefined => ofPayment.get(paymentKey)?.at(-1),
    all: (): Delivery[] => [...byId.values()],
  }
}
