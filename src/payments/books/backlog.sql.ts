// The open work, for the metrics and the console: one statement counts what is keyed by customer, one the rest. Each part reads
// an index that has only open rows, whatever the size of the table: open operations, queues that are not empty, unresolved
// discrepancies. The last audit is found by its time. Dead letters are counted up to a limit: they have no such index and may
// be many.
import { assert } from '../../core/assert.ts'
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'

type BacklogOfCustomers = {
  operations: { kind: string; state: 'under way' | 'waiting'; count: number }[]
  oldestOperationSeconds: number | null
  undeliveredEvents: number
  deadEvents: number
}
type BacklogOfBooks = {
  openDiscrepancies: number
  waitingNotifications: number
  /** What the last recorded audit found; null: there is none. */
  auditViolations: number | null
  /** Since the last recorded audit ended; if there is none, since audits are recorded. */
  auditAgeSeconds: number
}
export type Backlog = BacklogOfCustomers & BacklogOfBooks & { oldestEventSeconds: number | null }

/** For a gauge: beyond this the exact number does not matter. */
export const deadEventsGaugeLimit = 10_000
const queueHeadsRead = 1_000
/** migrations/0017_audits.sql: audits are recorded since it was applied. */
const auditsMigration = 17

const readOfCustomersStatement = statement.global(
  'payments.readBacklogOfCustomers',
  `with open as (
    select kind, lease_until > now() as leased, opened_at from payment_operations where state = 'OPEN'
  )
  select
    (select coalesce(json_agg(json_build_object('kind', kind, 'state', state, 'count', count)), '[]')
     from (select kind, case when leased then 'under way' else 'waiting' end as state, count(*) from open group by 1, 2) o
    ) as "operations",
    (select extract(epoch from now() - min(opened_at))::float8 from open) as "oldestOperationSeconds",
    (select coalesce(sum(q.last_event - q.next_event + 1), 0)::bigint
     from event_endpoints e
     join event_queues q on q.endpoint_id = e.endpoint_id and q.next_event <= q.last_event
     where e.status = 'ACTIVE') as "undeliveredEvents",
    (select count(*) from (select 1 from dead_events limit $1) d) as "deadEvents"`,
)

type QueueHead = { customerId: string; eventNumber: number }

const listQueueHeadsStatement = statement.global(
  'payments.listQueueHeads',
  `select q.customer_id as "customerId", q.next_event as "eventNumber"
  from event_endpoints e
  join event_queues q on q.endpoint_id = e.endpoint_id and q.next_event <= q.last_event
  where e.status = 'ACTIVE'
  order by coalesce(q.first_failed, q.due_at)
  limit $1`,
)

const queueHeads = inputs<QueueHead>({ customerId: 'uuid', eventNumber: 'bigint' })

// The lateral subquery reads each event by its key; a plain join could be planned as a scan of all events.
const findEventAgesStatement = statement.ofCustomers(
  'payments.findEventAges',
  sql`select q.customer_id as "customerId", q.event_number as "eventNumber",
    extract(epoch from now() - v.created_at)::float8 as "seconds"
  from unnest(${queueHeads.arrays}) as q (${queueHeads.columns})
  cross join lateral (
    select created_at from events v where v.customer_id = q.customer_id and v.event_number = q.event_number limit 1
  ) v`,
)

/** Events have no index by time: the oldest is searched at the head of the queues that have waited longest. */
async function readOldestEventSeconds(database: Database): Promise<number | null> {
  const heads = await database.run<QueueHead>(listQueueHeadsStatement, [queueHeadsRead])
  if (heads.length === 0) return null
  const ages = await database.run<{ seconds: number }>(findEventAgesStatement, queueHeads.valuesOf(heads))
  return ages.length === 0 ? null : Math.max(...ages.map(({ seconds }) => seconds))
}

const readOfBooksStatement = statement.global(
  'payments.readBacklogOfBooks',
  `select
    (select count(*) from discrepancies where resolved_at is null) as "openDiscrepancies",
    (select count(*) from webhook_notifications where processed_at is null) as "waitingNotifications",
    (select violation_count from audits order by ended_at desc, audit_id desc limit 1) as "auditViolations",
    extract(epoch from now() - coalesce(
      (select ended_at from audits order by ended_at desc, audit_id desc limit 1),
      (select applied_at from schema_migrations where version = $1)))::float8 as "auditAgeSeconds"`,
)

/** One after the other: the metrics have one connection. */
export async function readBacklog(database: Database): Promise<Backlog> {
  const [ofCustomers] = await database.run<BacklogOfCustomers>(readOfCustomersStatement, [deadEventsGaugeLimit])
  const oldestEventSeconds = await readOldestEventSeconds(database)
  const [ofBooks] = await database.run<BacklogOfBooks>(readOfBooksStatement, [auditsMigration])
  assert(ofCustomers && ofBooks, 'a count has one row')
  return { ...ofCustomers, oldestEventSeconds, ...ofBooks }
}
