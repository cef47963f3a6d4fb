// Endpoints of the platform that are told what happened, and their signing secrets: made here, shown once, stored sealed.
// After a rotation the old secret signs too, for a day, so that nobody has to switch at the same moment as we.
import { randomBytes } from 'node:crypto'
import { leastUuid, randomLettersAndDigits } from '../core/ids.ts'
import { type SealingSecret, seal, unseal } from '../core/seal.ts'
import type { Database } from '../db/database.ts'
import { deleteDeadEventsOf } from './dead.sql.ts'
import {
  type Endpoint,
  insertEndpoint,
  markEndpointRemoved,
  rotateSecret,
  updateEndpointStatus,
} from './endpoints.sql.ts'
import { deleteQueues, resetQueues } from './queues.sql.ts'

const oldSecretSeconds = 86_400
/** Who rotates more often within the day loses the oldest. */
const oldSecretsAtMost = 4
/** What one statement takes: whoever writes an event waits no longer than that. */
const batchSize = 1_000

/** As Standard Webhooks has it: 24 to 64 random bytes in base 64 behind `whsec_`. */
function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

export type AddedEndpoint = { endpointId: string; url: string; types: string[]; secret: string }

export async function addEndpoint(
  database: Database,
  sealing: SealingSecret,
  { url, types }: { url: string; types: string[] },
): Promise<AddedEndpoint> {
  const endpointId = `end_${randomLettersAndDigits(20)}`
  const secret = newSigningSecret()
  await insertEndpoint(database, {
    endpointId,
    url,
    types,
    secrets: [{ sealed: seal(secret, endpointId, sealing), until: null }],
  })
  return { endpointId, url, types, secret }
}

/** The new secret; undefined when there is no such endpoint. */
export async function rotateEndpoint(
  database: Database,
  sealing: SealingSecret,
  endpointId: string,
): Promise<string | undefined> {
  const secret = newSigningSecret()
  const kept = { keptSeconds: oldSecretSeconds, keptAtMost: oldSecretsAtMost }
  const found = await rotateSecret(database, { endpointId, sealed: seal(secret, endpointId, sealing), ...kept })
  return found ? secret : undefined
}

/** Those that are valid now, the newest first. */
export function signingSecrets(
  { endpointId, secrets }: Endpoint,
  sealing: readonly SealingSecret[],
  now = new Date(),
): string[] {
  const valid = secrets.filter(({ until }) => until === null || new Date(until) > now)
  return valid.map(({ sealed }) => unseal(sealed, endpointId, sealing))
}

/** What has waited goes at once, and what failed before does not count. False when there is no such endpoint. */
export async function enableEndpoint(database: Database, endpointId: string): Promise<boolean> {
  let after: string | undefined = leastUuid
  while (after !== undefined) after = await resetQueues(database, endpointId, after, batchSize)
  return updateEndpointStatus(database, endpointId, 'ACTIVE')
}

/** With all that waits for it. False when there never was such an endpoint. */
export async function removeEndpoint(database: Database, endpointId: string): Promise<boolean> {
  if (!(await markEndpointRemoved(database, endpointId))) return false
  while ((await deleteQueues(database, endpointId, batchSize)) > 0);
  while ((await deleteDeadEventsOf(database, endpointId, batchSize)) > 0);
  return true
}
