// Begin: the claims that open an operation, each in one statement. A claim checks the state of the order under its row lock,
// and a unique index allows one open operation per order. Set-wise; locks are taken in key order. A claim that opened
// nothing does not return why: read.sql.ts reads that afterwards, because after the wait for a lock only the locked row
// is fresh, not what the statement has read beside it.
import type { Batch } from '../../core/batch.ts'
import type { Tallies } from '../../core/tallies.ts'
import type { Tracing } from '../../core/tracing.ts'
import { applyMovements, keepTimeOf, lockAccountsOf, lowCreditsEvents } from '../../credits/ledger.sql.ts'
import { movements } from '../../credits/movements.ts'
import { batchStatement } from '../../db/batch.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import type { CalledKind } from '../kinds.ts'
import type { OrderKey } from '../orders.sql.ts'
import { ruleOf } from '../refunds/dated-rules.sql.ts'

/** A row of payment_operations: a call to the gateway that we intend to make, until its outcome is known. */
export type Operation = {
  customerId: string
  operationId: string
  orderId: string
  kind: CalledKind
  paymentKey: string
  /** What is captured or returned; a refund may return less than the order's amount. */
  amount: number
  orderAmount: number
  /** KRW of accepted parts, which the gateway had returned before. */
  returnedBefore: number
  reason: string | null
  state: 'OPEN' | 'APPROVED' | 'REJECTED'
  /**
   * The last part of the idempotency key. It goes up only when the gateway would repeat its answer for the old key, so it is
   * not a count of sends.
   */
  sendNumber: number
  /** Since the call was last sent, by the clock of the database. */
  sentAgoMs: number
  openedAgoMs: number
  /** The lease has not ended: its holder is working on the operation. */
  leased: boolean
  /** The request or worker run that has the lease; the first one has the id of the operation. No relation to credit holds. */
  holderId: string
  /** How many attempts of requests and the worker had ended without an outcome when its holder claimed it. */
  attempts: number
  totalCredits: number | null
  /** The trace it began in; null when that was not recorded. A later process continues this trace. */
  traceParent: string | null
  /** The request that works on it now; undefined in the worker. */
  request?: RequestRef
}

/** A request in the log, and the API key it came with. */
export type RequestRef = { requestId: string; keyId?: string }

/** A new operation as its claim has just written it. */
export function newOperation(
  claim: Pick<Operation, 'customerId' | 'operationId' | 'orderId' | 'kind' | 'paymentKey' | 'amount' | 'reason'> & {
    /** The same as the amount unless it is given. */
    orderAmount?: number
    returnedBefore?: number
    traceParent?: string | null
  },
): Operation {
  const { operationId: holderId, orderAmount = claim.amount, returnedBefore = 0, traceParent = null } = claim
  const ages = { sentAgoMs: 0, openedAgoMs: 0 }
  const fresh = { state: 'OPEN', sendNumber: 1, ...ages, leased: true, attempts: 0, totalCredits: null } as const
  return { ...claim, ...fresh, orderAmount, returnedBefore, holderId, traceParent }
}

/** The row of each input. Statements that write return the operation's id, which is new with each intent. */
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
  /** The gateway has shown this payment captured for this order: other confirms with its key do not matter. */
  seenCaptured?: boolean
}

/**
 * For an input `i`: true if another order of the customer has a confirm with its payment key, rejected ones included: a
 * payment key belongs to one order. A confirm that the gateway rejected because the key is not that order's proves nothing
 * about this one. No other state is excluded: a confirm that is OPEN in this snapshot may be REJECTED when the row is
 * inserted, and the unique index lets rejected ones pass.
 */
export const confirmOfAnotherOrder = `
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

const claimConfirmsStatement = statement.ofCustomers(
  'payments.claimConfirms',
  sql`with input as (
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
 * Opens the operations; false where the order is not PENDING with that amount, has an open operation, or the payment key
 * belongs to another order.
 */
export async function claimConfirms(database: Database, claims: ConfirmClaim[]): Promise<boolean[]> {
  const rows = await database.run<{ operationId: string }>(claimConfirmsStatement, confirmClaims.valuesOf(claims))
  return byOperation(claims, rows).map((row) => row !== null)
}

/** Confirms of one order never share a statement. */
export function createClaimConfirm(
  database: Database,
  tallies: Tallies,
  tracing: Tracing,
): Batch<ConfirmClaim, boolean> {
  return batchStatement<ConfirmClaim, boolean>(database, claimConfirmsStatement.name, {
    tallies,
    tracing,
    conflictKey: ({ customerId, orderId }) => `${customerId}/${orderId}`,
    run: (inputs) => claimConfirms(database, inputs),
  })
}

/** For a cancel by the customer, a refund (refund.ts), or a cancellation found at the gateway (recovery/review.ts). */
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
  /** Only for a refund that does not return the whole price. */
  part?: RefundPart | null
}

export type RefundPart = {
  /** KRW that go back. */
  amount: number
  /** Credits that are taken back. */
  credits: number
  /** The last ledger entry when the part was computed: later movements may have changed it. */
  atEntry: number
}

type CancelClaimInput = Omit<CancelClaim, 'part'> & {
  partAmount: number | null
  partCredits: number | null
  atEntry: number | null
}

const cancelClaims = inputs<CancelClaimInput>({
  customerId: 'uuid',
  operationId: 'uuid',
  kind: 'text',
  paymentKey: 'text',
  reason: 'text',
  leaseMs: 'int',
  traceParent: 'text',
  keyId: 'text',
  partAmount: 'bigint',
  partCredits: 'bigint',
  atEntry: 'bigint',
})

// The account is locked before the claim, so that the credits are known to be there; the claimed operations hold them. A
// cancel returns the price, so only credits that were paid for and that no other operation takes cover it. A function counts
// them: it does not use the snapshot of the statement, and gets the customer from the locked row, so that it cannot be called
// before.
// An approved confirm never changes again, so joining it beside the lock of its order is safe. Accepted parts are read by a
// function in the same way.
const claimCancelsStatement = statement.ofCustomers(
  'payments.claimCancels',
  sql`with recursive input as (
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
  ),
  rest as (
    select l.*, l.amount - parts.amount as amount_left, l.credits - parts.credits as credits_left,
           parts.amount as returned_before
    from locked_order l
    cross join lateral accepted_parts(l.customer_id, l.order_id) parts
  ),${lockAccountsOf('locked_order')},
  claimed as (
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, payment_key, amount, reason, credits_held, opened_at, holder_id,
       lease_until, settle_at, trace_parent, refund_rule)
    select customer_id, operation_id, order_id, kind, payment_key, coalesce(part_amount, amount_left), reason,
           coalesce(part_credits, least(credits_left, available)), account.moved_at, operation_id,
           now() + lease_ms * interval '1 ms', now() + lease_ms * interval '1 ms', trace_parent,
           case when part_amount is not null then (select holds_from from ${ruleOf(sql`rest.not_before`)} rule) end
    from rest
    join account using (customer_id)
    where case when part_credits is not null then account.available >= part_credits
               when kind = 'CANCEL' then account.available >= credits_left
                 and refundable_credits(account.customer_id) >= credits_left
               else true end
      and coalesce(account.last_entry = at_entry, true)
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
  timed as (${keepTimeOf('claimed')}
  ),
  movement as (
    select customer_id, 1 as turn, '${movements.hold.entry}' as kind, 0 as delta, credits_held as held_delta, order_id,
           null::text as reference, operation_id as hold_id, null::text as service_id, 0 as events,
           null::timestamptz as not_before
    from claimed
  ),${applyMovements},
  event as (${lowCreditsEvents}
  ),${emitEvents}
  select c.operation_id as "operationId", c.order_id as "orderId", c.amount, o.amount as "orderAmount",
    o.returned_before as "returnedBefore"
  from claimed c
  join rest o using (customer_id, operation_id)`,
)

export type CancelClaimed = {
  operationId: string
  orderId: string
  amount: number
  orderAmount: number
  returnedBefore: number
}

/**
 * Opens the operations and holds their credits; null where the order is not CONFIRMED, has an open operation, too many of
 * its credits are spent, or credits have moved since a part was computed.
 */
export async function claimCancels(database: Database, claims: CancelClaim[]): Promise<(CancelClaimed | null)[]> {
  const values = cancelClaims.valuesOf(
    claims.map(({ part, ...claim }) => ({
      ...claim,
      partAmount: part?.amount ?? null,
      partCredits: part?.credits ?? null,
      atEntry: part?.atEntry ?? null,
    })),
  )
  return byOperation(claims, await database.run<CancelClaimed>(claimCancelsStatement, values))
}

/** Cancels of one customer never share a statement: each is checked against the credits that the one before has left. */
export function createClaimCancel(
  database: Database,
  tallies: Tallies,
  tracing: Tracing,
): Batch<CancelClaim, CancelClaimed | null> {
  return batchStatement<CancelClaim, CancelClaimed | null>(database, claimCancelsStatement.name, {
    tallies,
    tracing,
    conflictKey: ({ customerId }) => customerId,
    run: (inputs) => claimCancels(database, inputs),
  })
}

export type ReturnClaim = OrderKey & {
  operationId: string
  paymentKey: string
  reason: string
  leaseMs: number
}

// Opened after the order has failed. Rejected operations have an index of their own, hence the two halves.
const claimReturnStatement = statement.ofCustomer(
  'payments.claimReturn',
  `with locked_order as (
    select customer_id, order_id, amount, created_at
    from orders
    where customer_id = $1 and order_id = $2 and status = 'FAILED'
    for no key update
  )
  insert into payment_operations
    (customer_id, operation_id, order_id, kind, payment_key, amount, reason, opened_at, holder_id, lease_until, settle_at)
  select customer_id, $3, order_id, 'RETURN', $4, amount, $5, greatest(created_at, failed.at, now()), $3,
         now() + $6::int * interval '1 ms', now() + $6::int * interval '1 ms'
  from locked_order
  cross join lateral (
    select max(closed_at) as at
    from (
      select p.closed_at from payment_operations p
      where p.customer_id = locked_order.customer_id and p.order_id = locked_order.order_id and p.state = 'REJECTED'
      union all
      select p.closed_at from payment_operations p
      where p.customer_id = locked_order.customer_id and p.order_id = locked_order.order_id and p.state <> 'REJECTED'
    ) closed
  ) failed
  on conflict do nothing
  returning operation_id`,
)

/** Opens the operation that refunds the money of a FAILED order; false when it is not FAILED, or has an open one. */
export async function claimReturn(database: Database, claim: ReturnClaim): Promise<boolean> {
  const { customerId, orderId, operationId, paymentKey, reason, leaseMs } = claim
  const values = [customerId, orderId, operationId, paymentKey, reason, leaseMs]
  return (await database.run(claimReturnStatement, values)).length > 0
}
