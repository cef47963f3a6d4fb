// The statements of the pages of audits: the list, newest first, and one audit with its findings.

import { type Database, statement } from '../../db/database.ts'
import { quoted, sql } from '../../db/sql.ts'
import { readableRule } from '../../payments/audit/audit.ts'
import type { AuditCause, AuditRecord } from '../../payments/audit/record.sql.ts'

export type AuditRow = {
  auditId: string
  cause: AuditCause
  begunAt: Date
  endedAt: Date
  ageSeconds: number
  rules: number
  rows: number
  violationCount: number
  /** No violation is known: some rows could not be read in time. */
  isOnlyUnread: boolean
}

const columns = sql`a.audit_id as "auditId", a.cause, a.begun_at as "begunAt", a.ended_at as "endedAt",
    greatest(0, floor(extract(epoch from now() - a.ended_at)))::int as "ageSeconds", a.rules,
    (select coalesce(sum(rows::bigint), 0)::bigint from jsonb_each_text(a.checked) as c (scan, rows)) as "rows",
    a.violation_count as "violationCount",
    a.violation_count > 0 and not exists (
      select from jsonb_array_elements(a.findings) as f (finding) where finding ->> 'rule' <> ${quoted(readableRule.rule)}
    ) as "isOnlyUnread"`

const listNewestAuditsStatement = statement.global(
  'console.listNewestAudits',
  sql`select ${columns} from audits a order by a.ended_at desc, a.audit_id desc limit $1`,
)
const listAuditsBehindStatement = statement.global(
  'console.listAuditsBehind',
  sql`select ${columns} from audits a
  where (a.ended_at, a.audit_id) < (select b.ended_at, b.audit_id from audits b where b.audit_id = $2)
  order by a.ended_at desc, a.audit_id desc
  limit $1`,
)

/** Newest first, after an audit. */
export function listAudits(database: Database, after: string | null, limit: number): Promise<AuditRow[]> {
  return after === null
    ? database.run<AuditRow>(listNewestAuditsStatement, [limit])
    : database.run<AuditRow>(listAuditsBehindStatement, [limit, after])
}

export type FoundAudit = AuditRow & Pick<AuditRecord, 'checked' | 'findings'>

const findAuditStatement = statement.global(
  'console.findAudit',
  sql`select ${columns}, a.checked, a.findings from audits a where a.audit_id = $1`,
)

export async function findAudit(database: Database, auditId: string): Promise<FoundAudit | null> {
  const [audit] = await database.run<FoundAudit>(findAuditStatement, [auditId])
  return audit ?? null
}
