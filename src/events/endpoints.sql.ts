// The statements on endpoints: where events are sent, with which secrets. No statement finds a removed one.
import { type Database, statement } from '../db/database.ts'

/** Sealed; `until` is null for the current one. */
export type StoredSecret = { sealed: string; until: string | null }
export type EndpointStatus = 'ACTIVE' | 'DISABLED'
export type Endpoint = {
  endpointId: string
  url: string
  /** Empty: all. */
  types: string[]
  status: EndpointStatus
  /** The newest first. */
  secrets: StoredSecret[]
  createdAt: Date
}

const columns = `endpoint_id as "endpointId", url, types, status, secrets, created_at as "createdAt"`

const insertEndpointStatement = statement.global(
  'events.insertEndpoint',
  `insert into event_endpoints (endpoint_id, url, types, secrets) values ($1, $2, $3, $4::jsonb)
  on conflict (endpoint_id) do nothing`,
)

export async function insertEndpoint(
  database: Database,
  { endpointId, url, types, secrets }: Pick<Endpoint, 'endpointId' | 'url' | 'types' | 'secrets'>,
): Promise<void> {
  await database.run(insertEndpointStatement, [endpointId, url, types, JSON.stringify(secrets)])
}

const listEndpointsStatement = statement.global(
  'events.listEndpoints',
  `select ${columns} from event_endpoints where status <> 'REMOVED' order by created_at, endpoint_id limit $1`,
)

export function listEndpoints(database: Database, limit: number): Promise<Endpoint[]> {
  return database.run<Endpoint>(listEndpointsStatement, [limit])
}

const findEndpointStatement = statement.global(
  'events.findEndpoint',
  `select ${columns} from event_endpoints where endpoint_id = $1 and status <> 'REMOVED'`,
)

export async function findEndpoint(database: Database, endpointId: string): Promise<Endpoint | undefined> {
  return (await database.run<Endpoint>(findEndpointStatement, [endpointId]))[0]
}

const updateStatusStatement = statement.global(
  'events.updateEndpointStatus',
  `update event_endpoints set status = $2 where endpoint_id = $1 and status <> 'REMOVED' returning endpoint_id`,
)

/** Whether there is such an endpoint. */
export async function updateEndpointStatus(
  database: Database,
  endpointId: string,
  status: EndpointStatus,
): Promise<boolean> {
  return (await database.run(updateStatusStatement, [endpointId, status])).length > 0
}

// Idempotent: a repeated removal continues where the first one stopped.
const markRemovedStatement = statement.global(
  'events.markEndpointRemoved',
  `update event_endpoints set status = 'REMOVED', secrets = '[]' where endpoint_id = $1 returning endpoint_id`,
)

/** Whether there is or was such an endpoint. Nothing is queued for it from now on, and its secrets are gone. */
export async function markEndpointRemoved(database: Database, endpointId: string): Promise<boolean> {
  return (await database.run(markRemovedStatement, [endpointId])).length > 0
}

/** Those that are valid besides the new one. The first is the one without an end, unless the statement is repeated. */
const quotedOthers = `jsonb_path_query_array(secrets, '$[*] ? (@.sealed != $sealed && (@.until == null || @.until > $now))',
      jsonb_build_object('sealed', $2::text, 'now', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))`

const rotateSecretStatement = statement.global(
  'events.rotateSecret',
  `update event_endpoints
  set secrets = jsonb_build_array(jsonb_build_object('sealed', $2::text, 'until', null))
    || (jsonb_build_object('until', to_char(
          (now() + $3::integer * interval '1 second') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
        || jsonb_strip_nulls(${quotedOthers} -> 0))
    || jsonb_path_query_array(${quotedOthers}, '$[1 to $last]', jsonb_build_object('last', $4::integer - 1))
  where endpoint_id = $1 and status <> 'REMOVED'
  returning endpoint_id`,
)

export type Rotation = { endpointId: string; sealed: string; keptSeconds: number; keptAtMost: number }

/**
 * The new one first; the older ones, up to `keptAtMost`, stay valid for a while and are removed by a later rotation. False when
 * there is no such endpoint.
 */
export async function rotateSecret(database: Database, rotation: Rotation): Promise<boolean> {
  const { endpointId, sealed, keptSeconds, keptAtMost } = rotation
  return (await database.run(rotateSecretStatement, [endpointId, sealed, keptSeconds, keptAtMost])).length > 0
}
