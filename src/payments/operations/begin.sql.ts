// Act one as statements: the claim that opens an operation, and what a claim that got no row has met. Set-wise, locks in
// key order. What stood in the way is read by a second statement, never tested beside a row lock: after the wait only
// the locked row is fresh.
import { applyMovements, lockAccountsOf, lowCreditsEvents } from '../../credits/ledger.sql.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { byOrdinal } from '../../db/set-wise.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { type Order, type OrderKey, orderColumns } from '../orders.sql.ts'

/**
 * REFUND is the platform's, and takes back what is left of the credits; RETURN gives money back that was captured for an
 * order that FAILED.
 */
export type OperationKind = 'CONFIRM' | 'CANCEL' | 'REFUND' | 'RETURN'
export type OperationState = 'OPEN' | 'APPROVED' | 'REJECTED'

/** An intent at the gateway. `leased`: its holder is working on it now. Who opens an operation is its first holder. */
export type Operation = {
  customerId: string
  operationId: string
  orderId: string
  kind: OperationKind
  paymentKey: string
  amount: number
  reason: string | null
  state: OperationState
  sendNumber: number
  sentAgoMs: number
  leased: boolean
  holderId: string
  /** How often the worker has taken it up. */
  attempts: number
  totalCredits: number | null
  /** The trace it began in; null when that was not recorded. */
  traceParent: string | null
  /** Who is at work on it, where that is a request. */
  asked?: Asked
}

/** A request: for the log, for traces, and with which API key it came. */
export type Asked = { requestId: string; traceParent: string | null; keyId?: string }

/** An operation as one JSON column, so that a row can carry an order and its operations; null when there is none. */
export const operationJson = (alias: string) => `
  case when ${alias}.operation_id is not null then jsonb_build_object(
    'customerId', ${alias}.customer_id, 'operationId', ${alias}.operation_id, 'orderId', ${alias}.order_id,
    'kind', ${alias}.kind, 'paymentKey', ${alias}.payment_key, 'amount', ${alias}.amount, 'reason', ${alias}.reason,
    'state', ${alias}.state, 'sendNumber', ${alias}.send_number,
    'sentAgoMs', extract(epoch from now() - ${alias}.sent_at) * 1000, 'leased', ${alias}.lease_until > now(),
    'holderId', ${alias}.holder_id, 'attempts', ${alias}.attempts, 'totalCredits', ${alias}.total_credits,
    'traceParent', ${alias}.trace_parent) end`

/** Writes answer by the operation's id: it is new with each intent. */
export function byOperation<Row extends { operationId: string }>(
  inputs: { operationId: string }[],
  rows: Row[],
): (Row | null)[] {
  const found = new Map(rows.map((row) => [row.operationId, row]))
  return inputs.map((input) => found.get(input.operationId) ?? null)
}

export type ConfirmClaim = {
  customerId: string
  operationId: string
  orderId: string
  paymentKey: string
  amount: number
  leaseMs: number
  traceParent?: string | null
  /** The gateway has shown this payment captured for this order: what other confirms had its key does not matter. */
  seenCaptured?: boolean
}

/**
 * For an input `i`: a confirm of another order of the customer that had its payment key, refused ones included: a payment
 * key is of one order. One that the gateway refused because the key is not of that order says nothing about this one. The
 * state is not asked for otherwise: a confirm that is OPEN in this snapshot may be REJECTED, and out of the unique index,
 * when the row is inserted.
 */
const confirmOfAnotherOrder = `
  (select true from payment_operations other
   where other.payment_key = i.payment_key and other.customer_id = i.customer_id and other.kind = 'CONFIRM'
     and other.order_id <> i.order_id
     and (other.state = 'REJECTED'
          and other.gateway_code in ('FORBIDDEN_REQUEST', 'PAYMENT_OF_ANOTHER_ORDER')) is not true
   limit 1)`

const confirmClaims = inputs<ConfirmClaim>({
  customerId: 'uuid',
  operationId: 'uuid',
  orderId: 'text',
  paymentKey: 'text',
  amount: 'bigint',
  leaseMs: 'int',
  traceParent: 'text',
  seenCaptured: 'bool',
})

const claimConfirmsStatement = statement(
  'payments.claimConfirms',
  `with input as (
    select * from unnest(${confirmClaims.arrays}) as i (${confirmClaims.columns})
  ),
  locked_order as (
    select i.*, o.created_at
    from (select * from input order by customer_id, order_id) i
    cross join lateral (
      select * from orders o where o.customer_id = i.customer_id and o.order_id = i.order_id limit 1 for no key update
    ) o
    where o.status = 'PENDING' and o.amount = i.amount
      and (i.seen_captured or ${confirmOfAnotherOrder} is null)
  )
  insert into payment_operations
    (customer_id, operation_id, order_id, kind, payment_key, amount, opened_at, holder_id, lease_until, settle_at,
     trace_parent)
  select customer_id, operation_id, order_id, 'CONFIRM', payment_key, amount, greatest(created_at, now()), operation_id,
         now() + lease_ms * interval '1 ms', now() + lease_ms * interval '1 ms', trace_parent
  from locked_order
  order by customer_id, payment_key
  on conflict do nothing
  returning operation_id as "operationId"`,
)

/**
 * Opens the operations; false where the order is not PENDING with that amount, something else is open already, or the
 * payment key is of another order.
 */
export async function claimConfirms(database: Database, claims: ConfirmClaim[]): Promise<boolean[]> {
  const rows = await database.run<{ operationId: string }>(claimConfirmsStatement, confirmClaims.valuesOf(claims))
  return byOperation(claims, rows).map((row) => row !== null)
}

export type ConfirmSubject = { order: Order; confirm: Operation | null; paymentKeyTaken: boolean }

type ConfirmKey = OrderKey & { paymentKey: string }

const confirmKeys = inputs<ConfirmKey>({ customerId: 'uuid', orderId: 'text', paymentKey: 'text' })

const findConfirmSubjectsStatement = statement(
  'payments.findConfirmSubjects',
  `select i.ordinal, ${orderColumns}, ${operationJson('p')} as "confirm",
    ${confirmOfAnotherOrder} is not null as "paymentKeyTaken"
  from unnest(${confirmKeys.arrays}) with ordinality as i (${confirmKeys.columns}, ordinal)
  join orders o using (customer_id, order_id)
  left join payment_operations p
    on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM'
      and p.state in ('OPEN', 'APPROVED')`,
)

/** What a confirm that could not be claimed has met. */
export async function findConfirmSubjects(database: Database, keys: ConfirmKey[]): Promise<(ConfirmSubject | null)[]> {
  type Row = Order & Omit<ConfirmSubject, 'order'> & { ordinal: number }
  const rows = await database.run<Row>(findConfirmSubjectsStatement, confirmKeys.valuesOf(keys))
  return byOrdinal(keys, rows).map(
    (row) => row && { order: row, confirm: row.confirm, paymentKeyTaken: row.paymentKeyTaken },
  )
}

export type CancelClaim = {
  customerId: string
  operationId: string
  /** A cancel needs all the credits of the order, a refund takes what is left. */
  kind: 'CANCEL' | 'REFUND'
  paymentKey: string
  reason: string
  leaseMs: number
  traceParent?: string | null
  /** The API key of the caller; a refund has none. */
  keyId?: string | null
}

const cancelClaims = inputs<CancelClaim>({
  customerId: 'uuid',
  operationId: 'uuid',
  kind: 'text',
  paymentKey: 'text',
  reason: 'text',
  leaseMs: 'int',
  traceParent: 'text',
  keyId: 'text',
})

// The account is locked before the claim, so that the credits are known to be there; they are held by what was claimed.
// An approved confirm never changes again, so joining it beside the lock of its order is safe.
const claimCancelsStatement = statement(
  'payments.claimCancels',
  `with recursive input as (
    select * from unnest(${cancelClaims.arrays}) as i (${cancelClaims.columns})
  ),
  locked_order as (
    select i.*, o.order_id, o.amount, o.credits, o.confirmed_at as not_before
    from input i
    join payment_operations p
      on p.customer_id = i.customer_id and p.payment_key = i.payment_key and p.kind = 'CONFIRM' and p.state = 'APPROVED'
    join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
    where o.status = 'CONFIRMED'
    order by o.customer_id, o.order_id
    for no key update of o
  ),${lockAccountsOf('locked_order')},
  claimed as (
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, payment_key, amount, reason, credits_held, opened_at, holder_id,
       lease_until, settle_at, trace_parent)
    select customer_id, operation_id, order_id, kind, payment_key, amount, reason, least(credits, available),
           account.moved_at, operation_id, now() + lease_ms * interval '1 ms', now() + lease_ms * interval '1 ms', trace_parent
    from locked_order
    join account using (customer_id)
    where account.available >= locked_order.credits or kind = 'REFUND'
    on conflict do nothing
    returning customer_id, operation_id, order_id, amount, credits_held, opened_at
  ),
  made_with as (
    insert into cancel_keys (customer_id, operation_id, key_id, opened_at)
    select customer_id, operation_id, i.key_id, c.opened_at
    from claimed c
    join input i using (customer_id, operation_id)
    where i.key_id is not null
  ),
  movement as (
    select customer_id, 1 as turn, 'HOLD' as kind, 0 as delta, credits_held as held_delta, order_id,
           null::text as reference, operation_id as hold_id, null::text as service_id, 0 as events,
           null::timestamptz as not_before
    from claimed
  ),${applyMovements},
  event as (${lowCreditsEvents}
  ),${emitEvents}
  select operation_id as "operationId", order_id as "orderId", amount from claimed`,
)

export type CancelClaimed = { operationId: string; orderId: string; amount: number }

/** Opens the operations and sets credits aside; null where the order is not CONFIRMED, busy, or too much is spent. */
export async function claimCancels(database: Database, claims: CancelClaim[]): Promise<(CancelClaimed | null)[]> {
  return byOperation(claims, await database.run<CancelClaimed>(claimCancelsStatement, cancelClaims.valuesOf(claims)))
}

export type CancelSubject = { order: Order; confirm: Operation; cancel: Operation | null; available: number }

const findCancelSubjectStatement = statement(
  'payments.findCancelSubject',
  `select ${orderColumns}, ${operationJson('p')} as "confirm", ${operationJson('c')} as "cancel",
    a.balance - a.held as "available"
  from payment_operations p
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  join accounts a on a.customer_id = p.customer_id
  left join payment_operations c
    on c.customer_id = o.customer_id and c.order_id = o.order_id
      and (c.kind = 'CANCEL' and c.state <> 'REJECTED' or c.state = 'OPEN' and c.kind <> 'CONFIRM')
  where p.customer_id = $1 and p.payment_key = $2 and p.kind = 'CONFIRM'
  order by p.state = 'REJECTED', p.opened_at desc
  limit 1`,
)

/** What a cancel that could not be claimed has met. A refused confirm is found only when no other has its payment key. */
export async function findCancelSubject(
  database: Database,
  input: { customerId: string; paymentKey: string },
): Promise<CancelSubject | null> {
  const [row] = await database.run<Order & Omit<CancelSubject, 'order'>>(findCancelSubjectStatement, [
    input.customerId,
    input.paymentKey,
  ])
  return row ? { order: row, confirm: row.confirm, cancel: row.cancel, available: row.available } : null
}
