// Publishes checkpoints: at most one in a time, when the log has grown. Witnesses are asked first, without a lock and with a
// time limit; one that is unavailable delays nothing further and is asked again until the next checkpoint. Then the event is
// written, and the file. A process that dies in between leaves a checkpoint that is not published: any process completes it.
import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import type { Tallies } from '../../core/tallies.ts'
import type { Database, Log } from '../../db/database.ts'
import { readCheckpoint } from '../log.sql.ts'
import { consistencyProof } from '../log.ts'
import { type LogSigner, signersOf } from '../note.ts'
import { findHoldingRestore } from '../restored/restores.sql.ts'
import {
  addCosignature,
  beginPublication,
  endPublication,
  findNewestPublication,
  findPublished,
  listCosigned,
  type StoredCheckpoint,
  writeCheckpointEvent,
} from './checkpoints.sql.ts'
import { cosignedNote } from './cosignature.ts'
import { signKeyList } from './key-list.ts'
import { askWitness, type Witness, type WitnessAnswer } from './witnesses.ts'

export type PublicationSettings = {
  witnesses: Witness[]
  everySeconds: number
  /** Undefined: no file. */
  file: string | undefined
}

export type PublicationContext = {
  database: Database
  signer: LogSigner
  settings: PublicationSettings
  /** A request to a witness. */
  post(url: string, body: string, giveUp: AbortSignal): Promise<WitnessAnswer>
  tallies: Tallies
  /** Opens the account that numbers the platform's events, if there is none. */
  openAccount(): Promise<unknown>
  log: Log
}

/** A process that has begun a publication completes it within that time, or has ended. */
const abandonedMs = 60_000
/** For both requests to a witness. */
const witnessLimitMs = 10_000

export function createPublish(
  context: PublicationContext,
  abandonedAfterMs = abandonedMs,
): (stopping: AbortSignal) => Promise<{ more: boolean }> {
  const { database, signer, settings } = context
  let ownSize: number | undefined
  let written: string | undefined

  async function writeNewest(file: string, size: number): Promise<void> {
    const published = await findPublished(database, size)
    const note = published && cosignedNote(published)
    if (note === undefined || note === written) return
    await replaceFile(file, note)
    written = note
  }

  return async (stopping) => {
    if (await findHoldingRestore(database, signer)) return { more: false }
    ownSize = (await begin(context)) ?? ownSize
    const newest = await findNewestPublication(database)
    if (!newest) return { more: false }
    const { size, publishedAt, begunBeforeMs } = newest
    const isOfOther = publishedAt === null && size !== ownSize && begunBeforeMs < abandonedAfterMs
    if (!isOfOther) await complete(context, newest, stopping)
    if (settings.file !== undefined) await writeNewest(settings.file, size)
    return { more: false }
  }
}

/** The size of the tree whose publication has begun; undefined: none is due, or another process has begun it. */
async function begin({ database, signer: { keys }, settings }: PublicationContext): Promise<number | undefined> {
  const head = await readCheckpoint(database)
  if (!head) return undefined
  // Another process with another list of secrets may have signed it.
  const signing = signersOf(head.note, keys)
  // It will sign it again, or another one will publish it, whose keys are in it.
  if (signing.length === 0) return undefined
  const list = signKeyList(
    keys,
    signing.map(({ vkey }) => vkey),
  )
  const isBegun = await beginPublication(database, { note: head.note, keys: list }, settings.everySeconds)
  return isBegun ? head.size : undefined
}

/** Repeated, it asks those witnesses that have not cosigned, and nothing else happens twice. */
async function complete(
  context: PublicationContext,
  checkpoint: StoredCheckpoint,
  stopping: AbortSignal,
): Promise<void> {
  const { database, settings } = context
  const { size, root } = checkpoint
  const missing = settings.witnesses.filter(({ key }) => checkpoint.cosignatures.every(({ vkey }) => vkey !== key.vkey))
  await askWitnesses(context, checkpoint, missing, AbortSignal.any([stopping, AbortSignal.timeout(witnessLimitMs)]))
  // A process that ends leaves the rest to another: the event has the cosignatures.
  if (checkpoint.publishedAt || stopping.aborted) return
  const cosigned = (await findNewestPublication(database)) ?? checkpoint
  await context.openAccount()
  // The next run tries again.
  if (!(await writeCheckpointEvent(database, { size, root, note: cosignedNote(cosigned) }))) return
  await endPublication(database, size)
}

/** All at once: the slowest one decides how long it takes. */
async function askWitnesses(
  { database, post, log, tallies }: PublicationContext,
  { size, note }: StoredCheckpoint,
  witnesses: Witness[],
  giveUp: AbortSignal,
): Promise<void> {
  if (witnesses.length === 0) return
  const known = await listCosigned(
    database,
    witnesses.map(({ key }) => key.vkey),
  )
  const checkpoint = { size, note, proofFrom: (oldSize: number) => consistencyProof(database, oldSize, size) }
  await Promise.all(
    witnesses.map(async (witness) => {
      const { vkey, name } = witness.key
      const knownSize = known.find((each) => each.vkey === vkey)?.size ?? 0
      const send = (url: string, body: string) => post(url, body, giveUp)
      const answer = await askWitness(send, witness, checkpoint, knownSize)
      tallies.cosignatures['line' in answer ? 'received' : answer.isContradiction ? 'contradicted' : 'missing'] += 1
      if ('line' in answer) await addCosignature(database, size, vkey, answer.line)
      else if (answer.isContradiction)
        log.error({ witness: name, size, error: answer.error }, 'a witness has cosigned a larger or another log')
      else log.warn({ witness: name, size, error: answer.error }, 'a witness has not cosigned a checkpoint')
    }),
  )
}

/** For a web server that serves the file meanwhile: it has the old content or the new one. */
async function replaceFile(file: string, content: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(unfinished, content, { flush: true })
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
