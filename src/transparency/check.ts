// The audit of the transparency log: its tree is whole, every leaf is the entry that the ledger has now, no entry was passed
// over, and checkpoints that were kept elsewhere are of this log. Reads in pieces while the service runs: the head first, then
// what is below it, which no longer changes.
import { leastUuid } from '../core/ids.ts'
import { type Database, isTooSlow } from '../db/database.ts'
import { groupsOf } from '../db/groups.ts'
import { findHead, type LogHead, markOf } from './append.sql.ts'
import { type LoggedRun, listChangedRuns, listLagging, listLoggedRuns, listPassed } from './check.sql.ts'
import { checkKept, type KeptCheckpoint } from './kept.ts'
import { listLeaves, listTiles } from './log.sql.ts'
import { checkpointTextOf, readCheckpointNote, type Secret } from './note.ts'
import { checkPublished } from './publication/check-published.ts'
import { createSignatureCheck } from './publication/signatures.ts'
import { growTree, hashBytes, hashLeaf, rootOfEdge, type TileId, type TreeEdge, tileWidth } from './tree.ts'

export type LogRule = { invariant: string; rule: string; isLiveness?: true }

const rule = (invariant: string, text: string): LogRule => ({ invariant, rule: text })

export const logRules = {
  tree: rule('L-1', 'the tree of the transparency log is that of its leaves'),
  head: rule('L-1', 'the checkpoint of the transparency log is that of its tree'),
  leaf: rule('L-2', 'every entry in the transparency log is as the ledger has it'),
  runs: rule('L-2', 'every leaf of the transparency log is one entry'),
  skipped: rule('L-3', 'the transparency log has passed over no entry'),
  late: { ...rule('L-3', 'every entry is in the transparency log within ten minutes'), isLiveness: true },
  published: rule('L-5', 'every published checkpoint is of the transparency log, with cosignatures of its text'),
  signed: rule('L-6', 'every checkpoint of the transparency log is signed by its keys, and so is its list of keys'),
  kept: rule('L-4', 'the transparency log contains the checkpoint that was kept'),
  keptEntry: rule('L-4', 'every entry of a receipt that was kept is so in ledger and transparency log, at its place'),
} satisfies Record<string, LogRule>

const dueMs = 600_000
/** Tiles of leaves that are compared at once: half a second at most. */
const pieceTiles = 40
const pageCustomers = 5_000

export type LogCheckOptions = {
  found(broken: LogRule, detail: Record<string, unknown>, subject?: { customerId: string; entryNumber: number }): void
  /** After each piece, with the number of leaves that were compared with the ledger, or of published checkpoints. */
  onPiece(compared: { leaves?: number; checkpoints?: number }): Promise<void>
  kept?: readonly KeptCheckpoint[]
  /** The secrets of KEY_PEPPER; undefined: signatures are not checked. */
  peppers?: readonly Secret[] | undefined
}

/** Returns how many checkpoints have a key that is not known; null: no signature was checked. */
export async function checkLog(
  database: Database,
  { found, onPiece, kept = [], peppers }: LogCheckOptions,
): Promise<number | null> {
  const head = await findHead(database, 0)
  const signatures = peppers && (await createSignatureCheck(database, peppers))
  // First, because it takes a few tiles of what takes minutes below, which checks these tiles.
  await checkKept(database, kept, head?.size ?? 0, {
    checkpoint: (detail) => found(logRules.kept, detail),
    entry: (detail, subject) => found(logRules.keptEntry, detail, subject),
  })
  if (head) {
    await checkTree(database, head, { found, onPiece })
    const note = readCheckpointNote(head.note)
    const text = note && checkpointTextOf({ ...note, size: head.size, root: head.root })
    if (!text || !head.note.startsWith(text)) found(logRules.head, { size: head.size, note: head.note })
  }
  for (const group of groupsOf(database)) await checkPassed(database, group, head, { found, onPiece })
  await checkPublished(database, {
    found: (detail) => found(logRules.published, detail),
    unsigned: (detail) => found(logRules.signed, detail),
    signatures,
    onPiece: (checkpoints) => onPiece({ checkpoints }),
  })
  const unsigned = head && signatures?.faultOfHead(head.note)
  if (unsigned) found(logRules.signed, { size: head.size, ...unsigned })
  return signatures?.unknownSigners() ?? null
}

type Checking = Pick<LogCheckOptions, 'found' | 'onPiece'>

/** Grows the tree again from its leaves, and compares each piece with the stored tiles, the leaves with the ledger. */
async function checkTree(database: Database, head: LogHead, { found, onPiece }: Checking): Promise<void> {
  let edge: TreeEdge = { size: 0, hashes: [] }
  let tiles = pieceTiles
  while (edge.size < head.size) {
    const to = Math.min(head.size, edge.size + tiles * tileWidth)
    const leaves = await readLeafHashes(database, edge.size, to)
    if (leaves.length !== (to - edge.size) * hashBytes) {
      return found(logRules.tree, { level: 0, tile: Math.floor((edge.size + leaves.length / hashBytes) / tileWidth) })
    }
    try {
      await checkLeaves(database, edge.size, leaves, found)
    } catch (error) {
      // The disk may be cold: entries of a piece are all over the ledger.
      if (!isTooSlow(error) || tiles === 1) throw error
      tiles = Math.ceil(tiles / 4)
      continue
    }
    const grown = growTree(edge, leaves)
    const above = grown.growth.filter(({ level }) => level > 0)
    const stored = await listTiles(database, above)
    for (const { level, tile, isNew, added } of above) {
      const offset = isNew ? 0 : (edge.hashes[level]?.length ?? 0)
      const hashes = stored.find((each) => each.level === level && each.tile === tile)?.hashes
      if (!hashes?.subarray(offset, offset + added.length).equals(added)) found(logRules.tree, { level, tile })
    }
    edge = grown.edge
    await onPiece({ leaves: leaves.length / hashBytes })
  }
  const root = rootOfEdge(edge)
  if (!root.equals(head.root)) {
    found(logRules.head, { size: head.size, root: head.root.toString('base64'), rootOfTree: root.toString('base64') })
  }
}

/** Those that are there, up to the first that is missing. */
async function readLeafHashes(database: Database, from: number, to: number): Promise<Buffer> {
  const wanted: TileId[] = []
  for (let tile = from / tileWidth; tile * tileWidth < to; tile += 1) wanted.push({ level: 0, tile })
  const tiles = new Map((await listTiles(database, wanted)).map(({ tile, hashes }) => [tile, hashes]))
  const parts: Buffer[] = []
  for (const { tile } of wanted) {
    const width = Math.min(tileWidth, to - tile * tileWidth)
    const hashes = tiles.get(tile)?.subarray(0, width * hashBytes) ?? Buffer.alloc(0)
    parts.push(hashes)
    if (hashes.length < width * hashBytes) break
  }
  return Buffer.concat(parts)
}

/** What the runs say about these leaves, and whether the ledger has the same. */
async function checkLeaves(
  database: Database,
  from: number,
  leaves: Buffer,
  found: LogCheckOptions['found'],
): Promise<void> {
  const to = from + leaves.length / hashBytes
  const runs = await listLoggedRuns(database, from, to)
  let next = from
  for (const { customerId, firstLeaf, firstEntry, lastEntry, isNext } of runs) {
    if (firstLeaf === next) next += lastEntry - firstEntry + 1
    if (!isNext) found(logRules.runs, { firstLeaf }, { customerId, entryNumber: firstEntry })
  }
  if (next !== to) found(logRules.runs, { fromLeaf: from, toLeaf: to, leavesWithEntries: next - from })
  const logged = runs.map(({ customerId, firstEntry, lastEntry, firstLeaf }) => {
    const at = (firstLeaf - from) * hashBytes
    const hashes = leaves.subarray(at, at + (lastEntry - firstEntry + 1) * hashBytes)
    return { customerId, firstEntry, lastEntry, hashes }
  })
  for (const { customerId, firstEntry } of await listChangedRuns(database, logged)) {
    const run = logged.find((each) => each.customerId === customerId && each.firstEntry === firstEntry)
    if (run) await compareEntries(database, run, found)
  }
}

async function compareEntries(database: Database, run: LoggedRun, found: LogCheckOptions['found']): Promise<void> {
  const { customerId, firstEntry, lastEntry, hashes } = run
  const numbers = Array.from({ length: lastEntry - firstEntry + 1 }, (_, at) => firstEntry + at)
  const leaves = await listLeaves(database, customerId, numbers)
  for (const [at, entryNumber] of numbers.entries()) {
    const leaf = leaves.get(entryNumber)
    const ledgerHash = leaf === undefined ? null : hashLeaf(leaf).toString('base64')
    const loggedHash = hashes.subarray(at * hashBytes, (at + 1) * hashBytes).toString('base64')
    if (ledgerHash !== loggedHash) found(logRules.leaf, { loggedHash, ledgerHash }, { customerId, entryNumber })
  }
}

async function checkPassed(
  database: Database,
  group: Database,
  head: LogHead | null,
  { found, onPiece }: Checking,
): Promise<void> {
  const mark = markOf(head?.marks ?? {}, database, group)
  let after: string | null = leastUuid
  /** All customers of a group whose entries the log has not come to are one finding: after the upgrade that is every one. */
  const waiting: { customerId: string; entryNumber: number }[] = []
  while (after !== null) {
    const page = await listPassed(group, { after, limit: pageCustomers, mark, dueMs })
    for (const { customerId, entryNumber, isSkipped } of await listLagging(database, page)) {
      const subject = { customerId, entryNumber }
      if (isSkipped) found(logRules.skipped, { mark }, subject)
      else waiting.push(subject)
    }
    after = page.last
    await onPiece({})
  }
  if (waiting.length > 0) found(logRules.late, { appendedUpTo: mark, customersWaiting: waiting.length }, waiting[0])
}
