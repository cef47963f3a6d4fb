// What must be true of a cell of the fault table: the books, what is set aside, what is open, what the gateway has and
// what it was sent, and every answer that was given.
import assert from 'node:assert/strict'
import type { Answer, Attempt } from './calls.ts'
import { isStalled } from './calls.ts'
import type { Crossings } from './crossings.ts'
import type { Books, CallName, Ends, Scenario, Subject } from './scenario.ts'
import type { World } from './world.ts'

/** By the state of the payment: what is left of it at the gateway, and how often it was given back. */
const money: Record<string, { left: number; cancels: number }> = {
  IN_PROGRESS: { left: 20_000, cancels: 0 },
  DONE: { left: 20_000, cancels: 0 },
  ABORTED: { left: 20_000, cancels: 0 },
  CANCELED: { left: 0, cancels: 1 },
}

/** The operation that each call begins with. */
const firstKind: Partial<Record<CallName, string>> = {
  confirm: 'CONFIRM',
  cancel: 'CANCEL',
  refund: 'REFUND',
  reconcile: 'CONFIRM',
  reconcileDay: 'CONFIRM',
}

export type Found = {
  books: {
    orders: string[]
    open: number
    heard: (string | null)[] | null
    payment?: string | null
    left?: number
    cancels?: number
  }
  /** The call has left its mark: an operation of its own, or what it was told. */
  begun: boolean
  /** Something waits for somebody to come. */
  waiting: boolean
}

/** The order, the movements of credits, what is set aside, what is left open, and the payment at the gateway. */
export async function readBooks(world: World, { call }: Scenario, subject: Subject): Promise<Found> {
  const [row] = await world.database.query<Found['books'] & { begun: boolean; overdue: boolean }>(
    `select (select array_agg(status) from orders o where o.customer_id = a.customer_id) as orders,
       (select coalesce(array_agg(kind || ' ' || delta order by entry_number), '{}')
        from ledger_entries e where e.customer_id = a.customer_id and e.delta <> 0) as movements,
       (select coalesce(array_agg(type order by event_number), '{}')
        from events v where v.customer_id = a.customer_id) as events,
       (select count(*) from payment_operations p where p.customer_id = a.customer_id and p.state = 'OPEN') as open,
       a.held,
       (select coalesce(array_agg(concat_ws(' ', state, captured) order by opening_entry), '{}')
        from holds h where h.customer_id = a.customer_id) as holds,
       (select max(refund_shortfall) from orders o where o.customer_id = a.customer_id) as shortfall,
       (select coalesce(array_agg(kind), '{}')
        from discrepancies d where d.customer_id = a.customer_id and resolved_at is null) as discrepancies,
       (select coalesce(array_agg(distinct kind), '{}')
        from discrepancies d where d.customer_id = a.customer_id and resolved_at is not null) as resolved,
       (select array_agg(outcome) from webhook_notifications n where n.order_id = $2) as heard,
       exists (select from payment_operations p
               where p.customer_id = a.customer_id and p.kind = $3 and p.state <> 'EXPIRED') as begun,
       exists (select from orders o
               where o.customer_id = a.customer_id and o.status = 'PENDING'
                 and o.created_at < now() - interval '1 day')
         or exists (select from holds h
                    where h.customer_id = a.customer_id and h.state = 'ACTIVE' and h.expires_at <= now()) as overdue
     from accounts a where a.customer_id = $1`,
    [subject.customerId, subject.orderId, firstKind[call] ?? ''],
  )
  assert.ok(row)
  const { begun, overdue, ...books } = row
  const payment = world.sandbox.payment(subject.paymentKey)
  const { status = null, balanceAmount: left = 0, cancels = null } = payment ?? {}
  return {
    books: { ...books, payment: status, left, cancels: cancels?.length ?? 0 },
    begun: begun || (call === 'notify' && books.heard !== null),
    waiting: books.open > 0 || (books.heard?.includes(null) ?? false) || overdue,
  }
}

/** By the state of the order: what the platform must have been told, once each. */
const told: Record<string, string[]> = {
  FAILED: ['order.failed'],
  CONFIRMED: ['order.confirmed'],
  CANCELLED: ['order.confirmed', 'order.cancelled'],
  REFUNDED: ['order.confirmed', 'order.refunded'],
}

const fitting = ['repaired', 'agrees', 'nothing new']

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
    heard,
  } = books
  const seenTo = found.heard?.length === 1 && fitting.includes(found.heard[0] ?? '')
  const expected = {
    orders: [order],
    movements,
    events: told[order] ?? [],
    open,
    held,
    holds,
    shortfall,
    discrepancies,
    resolved,
    heard: heard === undefined ? null : heard === 'seen to' && seenTo ? found.heard : [heard],
    payment: books.payment,
    ...(money[books.payment ?? ''] ?? { left: 0, cancels: 0 }),
  }
  assert.deepEqual(found, expected, moment)
}

const cancelledAlready = 'The payment is already cancelled.'

/** The calls of the scenario and what they were answered; whether nobody had come before the first of them. */
export type Told = { attempts: Attempt[]; answers: (Answer | null)[]; isFirst: boolean }

/** Every answer is true, and unknown is never told as a refusal. */
export function checkAnswers(
  scenario: Scenario,
  last: Ends,
  subject: Subject,
  { attempts, answers, isFirst }: Told,
): void {
  const told = answers.map((answer) => answer && `${answer.code} ${answer.message ?? ''}`).join(', ')
  const definite = answers.filter((answer) => answer !== null && answer.code !== 'SVC001') as Answer[]
  const once = scenario.call === 'cancel' && last.answer === 'SUCCESS'
  for (const answer of definite) {
    const isSecond = once && answer.code === 'PAYMENT_CANCEL_FAILED' && scenario.ends.answer === 'SUCCESS'
    if (isSecond) assert.equal(answer.message, cancelledAlready, told)
    else assert.ok([last.answer, ...(once ? [scenario.ends.answer] : [])].includes(answer.code), told)
    if (answer.code === 'SUCCESS' && last.data) assert.deepEqual(answer.data, last.data(subject))
    if (answer.code === 'SUCCESS' && ['purchase', 'hold'].includes(scenario.call))
      assert.deepEqual(answer.data, definite[0]?.data)
  }
  const successes = definite.filter((answer) => answer.code === 'SUCCESS').length
  const possible = once && attempts.some(mayLoseTheAnswer) ? [0, 1] : [1]
  if (once) assert.ok(possible.includes(successes), `${successes} cancels succeeded: ${told}`)
  for (const [index, { crossings }] of attempts.entries()) {
    const expected = answerTo(scenario, crossings, isFirst && index === 0)
    if (expected) assert.equal(answers[index]?.code, expected, `the answer to ${crossings.strike?.mode}: ${told}`)
  }
}

/** The one 200 of a cancel may be lost with the process, or with the database, right after its commit. */
function mayLoseTheAnswer({ crossings: { strike, place } }: Attempt): boolean {
  const tells = place() === 'payments.finishOperations' || place() === 'payments.claimAnswer'
  return tells && (strike?.mode === 'crash-after' || strike?.mode === 'away')
}

/** What the struck call itself must answer, where that is certain. */
function answerTo(scenario: Scenario, crossings: Crossings, isFirst: boolean): string | undefined {
  const mode = crossings.fired() ? crossings.strike?.mode : undefined
  if (mode === 'away') return 'SVC001'
  if (!isFirst || (mode !== 'error' && mode !== 'lost-answer')) return undefined
  // No answer from the gateway is never a refusal; a lost connection to the database is not even noticed.
  if (crossings.place()?.startsWith('gateway.')) return 'SVC001'
  return scenario.firstAnswer ?? scenario.ends.answer
}

/** By the state of the payment: what we must have sent. */
const sendsTo: Record<string, ('confirm' | 'cancel')[]> = {
  DONE: ['confirm'],
  ABORTED: ['confirm'],
  CANCELED: ['confirm', 'cancel'],
}

/** The gateway is asked once, and again only by somebody who woke up late; always with the key of the one intent. */
export function checkSends(world: World, scenario: Scenario, last: Ends, subject: Subject, attempts: Attempt[]): void {
  if (scenario.gateway) return
  const sends = Map.groupBy(world.sandbox.sendsOf(subject.paymentKey), (send) => send.verb)
  assert.deepEqual([...sends.keys()], scenario.sends ?? sendsTo[last.payment ?? ''] ?? [], 'what was sent')
  for (const [verb, each] of sends) {
    const keys = each.map((send) => send.key)
    assert.equal(new Set(keys).size, 1, `${verb} was sent with several keys: ${keys}`)
    if (!attempts.some(isStalled)) assert.equal(keys.length, 1, `${verb} was sent ${keys.length} times`)
  }
}
