// The timeline of an order: the order and everything that happened to it, for operators. It is read in two statements: what is
// keyed by customer, so that the order, its operations and its entries are consistent, and what people and the gateway said
// about it. Rejected operations have an index of their own, hence the `union all`.
import { partsOf } from '../../credits/lots/lots.sql.ts'
import { type Database, statement } from '../../db/database.ts'
import { iso, sql } from '../../db/sql.ts'
import type { Slip } from '../../gateway/gateway.ts'
import type { ClosedState, OperationKind, OrderStatus } from '../kinds.ts'
import { attemptsKept } from '../operations/lease.sql.ts'
import { findOrderKeys } from '../orders.sql.ts'
import { ruleJson } from '../refunds/dated-rules.sql.ts'
import type { RefundRule } from '../refunds/dated-rules.ts'
import { slipColumns } from '../slip.sql.ts'

/** Times are ISO texts, because the rows are aggregated as JSON. */
export type StoryOperation = {
  operationId: string
  kind: OperationKind
  state: 'OPEN' | ClosedState
  paymentKey: string | null
  /** KRW: captured or returned. */
  amount: number
  gatewayCode: string | null
  transactionKey: string | null
  reason: string | null
  creditsHeld: number
  attempts: number
  openedAt: string
  closedAt: string | null
  nextAttemptAt: string | null
  /** The end of the API key that a cancel came with. */
  keyLastFour: string | null
  /** What a refund of the unused part was made by. */
  refundRule: RefundRule | null
}
export type StoryAttempt = { operationId: string; gatewayCode: string; happenedAt: string }
export type StoryEntry = {
  entryNumber: number
  kind: string
  delta: number
  heldDelta: number | null
  balanceAfter: number
  createdAt: string
  /** The operation that holds, takes or releases the credits; null for the grant. */
  operationKind: OperationKind | null
}
export type StoryDiscrepancy = {
  discrepancyId: string
  kind: string
  subject: string
  detail: Record<string, unknown>
  foundAt: string
  lastSeenAt: string
  resolvedAt: string | null
  resolution: string | null
}
export type StoryNotification = {
  eventType: string
  status: string | null
  paymentKey: string | null
  receivedAt: string
  processedAt: string | null
  outcome: string | null
}
export type StoryAction = {
  actionId: string
  actor: string
  command: string
  reason: string | null
  at: string
  /** Null: it is running, or its process was killed. */
  outcome: string | null
  /** The reason of its refusal, or the field that was refused. */
  refusal: string | null
  endedAt: string | null
}

/** With the slip of its approved confirm. */
type OrderOfStory = Slip & {
  orderId: string
  customerId: string
  status: OrderStatus
  packageType: string
  amount: number
  credits: number
  createdAt: Date
  confirmedAt: Date | null
  /** Credits that a refund could not take back; null unless REFUNDED. */
  refundShortfall: number | null
  /** KRW, with that of accepted parts; null when nothing was refunded. */
  refundedAmount: number | null
  operations: StoryOperation[]
  /** One for each holder that has reported an end without an outcome. */
  attempts: StoryAttempt[]
  entries: StoryEntry[]
}
type OrderRecords = {
  discrepancies: StoryDiscrepancy[]
  notifications: StoryNotification[]
  /** Operator actions on the order and on its discrepancies. */
  actions: StoryAction[]
}
export type OrderStory = OrderOfStory & OrderRecords

// Entries that move the balance are found by the order; those that only hold and release credits, by their operation. The
// limits make PostgreSQL look each row up by its key: a plain join could read all entries of the customer.
const findOrderStoryStatement = statement.ofCustomer(
  'payments.findOrderStory',
  sql`select o.order_id as "orderId", o.customer_id as "customerId", o.status, o.package_type as "packageType", o.amount,
    o.credits, o.created_at as "createdAt", o.confirmed_at as "confirmedAt", o.refund_shortfall - parts.credits as "refundShortfall",
    case o.status when 'REFUNDED' then parts.amount + coalesce(o.refunded_amount, o.amount)
                  when 'CONFIRMED' then nullif(parts.amount, 0) end as "refundedAmount",
    ${slipColumns(sql`c`)},
    (select coalesce(json_agg(json_build_object(
       'operationId', p.operation_id, 'kind', p.kind, 'state', p.state, 'paymentKey', p.payment_key, 'amount', p.amount,
       'gatewayCode', p.gateway_code, 'transactionKey', p.transaction_key, 'reason', p.reason,
       'creditsHeld', p.credits_held, 'attempts', p.attempts, 'openedAt', ${iso(sql`p.opened_at`)}, 'closedAt', ${iso(sql`p.closed_at`)},
       'nextAttemptAt', case p.state when 'OPEN' then ${iso(sql`greatest(p.settle_at, p.lease_until)`)} end,
       'keyLastFour', (select k.last_four from cancel_keys s join api_keys k using (key_id)
                       where s.customer_id = p.customer_id and s.operation_id = p.operation_id),
       'refundRule', (select ${ruleJson(sql`r`)} from refund_rules r where r.holds_from = p.refund_rule)) order by p.opened_at), '[]')
     from unnest(own.operations) p
    ) as "operations",
    (select coalesce(json_agg(json_build_object(
       'operationId', a.operation_id, 'gatewayCode', a.gateway_code, 'happenedAt', ${iso(sql`a.happened_at`)})
       order by a.happened_at), '[]')
     from unnest(own.operations) p
     cross join lateral (
       select * from payment_attempts a
       where a.customer_id = o.customer_id and a.operation_id = p.operation_id limit $3) a) as "attempts",
    (select coalesce(json_agg(json_build_object(
       'entryNumber', e.entry_number, 'kind', e.kind, 'delta', e.delta, 'heldDelta', e.held_delta,
       'balanceAfter', e.balance_after, 'createdAt', ${iso(sql`e.created_at`)},
       'operationKind', (select p.kind from unnest(own.operations) p where p.operation_id = e.hold_id)) order by e.entry_number), '[]')
     from (select * from ledger_entries m
           where m.customer_id = o.customer_id and m.order_id = o.order_id and m.delta <> 0
           union all
           select h.* from unnest(own.operations) p
           cross join lateral (
             select * from ledger_entries h
             where h.customer_id = o.customer_id and h.hold_id = p.operation_id and h.delta = 0 limit 2) h) e) as "entries"
  from orders o
  cross join lateral ${partsOf(sql`o`)} parts
  cross join lateral (
    select array(
      select r from payment_operations r
      where r.customer_id = o.customer_id and r.order_id = o.order_id and r.state = 'REJECTED'
      union all
      select r from payment_operations r
      where r.customer_id = o.customer_id and r.order_id = o.order_id and r.state <> 'REJECTED') as operations
    offset 0
  ) own
  left join lateral (
    select * from unnest(own.operations) p where p.kind = 'CONFIRM' and p.state = 'APPROVED') c on true
  where o.customer_id = $1 and o.order_id = $2`,
)

const findOrderRecordsStatement = statement.global(
  'payments.findOrderRecords',
  sql`select
    (select coalesce(json_agg(json_build_object(
       'discrepancyId', d.discrepancy_id, 'kind', d.kind, 'subject', d.subject, 'detail', d.detail, 'foundAt', ${iso(sql`d.found_at`)},
       'lastSeenAt', ${iso(sql`d.last_seen_at`)}, 'resolvedAt', ${iso(sql`d.resolved_at`)}, 'resolution', d.resolution)
       order by d.found_at), '[]')
     from discrepancies d
     where d.customer_id = $1 and d.order_id = $2) as "discrepancies",
    (select coalesce(json_agg(json_build_object(
       'eventType', n.event_type, 'status', n.status, 'paymentKey', n.payment_key, 'receivedAt', ${iso(sql`n.received_at`)},
       'processedAt', ${iso(sql`n.processed_at`)}, 'outcome', n.outcome) order by n.received_at), '[]')
     from (select * from webhook_notifications where order_id = $2 order by received_at desc limit 100) n
    ) as "notifications",
    (select coalesce(json_agg(json_build_object(
       'actionId', b.action_id, 'actor', b.actor, 'command', b.command, 'reason', b.reason, 'at', ${iso(sql`b.happened_at`)},
       'outcome', ended.outcome, 'refusal', ended.about ->> 'refusal', 'endedAt', ${iso(sql`ended.ended_at`)}) order by b.happened_at), '[]')
     from (select * from operator_actions
           where step = 'BEGUN' and subject = any ($2::text || array(
             select d.discrepancy_id::text from discrepancies d
             where d.customer_id = $1 and d.order_id = $2))
           limit 1000) b
     left join lateral (
       select e.outcome, e.about, case e.step when 'ENDED' then e.happened_at end as ended_at
       from operator_actions e
       where e.action_id = b.action_id and e.step <> 'BEGUN'
       order by e.step
       limit 1) ended on true) as "actions"`,
)

/** The order is read last: whatever a discrepancy, a notification or an action is about, the order has reached it. */
export async function findOrderStory(database: Database, orderId: string): Promise<OrderStory | null> {
  const key = (await findOrderKeys(database, [orderId])).get(orderId)
  if (!key) return null
  const [records] = await database.run<OrderRecords>(findOrderRecordsStatement, [key.customerId, orderId])
  const values = [key.customerId, orderId, attemptsKept]
  const [order] = await database.run<OrderOfStory>(findOrderStoryStatement, values)
  return order && records ? { ...order, ...records } : null
}
