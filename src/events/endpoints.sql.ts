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

const insertEndpointStatement = statement(
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

const listEndpointsStatement = statement(
  'events.listEndpoints',
  `select ${columns} from event_endpoints where status <> 'REMOVED' order by created_at, endpoint_id limit $1`,
)

export function listEndpoints(database: Database, limit: number): Promise<Endpoint[]> {
  return database.run<Endpoint>(listEndpointsStatement, [limit])
}

const findEndpointStatement = statement(
  'events.findEndpoint',
  `select ${columns} from event_endpoints where endpoint_id = $1 and status <> 'REMOVED'`,
)

export async function findEndpoint(database: Database, endpointId: string): Promise<Endpoint | undefined> {
  return (await database.run<Endpoint>(findEndpointStatement, [endpointId]))[0]
}

const updateStatusStatement = statement(
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
const markRemovedStatement = statement(
  'events.markEndpointRemoved',
  `update event_endpoints set status = 'REMOVED', secrets = '[]' where endpoint_id = $1 returning endpoint_id`,
)

/** Whether there is or was such an endpoint. Nothing is queued for it from now on, and its secrets are gone. */
export async function markEndpointRemoved(database: Database, endpointId: string): Promise<boolean> {
  return (await database.run(markRemovedStatement, [endpointId])).length > 0
}

// The new one first; the older ones stay valid for a while and are removed by a later rotation. A concurrent rotation waits
// for the row and keeps the other's secret.
const rotateSecretStatement = statement(
  'events.rotateSecret',
  `update event_endpoints
  set secrets = jsonb_build_array(jsonb_build_object('sealed', $2::text, 'until', null)) || (
    select coalesce(jsonb_agg(jsonb_build_object('sealed', kept.sealed, 'until', kept.until) order by kept.ordinal), '[]')
    from (
      select s.ordinal, s.value ->> 'sealed' as sealed,
             coalesce(s.value ->> 'until', to_char((now() + $3::int * interval '1 second') at time zone 'UTC',
                                                   'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as until
      from jsonb_array_elements(secrets) with ordinality as s (value, ordinal)
      where coalesce((s.value ->> 'until')::timestamptz > now(), true)
      order by s.ordinal
      limit $4
    ) kept)
  where endpoint_id = $1 and status <> 'REMOVED'
    and not exists (select from jsonb_array_elements(secrets) s where s.value ->> 'sealed' = $2)
  returning endpoint_id`,
)

const hasSecretStatement = statement(
  'events.hasSecret',
  `select e.endpoint_id from event_endpoints e cross join jsonb_array_elements(e.secrets) s
  where e.endpoint_id = $1 and s.value ->> 'sealed' = $2`,
)

export type Rotation = { endpointId: string; sealed: string; keptSeconds: number; keptAtMost: number }

/** Whether there is such an endpoint; a repeated rotation finds its own secret. */
export async function rotateSecret(
  database: Database,
  { endpointId, sealed, keptSeconds, keptAtMost }: Rotation,
): Promise<boolean> {
  const rotated = await database.run(rotateSecretStatement, [endpointId, sealed, keptSeconds, keptAtMost])
  if (rotated.length > 0) return true
  return (await database.run(hasSecretStatement, [endpointId, sealed])).length > 0
}
