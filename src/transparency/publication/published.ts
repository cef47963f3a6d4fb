// What is known of the log besides its newest tree: published checkpoints with their cosignatures, and the keys of their time.
import type { Database } from '../../db/database.ts'
import { readCheckpoint } from '../log.sql.ts'
import { type LogKey, type LogSigner, signedTextOf } from '../note.ts'
import { receiptRefusals } from '../receipts/refusals.ts'
import { findHoldingRestore } from '../restored/restores.sql.ts'
import { findPublished, listKeyLists, listPublished } from './checkpoints.sql.ts'
import { cosignedNote } from './cosignature.ts'
import { readKeyList } from './key-list.ts'

const mostAtOnce = 100

/**
 * The newest checkpoint of all; with cosignatures when it is a published one. Null: there is none yet. Not while the log is held
 * back after a restore: its readers may have seen a larger one of that name.
 */
export async function newestNote(database: Database, signer: LogSigner): Promise<string | null> {
  if (await findHoldingRestore(database, signer)) throw receiptRefusals.heldBack()
  const newest = await readCheckpoint(database)
  if (!newest) return null
  const published = await findPublished(database, newest.size)
  // After a rotation of the key the newest one is signed again. Cosignatures are about its text, without the signatures.
  const isOfText = published && signedTextOf(published.note) === signedTextOf(newest.note)
  return isOfText ? cosignedNote({ ...published, note: newest.note }) : newest.note
}

export type PublishedCheckpoint = { size: string; root: string; note: string; publishedAt: string | null }

/** In the order of their sizes: the next ones after a size, or the newest. */
export async function publishedCheckpoints(database: Database, after: number | null): Promise<PublishedCheckpoint[]> {
  const rows = await listPublished(database, after, mostAtOnce)
  return rows.map((row) => ({
    size: String(row.size),
    root: row.root.toString('base64'),
    note: cosignedNote(row),
    publishedAt: row.publishedAt?.toISOString() ?? null,
  }))
}

/** The keys that sign now, in the order of KEY_PEPPER, then those of published checkpoints from before, each named by one that came after it. */
export async function knownKeys(database: Database, keys: readonly LogKey[]): Promise<string[]> {
  const known = new Set(keys.map(({ vkey }) => vkey))
  for (const list of await listKeyLists(database)) {
    for (const vkey of readKeyList(list, [...known])) known.add(vkey)
  }
  return [...known]
}
