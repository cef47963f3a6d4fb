// Recognises a secret that somebody presents, an API key or a service token: by its shape, then by its keyed hash. Who was
// found is remembered, and all that are remembered are kept fresh by one question: who was suspended lately? It is asked
// several times a second while requests come, and what is remembered counts only as long as the last answer is younger
// than a second: so a suspension works within a second everywhere, whether the database answers or not.
//
// Secrets that were recognised are found again by the hash of the whole text that the map makes, with a seed of this
// process: how long it takes tells nothing of how much of a wrong one is right. A digest would cost as much as the rest of
// the listener.
import { timingSafeEqual } from 'node:crypto'
import { createBatch } from '../core/batch.ts'
import { refuse } from '../core/errors.ts'
import { blame } from '../db/database.ts'
import { hashKey, type Peppers } from './api-keys.ts'
import type { KeyHash, KeyStatus } from './sql.ts'

/** Counted from before a question, so a suspension that commits while it is answered is seen in time. */
const freshMs = 900
const askAgainAfterMs = 300
const rememberedMs = 60_000
/** Longer than anybody is remembered, by as much as a suspension may take to commit. */
const suspendedWithinMs = 600_000
const maxRemembered = 10_000
const maxSuspended = 10_000

export type Recognised = { keyHash: Buffer; status: KeyStatus }

export type RecogniserOptions<Found extends Recognised> = {
  peppers: Peppers
  /** Decides well-formed from malformed by shape alone. */
  pattern: RegExp
  /** What the caller is told, where it is not the catalogue's text. */
  texts?: Record<'INVALID_API_KEY' | 'AUTH001' | 'AUTH003', string>
  find: (hashes: KeyHash[]) => Promise<(Found | null)[]>
  /** The hashes of those that were suspended within that time and still are, at most so many. */
  findSuspended: (withinMs: number, limit: number) => Promise<Buffer[]>
  now?: () => number
}

type Remembered<Found> = { found: Found; hashText: string; until: number }

/** Refuses with INVALID_API_KEY, AUTH001 or AUTH003 (section 5): at once what it can judge at once. */
export function createRecogniser<Found extends Recognised>(
  options: RecogniserOptions<Found>,
): (secret: unknown) => Found | Promise<Found> {
  const { peppers, pattern, texts, now = () => performance.now() } = options
  const remembered = new Map<string, Remembered<Found>>()
  const findOne = createBatch<KeyHash, Found | null>({ blame, run: options.find })
  let suspended = new Set<string>()
  let askedAt = Number.NEGATIVE_INFINITY
  let isAsking = false

  async function askWhoIsSuspended(): Promise<void> {
    isAsking = true
    const startedAt = now()
    try {
      const hashes = await options.findSuspended(suspendedWithinMs, maxSuspended)
      suspended = new Set(hashes.map(textOf))
      // More than one answer holds: nobody is remembered, everybody is looked for.
      if (hashes.length < maxSuspended) askedAt = startedAt
    } catch {
      // What is remembered grows old, and everybody is looked for: whoever does that meets what is wrong.
    } finally {
      isAsking = false
    }
  }

  function recall(secret: string): Found | undefined {
    const time = now()
    if (!isAsking && time - askedAt > askAgainAfterMs) askWhoIsSuspended()
    const known = remembered.get(secret)
    if (!known || time > known.until || time - askedAt > freshMs) return undefined
    if (suspended.has(known.hashText)) throw refuseAs('AUTH003')
    return known.found
  }

  async function look(secret: string): Promise<Found> {
    for (const pepper of peppers) {
      const keyHash = hashKey(secret, pepper)
      const startedAt = now()
      const found = await findOne(keyHash)
      if (!found || !timingSafeEqual(found.keyHash, keyHash.keyHash)) continue
      if (remembered.size >= maxRemembered) remembered.clear()
      const until = startedAt + (found.status === 'ACTIVE' ? rememberedMs : freshMs)
      remembered.set(secret, { found, hashText: textOf(found.keyHash), until })
      return unlessSuspended(found)
    }
    throw refuseAs('AUTH001')
  }

  function unlessSuspended(found: Found): Found {
    if (found.status === 'SUSPENDED') throw refuseAs('AUTH003')
    return found
  }

  const refuseAs = (code: 'INVALID_API_KEY' | 'AUTH001' | 'AUTH003') => refuse(code, texts && { message: texts[code] })

  return (secret) => {
    if (typeof secret !== 'string' || !pattern.test(secret)) throw refuseAs('INVALID_API_KEY')
    const known = recall(secret)
    return known ? unlessSuspended(known) : look(secret)
  }
}

function textOf(keyHash: Buffer): string {
  return keyHash.toString('base64')
}
