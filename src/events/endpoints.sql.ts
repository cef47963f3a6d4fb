// The statements on endpoints: where events are sent, with which secrets. No statement finds a removed one.
import { refuse } from '../core/errors.ts'
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

const findSecretsStatement = statement.global(
  'events.findSecrets',
  `select secrets, now() as "now" from event_endpoints where endpoint_id = $1 and status <> 'REMOVED'`,
)

const replaceSecretsStatement = statement.global(
  'events.replaceSecrets',
  `update event_endpoints set secrets = $3::jsonb
  where endpoint_id = $1 and status <> 'REMOVED' and secrets = $2::jsonb
  returning endpoint_id`,
)

export type Rotation = { endpointId: string; sealed: string; keptSeconds: number; keptAtMost: number }

/** How often another rotation of the same endpoint may come first. */
const rotationAttempts = 20

/**
 * The new one first; the older ones stay valid for a while and are removed by a later rotation. A concurrent rotation finds the
 * list changed and keeps the other's secret. False when there is no such endpoint; a repeated rotation finds its own secret.
 */
export async function rotateSecret(database: Database, rotation: Rotation): Promise<boolean> {
  const { endpointId, sealed } = rotation
  for (let attempt = 0; attempt < rotationAttempts; attempt += 1) {
    type Row = { secrets: StoredSecret[]; now: Date }
    const [found] = await database.run<Row>(findSecretsStatement, [endpointId])
    if (!found) return false
    const { secrets, now } = found
    if (secrets.some((secret) => secret.sealed === sealed)) return true
    const rotated = [{ sealed, until: null }, ...keptSecrets(secrets, now, rotation)]
    const values = [endpointId, JSON.stringify(secrets), JSON.stringify(rotated)]
    if ((await database.run(replaceSecretsStatement, values)).length > 0) return true
  }
  throw refuse('SVC001')
}

function keptSecrets(secrets: StoredSecret[], now: Date, { keptSeconds, keptAtMost }: Rotation): StoredSecret[] {
  const end = new Date(now.getTime() + keptSeconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z')
  return secrets
    .filter(({ until }) => until === null || new Date(until) > now)
    .slice(0, keptAtMost)
    .map(({ sealed, until }) => ({ sealed, until: until ?? end }))
}
