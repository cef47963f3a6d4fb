// Recognises a secret that somebody presents, an API key or a service token: by its shape, then by its keyed hash. What
// was found is remembered for less than a second, so that a suspension works within a second everywhere.
import { timingSafeEqual } from 'node:crypto'
import { createBatch } from '../core/batch.ts'
import { refuse } from '../core/errors.ts'
import { blame } from '../db/database.ts'
import { hashKey, type Peppers } from './api-keys.ts'
import type { KeyHash, KeyStatus } from './sql.ts'

/** Counted from before the lookup, so a suspension that commits during it is seen in time. */
const rememberedMs = 900
const maxRemembered = 10_000

export type Recognised = { keyHash: Buffer; status: KeyStatus }

export type RecogniserOptions<Found extends Recognised> = {
  peppers: Peppers
  /** Decides well-formed from malformed by shape alone. */
  pattern: RegExp
  /** What the caller is told, where it is not the catalogue's text. */
  texts?: Record<'INVALID_API_KEY' | 'AUTH001' | 'AUTH003', string>
  find: (hashes: KeyHash[]) => Promise<(Found | null)[]>
}

/** Refuses with INVALID_API_KEY, AUTH001 or AUTH003 (section 5). */
export function createRecogniser<Found extends Recognised>(
  options: RecogniserOptions<Found>,
): (secret: unknown) => Promise<Found> {
  const { peppers, pattern, texts } = options
  const remembered = new Map<string, { found: Found; until: number }>()
  const findOne = createBatch<KeyHash, Found | null>({ blame, run: options.find })

  async function look(hash: KeyHash, name: string): Promise<Found | null> {
    const until = performance.now() + rememberedMs
    const found = await findOne(hash)
    if (!found || !timingSafeEqual(found.keyHash, hash.keyHash)) return null
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(name, { found, until })
    return found
  }

  async function find(secret: string): Promise<Found | null> {
    for (const pepper of peppers) {
      const hash = hashKey(secret, pepper)
      const name = `${pepper.version}:${hash.keyHash.toString('base64')}`
      const known = remembered.get(name)
      const found = known && known.until > performance.now() ? known.found : await look(hash, name)
      if (found) return found
    }
    return null
  }

  const refuseAs = (code: 'INVALID_API_KEY' | 'AUTH001' | 'AUTH003') => refuse(code, texts && { message: texts[code] })

  return async (secret) => {
    if (typeof secret !== 'string' || !pattern.test(secret)) throw refuseAs('INVALID_API_KEY')
    const found = await find(secret)
    if (!found) throw refuseAs('AUTH001')
    if (found.status === 'SUSPENDED') throw refuseAs('AUTH003')
    return found
  }
}
