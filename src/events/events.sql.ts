// The events as they were written, for deliveries and for operators, until they are deleted.
import { type Database, statement } from '../db/database.ts'

export type StoredEvent = {
  eventNumber: number
  eventId: string
  type: string
  data: object
  createdAt: Date
  /** At the time of reading. */
  ageMs: number
}

const columns = `event_number as "eventNumber", event_id as "eventId", type, data, created_at as "createdAt",
    extract(epoch from now() - created_at)::float8 * 1000 as "ageMs"`

const listEventsStatement = statement.ofCustomer(
  'events.listEvents',
  `select ${columns}
  from events
  where customer_id = $1 and event_number >= $2 and event_number <= $3 and ($5::text[] = '{}' or type = any ($5))
  order by event_number
  limit $4`,
)

export type EventSpan = { customerId: string; nextEvent: number; lastEvent: number }

/** Events of these types; of all types if the list is empty. */
export function listEvents(
  database: Database,
  { customerId, nextEvent, lastEvent }: EventSpan,
  types: string[],
  limit: number,
): Promise<StoredEvent[]> {
  return database.run<StoredEvent>(listEventsStatement, [customerId, nextEvent, lastEvent, limit, types])
}

const listLatestEventsStatement = statement.ofCustomer(
  'events.listLatestEvents',
  `select ${columns} from events where customer_id = $1 order by event_number desc limit $2`,
)

/** Newest first. */
export function listLatestEvents(database: Database, customerId: string, limit: number): Promise<StoredEvent[]> {
  return database.run<StoredEvent>(listLatestEventsStatement, [customerId, limit])
}
