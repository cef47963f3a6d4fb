// The checks of a case of the fault table: the books, the holds, the open operations, the payment at the gateway, the
// calls sent to it, and every answer.
import assert from 'node:assert/strict'
import { type Answer, type Attempt, isPaused } from './actions.ts'
import type { FaultyCalls } from './faulty-calls.ts'
import type { ActionName, Books, Ends, Scenario, Subject } from './scenario.ts'
import type { World } from './world.ts'

/** By the state of the payment: its balance at the gateway, and the number of its cancels. */
const money: Record<string, { left: number; cancels: number }> = {
  IN_PROGRESS: { left: 20_000, cancels: 0 },
  DONE: { left: 20_000, cancels: 0 },
  ABORTED: { left: 20_000, cancels: 0 },
  CANCELED: { left: 0, cancels: 1 },
  // By the refund of the unused part in these tables.
  PARTIAL_CANCELED: { left: 5_000, cancels: 1 },
}

/** The operation that each action opens first. */
const firstKind: Partial<Record<ActionName, string>> = {
  confirm: 'CONFIRM',
  cancel: 'CANCEL',
  refund: 'REFUND',
  refundUnused: 'REFUND',
  reconcile: 'CONFIRM',
  reconcileDay: 'CONFIRM',
}

export type Found = {
  books: {
    orders: string[]
    open: number
    notifications: (string | null)[] | null
    payment?: string | null
    left?: number
    cancels?: number
  }
  /** The action had an effect: its own operation, or a stored notification. */
  begun: boolean
  /** Some work is still pending. */
  waiting: boolean
}

/** The order, the movements of credits, the holds, the open operations, and the payment at the gateway. */
export async function readBooks(world: World, { action }: Scenario, subject: Subject): Promise<Found> {
  const [row] = await world.database.queryOf<Found['books'] & { begun: boolean; overdue: boolean }>(
    subject.customerId,
    `select (select array_agg(status) from orders o where o.customer_id = a.customer_id) as orders,
       (select coalesce(array_agg(kind || ' ' || delta order by entry_number), '{}')
        from ledger_entries e where e.customer_id = a.customer_id and e.delta <> 0) as movements,
       (select coalesce(array_agg(type order by event_number), '{}')
        from events v where v.customer_id = a.customer_id and type like 'order.%') as events,
       (select count(*) from payment_operations p where p.customer_id = a.customer_id and p.state = 'OPEN') as open,
       a.held,
       (select coalesce(array_agg(concat_ws(' ', state, captured) order by opening_entry), '{}')
        from holds h where h.customer_id = a.customer_id) as holds,
       (select max(refund_shortfall) from orders o where o.customer_id = a.customer_id) as shortfall,
       exists (select from payment_operations p
               where p.customer_id = a.customer_id and p.kind = $2 and p.state <> 'EXPIRED') as begun,
       exists (select from orders o
               where o.customer_id = a.customer_id and o.status = 'PENDING'
                 and o.created_at < now() - interval '1 day')
         or exists (select from holds h
                    where h.customer_id = a.customer_id and h.state = 'ACTIVE' and h.expires_at <= now()) as overdue
     from accounts a where a.customer_id = $1`,
    [subject.customerId, firstKind[action] ?? ''],
  )
  const [found] = await world.database.query<Pick<Found['books'], 'notifications'>>(
    `select (select coalesce(array_agg(kind), '{}')
        from discrepancies d where d.customer_id = $1 and resolved_at is null) as discrepancies,
       (select coalesce(array_agg(distinct kind), '{}')
        from discrepancies d where d.customer_id = $1 and resolved_at is not null) as resolved,
       (select array_agg(outcome) from webhook_notifications n where n.order_id = $2) as notifications`,
    [subject.customerId, subject.orderId],
  )
  assert.ok(row && found)
  const { begun, overdue, ...rest } = row
  const books = { ...rest, ...found }
  const payment = world.sandbox.payment(subject.paymentKey)
  const { status = null, balanceAmount: left = 0, cancels = null } = payment ?? {}
  return {
    books: { ...books, payment: status, left, cancels: cancels?.length ?? 0 },
    begun: begun || (action === 'notify' && books.notifications !== null),
    waiting: books.open > 0 || (books.notifications?.includes(null) ?? false) || overdue,
  }
}

/** By the state of the order: the events of orders that must have been emitted, once each. */
const eventsOf: Record<string, string[]> = {
  FAILED: ['order.failed'],
  CONFIRMED: ['order.confirmed'],
  CANCELLED: ['order.confirmed', 'order.cancelled'],
  REFUNDED: ['order.confirmed', 'order.refunded'],
}

const processed = ['repaired', 'agrees', 'nothing new']

export function checkBooks({ books: found }: Found, books: Books, moment: string): void {
  const {
    order,
    movements,
    held = 0,
    holds = [],
    open = 0,
    shortfall = null,
    discrepancies = [],
    resolved = [],
    notification,
  } = books
  const isProcessed = found.notifications?.length === 1 && processed.includes(found.notifications[0] ?? '')
  const expected = {
    orders: [order],
    movements,
    events: eventsOf[order] ?? [],
    open,
    held,
    holds,
    shortfall,
    discrepancies,
    resolved,
    notifications:
      notification === undefined
        ? null
        : notification === 'processed' && isProcessed
          ? found.notifications
          : [notification],
    payment: books.payment,
    ...(money[books.payment ?? ''] ?? { left: 0, cancels: 0 }),
  }
  assert.deepEqual(found, expected, moment)
}

const cancelledAlready = 'The payment is already cancelled.'

/** The attempts at the action of the scenario and their answers; whether nothing else came before the first of them. */
export type Answered = { attempts: Attempt[]; answers: (Answer | null)[]; isFirst: boolean }

/** Every answer is true, and an unknown outcome is never reported as a refusal. */
export function checkAnswers(
  scenario: Scenario,
  last: Ends,
  subject: Subject,
  { attempts, answers, isFirst }: Answered,
): void {
  const listed = answers.map((answer) => answer && `${answer.code} ${answer.message ?? ''}`).join(', ')
  const definite = answers.filter((answer) => answer !== null && answer.code !== 'SVC001') as Answer[]
  const once = scenario.action === 'cancel' && last.answer === 'SUCCESS'
  for (const answer of definite) {
    const isSecond = once && answer.code === 'PAYMENT_CANCEL_FAILED' && scenario.ends.answer === 'SUCCESS'
    if (isSecond) assert.equal(answer.message, cancelledAlready, listed)
    else assert.ok([last.answer, ...(once ? [scenario.ends.answer] : [])].includes(answer.code), listed)
    if (answer.code === 'SUCCESS' && last.data) assert.deepEqual(answer.data, last.data(subject))
    if (answer.code === 'SUCCESS' && ['purchase', 'hold'].includes(scenario.action))
      assert.deepEqual(answer.data, definite[0]?.data)
  }
  const successes = definite.filter((answer) => answer.code === 'SUCCESS').length
  const possible = once && attempts.some(mayLoseAnswer) ? [0, 1] : [1]
  if (once) assert.ok(possible.includes(successes), `${successes} cancels succeeded: ${listed}`)
  for (const [index, { calls }] of attempts.entries()) {
    const expected = answerTo(scenario, calls, isFirst && index === 0)
    if (expected) assert.equal(answers[index]?.code, expected, `the answer to ${calls.fault?.kind}: ${listed}`)
  }
}

/** The one 200 of a cancel may be lost with the process, or with the database, right after its commit. */
function mayLoseAnswer({ calls: { fault, place } }: Attempt): boolean {
  const isFinal = place() === 'payments.finishOperations' || place() === 'payments.claimAnswer'
  return isFinal && (fault?.kind === 'killed-after' || fault?.kind === 'away')
}

/** The answer of the attempt with the fault itself, where it is certain. */
function answerTo(scenario: Scenario, calls: FaultyCalls, isFirst: boolean): string | undefined {
  const kind = calls.tookEffect() ? calls.fault?.kind : undefined
  if (kind === 'away') return 'SVC001'
  if (!isFirst || (kind !== 'reset-before' && kind !== 'reset-after')) return undefined
  // No answer from the gateway is never a refusal; a lost connection to the database does not change the answer.
  if (calls.place()?.startsWith('gateway.')) return 'SVC001'
  return scenario.firstAnswer ?? scenario.ends.answer
}

/** By the state of the payment: the calls that we must have sent. */
const sendsTo: Record<string, ('confirm' | 'cancel')[]> = {
  DONE: ['confirm'],
  ABORTED: ['confirm'],
  CANCELED: ['confirm', 'cancel'],
  PARTIAL_CANCELED: ['confirm', 'cancel'],
}

/** Each call is sent to the gateway once, and again only by a process that resumed late; always with the same key. */
export function checkSends(world: World, scenario: Scenario, last: Ends, subject: Subject, attempts: Attempt[]): void {
  if (scenario.gateway) return
  const sends = Map.groupBy(world.sandbox.sendsOf(subject.paymentKey), (send) => send.verb)
  assert.deepEqual(
    [...sends.keys()],
    scenario.sends ?? sendsTo[last.payment ?? ''] ?? [],
    'the calls sent to the gateway',
  )
  for (const [verb, each] of sends) {
    const keys = each.map((send) => send.key)
    assert.equal(new Set(keys).size, 1, `${verb} was sent with several keys: ${keys}`)
    if (!attempts.some(isPaused)) assert.equal(keys.length, 1, `${verb} was sent ${keys.length} times`)
  }
}
