// Section 5 of the specification: who is calling, decided from one header before anything else of the request is read.
// A key that was found is remembered for less than a second, so that a suspension works within a second everywhere.
import { timingSafeEqual } from 'node:crypto'
import { createBatch } from '../core/batch.ts'
import { refuse } from '../core/errors.ts'
import { type Database, isInputError } from '../db/database.ts'
import { apiKeyPattern, hashKey, type Peppers } from './api-keys.ts'
import { type FoundKey, findKeys, type KeyHash } from './sql.ts'

export type Caller = { customerId: string; keyId: string }

/** Takes the header's value as Node gives it: repeated headers arrive joined by a comma and are malformed. */
export type Authenticate = (header: string | string[] | undefined) => Promise<Caller>

/** Counted from before the lookup, so a suspension that commits during it is seen in time. */
const rememberedMs = 900
const maxRemembered = 10_000

type Remembered = { key: FoundKey; until: number }

export function createAuthenticate(database: Database, peppers: Peppers): Authenticate {
  const remembered = new Map<string, Remembered>()
  const findKey = createBatch<KeyHash, FoundKey | null>({ isInputError, run: (inputs) => findKeys(database, inputs) })

  async function look(hash: KeyHash, name: string): Promise<FoundKey | null> {
    const until = performance.now() + rememberedMs
    const key = await findKey(hash)
    if (!key || !timingSafeEqual(key.keyHash, hash.keyHash)) return null
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(name, { key, until })
    return key
  }

  async function find(apiKey: string): Promise<FoundKey | null> {
    for (const pepper of peppers) {
      const hash = hashKey(apiKey, pepper)
      const name = `${pepper.version}:${hash.keyHash.toString('base64')}`
      const known = remembered.get(name)
      const key = known && known.until > performance.now() ? known.key : await look(hash, name)
      if (key) return key
    }
    return null
  }

  return async (header) => {
    if (typeof header !== 'string' || !apiKeyPattern.test(header)) throw refuse('INVALID_API_KEY')
    const key = await find(header)
    if (!key) throw refuse('AUTH001')
    if (key.status === 'SUSPENDED') throw refuse('AUTH003')
    return { customerId: key.customerId, keyId: key.keyId }
  }
}
