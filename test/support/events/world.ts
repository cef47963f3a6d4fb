// A database with customers, events, endpoints and deliverers: the common parts of the event tests. Time passes by moving
// stored times into the past.
import { silentLog } from '../../../harness/silent-log.ts'
import { createTallies } from '../../../src/core/tallies.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { createDatabase, type Database, statement } from '../../../src/db/database.ts'
import type { DeliveryContext, DeliverySettings } from '../../../src/events/deliver.ts'
import { createDeliverer } from '../../../src/events/deliverer.ts'
import { addEndpoint } from '../../../src/events/endpoints.ts'
import { createOutbound, type OutboundOptions } from '../../../src/events/outbound.ts'
import { type EventType, emitEvents } from '../../../src/events/outbox.sql.ts'
import { createTestDatabase, openTestPool } from '../database/database.ts'
import { testPeppers } from '../service/service.ts'
import type { Consumer } from './consumer.ts'

const hourMs = 3_600_000
/** Pauses that no test waits for: tests use passHours instead. */
export const slowSettings: DeliverySettings = {
  timeoutMs: 2_000,
  firstPauseMs: 60_000,
  longestPauseMs: hourMs,
  deadAfterMs: 72 * hourMs,
}
export const quickSettings: DeliverySettings = { ...slowSettings, firstPauseMs: 5, longestPauseMs: 20 }

const emitStatement = statement.ofCustomer(
  'test.emit',
  `with numbered as (
    update accounts set last_event = last_event + 1 where customer_id = $1 returning customer_id, last_event
  ),
  event as (
    select customer_id, last_event as event_number, $2::text as type,
           json_build_object('customerId', customer_id, 'number', last_event) as data, clock_timestamp() as moved_at
    from numbered
  ),${emitEvents}
  select event_number as "eventNumber" from emitted`,
)

export type QueueRow = {
  nextEvent: number
  lastEvent: number
  attempts: number
  lastError: string | null
  dueInMs: number
  failing: boolean
  leased: boolean
}

export type EventWorld = Awaited<ReturnType<typeof createEventWorld>>

export async function createEventWorld() {
  const testDatabase = await createTestDatabase()
  const database = createDatabase(testDatabase.pool, silentLog)
  const parts = new AsyncDisposableStack()
  parts.defer(() => testDatabase.drop())

  function context(
    settings: DeliverySettings = slowSettings,
    {
      outbound: options = {},
      ...others
    }: { outbound?: Partial<OutboundOptions> } & Partial<Omit<DeliveryContext, 'outbound'>> = {},
  ): DeliveryContext {
    const outbound = createOutbound({ allowPrivate: true, timeoutMs: settings.timeoutMs, ...options })
    parts.defer(() => outbound.close())
    const tallies = createTallies()
    return { database, outbound, sealing: testPeppers, settings, log: silentLog, tallies, ...others }
  }

  return {
    database,
    pool: testDatabase.pool,
    query: testDatabase.query,
    begin: testDatabase.begin,
    context,
    /** The context of another process, with its own connections. */
    async contextOfOtherProcess(settings: DeliverySettings): Promise<DeliveryContext> {
      const pool = await openTestPool(testDatabase.connection, { maxConnections: 4 })
      parts.defer(() => pool.end())
      return context(settings, { database: createDatabase(pool, silentLog) })
    },
    async newCustomer(): Promise<string> {
      return (await issueKey(database, testPeppers, crypto.randomUUID())).customerId
    },
    /** Emits one event and returns its number. */
    async emit(customerId: string, type: EventType = 'order.confirmed'): Promise<number> {
      const [row] = await database.run<{ eventNumber: number }>(emitStatement, [customerId, type])
      return row?.eventNumber ?? 0
    },
    async register(consumer: Consumer, types: EventType[] = []): Promise<string> {
      const { endpointId, secret } = await addEndpoint(database, testPeppers[0], { url: consumer.url, types })
      consumer.secrets.push(secret)
      return endpointId
    },
    async queueOf(customerId: string, endpointId: string): Promise<QueueRow | undefined> {
      const [row] = await testDatabase.query<QueueRow>(
        `select next_event as "nextEvent", last_event as "lastEvent", attempts, last_error as "lastError",
           extract(epoch from due_at - now())::float8 * 1000 as "dueInMs", first_failed is not null as failing,
           lease_until > now() as leased
         from event_queues where customer_id = $1 and endpoint_id = $2`,
        [customerId, endpointId],
      )
      return row
    },
    /** Failing queues get one failure per hour, unless the service was down. */
    async passHours(hours: number, { isServiceDown = false } = {}): Promise<void> {
      const ago = `$1 * interval '1 hour'`
      await testDatabase.query(
        `update event_queues
         set due_at = due_at - ${ago}, not_before = not_before - ${ago}, first_failed = first_failed - ${ago},
             lease_until = lease_until - ${ago},
             attempts = attempts + case when first_failed is not null and not $2 then $1 else 0 end`,
        [hours, isServiceDown],
      )
      await testDatabase.query(`update events set created_at = created_at - ${ago}`, [hours])
    },
    close: () => parts.disposeAsync(),
  }
}

/** Delivers everything that is due now, as a process that has just started. */
export async function deliver(context: DeliveryContext): Promise<void> {
  await deliveries(context)()
}

/** One process that delivers everything due at each call, and keeps its state between calls. */
export function deliveries(context: DeliveryContext): () => Promise<void> {
  const deliverer = createDeliverer(context)
  return async () => {
    await deliverer.run(new AbortController().signal)
    await deliverer.finish()
  }
}

/** Whether no queue has an undelivered event. */
export async function isAllDelivered(database: Database): Promise<boolean> {
  return (await database.run(anyLeftStatement)).length === 0
}

const anyLeftStatement = statement.global(
  'test.anyLeft',
  'select customer_id from event_queues where next_event <= last_event limit 1',
)
