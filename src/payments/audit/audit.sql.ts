// Reads the books for the audit, a chunk at a time in the order of the primary key, and judges each row by the rules of
// its scan. A chunk is one statement, so one snapshot: what belongs to a row is joined to it there, and nothing is carried
// from one statement to the next but the place to go on from. Bounded whatever a customer has: no chunk is made of
// "a customer", and every look beside the chunk is a look into an index.
import { type Database, type Statement, statement } from '../../db/database.ts'
import { rules, rulesOf } from './rules.ts'
import { type Scan, type ScanName, scans } from './scans.sql.ts'

/**
 * What one statement reads at most: a page of the widest table takes 3.4 MB, within the 4 MB that PostgreSQL keeps in
 * memory by default, and half a second. Also the planner's bound: told only a parameter it would expect a tenth of the
 * table and sort it all.
 */
export const maxChunkRows = 10_000

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
  holds: statement('payments.auditHolds', textOf('holds')),
  orders: statement('payments.auditOrders', textOf('orders')),
  operations: statement('payments.auditOperations', textOf('operations')),
  events: statement('payments.auditEvents', textOf('events')),
  customers: statement('payments.auditCustomers', textOf('customers')),
  apiKeys: statement('payments.auditApiKeys', textOf('apiKeys')),
  serviceTokens: statement('payments.auditServiceTokens', textOf('serviceTokens')),
  operators: statement('payments.auditOperators', textOf('operators')),
  operatorActions: statement('payments.auditOperatorActions', textOf('operatorActions')),
  discrepancies: statement('payments.auditDiscrepancies', textOf('discrepancies')),
  audits: statement('payments.auditAudits', textOf('audits')),
  journalEntries: statement('payments.auditJournalEntries', textOf('journalEntries')),
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
  customerId?: string
  orderId?: string
  entryNumber?: number
  operationId?: string
  holdId?: string
  eventNumber?: number
  /** Of the journal: a table and the key of a row. */
  record?: string
  recordNumber?: number
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
