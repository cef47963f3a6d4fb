// Finish: records the outcome of an operation and everything that follows from it, in one statement: the order's state, the
// ledger entry, the event, the closed operation. States, entry and event are the row of kinds.ts. It may be repeated:
// only the first run finds the operation open.
import type { Batch } from '../../core/batch.ts'
import type { Tallies } from '../../core/tallies.ts'
import type { Tracing } from '../../core/tracing.ts'
import { applyMovements, lockAccountsOf } from '../../credits/ledger.sql.ts'
import { batchStatement } from '../../db/batch.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import type { OrderStatus, OutcomeRow } from '../kinds.ts'
import { orderEventData } from '../orders.sql.ts'
import type { SlipColumns } from '../slip.sql.ts'
import { byOperation } from './begin.sql.ts'

/** The slip is that of an approved confirm; of everything else its members are null. */
export type Finish = SlipColumns & {
  customerId: string
  operationId: string
  holderId: string
  orderId: string
  state: 'APPROVED' | 'REJECTED'
  from: OrderStatus
  to: OrderStatus
  entry: OutcomeRow['entry']
  event: OutcomeRow['event']
  gatewayCode: string | null
  transactionKey: string | null
  /** The request that finishes it will answer its caller: of an approved cancel one request answers with success. */
  answered: boolean
  /** Our own decision, not the gateway's: it counts only while this holder has the operation. */
  onlyHolder: boolean
}

export type Finished = {
  operationId: string
  credits: number
  creditsHeld: number
  totalCredits: number | null
}

const finishes = inputs<Finish>({
  customerId: 'uuid',
  operationId: 'uuid',
  holderId: 'uuid',
  orderId: 'text',
  state: 'text',
  from: ['text', 'from_status'],
  to: ['text', 'to_status'],
  entry: ['text', 'kind'],
  event: ['text', 'event_type'],
  gatewayCode: 'text',
  transactionKey: 'text',
  receiptUrl: 'text',
  cardNumber: 'text',
  approvalNumber: 'text',
  paidMethod: 'text',
  paidProvider: 'text',
  cardAmount: 'bigint',
  walletAmount: 'bigint',
  pointsAmount: 'bigint',
  answered: 'boolean',
  onlyHolder: 'boolean',
})

const outcome = { order: sql`t`, status: sql`t.to_status`, available: sql`t.available` }

// Order, operation, account: each is locked in key order and checked by its own fresh row. The order must still be in
// `from`, and the operation still open; a second finish finds neither and changes nothing.
const finishOperationsStatement = statement.ofCustomers(
  'payments.finishOperations',
  sql`with recursive input as (
    select * from unnest(${finishes.arrays}) as i (${finishes.columns})
  ),
  locked_order as (
    select i.*, o.credits, o.package_type, o.amount, o.created_at
    from (select * from input order by customer_id, order_id) i
    cross join lateral (
      select * from orders o where o.customer_id = i.customer_id and o.order_id = i.order_id limit 1 for no key update
    ) o
    where o.status = i.from_status
  ),
  locked_operation as (
    select l.*, p.credits_held, p.opened_at, p.amount as operation_amount
    from (select * from locked_order order by customer_id, operation_id) l
    cross join lateral (
      select * from payment_operations p
      where p.customer_id = l.customer_id and p.operation_id = l.operation_id limit 1 for no key update
    ) p
    where p.state = 'OPEN' and (not l.only_holder or p.holder_id = l.holder_id)
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by order_id) as turn, kind,
           case kind when 'GRANT' then credits when 'RELEASE' then 0 else -credits_held end as delta,
           -credits_held as held_delta, order_id, null::text as reference,
           case when credits_held > 0 then operation_id end as hold_id, null::text as service_id,
           (event_type is not null)::int as events, greatest(created_at, opened_at) as not_before
    from locked_operation
    where coalesce(kind, event_type) is not null
  ),${lockAccountsOf('movement')},${applyMovements},
  outcome as (
    select l.*, case when m.delta <> 0 or m.held_delta <> 0 then m.kind end as entry_kind,
           m.last_entry as entry_number, m.moved_at, m.available, m.first_event
    from locked_operation l
    left join moved m on m.customer_id = l.customer_id and m.order_id = l.order_id
  ),
  moved_order as (
    update orders o
    set status = t.to_status,
        confirmed_at = case t.entry_kind when 'GRANT' then t.moved_at else o.confirmed_at end,
        grant_entry = case t.entry_kind when 'GRANT' then t.entry_number else o.grant_entry end,
        rollback_entry = case t.entry_kind when 'ROLLBACK' then t.entry_number else o.rollback_entry end,
        refund_entry = case t.entry_kind when 'REFUND' then t.entry_number else o.refund_entry end,
        refund_shortfall = case t.to_status when 'REFUNDED' then t.credits - t.credits_held end,
        refunded_amount = case t.to_status when 'REFUNDED' then t.operation_amount end
    from outcome t
    where o.customer_id = t.customer_id and o.order_id = t.order_id and t.from_status <> t.to_status
  ),
  closed as (
    update payment_operations p
    set state = t.state,
        closed_at = coalesce(t.moved_at, greatest(t.opened_at, now())),
        closed_by = t.holder_id,
        gateway_code = t.gateway_code,
        transaction_key = t.transaction_key,
        receipt_url = t.receipt_url,
        card_number = t.card_number,
        approval_number = t.approval_number,
        paid_method = t.paid_method,
        paid_provider = t.paid_provider,
        card_amount = t.card_amount,
        wallet_amount = t.wallet_amount,
        points_amount = t.points_amount,
        total_credits = t.available,
        answered_by = case when t.answered then t.holder_id end
    from outcome t
    where p.customer_id = t.customer_id and p.operation_id = t.operation_id
    returning p.operation_id, t.credits, p.credits_held, p.total_credits
  ),
  event as (
    select t.customer_id, t.first_event as event_number, t.event_type as type,
      case t.to_status
        when 'CONFIRMED' then ${orderEventData({ ...outcome, slip: sql`t` })}
        when 'REFUNDED' then
          ${orderEventData({ ...outcome, refunded: sql`t.operation_amount` })}
        else ${orderEventData(outcome)}
      end as data, t.moved_at
    from outcome t
    where t.event_type is not null
  ),${emitEvents}
  select operation_id as "operationId", credits, credits_held as "creditsHeld", total_credits as "totalCredits"
  from closed`,
)

const finishKeys = inputs<Finish>({ customerId: 'uuid', operationId: 'uuid', holderId: 'uuid' })

const findFinishesStatement = statement.ofCustomers(
  'payments.findFinishes',
  sql`select p.operation_id as "operationId", o.credits, p.credits_held as "creditsHeld", p.total_credits as "totalCredits"
  from unnest(${finishKeys.arrays}) as i (${finishKeys.columns})
  join payment_operations p using (customer_id, operation_id)
  join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
  where p.closed_by = i.holder_id`,
)

/**
 * Null where another holder has finished the operation. A statement that was repeated after a lost connection may find that
 * its first run was committed: the holder's id shows that, in a second statement, because the snapshot of the repeated one
 * can be older than that commit.
 */
export async function finishOperations(database: Database, all: Finish[]): Promise<(Finished | null)[]> {
  const rows = await database.run<Finished>(finishOperationsStatement, finishes.valuesOf(all))
  const finished = byOperation(all, rows)
  const others = all.filter((_, index) => finished[index] === null)
  if (others.length === 0) return finished
  const earlier = await database.run<Finished>(findFinishesStatement, finishKeys.valuesOf(others))
  return byOperation(all, [...rows, ...earlier])
}

/** Operations of one order never share a statement. */
export function createFinishOperation(
  database: Database,
  tallies: Tallies,
  tracing: Tracing,
): Batch<Finish, Finished | null> {
  return batchStatement<Finish, Finished | null>(database, finishOperationsStatement.name, {
    tallies,
    tracing,
    conflictKey: ({ customerId, orderId }) => `${customerId}/${orderId}`,
    rowKey: ({ customerId }) => customerId,
    run: (inputs) => finishOperations(database, inputs),
  })
}
