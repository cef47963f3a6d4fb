// Section 5 of the specification: who is calling, decided from one header before anything else of the request is read.
import type { Database } from '../db/database.ts'
import { apiKeyPattern, type Peppers } from './api-keys.ts'
import { type FoundKey, findKeys, findSuspendedKeys, renewKeyHash } from './customers.sql.ts'
import { createRecogniser } from './recognise.ts'

/** Takes the header's value as Node gives it: repeated headers arrive joined by a comma and are malformed. */
export type Authenticate = (header: string | string[] | undefined) => Caller | Promise<Caller>
export type Caller = Pick<FoundKey, 'customerId' | 'keyId'>

export function createAuthenticate(database: Database, peppers: Peppers): Authenticate {
  return createRecogniser<FoundKey>({
    peppers,
    pattern: apiKeyPattern,
    idOf: ({ keyId }) => keyId,
    find: (hashes) => findKeys(database, hashes),
    findSuspended: (withinMs, limit) => findSuspendedKeys(database, withinMs, limit),
    renew: ({ keyId }, hash) => renewKeyHash(database, keyId, hash),
  })
}
