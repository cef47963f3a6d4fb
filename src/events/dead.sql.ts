// The dead letters: events that could not be delivered within days. queues.sql.ts writes them.
import { leastUuid } from '../core/ids.ts'
import { type Database, statement } from '../db/database.ts'

export type DeadEvent = {
  customerId: string
  endpointId: string
  eventNumber: number
  type: string
  attempts: number
  lastError: string
  diedAt: Date
  data: object
}

const columns = `d.customer_id as "customerId", d.endpoint_id as "endpointId", d.event_number as "eventNumber", e.type,
    d.attempts, d.last_error as "lastError", d.died_at as "diedAt", e.data`

const listDeadStatement = statement.global(
  'events.listDeadEvents',
  `select ${columns}
  from dead_events d
  join events e using (customer_id, event_number)
  where ($2::text is null or d.endpoint_id = $2) and ($3::uuid is null or d.customer_id = $3)
  order by d.died_at, d.customer_id, d.event_number
  limit $1`,
)

/** A filter; all dead events if none is given. */
export type DeadOf = {
  endpointId?: string | undefined
  customerId?: string | undefined
  /** One event of the customer. */
  eventNumber?: number | undefined
}

export function listDeadEvents(
  database: Database,
  limit: number,
  { endpointId, customerId }: DeadOf,
): Promise<DeadEvent[]> {
  return database.run<DeadEvent>(listDeadStatement, [limit, endpointId ?? null, customerId ?? null])
}

const countDeadStatement = statement.global(
  'events.countDeadEvents',
  `select count(*)::int as "count"
  from (
    select 1 from dead_events
    where ($2::text is null or endpoint_id = $2) and ($3::uuid is null or customer_id = $3)
      and ($4::bigint is null or event_number = $4)
    limit $1
  ) d`,
)

/** Beyond it the exact number does not matter, and counting on would take too long. */
export const deadEventsCountedTo = 100_000

/** At most the limit. */
export async function countDeadEvents(
  database: Database,
  limit: number,
  { endpointId, customerId, eventNumber }: DeadOf,
): Promise<number> {
  const values = [limit, endpointId ?? null, customerId ?? null, eventNumber ?? null]
  const [row] = await database.run<{ count: number }>(countDeadStatement, values)
  return row?.count ?? 0
}

export type DeadKey = Pick<DeadEvent, 'customerId' | 'endpointId' | 'eventNumber'>
export const beforeAllDead: DeadKey = { customerId: leastUuid, endpointId: '', eventNumber: 0 }

const listDeadAfterStatement = statement.global(
  'events.listDeadEventsAfter',
  `select ${columns}
  from dead_events d
  join events e using (customer_id, event_number)
  where (d.customer_id, d.endpoint_id, d.event_number) > ($2, $3, $4)
    and ($5::uuid is null or d.customer_id = $5) and ($6::bigint is null or d.event_number = $6)
  order by d.customer_id, d.endpoint_id, d.event_number
  limit $1`,
)

// Those of one endpoint have an index.
const listDeadOfEndpointAfterStatement = statement.global(
  'events.listDeadEventsOfEndpointAfter',
  `select ${columns}
  from dead_events d
  join events e using (customer_id, event_number)
  where d.endpoint_id = $2 and (d.customer_id, d.event_number) > ($3, $4)
    and ($5::uuid is null or d.customer_id = $5) and ($6::bigint is null or d.event_number = $6)
  order by d.customer_id, d.event_number
  limit $1`,
)

/** Those after a key: customer by customer, oldest first. */
export function listDeadEventsAfter(
  database: Database,
  { customerId, endpointId, eventNumber }: DeadKey,
  limit: number,
  of: DeadOf,
): Promise<DeadEvent[]> {
  const filter = [of.customerId ?? null, of.eventNumber ?? null]
  return of.endpointId === undefined
    ? database.run<DeadEvent>(listDeadAfterStatement, [limit, customerId, endpointId, eventNumber, ...filter])
    : database.run<DeadEvent>(listDeadOfEndpointAfterStatement, [
        limit,
        of.endpointId,
        customerId,
        eventNumber,
        ...filter,
      ])
}

const deleteDeadStatement = statement.ofCustomer(
  'events.deleteDeadEvent',
  'delete from dead_events where customer_id = $1 and endpoint_id = $2 and event_number = $3',
)

/** For one that was delivered after all. */
export async function deleteDeadEvent(database: Database, dead: DeadKey): Promise<void> {
  await database.run(deleteDeadStatement, [dead.customerId, dead.endpointId, dead.eventNumber])
}

const deleteDeadOfEndpointStatement = statement.ofEachGroup(
  'events.deleteDeadEventsOfEndpoint',
  `delete from dead_events
  where (customer_id, endpoint_id, event_number) in (
    select customer_id, endpoint_id, event_number from dead_events where endpoint_id = $1 limit $2)
  returning event_number`,
)

/** Returns how many dead letters of the endpoint it deleted. */
export async function deleteDeadEvents(database: Database, endpointId: string, limit: number): Promise<number> {
  return (await database.run(deleteDeadOfEndpointStatement, [endpointId, limit])).length
}
