// The scans of the audit: the table that is read in the order of its primary key, and the rows that belong to each of its
// rows, under the names that the rules use.
//
// Related rows are read by lateral aggregates, limited subqueries and scalar subqueries, because the planner runs those row by
// row, each by an index. It could turn plain joins into a scan of the whole other table, for every chunk.

import { leastUuid } from '../../core/ids.ts'
import { partsOf } from '../../credits/lots/lots.sql.ts'
import { sql } from '../../db/sql.ts'
import { ruleOf } from '../refunds/dated-rules.sql.ts'

export type ScanName =
  | 'accounts'
  | 'entries'
  | 'holds'
  | 'adjustments'
  | 'orders'
  | 'operations'
  | 'events'
  | 'usage'
  | JournalledScan
  | 'journalEntries'

/** What an audit counts: the rows of each scan, and entries and published checkpoints of the transparency log. */
export type CheckedName = ScanName | 'loggedEntries' | 'publishedCheckpoints'

/** A rule of a scan; src/payments/audit/rules.ts explains `holds`. */
export type ScanRule = {
  invariant: string
  rule: string
  holds: string
  /** It compares with the present time: broken when no worker has done its part, although every row is right. */
  isLiveness?: true
}

export type Scan = {
  table: string
  key: { column: string; type: string; least: string }[]
  /** The rows of `page` with their related rows. */
  subjects: string
  /** The ids of the row, and the values to investigate it by: arguments of jsonb_build_object. */
  identity: string
  detail: string
}

type KeyColumn = { column: string; type: 'uuid' | 'text' | 'bigint'; least: string }

const uuid = (column: string): KeyColumn => ({ column, type: 'uuid', least: leastUuid })
const text = (column: string): KeyColumn => ({ column, type: 'text', least: '' })

export type JournalledScan =
  | 'customers'
  | 'apiKeys'
  | 'serviceTokens'
  | 'operators'
  | 'operatorActions'
  | 'discrepancies'
  | 'audits'
  | 'budgets'
  | 'eventEndpoints'
  | 'logCheckpoints'

/** The tables that are journalled, with their primary keys; `name` is for the text of the rule. */
export const journalled: Record<JournalledScan, { table: string; key: KeyColumn[]; name: string }> = {
  customers: { table: 'customers', key: [uuid('customer_id')], name: 'a customer' },
  apiKeys: { table: 'api_keys', key: [text('key_id')], name: 'an API key' },
  serviceTokens: { table: 'service_tokens', key: [text('service_id')], name: 'a service token' },
  operators: { table: 'operators', key: [text('operator_id')], name: 'an operator' },
  operatorActions: { table: 'operator_actions', key: [uuid('action_id'), text('step')], name: 'an operator action' },
  discrepancies: { table: 'discrepancies', key: [uuid('discrepancy_id')], name: 'a discrepancy' },
  audits: { table: 'audits', key: [uuid('audit_id')], name: 'an audit' },
  budgets: { table: 'budgets', key: [uuid('customer_id'), uuid('budget_id')], name: 'a budget' },
  eventEndpoints: { table: 'event_endpoints', key: [text('endpoint_id')], name: 'an endpoint of events' },
  logCheckpoints: {
    table: 'log_checkpoints',
    key: [{ column: 'size', type: 'bigint', least: '0' }],
    name: 'a published checkpoint',
  },
}

const customer = { column: 'customer_id', type: 'uuid', least: leastUuid }

/** The customers of a page of accounts: read for all of them at once. */
const ofThePage = `customer_id >= $4::uuid
          and customer_id <= (select customer_id from page order by customer_id desc limit 1)`

const entryOf = (name: string, column: string) => `
    left join lateral (
      select * from ledger_entries e
      where e.customer_id = h.customer_id and e.entry_number = h.${column} limit 1) ${name} on true`

const accounts: Scan = {
  // Held credits are read for all accounts at once, because a full join is never made row by row: so it does not matter which
  // index of the open operations or active holds is used, however many there are. The offset keeps it a full join.
  table: 'accounts',
  key: [customer],
  subjects: `(
      select a.*, coalesce(aside.by_operations, 0) as held_by_operations, coalesce(aside.by_holds, 0) as held_by_holds
      from page a
      full join (
        select customer_id, sum(by_operation) as by_operations, sum(by_hold) as by_holds
        from (
          select customer_id, credits_held as by_operation, 0 as by_hold from payment_operations
          where state = 'OPEN' and ${ofThePage}
          union all
          select customer_id, 0, credits from holds
          where state = 'ACTIVE' and ${ofThePage}) each
        group by customer_id) aside on aside.customer_id = a.customer_id
      offset 0) a
    left join lateral (
      select * from ledger_entries e
      where e.customer_id = a.customer_id order by e.entry_number desc limit 1) last on true
    left join lateral (
      select v.event_number, v.type, v.created_at from events v
      where v.customer_id = a.customer_id order by v.event_number desc limit 1) newest_event on true
    left join lateral (
      select v.event_number from events v
      where v.customer_id = a.customer_id order by v.event_number limit 1) oldest_event on true
    cross join lateral (
      select bool_and(q.next_event <= q.last_event + 1 and q.last_event <= a.last_event) as in_order
      from event_queues q where q.customer_id = a.customer_id) queued`,
  identity: `'customerId', a.customer_id`,
  detail: `'balance', a.balance, 'held', a.held, 'lastEntry', a.last_entry, 'lastEvent', a.last_event,
      'movedAt', a.moved_at, 'ledgerBalance', last.balance_after, 'ledgerHeld', last.held_after,
      'ledgerLastEntry', last.entry_number, 'ledgerMovedAt', last.created_at, 'heldByOperations', a.held_by_operations,
      'heldByHolds', a.held_by_holds, 'adjusted', a.adjusted, 'ledgerAdjusted', last.adjusted_after,
      'eventsLastEvent', newest_event.event_number, 'deletedEvents', a.deleted_events,
      'eventsFirstEvent', oldest_event.event_number`,
}

const entries: Scan = {
  // The page begins with the last row of the page before: the entry that the first new one continues.
  table: 'ledger_entries',
  key: [customer, { column: 'entry_number', type: 'bigint', least: '0' }],
  subjects: `(
      select *, lag(entry_number) over chain as previous_number, lag(balance_after) over chain as previous_balance,
             lag(held_after) over chain as previous_held, lag(created_at) over chain as previous_time,
             lag(entry_hash) over chain as previous_hash, lag(adjusted_after) over chain as previous_adjusted
      from page window chain as (partition by customer_id order by entry_number)) e`,
  identity: `'customerId', e.customer_id, 'entryNumber', e.entry_number, 'orderId', e.order_id, 'holdId', e.hold_id`,
  detail: `'kind', e.kind, 'delta', e.delta, 'balanceAfter', e.balance_after, 'heldDelta', e.held_delta,
      'heldAfter', e.held_after, 'reference', e.reference, 'serviceId', e.service_id, 'createdAt', e.created_at,
      'previousNumber', e.previous_number, 'previousBalance', e.previous_balance, 'previousHeld', e.previous_held,
      'adjustedAfter', e.adjusted_after, 'previousAdjusted', e.previous_adjusted`,
}

const holds: Scan = {
  table: 'holds',
  key: [customer, { column: 'hold_id', type: 'uuid', least: leastUuid }],
  subjects: `page h${entryOf('opening', 'opening_entry')}${entryOf('closing', 'closing_entry')}`,
  identity: `'customerId', h.customer_id, 'holdId', h.hold_id`,
  detail: `'state', h.state, 'credits', h.credits, 'captured', h.captured, 'capturedInParts', h.captured_in_parts,
      'serviceId', h.service_id, 'expiresAt', h.expires_at, 'extendedAt', h.extended_at,
      'openingEntry', h.opening_entry, 'closingEntry', h.closing_entry,
      'openingKind', opening.kind, 'openingHeldDelta', opening.held_delta, 'closingKind', closing.kind,
      'closingDelta', closing.delta, 'closingHeldDelta', closing.held_delta`,
}

const adjustments: Scan = {
  table: 'adjustments',
  key: [customer, { column: 'adjustment_id', type: 'uuid', least: leastUuid }],
  subjects: `page d
    left join lateral (
      select * from ledger_entries e
      where e.customer_id = d.customer_id and e.entry_number = d.entry_number limit 1) e on true
    left join lateral (
      select * from adjustment_requests r
      where r.customer_id = d.customer_id and r.adjustment_id = d.adjustment_id limit 1) r on true`,
  identity: `'customerId', d.customer_id, 'adjustmentId', d.adjustment_id, 'entryNumber', d.entry_number`,
  detail: `'kind', d.kind, 'credits', d.credits, 'reversedEntry', d.reversed_entry, 'serviceId', d.service_id,
      'actor', d.actor, 'approvedBy', d.approved_by, 'createdAt', d.created_at, 'entryKind', e.kind, 'delta', e.delta,
      'requestState', r.state`,
}

const orders: Scan = {
  // Only entries that moved credits: the index has no others. Those of accepted parts have rules of their
  // own.
  table: 'orders',
  key: [customer, { column: 'order_id', type: 'text', least: '' }],
  subjects: `page o
    cross join lateral (
      select coalesce(array_agg(e.kind || ' ' || e.entry_number || ': ' || e.delta order by e.kind), '{}') as entries,
             count(*) filter (where e.kind = 'GRANT') as grants,
             min(e.created_at) filter (where e.kind = 'GRANT') as granted_at,
             min(e.balance_after) filter (where e.kind = 'GRANT') as granted_balance,
             min(e.held_after) filter (where e.kind = 'GRANT') as granted_held
      from ledger_entries e
      where e.customer_id = o.customer_id and e.order_id = o.order_id and e.delta <> 0
        and (e.hold_id is null or not exists (
          select from payment_operations p
          where p.customer_id = e.customer_id and p.operation_id = e.hold_id and p.kind = 'PART'))) booked
    cross join lateral (
      select coalesce(string_agg(p.kind || ' ' || p.state, ', ' order by p.kind, p.state), '') as operations,
             min(p.total_credits) filter (where p.kind = 'CONFIRM') as total_credits
      from payment_operations p
      where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state <> 'REJECTED'
        and p.kind not in ('RETURN', 'PART')) done
    cross join lateral ${partsOf(sql`o`)} parts`,
  identity: `'customerId', o.customer_id, 'orderId', o.order_id`,
  detail: `'status', o.status, 'packageType', o.package_type, 'amount', o.amount, 'credits', o.credits,
      'createdAt', o.created_at, 'confirmedAt', o.confirmed_at, 'grantEntry', o.grant_entry,
      'rollbackEntry', o.rollback_entry, 'refundEntry', o.refund_entry, 'refundShortfall', o.refund_shortfall,
      'refundedAmount', o.refunded_amount, 'entries', booked.entries, 'operations', done.operations,
      'totalCredits', done.total_credits, 'partsAmount', parts.amount, 'partsCredits', parts.credits`,
}

/** The order of a row, if it exists. */
const orderOf = (row: string, orderId: string) => `
    left join lateral (
      select * from orders o where o.customer_id = ${row}.customer_id and o.order_id = ${orderId} limit 1) o on true`

const operations: Scan = {
  table: 'payment_operations',
  key: [customer, { column: 'operation_id', type: 'uuid', least: leastUuid }],
  subjects: `page p${orderOf('p', 'p.order_id')}
    cross join lateral ${partsOf(sql`p`)} parts
    left join lateral ${ruleOf(sql`o.confirmed_at`)} rule on true`,
  identity: `'customerId', p.customer_id, 'operationId', p.operation_id, 'orderId', p.order_id`,
  detail: `'kind', p.kind, 'state', p.state, 'paymentKey', p.payment_key, 'amount', p.amount,
      'creditsHeld', p.credits_held, 'attempts', p.attempts, 'openedAt', p.opened_at, 'settleAt', p.settle_at,
      'leaseUntil', p.lease_until, 'orderStatus', o.status, 'orderAmount', o.amount, 'orderCredits', o.credits,
      'refundedAmount', o.refunded_amount, 'accepted', p.accepted, 'partsAmount', parts.amount,
      'partsCredits', parts.credits, 'refundRule', p.refund_rule, 'confirmedAt', o.confirmed_at,
      'rule', rule.holds_from, 'sharePercent', rule.share_percent`,
}

const events: Scan = {
  table: 'events',
  key: [customer, { column: 'event_number', type: 'bigint', least: '0' }],
  subjects: `(
      select *, lag(event_number) over numbered as previous_number, lag(created_at) over numbered as previous_time,
             data ->> 'orderId' as order_id, upper(split_part(type, '.', 2)) as status,
             count(*) over (partition by customer_id, type, data ->> 'orderId') as same_events
      from page window numbered as (partition by customer_id order by event_number)) v${orderOf('v', 'v.order_id')}
    left join lateral (
      select * from ledger_entries e
      where e.customer_id = v.customer_id
        and e.entry_number = case v.status when 'CONFIRMED' then o.grant_entry when 'CANCELLED' then o.rollback_entry
                                           when 'REFUNDED' then o.refund_entry end
      limit 1) e on true`,
  identity: `'customerId', v.customer_id, 'eventNumber', v.event_number, 'orderId', v.order_id`,
  detail: `'type', v.type, 'data', v.data, 'createdAt', v.created_at, 'previousNumber', v.previous_number,
      'orderStatus', o.status, 'entryNumber', e.entry_number, 'balanceAfter', e.balance_after, 'heldAfter', e.held_after,
      'entryCreatedAt', e.created_at`,
}

const usage: Scan = {
  table: 'budget_usage',
  key: [
    customer,
    { column: 'budget_id', type: 'uuid', least: leastUuid },
    { column: 'value', type: 'text', least: '' },
  ],
  subjects: `page u
    left join lateral (
      select * from budgets b where b.customer_id = u.customer_id and b.budget_id = u.budget_id limit 1) b on true`,
  identity: `'customerId', u.customer_id`,
  detail: `'budgetId', u.budget_id, 'value', u.value, 'used', u.used, 'periodStart', u.period_start, 'scope', b.scope,
      'period', b.period, 'credits', b.credits`,
}

const journalEntries: Scan = {
  table: 'record_journal',
  key: [{ column: 'record_number', type: 'bigint', least: '0' }],
  subjects: `(
      select *, lag(record_number) over numbered as previous_number, lag(journal_hash) over numbered as previous_hash
      from page window numbered as (order by record_number)) j`,
  identity: `'record', j.table_name || ' ' || j.row_key, 'recordNumber', j.record_number`,
  detail: `'writtenAt', j.written_at, 'contentHash', encode(j.content_hash, 'hex'),
      'beforeHash', encode(j.before_hash, 'hex'), 'previousNumber', j.previous_number`,
}

/** The row is read again from its table: record_hash needs a row of the table's type. */
function recordsOf(scan: JournalledScan): Scan {
  const { table, key } = journalled[scan]
  const rowKey = key.map(({ column }) => `r.${column}::text`).join(` || ' ' || `)
  const sameRow = key.map(({ column }) => `t.${column} = r.${column}`).join(' and ')
  return {
    table,
    key,
    subjects: `page r
    left join lateral (select record_hash(t) as hash from ${table} t where ${sameRow} limit 1) present on true
    left join lateral (
      select j.content_hash, j.record_number from record_journal j
      where j.table_name = '${table}' and j.row_key = ${rowKey}
      order by j.record_number desc limit 1) noted on true`,
    identity: `'record', '${table} ' || ${rowKey}, 'recordNumber', noted.record_number`,
    detail: `'contentHash', encode(present.hash, 'hex'), 'notedHash', encode(noted.content_hash, 'hex')`,
  }
}

export const scans: Record<ScanName, Scan> = {
  accounts,
  entries,
  holds,
  adjustments,
  orders,
  operations,
  events,
  usage,
  customers: recordsOf('customers'),
  apiKeys: recordsOf('apiKeys'),
  serviceTokens: recordsOf('serviceTokens'),
  operators: recordsOf('operators'),
  operatorActions: recordsOf('operatorActions'),
  discrepancies: recordsOf('discrepancies'),
  audits: recordsOf('audits'),
  budgets: recordsOf('budgets'),
  eventEndpoints: recordsOf('eventEndpoints'),
  logCheckpoints: recordsOf('logCheckpoints'),
  journalEntries,
}
