// Reads the books for the audit, a chunk at a time in the order of the primary key, and judges each row by the rules of
// its scan. A chunk is one statement, so one snapshot: what belongs to a row is joined to it there, and nothing is carried
// from one statement to the next but the place to go on from. Bounded whatever a customer has: no chunk is made of
// "a customer", and every look beside the chunk is a look into an index.
//
// The looks are lateral aggregates, limited subqueries and scalar subqueries because the planner runs those row by row.
// As plain joins they would be its to turn into a scan of the whole other table, for every chunk again.
import { leastUuid } from '../core/ids.ts'
import { type Database, type Statement, statement } from '../db/database.ts'
import { rules, rulesOf, type ScanName } from './audit-rules.ts'

/**
 * What one statement reads at most: a page of the widest table takes 3.2 MB, within the 4 MB that PostgreSQL keeps in
 * memory by default, and half a second. Also the planner's bound: told only a parameter it would expect a tenth of the
 * table and sort it all.
 */
export const maxChunkRows = 10_000

type Scan = {
  table: string
  key: { column: string; type: string; least: string }[]
  /** The rows of `page` and what belongs to each, under the names that the rules use. */
  subjects: string
  /** Who is meant, and what a person needs to see: arguments of jsonb_build_object. */
  identity: string
  detail: string
}

const customer = { column: 'customer_id', type: 'uuid', least: leastUuid }

const scans: Record<ScanName, Scan> = {
  // What is held is looked up for all accounts at once, and a full join is never made row by row: which index of the open
  // operations is taken then does not matter, however many are open. The offset keeps it a full join.
  accounts: {
    table: 'accounts',
    key: [customer],
    subjects: `(
      select a.*, coalesce(open.credits_held, 0) as held_by_operations
      from page a
      full join (
        select customer_id, sum(credits_held) as credits_held from payment_operations
        where state = 'OPEN' and customer_id >= $4::uuid
          and customer_id <= (select customer_id from page order by customer_id desc limit 1)
        group by customer_id) open on open.customer_id = a.customer_id
      offset 0) a
    left join lateral (
      select e.entry_number, e.balance_after, e.entry_hash from ledger_entries e
      where e.customer_id = a.customer_id order by e.entry_number desc limit 1) last on true`,
    identity: `'customerId', a.customer_id`,
    detail: `'balance', a.balance, 'held', a.held, 'lastEntry', a.last_entry, 'ledgerBalance', last.balance_after,
      'ledgerLastEntry', last.entry_number, 'heldByOperations', a.held_by_operations`,
  },
  // The page begins with the last row of the one before: the entry that the first new one continues.
  entries: {
    table: 'ledger_entries',
    key: [customer, { column: 'entry_number', type: 'bigint', least: '0' }],
    subjects: `(
      select *, lag(entry_number) over chain as previous_number, lag(balance_after) over chain as previous_balance,
             lag(entry_hash) over chain as previous_hash
      from page window chain as (partition by customer_id order by entry_number)) e`,
    identity: `'customerId', e.customer_id, 'entryNumber', e.entry_number, 'orderId', e.order_id`,
    detail: `'kind', e.kind, 'delta', e.delta, 'balanceAfter', e.balance_after, 'reference', e.reference,
      'createdAt', e.created_at, 'previousNumber', e.previous_number, 'previousBalance', e.previous_balance`,
  },
  orders: {
    table: 'orders',
    key: [customer, { column: 'order_id', type: 'text', least: '' }],
    subjects: `page o
    cross join lateral (
      select coalesce(array_agg(e.kind || ' ' || e.entry_number || ': ' || e.delta order by e.kind), '{}') as entries,
             count(*) filter (where e.kind = 'GRANT') as grants,
             min(e.created_at) filter (where e.kind = 'GRANT') as granted_at,
             min(e.balance_after) filter (where e.kind = 'GRANT') as granted_balance
      from ledger_entries e where e.customer_id = o.customer_id and e.order_id = o.order_id) booked
    cross join lateral (
      select coalesce(string_agg(p.kind || ' ' || p.state, ', ' order by p.kind, p.state), '') as operations,
             min(p.total_credits) filter (where p.kind = 'CONFIRM') as total_credits
      from payment_operations p
      where p.customer_id = o.customer_id and p.order_id = o.order_id and p.state <> 'REJECTED') done`,
    identity: `'customerId', o.customer_id, 'orderId', o.order_id`,
    detail: `'status', o.status, 'packageType', o.package_type, 'amount', o.amount, 'credits', o.credits,
      'createdAt', o.created_at, 'confirmedAt', o.confirmed_at, 'grantEntry', o.grant_entry,
      'rollbackEntry', o.rollback_entry, 'refundEntry', o.refund_entry, 'refundShortfall', o.refund_shortfall,
      'entries', booked.entries, 'operations', done.operations`,
  },
  operations: {
    table: 'payment_operations',
    key: [customer, { column: 'operation_id', type: 'uuid', least: leastUuid }],
    subjects: `page p
    left join lateral (
      select * from orders o where o.customer_id = p.customer_id and o.order_id = p.order_id limit 1) o on true`,
    identity: `'customerId', p.customer_id, 'operationId', p.operation_id, 'orderId', p.order_id`,
    detail: `'kind', p.kind, 'state', p.state, 'paymentKey', p.payment_key, 'amount', p.amount,
      'creditsHeld', p.credits_held, 'attempts', p.attempts, 'openedAt', p.opened_at, 'settleAt', p.settle_at,
      'leaseUntil', p.lease_until, 'orderStatus', o.status, 'orderAmount', o.amount, 'orderCredits', o.credits`,
  },
}

const keyParameters = (scan: Scan) => scan.key.map(({ type }, index) => `$${index + 4}::${type}`).join(', ')

// A page has its first row in common with the one before, where it is not judged again; $2 says that there is none
// before.
function textOf(name: ScanName): string {
  const scan = scans[name]
  const columns = scan.key.map(({ column }) => column).join(', ')
  const descending = scan.key.map(({ column }) => `${column} desc`).join(', ')
  const broken = rulesOf(name).map((each) => `case when (${each.holds}) is not true then ${rules.indexOf(each)} end`)
  return `with page as materialized (
    select *, $2::boolean or (${columns}) > (${keyParameters(scan)}) as fresh
    from (select * from ${scan.table} where (${columns}) >= (${keyParameters(scan)})
          order by ${columns} limit ${maxChunkRows + 1}) bounded
    order by ${columns}
    limit $1::int
  ),
  judged as (
    select fresh, jsonb_build_object(${scan.identity}) as identity, jsonb_build_object(${scan.detail}) as detail,
           array_remove(array[
             ${broken.join(',\n             ')}], null) as broken
    from ${scan.subjects}
  ),
  found as materialized (
    select rule, jsonb_strip_nulls(identity) as identity, jsonb_strip_nulls(detail) as detail,
           row_number() over (partition by rule) as place
    from judged cross join lateral unnest(broken) as rule
    where fresh and broken <> '{}'
  )
  select paged.*,
         (select jsonb_build_array(${columns}) from page order by ${descending} limit 1) as "last",
         (select coalesce(jsonb_object_agg(rule, count), '{}')
          from (select rule, count(*) as count from found group by rule) counted) as "counts",
         (select coalesce(jsonb_agg(identity || jsonb_build_object('ruleIndex', rule, 'detail', detail)), '[]')
          from found where place <= $3::int) as "listed"
  from (select count(*) as "read", count(*) filter (where fresh) as "judged" from page) paged`
}

const statements: Record<ScanName, Statement> = {
  accounts: statement('payments.auditAccounts', textOf('accounts')),
  entries: statement('payments.auditEntries', textOf('entries')),
  orders: statement('payments.auditOrders', textOf('orders')),
  operations: statement('payments.auditOperations', textOf('operations')),
}

/** Where a chunk begins; null: at the beginning. */
export type Place = (string | number)[] | null

export type Chunk = {
  judged: number
  /** Where the next one begins; null when this was the last. */
  next: Place
  /** Broken rules, by their index in the table. */
  counts: Record<string, number>
  listed: (Subject & { ruleIndex: number })[]
}

export type Subject = {
  customerId: string
  orderId?: string
  entryNumber?: number
  operationId?: string
  detail: object
}

export type Limits = { from: Place; rows: number; listPerRule: number }

export async function judgeChunk(
  database: Database,
  name: ScanName,
  { from, rows, listPerRule }: Limits,
): Promise<Chunk> {
  const place = from ?? scans[name].key.map(({ least }) => least)
  type Row = Omit<Chunk, 'next'> & { read: number; last: Place }
  const [row] = await database.run<Row>(statements[name], [rows + 1, from === null, listPerRule, ...place])
  const { read = 0, judged = 0, last = null, counts = {}, listed = [] } = row ?? {}
  return { judged, counts, listed, next: read > rows ? last : null }
}

const estimateStatement = statement(
  'payments.estimateAudit',
  `select coalesce(sum(greatest(c.reltuples, s.n_live_tup, 0)), 0)::bigint as "rows"
  from unnest($1::text[]) as t (name)
  join pg_class c on c.oid = to_regclass(t.name)
  left join pg_stat_user_tables s on s.relid = c.oid`,
)

/** How many rows there are to judge, roughly: counting them would take longer than a statement may. */
export async function estimateRows(database: Database): Promise<number> {
  const [row] = await database.run<{ rows: number }>(estimateStatement, [
    Object.values(scans).map(({ table }) => table),
  ])
  return row?.rows ?? 0
}

const countDiscrepanciesStatement = statement(
  'payments.countDiscrepancies',
  `select count(*) as "open", floor(extract(epoch from now() - min(found_at)))::bigint as "oldestSeconds"
  from discrepancies where resolved_at is null`,
)

export async function countDiscrepancies(database: Database): Promise<{ open: number; oldestSeconds: number | null }> {
  const [row] = await database.run<{ open: number; oldestSeconds: number | null }>(countDiscrepanciesStatement)
  return row ?? { open: 0, oldestSeconds: null }
}
