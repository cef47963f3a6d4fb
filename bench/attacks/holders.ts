// Holders of proofs: while the real job appends the books to the log, batch by batch, each checkpoint is kept, and a receipt of
// a random entry under it. Later a holder audits the log with what was kept.
import type pg from 'pg'
import { verifyFiles } from '../../client/src/verify/files.ts'
import type { Random } from '../../harness/random.ts'
import type { Database } from '../../src/db/database.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { checkLog } from '../../src/transparency/check.ts'
import { readKeptCheckpoints } from '../../src/transparency/kept.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { consistencyProof, receiptOfEntries } from '../../src/transparency/log.ts'
import { type LogSigner, readCheckpointNote } from '../../src/transparency/note.ts'

/** A checkpoint, or a receipt with its checkpoint. */
export type Kept = { what: 'checkpoint' | 'receipt'; size: number; text: string }

export type Sealed = { kept: [Kept, ...Kept[]]; size: number; appendedMs: number }

/** Appends all entries there are. `batch`: entries between two checkpoints. */
export async function sealBooks(
  client: pg.ClientBase,
  database: Database,
  signer: LogSigner,
  random: Random,
  batch?: number,
): Promise<Sealed> {
  const append = createAppendToLog(database, signer, batch === undefined ? {} : { batch })
  const kept: Kept[] = []
  let [size, appendedMs] = [0, 0]
  for (let more = true; more; ) {
    const startedAt = performance.now()
    more = (await append()).more
    appendedMs += performance.now() - startedAt
    const checkpoint = await readCheckpoint(database)
    if (!checkpoint || checkpoint.size === size) continue
    size = checkpoint.size
    kept.push({ what: 'checkpoint', size, text: checkpoint.note })
    kept.push({ what: 'receipt', size, text: await receiptText(client, database, signer, random.integer(0, size - 1)) })
  }
  const [first, ...others] = kept
  if (!first) throw new Error('there is nothing to append')
  return { kept: [first, ...others], size, appendedMs }
}

const placeText = `
  select customer_id as customer, first_entry + $1 - first_leaf as number
  from log_runs where first_leaf <= $1 order by first_leaf desc limit 1`

async function receiptText(client: pg.ClientBase, database: Database, signer: LogSigner, leaf: number) {
  const { rows } = await client.query<{ customer: string; number: number }>(placeText, [leaf])
  const { customer = '', number = 0 } = rows[0] ?? {}
  const proven = await receiptOfEntries(database, signer, customer, [number])
  if (proven === 'not logged yet') throw new Error(`leaf ${leaf} is not logged`)
  const subject = { statement: { customer, from: number, to: number } }
  return JSON.stringify({ format: 'prepaid-credits/receipt/v1', subject, ...proven })
}

/**
 * What the holder of a receipt does without the database: gets a receipt of the same entries as the log has them now, and
 * verifies both together. Null: they are of one history and say the same.
 */
export async function verifyAgain(database: Database, signer: LogSigner, kept: Kept): Promise<string | null> {
  const { subject, checkpoint: from } = JSON.parse(kept.text)
  const { customer, from: first, to: last } = subject.statement
  const numbers = Array.from({ length: last - first + 1 }, (_, place) => first + place)
  const now = await receiptOfEntries(database, signer, customer, numbers)
  if (now === 'not logged yet') return now
  const size = readCheckpointNote(now.checkpoint)?.size ?? 0
  const proof = (await consistencyProof(database, kept.size, size)) ?? []
  const hashes = proof.map((hash) => hash.toString('base64'))
  const files = [
    kept.text,
    JSON.stringify({ format: 'prepaid-credits/receipt/v1', subject, ...now }),
    JSON.stringify({ format: 'prepaid-credits/consistency/v1', from, to: now.checkpoint, proof: hashes }),
  ].map((text, place) => ({ name: `file ${place + 1}`, content: Buffer.from(text) }))
  const report = await verifyFiles(files, { keys: signer.keys.map(({ vkey }) => vkey) })
  return report.ok ? null : [report.history, ...report.files.map(({ result }) => result)].join('; ')
}

class Found extends Error {
  override name = 'Found'
}

/**
 * The function of `credits audit --checkpoint` about the log, up to the first finding: the text of the rule that is broken.
 * Null: nothing is wrong.
 */
export async function findFirst(database: Database, ...all: Kept[]): Promise<string | null> {
  const kept = all.flatMap(({ what, text }) => readKeptCheckpoints(what, text) ?? [])
  if (kept.length < all.length) throw new Error('what was kept has no checkpoint')
  try {
    await checkLog(database, {
      kept,
      found({ rule, isLiveness }) {
        if (!isLiveness) throw new Found(rule)
      },
      onPiece: async () => undefined,
    })
    return null
  } catch (error) {
    if (error instanceof Found) return error.message
    throw error
  }
}
