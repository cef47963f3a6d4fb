// API keys: `cpk_` and 43 letters and digits, 256 random bits. Shown once, at issue. Stored is only an HMAC under a
// secret that is not in the database (the pepper), and the last four characters for people to recognise a key by. A slow
// hash would add 45 ms to every request and nothing to 256 random bits.
import { createHmac } from 'node:crypto'
import { newCustomerId, newSecretText, randomLettersAndDigits, uuidPattern } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { findOrCreateCustomer, insertKey, type KeyHash } from './sql.ts'

/** The first pepper is for new keys; the others are there so that keys hashed under them still work. */
export type Peppers = readonly [Pepper, ...Pepper[]]
export type Pepper = { version: number; secret: string }

/** Decides well-formed from malformed (section 5) by shape alone. */
export const apiKeyPattern = /^cpk_[0-9A-Za-z]{43}$/

export type IssuedKey = { keyId: string; customerId: string; apiKey: string }

export function hashKey(apiKey: string, { version, secret }: Pepper): KeyHash {
  return { pepperVersion: version, keyHash: createHmac('sha256', secret).update(apiKey).digest() }
}

/** A key for a customer, by id or by name; a customer who is not known yet is made. A second key rotates the first. */
export async function issueKey(database: Database, peppers: Peppers, customer: string): Promise<IssuedKey> {
  const isId = uuidPattern.test(customer)
  const [wantedId, name] = isId ? [customer.toLowerCase(), null] : [newCustomerId(), customer]
  const customerId = await findOrCreateCustomer(database, wantedId, name)
  const apiKey = newSecretText('cpk_')
  const keyId = `key_${randomLettersAndDigits(20)}`
  await insertKey(database, { keyId, customerId, lastFour: apiKey.slice(-4), ...hashKey(apiKey, peppers[0]) })
  return { keyId, customerId, apiKey }
}
