// The audits that have been: one row each, written when it has ended and never changed.
import { type Database, statement } from '../db/database.ts'
import type { ScanName } from './audit-scans.ts'

export type AuditCause = 'DAILY' | 'COMMAND'

/** A rule that was broken, how often, and the first few of whom: ids and names, no values of rows. */
export type Finding = { invariant: string; rule: string; count: number; subjects: Record<string, unknown>[] }

export type AuditRecord = {
  auditId: string
  cause: AuditCause
  tookMs: number
  /** How many every row was judged by, or the schema. */
  rules: number
  checked: Record<ScanName, number>
  violationCount: number
  findings: Finding[]
}

// Both times are the database's, whose clock all instances share.
const insertAuditStatement = statement(
  'payments.insertAudit',
  `insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
  values ($1, $2, now() - $3::int * interval '1 ms', $4, $5, $6, $7)
  on conflict do nothing`,
)

export async function insertAudit(database: Database, record: AuditRecord): Promise<void> {
  const { auditId, cause, tookMs, rules, checked, violationCount, findings } = record
  const found = [JSON.stringify(checked), violationCount, JSON.stringify(findings)]
  await database.run(insertAuditStatement, [auditId, cause, tookMs, rules, ...found])
}

// Numbers alone: who has changed a row by hand does not end the audit that will find it.
const findMostCountedStatement = statement(
  'payments.findMostCounted',
  `select c.key as "scan", max(c.value::text::numeric)::float8 as "rows"
  from audits cross join lateral jsonb_each(checked) c
  where jsonb_typeof(c.value) = 'number'
  group by c.key`,
)

/** The most rows of each scan that an audit of before has counted. */
export async function findMostCounted(database: Database): Promise<Map<string, number>> {
  const rows = await database.run<{ scan: string; rows: number }>(findMostCountedStatement)
  return new Map(rows.map(({ scan, rows: counted }) => [scan, counted]))
}
