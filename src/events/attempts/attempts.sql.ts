// The attempts to deliver events, for operators, until they are deleted. The statements of queues.sql.ts write an attempt together
// with the step that it leads to; one that was sent outside a queue is written by itself. The key has the time of the attempt,
// which the caller gives: a statement that is repeated after a lost connection writes no second row.
import { type Database, statement } from '../../db/database.ts'

export type Attempt = {
  eventNumber: number
  /** By the clock of the database. */
  attemptedAt: Date
  /** Null: there was no answer. */
  status: number | null
  /** Null: the endpoint accepted the event. */
  error: string | null
  tookMs: number
}

/** A CTE after one named `step` with customer_id and endpoint_id. Its values are $4 to $8; no attempt: $4 is null. */
export const quotedAttempt = `
  attempt as (
    insert into event_attempts (customer_id, endpoint_id, event_number, attempted_at, status, error, took_ms)
    select customer_id, endpoint_id, $4::bigint, $5::timestamptz, $6::int, $7::text, $8::int from step
    where $4::bigint is not null
    on conflict do nothing
  )`

export function attemptValues(attempt: Attempt | null): unknown[] {
  if (!attempt) return [null, null, null, null, null]
  const { eventNumber, attemptedAt, status, error, tookMs } = attempt
  return [eventNumber, attemptedAt, status, error, tookMs]
}

const insertAttemptStatement = statement.ofCustomer(
  'events.insertAttempt',
  `insert into event_attempts (customer_id, endpoint_id, event_number, attempted_at, status, error, took_ms)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict do nothing`,
)

/** For one outside a queue. */
export async function insertAttempt(
  database: Database,
  { customerId, endpointId }: { customerId: string; endpointId: string },
  attempt: Attempt,
): Promise<void> {
  await database.run(insertAttemptStatement, [customerId, endpointId, ...attemptValues(attempt)])
}

export type ListedAttempt = Attempt & {
  customerId: string
  /** Null: the event was deleted. */
  type: string | null
  /** Microseconds, customer and event, to continue after. */
  cursor: string
}

const listAttemptsStatement = statement.global(
  'events.listAttempts',
  `select a.customer_id as "customerId", a.event_number as "eventNumber", e.type, a.attempted_at as "attemptedAt",
    a.status, a.error, a.took_ms as "tookMs",
    concat_ws('~', (extract(epoch from a.attempted_at) * 1000000)::bigint, a.customer_id, a.event_number) as "cursor"
  from event_attempts a
  left join events e on e.customer_id = a.customer_id and e.event_number = a.event_number
  where a.endpoint_id = $1
    and (a.attempted_at, a.customer_id, a.event_number)
      < ('epoch'::timestamptz + $2::bigint * interval '1 microsecond', $3::uuid, $4::bigint)
  order by a.attempted_at desc, a.customer_id desc, a.event_number desc
  limit $5`,
)

export const attemptCursorPattern = /^\d{1,16}~[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}~\d{1,16}$/
const newestAttempt = '9007199254740991~ffffffff-ffff-ffff-ffff-ffffffffffff~0'

/** The attempts of an endpoint, newest first. */
export function listAttempts(
  database: Database,
  endpointId: string,
  { cursor, limit }: { cursor: string | null; limit: number },
): Promise<ListedAttempt[]> {
  return database.run<ListedAttempt>(listAttemptsStatement, [
    endpointId,
    ...(cursor ?? newestAttempt).split('~'),
    limit,
  ])
}

// Endpoint by endpoint, as the index has them; those of removed endpoints too.
const deleteAttemptsStatement = statement.ofEachGroup(
  'events.deleteAttempts',
  `with old as materialized (
    select a.*
    from event_endpoints e
    cross join lateral (
      select customer_id, endpoint_id, event_number, attempted_at
      from event_attempts a
      where a.endpoint_id = e.endpoint_id and a.attempted_at < now() - $1::int * interval '1 day'
      order by a.attempted_at
      limit $2
    ) a
    limit $2
  )
  delete from event_attempts a
  using old o
  where a.customer_id = o.customer_id and a.endpoint_id = o.endpoint_id and a.event_number = o.event_number
    and a.attempted_at = o.attempted_at
  returning a.event_number`,
)

/** Returns how many attempts it deleted, at most the limit in each group of customers. */
export async function deleteAttempts(database: Database, keptDays: number, limit: number): Promise<number> {
  return (await database.run(deleteAttemptsStatement, [keptDays, limit])).length
}
