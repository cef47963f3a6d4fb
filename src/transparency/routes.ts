// The transparency log for everyone who holds a checkpoint: the newest one and the published ones, the tiles as C2SP tlog-tiles
// names them, proofs that a log contains an older one, and the keys. It needs no key and says nothing about a customer: all of it
// are hashes. Entries themselves are not served here; they are in the receipts of their owners.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../core/errors.ts'
import { createTimedQueue, createTokenBuckets } from '../core/limit.ts'
import type { Database } from '../db/database.ts'
import { networkOf } from '../http/limits/wrong-key-delay.ts'
import { readCheckpoint } from './log.sql.ts'
import { consistencyProof, readTile } from './log.ts'
import type { LogSigner } from './note.ts'
import { knownKeys, newestNote, publishedCheckpoints } from './publication/published.ts'
import { tileWidth } from './tree.ts'

export type LogRouteParts = { database: Database; signer: LogSigner }

const config = { open: true, documented: 'no API' } as const

/** Anyone may ask, so these reads have few places of their own: they do not take those of customers. */
const atOnce = 4
const mostWaiting = 256
const longestWaitMs = 1_000
/** For each network that asks. */
const rate = { perSecond: 50, burst: 500 }
/** What all ask for is read once in that time. Older keys change with publications alone. */
const newestKeptMs = 1_000
const keysKeptMs = 10_000

/** A tile of a given width never changes in one log, but a restored log has the same addresses. */
const tileAge = 'public, max-age=300'

export function logRoutes(app: FastifyInstance, { database, signer }: LogRouteParts): void {
  const queue = createTimedQueue(atOnce, mostWaiting, longestWaitMs)
  function busy(): never {
    throw refuse('SVC001', { retryAfterSeconds: 1 })
  }
  const queued = async <Value>(work: () => Promise<Value>): Promise<Value> =>
    queue.isFull() ? busy() : queue.run(work, busy)
  const buckets = createTokenBuckets(rate)
  async function limited({ ip }: FastifyRequest): Promise<void> {
    if (!buckets.take(networkOf(ip))) busy()
  }
  const options = { config, preHandler: limited }
  const readNewest = keepFor(newestKeptMs, () => queued(() => newestNote(database, signer)))
  const readPublished = keepFor(newestKeptMs, () => queued(() => publishedCheckpoints(database, null)))
  const readKeys = keepFor(keysKeptMs, () => queued(() => knownKeys(database, signer.keys)))

  app.get('/log/checkpoint', options, async (_request, reply) => {
    const note = await readNewest()
    return note === null ? refuseUnknown() : sendText(reply, note)
  })

  app.get<{ Querystring: { after?: string } }>('/log/checkpoints', options, async (request, reply) => {
    const { after } = request.query
    const afterSize = readSize(after)
    if (after !== undefined && afterSize === null) return refuseUnknown()
    const read = afterSize === null ? readPublished : () => queued(() => publishedCheckpoints(database, afterSize))
    return reply.send({ checkpoints: await read() })
  })

  app.get('/log/keys', options, async (_request, reply) => {
    const vkeys = await readKeys()
    return sendText(reply, vkeys.map((vkey) => `${vkey}\n`).join(''))
  })

  app.get<{ Params: { '*': string } }>('/log/tile/*', options, async (request, reply) => {
    const place = readTilePath(request.params['*'])
    const hashes = place && (await queued(() => readTile(database, place.level, place.tile, place.width)))
    if (!hashes) return refuseUnknown()
    return reply.type('application/octet-stream').header('cache-control', tileAge).send(hashes)
  })

  app.get<{ Querystring: { from?: string; to?: string } }>('/log/consistency', options, async (request, reply) => {
    const { from, to } = request.query
    const fromSize = readSize(from)
    const proven = await queued(async () => {
      const toSize = to === undefined ? ((await readCheckpoint(database))?.size ?? null) : readSize(to)
      if (fromSize === null || toSize === null) return null
      const proof = await consistencyProof(database, fromSize, toSize)
      return proof && { toSize, proof }
    })
    if (!proven) return refuseUnknown()
    const proof = proven.proof.map((hash) => hash.toString('base64'))
    return reply.send({ from: String(fromSize), to: String(proven.toSize), proof })
  })
}

/** One read for all who ask within the time. A failure is not kept. */
function keepFor<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let kept: { value: Promise<Value>; until: number } | undefined
  return () => {
    if (kept && performance.now() < kept.until) return kept.value
    const reading = { value: read(), until: performance.now() + keptMs }
    reading.value.catch(() => {
      if (kept === reading) kept = undefined
    })
    kept = reading
    return reading.value
  }
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send(text)
}

function refuseUnknown(): never {
  throw refuse('NOT000')
}

function readSize(text: string | undefined): number | null {
  return /^(0|[1-9]\d{0,14})$/.test(text ?? '') ? Number(text) : null
}

export type TilePlace = { level: number; tile: number; width: number }

/** `0/x001/x234/067` or, of the first 34 hashes, `0/x001/x234/067.p/34`; null: anything else. */
export function readTilePath(path: string): TilePlace | null {
  const [, level = '', digits = '', width] =
    /^(\d|[1-5]\d|6[0-3])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? []
  const tile = Number(digits.replaceAll(/[x/]/g, ''))
  const isShortest = digits.length === 3 || !digits.startsWith('x000')
  if (!level || !isShortest || Number(width ?? 1) >= tileWidth) return null
  return { level: Number(level), tile, width: width === undefined ? tileWidth : Number(width) }
}
