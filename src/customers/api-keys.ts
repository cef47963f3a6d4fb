// API keys: `cpk_` and 43 letters and digits, 256 random bits. A key is shown once, when it is issued. Stored are only an HMAC
// under a secret that is not in the database (the pepper), and the last four characters for people to recognise it. A slow hash
// would add 45 ms to every request and no security to 256 random bits.
import { createHmac } from 'node:crypto'
import { newCustomerId, newSecretText, randomLettersAndDigits, uuidPattern } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { createCustomerWithKey, findOrCreateCustomer, insertKey, type KeyHash, replaceKey } from './customers.sql.ts'

/** The first pepper is for new keys; keys that were hashed under the others still work. */
export type Peppers = readonly [Pepper, ...Pepper[]]
export type Pepper = { version: number; secret: string }

/** Well-formed or malformed (section 5) is decided by this alone. */
export const apiKeyPattern = /^cpk_[0-9A-Za-z]{43}$/

/** An id identifies a key and gives no access. */
export const keyIdPattern = /^key_[0-9A-Za-z]{20}$/

export type IssuedKey = { keyId: string; customerId: string; apiKey: string }

export function hashKey(apiKey: string, { version, secret }: Pepper): KeyHash {
  return { pepperVersion: version, keyHash: createHmac('sha256', secret).update(apiKey).digest() }
}

/** A key for a customer, by id or by name; an unknown customer is created. To rotate, issue a second key: both work. */
export async function issueKey(
  database: Database,
  peppers: Peppers,
  customer: string,
  newId = newCustomerId(),
): Promise<IssuedKey> {
  const isId = uuidPattern.test(customer)
  const [wantedId, name] = isId ? [customer.toLowerCase(), null] : [newId, customer]
  const customerId = await findOrCreateCustomer(database, wantedId, name)
  return issueKeyTo(database, peppers, customerId)
}

/** A key for an existing customer. */
export async function issueKeyTo(database: Database, peppers: Peppers, customerId: string): Promise<IssuedKey> {
  const { apiKey, ...stored } = newKey(peppers)
  await insertKey(database, { customerId, ...stored })
  return { keyId: stored.keyId, customerId, apiKey }
}

/** A new customer with a key; undefined when the name is taken. */
export async function createCustomerAndKey(
  database: Database,
  peppers: Peppers,
  { customerId, name }: { customerId: string; name: string },
): Promise<IssuedKey | undefined> {
  const { apiKey, ...stored } = newKey(peppers)
  const isCreated = await createCustomerWithKey(database, name, { customerId, ...stored })
  return isCreated ? { keyId: stored.keyId, customerId, apiKey } : undefined
}

/** Replaces an active key, which is suspended; undefined when there is no such active key. */
export async function rotateKey(database: Database, peppers: Peppers, keyId: string): Promise<IssuedKey | undefined> {
  const { apiKey, ...stored } = newKey(peppers)
  const customerId = await replaceKey(database, keyId, stored)
  return customerId === undefined ? undefined : { keyId: stored.keyId, customerId, apiKey }
}

function newKey(peppers: Peppers) {
  const apiKey = newSecretText('cpk_')
  const keyId = `key_${randomLettersAndDigits(20)}`
  return { keyId, apiKey, lastFour: apiKey.slice(-4), ...hashKey(apiKey, peppers[0]) }
}
