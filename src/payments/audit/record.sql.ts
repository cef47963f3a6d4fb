// The record of audits: one row each, written at the end and never changed. And the claim of the daily audit: a row for a
// Korean day, which one process holds until its lease is over. A day gets one audit.
import { type Database, statement } from '../../db/database.ts'
import type { CheckedName } from './scans.sql.ts'

export type AuditCause = 'DAILY' | 'COMMAND'

/** A broken rule, how often, and the first few rows: their ids and names, no values. */
export type AuditFinding = { invariant: string; rule: string; count: number; subjects: Record<string, unknown>[] }

export type AuditRecord = {
  auditId: string
  cause: AuditCause
  tookMs: number
  /** The number of rules that were checked. */
  rules: number
  checked: Record<CheckedName, number>
  violationCount: number
  findings: AuditFinding[]
}

// Both times are from the database's clock, which all instances share.
const insertAuditStatement = statement.global(
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

/** `day` as 2026-01-31; `holderId` is the process that audits it. */
export type DailyClaim = { day: string; holderId: string }

// Due half an hour after midnight in Korea, like the reconciliation. Books whose first customer came today have no day to audit
// yet. The version before recorded a DAILY audit without a claim, so its row is looked up too. A repetition by the same
// holder finds its own claim.
const claimDailyAuditStatement = statement.global(
  'payments.claimDailyAudit',
  `insert into daily_audits as d (day, holder_id, lease_until)
  select due.day, $1, now() + $2::int * interval '1 ms'
  from (select ((now() - interval '30 minutes') at time zone 'Asia/Seoul')::date as day) due
  cross join lateral (
    select (due.day + interval '30 minutes') at time zone 'Asia/Seoul' as due_at,
           due.day::timestamp at time zone 'Asia/Seoul' as begins_at
  ) times
  where (select min(created_at) from customers) < times.begins_at
    and not exists (select from audits a
                    where a.cause = 'DAILY' and a.ended_at >= times.due_at and a.begun_at >= times.due_at)
  on conflict (day) do update
  set holder_id = excluded.holder_id, lease_until = excluded.lease_until
  where d.audit_id is null and (d.lease_until <= now() or d.holder_id = excluded.holder_id)
  returning d.day::text as "day", d.holder_id as "holderId"`,
)

/** The audit of today; null when it is not due, is claimed by another process, or is recorded. */
export async function claimDailyAudit(
  database: Database,
  holderId: string,
  leaseMs: number,
): Promise<DailyClaim | null> {
  const [claim] = await database.run<DailyClaim>(claimDailyAuditStatement, [holderId, leaseMs])
  return claim ?? null
}

const renewDailyAuditStatement = statement.global(
  'payments.renewDailyAudit',
  `update daily_audits set lease_until = now() + $3::int * interval '1 ms'
  where day = $1::date and holder_id = $2 and audit_id is null
  returning day`,
)

/** False when another process has taken it over. */
export async function renewDailyAudit(database: Database, claim: DailyClaim, leaseMs: number): Promise<boolean> {
  return (await database.run(renewDailyAuditStatement, [claim.day, claim.holderId, leaseMs])).length > 0
}

// The end of the claim and the row are one commit, and the first to end is recorded: a day has one audit, even if a process
// that slept past its lease continues beside the one that took over.
const insertDailyAuditStatement = statement.global(
  'payments.insertDailyAudit',
  `with done as (
    update daily_audits set audit_id = $1
    where day = $7::date and coalesce(audit_id = $1, true)
    returning day
  ),
  inserted as (
    insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
    select $1, 'DAILY', now() - $2::int * interval '1 ms', $3, $4, $5, $6 from done
    on conflict do nothing
  )
  select day from done`,
)

/** False when the day has another audit: then no row is written. */
export async function insertDailyAudit(database: Database, day: string, record: AuditRecord): Promise<boolean> {
  const { auditId, tookMs, rules, checked, violationCount, findings } = record
  const found = [JSON.stringify(checked), violationCount, JSON.stringify(findings)]
  return (await database.run(insertDailyAuditStatement, [auditId, tookMs, rules, ...found, day])).length > 0
}

// Only numbers within bounds, only of objects: a row that was forged must not end the audit that will find it.
const findMostCountedStatement = statement.global(
  'payments.findMostCounted',
  `select c.key as "scan", max(least(c.value::text::numeric, 9007199254740991))::float8 as "rows"
  from audits
  cross join lateral jsonb_each(case jsonb_typeof(checked) when 'object' then checked else '{}' end) c
  where jsonb_typeof(c.value) = 'number'
  group by c.key`,
)

/** The most rows of each scan that an earlier audit counted. */
export async function findMostCounted(database: Database): Promise<Map<string, number>> {
  const rows = await database.run<{ scan: string; rows: number }>(findMostCountedStatement)
  return new Map(rows.map(({ scan, rows: counted }) => [scan, counted]))
}
