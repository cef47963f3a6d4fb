// Section 5 of the specification: the caller of the public API, from one header, before anything else of the request is read.
import type { Database } from '../db/database.ts'
import { apiKeyPattern, type Peppers } from './api-keys.ts'
import { type FoundKey, findKeys, findSuspendedKeys, renewKeyHash } from './customers.sql.ts'
import { createKeyCheck } from './key-check.ts'

/** Node joins repeated headers with a comma, which makes them malformed. */
export type Authenticate = (header: string | string[] | undefined) => Caller | Promise<Caller>
export type Caller = Pick<FoundKey, 'customerId' | 'keyId'>

export function createAuthenticate(database: Database, peppers: Peppers): Authenticate {
  return createKeyCheck<FoundKey>({
    peppers,
    pattern: apiKeyPattern,
    idOf: ({ keyId }) => keyId,
    find: (hashes) => findKeys(database, hashes),
    findSuspended: (withinMs, limit) => findSuspendedKeys(database, withinMs, limit),
    renew: ({ keyId }, hash) => renewKeyHash(database, keyId, hash),
  })
}
