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
import { retryScopeOf } from '../db/database.ts'
import { hashKey, type Peppers } from './api-keys.ts'
import type { KeyHash, KeyStatus } from './customers.sql.ts'

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
  /** Whose it is, whatever hash it has. */
  idOf: (found: Found) => string
  /** The ids of those that were suspended within that time and still are, at most so many. */
  findSuspended: (withinMs: number, limit: number) => Promise<string[]>
  /** Gives a secret that was recognised under an older pepper its hash under the newest: only now is it known. */
  renew: (found: Found, hash: KeyHash) => Promise<void>
  now?: () => number
}

type Remembered<Found> = { found: Found; id: string; until: number }

/** Refuses with INVALID_API_KEY, AUTH001 or AUTH003 (section 5): at once what it can judge at once. */
export function createRecogniser<Found extends Recognised>(
  options: RecogniserOptions<Found>,
): (secret: unknown) => Found | Promise<Found> {
  const { peppers, pattern, texts, idOf, renew, now = () => performance.now() } = options
  const remembered = new Map<string, Remembered<Found>>()
  const renewing = new Set<string>()
  let renewed: Promise<unknown> = Promise.resolve()
  /** By all its hashes at once: asked for one after the other, it could be renewed in between and found by none. */
  const findOne = createBatch<KeyHash[], Found | null>({
    retryScopeOf,
    async run(secrets) {
      const found = await options.find(secrets.flat())
      return secrets.map((_, index) => {
        const own = found.slice(index * peppers.length, (index + 1) * peppers.length)
        return own.find((each) => each !== null) ?? null
      })
    },
  })
  let suspended = new Set<string>()
  let askedAt = Number.NEGATIVE_INFINITY
  let isAsking = false

  async function askWhoIsSuspended(): Promise<void> {
    isAsking = true
    const startedAt = now()
    try {
      const ids = await options.findSuspended(suspendedWithinMs, maxSuspended)
      suspended = new Set(ids)
      // More than one answer holds: nobody is remembered, everybody is looked for.
      if (ids.length < maxSuspended) askedAt = startedAt
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
    if (suspended.has(known.id)) throw refuseAs('AUTH003')
    return known.found
  }

  async function look(secret: string): Promise<Found> {
    const hashes = peppers.map((pepper) => hashKey(secret, pepper))
    const startedAt = now()
    const found = await findOne(hashes)
    const hash = hashes.find(({ keyHash }) => found && timingSafeEqual(found.keyHash, keyHash))
    if (!found || !hash) throw refuseAs('AUTH001')
    if (remembered.size >= maxRemembered) remembered.clear()
    const until = startedAt + (found.status === 'ACTIVE' ? rememberedMs : freshMs)
    remembered.set(secret, { found, id: idOf(found), until })
    if (hash.pepperVersion < peppers[0].version) renewOnce(found, hashes[0] as KeyHash)
    return unlessSuspended(found)
  }

  /**
   * Towards newer ones only: while a rotation is rolled out, others may still prefer the older. One after the other: each
   * waits for the journal of records, and together they would keep the connections that requests need. One that fails is
   * done the next time that its secret is looked for.
   */
  function renewOnce(found: Found, hash: KeyHash): void {
    const id = idOf(found)
    if (renewing.has(id)) return
    renewing.add(id)
    renewed = renewed
      .then(() => renew(found, hash))
      .catch(() => undefined)
      .finally(() => renewing.delete(id))
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
