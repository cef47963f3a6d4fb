// Reads the books for the audit, a chunk at a time in the order of the primary key, and checks each row by the rules of its
// scan. A chunk is one statement, so one snapshot: related rows are joined there, and only the place to continue from is
// carried to the next statement. The work of a chunk is bounded however much one customer has: chunks are counted in rows, and
// related rows are read by index.
import { type Database, type Statement, statement } from '../../db/database.ts'
import { groupsOf } from '../../db/groups.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { rules, rulesOf } from './rules.ts'
import { type Scan, type ScanName, scans } from './scans.sql.ts'

/**
 * The most rows that one statement reads: a page of the widest table takes 3.4 MB, within the 4 MB of PostgreSQL's default
 * work_mem, and half a second. It is a literal in the statement for the planner: with a parameter alone it would expect a
 * tenth of the table, and sort all of it.
 */
export const maxChunkRows = 10_000

/** The tables of scans and rules are constants. */
const constant = (text: string) => text as Sql

const keyParameters = (scan: Scan) => constant(scan.key.map(({ type }, index) => `$${index + 4}::${type}`).join(', '))

// A page begins with the last row of the page before, which is not checked again; $2 is true for the first page.
function textOf(name: ScanName): Sql {
  const scan = scans[name]
  const columns = constant(scan.key.map(({ column }) => column).join(', '))
  const descending = constant(scan.key.map(({ column }) => `${column} desc`).join(', '))
  const broken = rulesOf(name).map((each) => `case when (${each.holds}) is not true then ${rules.indexOf(each)} end`)
  return sql`with page as materialized (
    select *, $2::boolean or (${columns}) > (${keyParameters(scan)}) as fresh
    from (select * from ${constant(scan.table)} where (${columns}) >= (${keyParameters(scan)})
          order by ${columns} limit ${maxChunkRows + 1}) bounded
    order by ${columns}
    limit $1::int
  ),
  evaluated as (
    select fresh, jsonb_build_object(${constant(scan.identity)}) as identity, jsonb_build_object(${constant(scan.detail)}) as detail,
           array_remove(array[
             ${constant(broken.join(',\n             '))}], null) as broken
    from ${constant(scan.subjects)}
  ),
  found as materialized (
    select rule, jsonb_strip_nulls(identity) as identity, jsonb_strip_nulls(detail) as detail,
           row_number() over (partition by rule) as place
    from evaluated cross join lateral unnest(broken) as rule
    where fresh and broken <> '{}'
  )
  select paged.*,
         (select jsonb_build_array(${columns}) from page order by ${descending} limit 1) as "last",
         (select coalesce(jsonb_object_agg(rule, count), '{}')
          from (select rule, count(*) as count from found group by rule) counted) as "counts",
         (select coalesce(jsonb_agg(identity || jsonb_build_object('ruleIndex', rule, 'detail', detail)), '[]')
          from found where place <= $3::int) as "listed"
  from (select count(*) as "read", count(*) filter (where fresh) as "checked" from page) paged`
}

const statements: Record<ScanName, Statement> = {
  accounts: statement.ofEachGroup('payments.auditAccounts', textOf('accounts')),
  entries: statement.ofEachGroup('payments.auditEntries', textOf('entries')),
  holds: statement.ofEachGroup('payments.auditHolds', textOf('holds')),
  adjustments: statement.ofEachGroup('payments.auditAdjustments', textOf('adjustments')),
  orders: statement.ofEachGroup('payments.auditOrders', textOf('orders')),
  operations: statement.ofEachGroup('payments.auditOperations', textOf('operations')),
  events: statement.ofEachGroup('payments.auditEvents', textOf('events')),
  usage: statement.ofEachGroup('payments.auditUsage', textOf('usage')),
  customers: statement.global('payments.auditCustomers', textOf('customers')),
  apiKeys: statement.global('payments.auditApiKeys', textOf('apiKeys')),
  serviceTokens: statement.global('payments.auditServiceTokens', textOf('serviceTokens')),
  operators: statement.global('payments.auditOperators', textOf('operators')),
  operatorActions: statement.global('payments.auditOperatorActions', textOf('operatorActions')),
  discrepancies: statement.global('payments.auditDiscrepancies', textOf('discrepancies')),
  audits: statement.global('payments.auditAudits', textOf('audits')),
  budgets: statement.global('payments.auditBudgets', textOf('budgets')),
  eventEndpoints: statement.global('payments.auditEventEndpoints', textOf('eventEndpoints')),
  logCheckpoints: statement.global('payments.auditLogCheckpoints', textOf('logCheckpoints')),
  journalEntries: statement.global('payments.auditJournalEntries', textOf('journalEntries')),
}

/** Where the rows of a scan are: on a cluster, in each group of customers for itself. */
export function databasesOf(database: Database, name: ScanName): Database[] {
  return statements[name].about === 'each group' ? groupsOf(database) : [database]
}

/** The key of the row where a chunk begins; null: at the first row. */
export type ScanPlace = (string | number)[] | null

export type Chunk = {
  checked: number
  /** Where the next one begins; null when this was the last. */
  next: ScanPlace
  /** How often rules were broken, by their index in `rules`. */
  counts: Record<string, number>
  listed: (AuditedRow & { ruleIndex: number })[]
}

export type AuditedRow = {
  customerId?: string
  orderId?: string
  entryNumber?: number
  operationId?: string
  holdId?: string
  eventNumber?: number
  /** For the journal: a table and the key of a row. */
  record?: string
  recordNumber?: number
  detail: object
}

export type ChunkLimits = { from: ScanPlace; rows: number; listPerRule: number }

export async function checkChunk(
  database: Database,
  name: ScanName,
  { from, rows, listPerRule }: ChunkLimits,
): Promise<Chunk> {
  const place = from ?? scans[name].key.map(({ least }) => least)
  type Row = Omit<Chunk, 'next'> & { read: number; last: ScanPlace }
  const [row] = await database.run<Row>(statements[name], [rows + 1, from === null, listPerRule, ...place])
  const { read = 0, checked = 0, last = null, counts = {}, listed = [] } = row ?? {}
  return { checked, counts, listed, next: read > rows ? last : null }
}

const estimateStatement = statement.global(
  'payments.estimateAudit',
  `select coalesce(sum(greatest(c.reltuples, s.n_live_tup, 0)), 0)::bigint as "rows"
  from unnest($1::text[]) as t (name)
  join pg_class c on c.oid = to_regclass(t.name)
  left join pg_stat_user_tables s on s.relid = c.oid`,
)

/** An estimate: counting the rows would take longer than the time limit of a statement. */
export async function estimateRows(database: Database): Promise<number> {
  const [row] = await database.run<{ rows: number }>(estimateStatement, [
    Object.values(scans).map(({ table }) => table),
  ])
  return row?.rows ?? 0
}

const countDeletedEventsStatement = statement.global(
  'payments.countDeletedEvents',
  'select coalesce(sum(deleted_events), 0)::bigint as "count" from accounts',
)

/** Old events that every endpoint had. */
export async function countDeletedEvents(database: Database): Promise<number> {
  const [row] = await database.run<{ count: number }>(countDeletedEventsStatement)
  return row?.count ?? 0
}

const countDiscrepanciesStatement = statement.global(
  'payments.countDiscrepancies',
  `select count(*) as "open", floor(extract(epoch from now() - min(found_at)))::bigint as "oldestSeconds"
  from discrepancies where resolved_at is null`,
)

export async function countDiscrepancies(database: Database): Promise<{ open: number; oldestSeconds: number | null }> {
  const [row] = await database.run<{ open: number; oldestSeconds: number | null }>(countDiscrepanciesStatement)
  return row ?? { open: 0, oldestSeconds: null }
}
