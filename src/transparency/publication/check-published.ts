// The audit of published checkpoints: each is of the log as it is now, is signed by keys of the log, and its cosignatures are of its
// text. An intruder who writes the log again has to write these again too, and cannot make the signatures and cosignatures.
import type { Database } from '../../db/database.ts'
import { rootAtSize } from '../log.ts'
import { checkpointTextOf, readCheckpointNote, signedTextOf } from '../note.ts'
import { listPublished, type StoredCheckpoint } from './checkpoints.sql.ts'
import { isCosignature } from './cosignature.ts'
import type { SignatureCheck } from './signatures.ts'

const pageCheckpoints = 100

export type PublishedCheck = {
  found(detail: Record<string, unknown>): void
  unsigned(detail: Record<string, unknown>): void
  /** Undefined: signatures of the log are not checked. */
  signatures: SignatureCheck | undefined
  /** After each piece, with the number of checkpoints. */
  onPiece(checkpoints: number): Promise<void>
}

export async function checkPublished(database: Database, check: PublishedCheck): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: StoredCheckpoint[] = await listPublished(database, after, pageCheckpoints)
    for (const checkpoint of page) {
      const detail = await faultOf(database, checkpoint)
      if (detail) check.found({ size: checkpoint.size, ...detail })
      const unsigned = check.signatures?.faultOfPublished(checkpoint)
      if (unsigned) check.unsigned({ size: checkpoint.size, ...unsigned })
    }
    after = page.at(-1)?.size
    if (page.length > 0) await check.onPiece(page.length)
  }
}

async function faultOf(
  database: Database,
  { size, root, note, cosignatures }: StoredCheckpoint,
): Promise<Record<string, unknown> | undefined> {
  const now = await rootAtSize(database, size)
  if (!now?.equals(root)) return { root: root.toString('base64'), rootNow: now?.toString('base64') ?? null }
  const origin = readCheckpointNote(note)?.origin ?? ''
  const text = signedTextOf(note)
  if (text !== checkpointTextOf({ origin, size, root })) return { note }
  const wrong = cosignatures.find(({ vkey, line }) => !isCosignature(vkey, line, text))
  return wrong && { cosignature: wrong.line, witness: wrong.vkey }
}
