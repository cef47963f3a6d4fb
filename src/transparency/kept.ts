// What was kept of the log elsewhere: checkpoints, alone or in receipts, and the entries of receipts. The current log has to
// contain them, and a log that only grew may still contain a second, other leaf of an entry: so an entry of a receipt is
// compared with the ledger and with its place, not with the tree alone. Signatures are checked before, by the caller.
import type { Database } from '../db/database.ts'
import { findPlaces, listLeaves } from './log.sql.ts'
import { readTile, rootAtSize } from './log.ts'
import { readCheckpointNote } from './note.ts'
import { hashBytes, hashLeaf, tileWidth } from './tree.ts'

/** An entry of a receipt: its leaf, and where the leaf was in the log. */
export type KeptEntry = { customerId: string; entryNumber: number; leaf: string; index: number }

/** A checkpoint that a customer, a witness or an operator has kept; `from` names where it was read. */
export type KeptCheckpoint = { from: string; size: number; root: Buffer; entries: KeptEntry[] }

/** The checkpoints of a file: one alone, that of a receipt, or both of a consistency proof. Null: it has none. */
export function readKeptCheckpoints(from: string, text: string): KeptCheckpoint[] | null {
  const { notes, entries } = text.startsWith('{') ? contentOf(text) : { notes: [text], entries: [] }
  const checkpoints = notes.map((note) => readCheckpointNote(note))
  if (checkpoints.length === 0 || checkpoints.includes(null) || !entries) return null
  return checkpoints.flatMap((each) => (each ? [{ from, size: each.size, root: each.root, entries }] : []))
}

/** Entries are null when one of them cannot be read. */
function contentOf(json: string): { notes: string[]; entries: KeptEntry[] | null } {
  try {
    const { checkpoint, from, to, entries = [] } = JSON.parse(json) as Record<string, unknown>
    const notes = [checkpoint, from, to].filter((note) => typeof note === 'string')
    const read = Array.isArray(entries) ? entries.map(readEntry) : [null]
    return { notes, entries: read.includes(null) ? null : read.filter((entry) => entry !== null) }
  } catch {
    return { notes: [], entries: null }
  }
}

function readEntry(member: unknown): KeptEntry | null {
  const { leaf, index } = Object(member) as Record<string, unknown>
  const [, customerId, entryNumber] =
    /^prepaid-credits\/entry\/v1\ncustomer ([0-9a-f-]{36})\nentry ([1-9]\d{0,14})\n/.exec(String(leaf)) ?? []
  if (typeof leaf !== 'string' || customerId === undefined || !/^(0|[1-9]\d{0,14})$/.test(String(index))) return null
  return { customerId, entryNumber: Number(entryNumber), leaf, index: Number(index) }
}

export type KeptFindings = {
  checkpoint(detail: Record<string, unknown>): void
  entry(detail: Record<string, unknown>, subject: { customerId: string; entryNumber: number }): void
}

/** A few tiles for each file. */
export async function checkKept(
  database: Database,
  kept: readonly KeptCheckpoint[],
  sizeNow: number,
  found: KeptFindings,
): Promise<void> {
  for (const { from, size, root, entries } of kept) {
    const now = await rootAtSize(database, size)
    if (!now?.equals(root)) {
      const hasNow = now ? { rootNow: now.toString('base64') } : { sizeNow }
      found.checkpoint({ checkpoint: from, size, root: root.toString('base64'), ...hasNow })
    }
    for (const entry of entries) {
      const { customerId, entryNumber } = entry
      const detail = await differenceOf(database, entry)
      if (detail) found.entry({ receipt: from, ...detail }, { customerId, entryNumber })
    }
  }
}

/** Compares an entry in a receipt, the log and the ledger; null: no difference. */
async function differenceOf(
  database: Database,
  { customerId, entryNumber, leaf, index }: KeptEntry,
): Promise<Record<string, unknown> | null> {
  const places = await findPlaces(database, customerId, [entryNumber])
  const inLedger = (await listLeaves(database, customerId, [entryNumber])).get(entryNumber)
  const tile = await readTile(database, 0, Math.floor(index / tileWidth), (index % tileWidth) + 1)
  const keptHash = hashLeaf(leaf).toString('base64')
  const loggedHash = tile?.subarray(-hashBytes).toString('base64') ?? null
  const ledgerHash = inLedger === undefined ? null : hashLeaf(inLedger).toString('base64')
  const indexNow = places?.indexes.get(entryNumber) ?? null
  const isSame = keptHash === loggedHash && keptHash === ledgerHash && index === indexNow
  return isSame ? null : { index, indexNow, keptHash, loggedHash, ledgerHash }
}
