// Section 5 of the specification: who is calling, decided from one header before anything else of the request is read.
import type { Database } from '../db/database.ts'
import { apiKeyPattern, type Peppers } from './api-keys.ts'
import { createRecogniser } from './recognise.ts'
import { type FoundKey, findKeys } from './sql.ts'

export type Caller = { customerId: string; keyId: string }

/** Takes the header's value as Node gives it: repeated headers arrive joined by a comma and are malformed. */
export type Authenticate = (header: string | string[] | undefined) => Promise<Caller>

export function createAuthenticate(database: Database, peppers: Peppers): Authenticate {
  const recognise = createRecogniser<FoundKey>({
    peppers,
    pattern: apiKeyPattern,
    find: (hashes) => findKeys(database, hashes),
  })
  return async (header) => {
    const { customerId, keyId } = await recognise(header)
    return { customerId, keyId }
  }
}
