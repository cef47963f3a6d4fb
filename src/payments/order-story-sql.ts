// An order with everything that happened to it, for people: read in one statement, so that its parts fit together.
// Refused operations have an index of their own, hence the two halves.
import { type Database, statement } from '../db/database.ts'

export type OrderStory = {
  orderId: string
  customerId: string
  status: string
  packageType: string
  amount: number
  credits: number
  createdAt: string
  confirmedAt: string | null
  /** Credits that a refund could not take back; null unless REFUNDED. */
  refundShortfall: number | null
  operations: object[]
  entries: object[]
  discrepancies: object[]
  notifications: object[]
}

/** Times within JSON, in the form all others have. */
const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const findOrderStoryStatement = statement(
  'payments.findOrderStory',
  `select o.order_id as "orderId", o.customer_id as "customerId", o.status, o.package_type as "packageType", o.amount,
    o.credits, o.created_at as "createdAt", o.confirmed_at as "confirmedAt", o.refund_shortfall as "refundShortfall",
    (select coalesce(json_agg(json_build_object(
       'operationId', p.operation_id, 'kind', p.kind, 'state', p.state, 'paymentKey', p.payment_key,
       'gatewayCode', p.gateway_code, 'transactionKey', p.transaction_key, 'reason', p.reason,
       'creditsHeld', p.credits_held, 'attempts', p.attempts, 'openedAt', ${iso('p.opened_at')}, 'closedAt', ${iso('p.closed_at')},
       'nextAttemptAt', case p.state when 'OPEN' then ${iso('p.settle_at')} end) order by p.opened_at), '[]')
     from (select * from payment_operations r
           where r.customer_id = o.customer_id and r.order_id = o.order_id and r.state = 'REJECTED'
           union all
           select * from payment_operations r
           where r.customer_id = o.customer_id and r.order_id = o.order_id and r.state <> 'REJECTED') p
    ) as "operations",
    (select coalesce(json_agg(json_build_object(
       'entryNumber', e.entry_number, 'kind', e.kind, 'delta', e.delta, 'balanceAfter', e.balance_after,
       'createdAt', ${iso('e.created_at')}) order by e.entry_number), '[]')
     from ledger_entries e
     where e.customer_id = o.customer_id and e.order_id = o.order_id and e.delta <> 0) as "entries",
    (select coalesce(json_agg(json_build_object(
       'kind', d.kind, 'detail', d.detail, 'foundAt', ${iso('d.found_at')}, 'lastSeenAt', ${iso('d.last_seen_at')},
       'resolvedAt', ${iso('d.resolved_at')}, 'resolution', d.resolution) order by d.found_at), '[]')
     from discrepancies d
     where d.customer_id = o.customer_id and d.order_id = o.order_id) as "discrepancies",
    (select coalesce(json_agg(json_build_object(
       'eventType', n.event_type, 'status', n.status, 'paymentKey', n.payment_key, 'receivedAt', ${iso('n.received_at')},
       'processedAt', ${iso('n.processed_at')}, 'outcome', n.outcome) order by n.received_at), '[]')
     from (select * from webhook_notifications where order_id = o.order_id order by received_at limit 100) n
    ) as "notifications"
  from orders o
  where o.order_id = $1`,
)

export async function findOrderStory(database: Database, orderId: string): Promise<OrderStory | null> {
  const [row] = await database.run<OrderStory>(findOrderStoryStatement, [orderId])
  return row ?? null
}
