// What the transparency log answers: tiles, proofs that an entry is in it, and proofs that a newer log contains an older one.
// A checkpoint is read before the tiles of its proof: tiles only grow, and no hash in them changes.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AssertionFailed, assert } from '../core/assert.ts'
import type { Database } from '../db/database.ts'
import { type Checkpoint, findPlaces, listLeaves, listTiles, readCheckpoint } from './log.sql.ts'
import { type LogKey, type LogSigner, readCheckpointNote, signedByAll } from './note.ts'
import { listNewestCosigned, type StoredCheckpoint } from './publication/checkpoints.sql.ts'
import { validCosignatures } from './publication/cosignature.ts'
import { receiptRefusals } from './receipts/refusals.ts'
import { createRecentPerOwner, type Recent } from './recent.ts'
import { isHeldBack } from './restored/restores.sql.ts'
import {
  consistencyRanges,
  hashBytes,
  hashLeaf,
  hashNode,
  hashOfRange,
  inclusionRanges,
  type LeafRange,
  type TileId,
  tilesOfRanges,
  tileWidth,
} from './tree.ts'

export type ProvenEntry = {
  leaf: string
  /** The index of the leaf, as text: a tree may have more leaves than JSON has exact numbers. */
  index: string
  /** In base64. */
  proof: string[]
}

/** Proofs that are made before other requests get their turn: a few milliseconds, wherever the entries are. */
const proofsAtOnce = 10

/** Looks at several of the newest checkpoints: one may be under way, or signed by processes with other secrets. */
const cosignedAtMost = 5

export type ProvenEntries = { entries: ProvenEntry[]; checkpoint: string; keys: string[] }

/**
 * The entries with their proofs, in the order of their numbers, all under one checkpoint: one that witnesses have cosigned if it
 * has all of them, so that the receipt alone shows what they have seen, otherwise the head. It has the signatures of all keys.
 * `not logged yet`: one of the entries is so new that the worker has not appended it, or there is no such entry.
 */
export async function receiptOfEntries(
  database: Database,
  signer: LogSigner,
  customerId: string,
  entryNumbers: number[],
): Promise<ProvenEntries | 'not logged yet'> {
  const { keys, origin } = signer
  const numbers = [...new Set(entryNumbers)].sort((one, other) => one - other)
  const [places, leaves, cosigned] = await Promise.all([
    findPlaces(database, customerId, numbers, origin),
    listLeaves(database, customerId, numbers),
    listNewestCosigned(database, cosignedAtMost),
  ])
  if (places && isHeldBack(places.restoreId, signer)) throw receiptRefusals.heldBack()
  if (!places || numbers.some((number) => !places.indexes.has(number))) return 'not logged yet'
  const { checkpoint: head, indexes } = places
  const lastIndex = Math.max(...indexes.values())
  const note = findCosigned(cosigned, keys, lastIndex) ?? signedHead(head, keys)
  // What was signed counts, not the columns beside it.
  const checkpoint = readCheckpointNote(note)
  assert(checkpoint, 'the newest note of the transparency log is not a checkpoint')
  const owner = `customer ${customerId}`
  const wanted = numbers.map((number) => {
    const leaf = leaves.get(number)
    assert(leaf !== undefined, `entry ${number} of ${owner} is in the log and not in the ledger`)
    const index = indexes.get(number) as number
    return { number, leaf, index, ranges: inclusionRanges(index, checkpoint.size) }
  })
  const prove = () => proveEntries(database, wanted, checkpoint.root, owner)
  let entries = await prove()
  if (!entries) {
    // The log was replaced by another, as after a failover or restore that lost commits.
    keptHashes.forget(database)
    entries = await prove()
  }
  assert(entries !== null, `the transparency log of ${checkpoint.size} entries has another root than its tiles`)
  return { entries, checkpoint: note, keys: keys.map(({ vkey }) => vkey) }
}

type WantedProof = { number: number; leaf: string; index: number; ranges: LeafRange[] }

/** Null: a proof does not lead to the root. */
async function proveEntries(
  database: Database,
  wanted: WantedProof[],
  root: Buffer,
  owner: string,
): Promise<ProvenEntry[] | null> {
  const rangeOf = (index: number): LeafRange => [index, index + 1]
  const hashOf = await readHashes(
    database,
    wanted.flatMap(({ index, ranges }) => [rangeOf(index), ...ranges]),
    keptHashes.of(database),
  )
  const entries: ProvenEntry[] = []
  for (const [place, { number, leaf, index, ranges }] of wanted.entries()) {
    if (place % proofsAtOnce === proofsAtOnce - 1) await nextTurn()
    const ofLeaf = hashOf(rangeOf(index))
    // Its proof would lead to another root.
    assert(hashLeaf(leaf).equals(ofLeaf), `entry ${number} of ${owner} has other values in the ledger than in the log`)
    const proof = ranges.map(hashOf)
    const reached = proof.reduce((hash, sibling, at) => {
      const isOnTheRight = (ranges[at]?.[0] ?? 0) > index
      return isOnTheRight ? hashNode(hash, sibling) : hashNode(sibling, hash)
    }, ofLeaf)
    if (!reached.equals(root)) return null
    entries.push({ leaf, index: String(index), proof: proof.map((hash) => hash.toString('base64')) })
  }
  return entries
}

/** Among those that have the leaf and a signature by one of the keys: the one with most valid cosignatures, then the newest. */
function findCosigned(checkpoints: StoredCheckpoint[], keys: readonly LogKey[], lastIndex: number): string | undefined {
  const usable = checkpoints.flatMap((checkpoint) => {
    const note = checkpoint.size > lastIndex ? rememberedNote(checkpoint.note, keys) : null
    return note === null ? [] : [{ note, lines: validCosignatures(checkpoint) }]
  })
  const [best] = usable.toSorted((one, other) => other.lines.length - one.lines.length)
  return best && best.lines.length > 0 ? `${best.note}${best.lines.join('')}` : undefined
}

/** While processes with other secrets run, the next one may have a signature by these. */
function signedHead(head: Checkpoint, keys: readonly LogKey[]): string {
  const note = rememberedNote(head.note, keys)
  if (note === null) throw receiptRefusals.signedByOtherKeys()
  return note
}

/** That the log of one size is the beginning of the log of another; null: it never had one of these sizes. */
export async function consistencyProof(database: Database, fromSize: number, toSize: number): Promise<Buffer[] | null> {
  const newest = await readCheckpoint(database)
  if (!newest || fromSize > toSize || toSize > newest.size) return null
  const ranges = consistencyRanges(fromSize, toSize)
  const hashOf = await readHashes(database, ranges)
  return ranges.map(hashOf)
}

/** The root that the log had at a size, computed from its tiles; null: it is not that large, or hashes of it are missing. */
export async function rootAtSize(database: Database, size: number): Promise<Buffer | null> {
  const newest = await readCheckpoint(database)
  if (!newest || size > newest.size) return null
  const whole: LeafRange = [0, size]
  const hashOf = await readHashes(database, [whole])
  try {
    return hashOf(whole)
  } catch (error) {
    // The audit reports it.
    if (error instanceof AssertionFailed) return null
    throw error
  }
}

/** A tile: all 256 hashes, or the first `width` of them; null: the log does not have that many there. */
export async function readTile(
  database: Database,
  level: number,
  tile: number,
  width = tileWidth,
): Promise<Buffer | null> {
  const [found] = await listTiles(database, [{ level, tile }])
  if (!found || found.hashes.length < width * hashBytes) return null
  return found.hashes.subarray(0, width * hashBytes)
}

/** Reads the tiles of these ranges, all in one statement. Each range is hashed once: proofs of neighbours share most of them. */
async function readHashes(
  database: Database,
  ranges: LeafRange[],
  kept?: Recent<Buffer>,
): Promise<(range: LeafRange) => Buffer> {
  const keyOfRange = ([from, to]: LeafRange) => `${from}-${to}`
  const keyOfTile = ({ level, tile }: TileId) => `${level}/${tile}`
  const hashes = new Map(ranges.map((range) => [keyOfRange(range), kept?.get(keyOfRange(range))]))
  const rows = await listTiles(database, tilesOfRanges(ranges.filter((range) => !hashes.get(keyOfRange(range)))))
  const tiles = new Map(rows.map((row) => [keyOfTile(row), row.hashes]))
  return (range) => {
    const known = hashes.get(keyOfRange(range))
    if (known) return known
    const hash = hashOfRange(range, (tile) => tiles.get(keyOfTile(tile)) ?? Buffer.alloc(0))
    hashes.set(keyOfRange(range), hash)
    if (range[1] - range[0] >= keptLeaves) kept?.set(keyOfRange(range), Buffer.alloc(hashBytes, hash))
    return hash
  }
}

/** Ranges of fewer leaves are hashed again. */
const keptLeaves = 4_096
/** Most of those of a log of 30 million entries, each a buffer of its own: one of Node's pool would keep 8 KB. */
const rangesKept = 16_384
/** The hash of a range never changes, and proofs have large ones in common. For receipts alone: checks read what the log has now. */
const keptHashes = createRecentPerOwner<Database, Buffer>(rangesKept)

/** The head, and those that witnesses have cosigned. */
const notesKept = 2 * cosignedAtMost
const keptNotes = createRecentPerOwner<readonly LogKey[], string | null>(notesKept)

/** Checking a signature takes a tenth of the time of a receipt, and the next receipt has most often the same note. */
function rememberedNote(note: string, keys: readonly LogKey[]): string | null {
  return keptNotes.of(keys).getOrMake(note, () => signedByAll(note, keys))
}
