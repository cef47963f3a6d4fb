// The queues of events: one row for each customer and endpoint has the next event to deliver. A queue is idle when
// `next_event > last_event`. It is claimed with a lease, so that one process at a time delivers a customer's events to an
// endpoint, in order. Every step requires the holder, so a process that has lost its lease changes nothing; releasing clears
// the holder, so a repeated release does nothing.
import { type Database, statement } from '../db/database.ts'
import { takeFromGroups } from '../db/groups.ts'
import { type Attempt, attemptValues, quotedAttempt } from './attempts/attempts.sql.ts'

export type Queue = {
  customerId: string
  endpointId: string
  nextEvent: number
  lastEvent: number
  /** Failures since the last success. */
  attempts: number
  /** Time since the first failure after the last success. */
  failingForMs: number | null
  holderId: string
}

const listDueEndpointsStatement = statement.ofEachGroup(
  'events.listDueEndpoints',
  `select e.endpoint_id as "endpointId"
  from event_endpoints e
  cross join lateral (
    select q.due_at
    from event_queues q
    where q.endpoint_id = e.endpoint_id and q.next_event <= q.last_event and q.due_at <= now() and q.lease_until <= now()
    order by q.due_at
    limit 1
  ) head
  where e.status = 'ACTIVE' and e.endpoint_id <> all ($1::text[])
  order by head.due_at
  limit $2`,
)

/** Endpoints with events due, without `besides`; the longest waiting first. */
export async function listDueEndpoints(database: Database, besides: string[], limit: number): Promise<string[]> {
  const seen = [...besides]
  const rows = await takeFromGroups(database, limit, async (group, left) => {
    const found = await group.run<{ endpointId: string }>(listDueEndpointsStatement, [seen, left])
    seen.push(...found.map(({ endpointId }) => endpointId))
    return found
  })
  return rows.map(({ endpointId }) => endpointId)
}

// Repeated after a lost connection, it returns what it had claimed.
const claimQueuesStatement = statement.ofEachGroup(
  'events.claimQueues',
  `with due as (
    select q.customer_id, q.endpoint_id
    from event_queues q
    join event_endpoints e using (endpoint_id)
    where q.endpoint_id = $1 and q.next_event <= q.last_event and q.due_at <= now()
      and (q.lease_until <= now() or q.holder_id = $2) and e.status = 'ACTIVE'
    order by q.due_at
    limit $4
    for no key update of q skip locked
  )
  update event_queues q
  set holder_id = $2, lease_until = now() + $3::int * interval '1 ms'
  from due
  where q.customer_id = due.customer_id and q.endpoint_id = due.endpoint_id
  returning q.customer_id as "customerId", q.endpoint_id as "endpointId", q.next_event as "nextEvent",
    q.last_event as "lastEvent", q.attempts, q.holder_id as "holderId",
    extract(epoch from now() - q.first_failed)::float8 * 1000 as "failingForMs"`,
)

export type Claim = { endpointId: string; holderId: string; leaseMs: number; limit: number }

export function claimQueues(database: Database, { endpointId, holderId, leaseMs, limit }: Claim): Promise<Queue[]> {
  return takeFromGroups(database, limit, (group, left) =>
    group.run<Queue>(claimQueuesStatement, [endpointId, holderId, leaseMs, left]),
  )
}

// Everything before next_event is done. The lease is renewed, or released with the last step.
const advanceQueueStatement = statement.ofCustomer(
  'events.advanceQueue',
  `with step as (
    update event_queues
    set next_event = greatest(next_event, $9), attempts = 0, first_failed = null, last_error = null, due_at = now(),
        lease_until = now() + $10::int * interval '1 ms', holder_id = case when $10 > 0 then holder_id end
    where customer_id = $1 and endpoint_id = $2 and holder_id = $3
    returning customer_id, endpoint_id, next_event
  ),${quotedAttempt}
  select next_event from step`,
)

/** False when another process has the lease. `attempt`: null when nothing was sent. */
export async function advanceQueue(
  database: Database,
  { customerId, endpointId, holderId }: Queue,
  { attempt, nextEvent, leaseMs }: { attempt: Attempt | null; nextEvent: number; leaseMs: number },
): Promise<boolean> {
  const values = [customerId, endpointId, holderId, ...attemptValues(attempt), nextEvent, leaseMs]
  return (await database.run(advanceQueueStatement, values)).length > 0
}

const releaseQueueStatement = statement.ofCustomer(
  'events.giveBackQueue',
  `update event_queues set lease_until = now(), holder_id = null
  where customer_id = $1 and endpoint_id = $2 and holder_id = $3`,
)

/** Unchanged: nothing was sent. */
export async function releaseQueue(database: Database, { customerId, endpointId, holderId }: Queue): Promise<void> {
  await database.run(releaseQueueStatement, [customerId, endpointId, holderId])
}

const failQueueStatement = statement.ofCustomer(
  'events.failQueue',
  `with step as (
    update event_queues
    set attempts = attempts + 1, first_failed = coalesce(first_failed, now()), last_error = $7,
        due_at = now() + greatest($9::int, $10::int) * interval '1 ms', not_before = now() + $10::int * interval '1 ms',
        lease_until = now(), holder_id = null
    where customer_id = $1 and endpoint_id = $2 and holder_id = $3
    returning customer_id, endpoint_id
  ),${quotedAttempt}
  select endpoint_id from step`,
)

/** The head of the queue was not delivered; it is retried after the longer of the two pauses. */
export async function failQueue(
  database: Database,
  { customerId, endpointId, holderId }: Queue,
  { attempt, pauseMs, requestedPauseMs }: { attempt: Attempt; pauseMs: number; requestedPauseMs: number },
): Promise<void> {
  const pauses = [Math.round(pauseMs), Math.round(requestedPauseMs)]
  await database.run(failQueueStatement, [customerId, endpointId, holderId, ...attemptValues(attempt), ...pauses])
}

// Between next_event and the head there may be events of types that the endpoint does not want. first_failed and attempts
// stay: the endpoint has accepted nothing since.
const buryEventStatement = statement.ofCustomer(
  'events.buryEvent',
  `with head as (
    select customer_id, endpoint_id, $4::bigint as event_number, attempts
    from event_queues
    where customer_id = $1 and endpoint_id = $2 and holder_id = $3 and next_event <= $4
    for no key update
  ),
  buried as (
    insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
    select customer_id, endpoint_id, event_number, attempts + 1, $7 from head
  ),
  step as (
    update event_queues q
    set next_event = h.event_number + 1, attempts = h.attempts + 1, last_error = $7,
        due_at = now() + $9::int * interval '1 ms', lease_until = now(), holder_id = null
    from head h
    where q.customer_id = h.customer_id and q.endpoint_id = h.endpoint_id
    returning q.customer_id, q.endpoint_id, q.next_event
  ),${quotedAttempt}
  select next_event from step`,
)

/** Makes the head of the queue a dead letter; the next one follows after a pause. False when another process has the lease. */
export async function buryEvent(
  database: Database,
  { customerId, endpointId, holderId }: Queue,
  { attempt, pauseMs }: { attempt: Attempt; pauseMs: number },
): Promise<boolean> {
  const values = [customerId, endpointId, holderId, ...attemptValues(attempt), pauseMs]
  return (await database.run(buryEventStatement, values)).length > 0
}

// Spread over the span, so that an endpoint that has just recovered is not overloaded.
const wakeQueuesStatement = statement.ofEachGroup(
  'events.wakeQueues',
  `with waiting as (
    select customer_id, endpoint_id
    from event_queues
    where endpoint_id = $1 and next_event <= last_event and due_at > now() + $2::int * interval '1 ms'
      and not_before <= now()
    order by due_at
    limit $3
    for no key update skip locked
  )
  update event_queues q
  set due_at = now() + random() * $2::int * interval '1 ms'
  from waiting w
  where q.customer_id = w.customer_id and q.endpoint_id = w.endpoint_id
  returning q.customer_id`,
)

/** Queues per statement, on a cluster in each group. */
const wokenAtATime = 1_000

/** The endpoint has recovered: its queues become due within the span, except those for which it sent Retry-After. */
export async function wakeQueues(database: Database, endpointId: string, spanMs: number): Promise<void> {
  const wake = () => database.run(wakeQueuesStatement, [endpointId, spanMs, wokenAtATime])
  while ((await wake()).length >= wokenAtATime);
}

// Locks in the same order as the statements that write events.
const resetQueuesStatement = statement.ofEachGroup(
  'events.resetQueues',
  `with waiting as (
    select customer_id, endpoint_id
    from event_queues
    where endpoint_id = $1 and customer_id > $2 and next_event <= last_event
    order by customer_id
    limit $3
    for no key update
  )
  update event_queues q
  set attempts = 0, first_failed = null, last_error = null, due_at = now(), not_before = '-infinity'
  from waiting w
  where q.customer_id = w.customer_id and q.endpoint_id = w.endpoint_id
  returning q.customer_id as "customerId"`,
)

/** Clears the failures of some queues of an endpoint; returns the last customer, to continue from, or undefined. */
export async function resetQueues(
  database: Database,
  endpointId: string,
  after: string,
  limit: number,
): Promise<string | undefined> {
  const rows = await database.run<{ customerId: string }>(resetQueuesStatement, [endpointId, after, limit])
  return rows
    .map(({ customerId }) => customerId)
    .sort()
    .at(-1)
}

// Unlike resetQueues it keeps the failures: an event that fails on dies in time. A queue under way is due anyway.
const makeQueuesDueStatement = statement.ofEachGroup(
  'events.makeQueuesDue',
  `with waiting as (
    select customer_id, endpoint_id
    from event_queues
    where endpoint_id = $1 and customer_id > $2 and next_event <= last_event and due_at > now()
      and ($4::uuid is null or customer_id = $4)
    order by customer_id
    limit $3
    for no key update
  )
  update event_queues q
  set due_at = now(), not_before = '-infinity'
  from waiting w
  where q.customer_id = w.customer_id and q.endpoint_id = w.endpoint_id
  returning q.customer_id as "customerId"`,
)

/** Makes some waiting queues of an endpoint due now, or one customer's; returns their customers. */
export async function makeQueuesDue(
  database: Database,
  endpointId: string,
  { after, limit, customerId }: { after: string; limit: number; customerId: string | null },
): Promise<string[]> {
  const values = [endpointId, after, limit, customerId]
  const rows = await database.run<{ customerId: string }>(makeQueuesDueStatement, values)
  return rows.map((row) => row.customerId).sort()
}

const deleteQueuesStatement = statement.ofEachGroup(
  'events.deleteQueues',
  `delete from event_queues
  where (customer_id, endpoint_id) in (
    select customer_id, endpoint_id from event_queues where endpoint_id = $1
    order by customer_id limit $2 for update)
  returning customer_id`,
)

/** Returns how many queues of the endpoint it deleted. */
export async function deleteQueues(database: Database, endpointId: string, limit: number): Promise<number> {
  return (await database.run(deleteQueuesStatement, [endpointId, limit])).length
}
