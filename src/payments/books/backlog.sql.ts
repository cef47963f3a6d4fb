// The open work, counted in one statement, for the metrics and the console. Each part reads an index that has only open rows,
// whatever the size of the table: open operations, queues that are not empty, unresolved discrepancies. The last audit is
// found by its time. Dead letters are counted up to a limit: they have no such index and may be many.
import { type Database, statement } from '../../db/database.ts'

export type Backlog = {
  operations: { kind: string; state: 'under way' | 'waiting'; count: number }[]
  oldestOperationSeconds: number | null
  undeliveredEvents: number
  oldestEventSeconds: number | null
  deadEvents: number
  openDiscrepancies: number
  waitingNotifications: number
  /** Of the last recorded audit; null: there is none. */
  auditViolations: number | null
  /** Since the last recorded audit ended; if there is none, since audits are recorded. */
  auditAgeSeconds: number
}

/** For a gauge: beyond this the exact number does not matter. */
export const deadEventsGaugeLimit = 10_000
const queueHeadsRead = 1_000
/** migrations/0017_audits.sql: audits are recorded since it was applied. */
const auditsMigration = 17

// Events have no index by time: the oldest is searched at the head of the queues that have waited longest. The lateral
// subquery reads each event by its key; a plain join could be planned as a scan of all events.
const readBacklogStatement = statement(
  'payments.readBacklog',
  `with open as (
    select kind, lease_until > now() as leased, opened_at from payment_operations where state = 'OPEN'
  ),
  queue as (
    select q.customer_id, q.next_event, q.last_event - q.next_event + 1 as events,
           coalesce(q.first_failed, q.due_at) as waits_since
    from event_endpoints e
    join event_queues q on q.endpoint_id = e.endpoint_id and q.next_event <= q.last_event
    where e.status = 'ACTIVE'
  ),
  head as (
    select v.created_at
    from (select customer_id, next_event from queue order by waits_since limit $2) q
    cross join lateral (
      select created_at from events v where v.customer_id = q.customer_id and v.event_number = q.next_event limit 1
    ) v
  )
  select
    (select coalesce(json_agg(json_build_object('kind', kind, 'state', state, 'count', count)), '[]')
     from (select kind, case when leased then 'under way' else 'waiting' end as state, count(*) from open group by 1, 2) o
    ) as "operations",
    (select extract(epoch from now() - min(opened_at))::float8 from open) as "oldestOperationSeconds",
    (select coalesce(sum(events), 0)::bigint from queue) as "undeliveredEvents",
    (select extract(epoch from now() - min(created_at))::float8 from head) as "oldestEventSeconds",
    (select count(*) from (select from dead_events limit $1) d) as "deadEvents",
    (select count(*) from discrepancies where resolved_at is null) as "openDiscrepancies",
    (select count(*) from webhook_notifications where processed_at is null) as "waitingNotifications",
    (select violation_count from audits order by ended_at desc, audit_id desc limit 1) as "auditViolations",
    extract(epoch from now() - coalesce(
      (select ended_at from audits order by ended_at desc, audit_id desc limit 1),
      (select applied_at from schema_migrations where version = $3)))::float8 as "auditAgeSeconds"`,
)

export async function readBacklog(database: Database): Promise<Backlog> {
  const [row] = await database.run<Backlog>(readBacklogStatement, [
    deadEventsGaugeLimit,
    queueHeadsRead,
    auditsMigration,
  ])
  return row as Backlog
}
