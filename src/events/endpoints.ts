// Webhook endpoints of the platform and their signing secrets: generated here, shown once, stored sealed. After a rotation the
// old secret signs too, for a day, so that consumers need not switch at the same moment.
import { randomBytes } from 'node:crypto'
import { leastUuid, randomLettersAndDigits } from '../core/ids.ts'
import { type SealingSecret, seal, unseal } from '../core/seal.ts'
import type { Database } from '../db/database.ts'
import { groupsOf } from '../db/groups.ts'
import { deleteDeadEvents } from './dead.sql.ts'
import {
  type Endpoint,
  insertEndpoint,
  markEndpointRemoved,
  rotateSecret,
  updateEndpointStatus,
} from './endpoints.sql.ts'
import { deleteQueues, makeQueuesDue, resetQueues } from './queues.sql.ts'

const oldSecretSeconds = 86_400
/** With more rotations within the day the oldest ones are lost. */
const maxOldSecrets = 4
/** Rows per statement: a statement that writes an event waits no longer than for one of these. */
const batchSize = 1_000

/** By Standard Webhooks: `whsec_` and 24 to 64 random bytes in base64. */
function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** An id identifies an endpoint and gives no access. */
export const endpointIdPattern = /^end_[0-9A-Za-z]{20}$/

/** All that logs and the console show of an endpoint's URL: its path and query may contain a secret of the platform. */
export function hostOf(url: string): string {
  return new URL(url).host
}

/** Whether it can be the URL of an endpoint: http or https, without user, password or fragment. */
export function isEndpointUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.hash)
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
  const kept = { keptSeconds: oldSecretSeconds, keptAtMost: maxOldSecrets }
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

/** Waiting events are due at once, and earlier failures do not count. False when there is no such endpoint. */
export async function enableEndpoint(database: Database, endpointId: string): Promise<boolean> {
  for (const group of groupsOf(database)) {
    let after: string | undefined = leastUuid
    while (after !== undefined) after = await resetQueues(group, endpointId, after, batchSize)
  }
  return updateEndpointStatus(database, endpointId, 'ACTIVE')
}

/** Waiting events are due at once, all or one customer's; failures still count. Returns the number of customers. */
export async function retryQueues(database: Database, endpointId: string, customerId: string | null): Promise<number> {
  let count = 0
  for (const group of groupsOf(database)) {
    for (let after: string | undefined = leastUuid; after !== undefined; ) {
      const retried = await makeQueuesDue(group, endpointId, { after, limit: batchSize, customerId })
      count += retried.length
      after = retried.at(-1)
    }
  }
  return count
}

/** With its queues and dead letters. False when there never was such an endpoint. */
export async function removeEndpoint(database: Database, endpointId: string): Promise<boolean> {
  if (!(await markEndpointRemoved(database, endpointId))) return false
  while ((await deleteQueues(database, endpointId, batchSize)) > 0);
  while ((await deleteDeadEvents(database, endpointId, batchSize)) > 0);
  return true
}
