// Checks an API key or a service token: by its form, then by its keyed hash. Keys that were found are cached, and one query keeps
// the whole cache fresh: which keys were suspended recently? It runs several times a second while requests come, and the cache
// is used only while its last result is younger than a second. So a suspension takes effect within a second in every process,
// whether the database answers or not.
//
// The cache is a Map by the whole secret, which hashes it with a seed of this process: its timing reveals nothing about how much
// of a wrong secret is right. A digest would cost as much as the rest of the listener.
import { timingSafeEqual } from 'node:crypto'
import { createBatch } from '../core/batch.ts'
import { refuse } from '../core/errors.ts'
import { createQueue } from '../core/limit.ts'
import { retryScopeOf } from '../db/database.ts'
import { hashKey, type Peppers } from './api-keys.ts'
import type { KeyHash, KeyStatus } from './customers.sql.ts'

/** From the start of the query, so a suspension that commits while it runs is seen in time. */
const freshMs = 900
const refreshAfterMs = 300
const cachedMs = 60_000
/** Longer than a key is cached, by as much as a suspension may take to commit. */
const suspendedWithinMs = 600_000
const maxCached = 10_000
const maxSuspended = 10_000

export type CheckedKey = { keyHash: Buffer; status: KeyStatus }

export type KeyCheckOptions<Found extends CheckedKey> = {
  peppers: Peppers
  /** Decides between well-formed and malformed. */
  pattern: RegExp
  /** Default: the texts of the catalogue. */
  texts?: Record<'INVALID_API_KEY' | 'AUTH001' | 'AUTH003', string>
  find: (hashes: KeyHash[]) => Promise<(Found | null)[]>
  /** The id of the key or token. */
  idOf: (found: Found) => string
  /** The ids of those that were suspended within that time and still are. */
  findSuspended: (withinMs: number, limit: number) => Promise<string[]>
  /** Stores the hash under the newest pepper, for a secret that was found under an older one: only now is the secret known. */
  renew: (found: Found, hash: KeyHash) => Promise<void>
  now?: () => number
}

type Cached<Found> = { found: Found; id: string; until: number }

/** Refuses with INVALID_API_KEY, AUTH001 or AUTH003 (section 5). Returns synchronously when the key is cached. */
export function createKeyCheck<Found extends CheckedKey>(
  options: KeyCheckOptions<Found>,
): (secret: unknown) => Found | Promise<Found> {
  const { peppers, pattern, texts, idOf, renew, now = () => performance.now() } = options
  const cache = new Map<string, Cached<Found>>()
  const renewing = new Set<string>()
  const renewals = createQueue(1)
  /** By all its hashes at once: with one query each, it could be renewed in between and not be found at all. */
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
  let refreshedAt = Number.NEGATIVE_INFINITY
  let isRefreshing = false

  async function refreshSuspended(): Promise<void> {
    isRefreshing = true
    const startedAt = now()
    try {
      const ids = await options.findSuspended(suspendedWithinMs, maxSuspended)
      suspended = new Set(ids)
      // The list was truncated, so the cache cannot be trusted: look every key up.
      if (ids.length < maxSuspended) refreshedAt = startedAt
    } catch {
      // The cache becomes stale and every key is looked up: that query reports what is wrong.
    } finally {
      isRefreshing = false
    }
  }

  function findCached(secret: string): Found | undefined {
    const time = now()
    if (!isRefreshing && time - refreshedAt > refreshAfterMs) refreshSuspended()
    const known = cache.get(secret)
    if (!known || time > known.until || time - refreshedAt > freshMs) return undefined
    if (suspended.has(known.id)) throw refuseAs('AUTH003')
    return known.found
  }

  async function lookUp(secret: string): Promise<Found> {
    const hashes = peppers.map((pepper) => hashKey(secret, pepper))
    const startedAt = now()
    const found = await findOne(hashes)
    const hash = hashes.find(({ keyHash }) => found && timingSafeEqual(found.keyHash, keyHash))
    if (!found || !hash) throw refuseAs('AUTH001')
    if (cache.size >= maxCached) cache.clear()
    const until = startedAt + (found.status === 'ACTIVE' ? cachedMs : freshMs)
    cache.set(secret, { found, id: idOf(found), until })
    if (hash.pepperVersion < peppers[0].version) renewOnce(found, hashes[0] as KeyHash)
    return unlessSuspended(found)
  }

  /**
   * Only towards a newer pepper: during a rollout other processes may still have the older one first. One at a time: each waits
   * for the journal of records, and together they would take the connections that requests need. A failed one is done at the
   * next lookup of its secret.
   */
  function renewOnce(found: Found, hash: KeyHash): void {
    const id = idOf(found)
    if (renewing.has(id)) return
    renewing.add(id)
    renewals
      .run(() => renew(found, hash))
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
    const known = findCached(secret)
    return known ? unlessSuspended(known) : lookUp(secret)
  }
}
