// Verifies several files, and that their checkpoints are of one history: each is proven to be the beginning of the largest, by a
// consistency proof among the files or by one of the log. No two of them may say different things about one entry, and each
// witness whose key is given must have cosigned what they say. For the programs that verify: `credits verify`, and
// bin/verify.mjs of the package.
import { type Checkpoint, readKey, type Verified, type VerifiedEntry, verify, verifyConsistency } from './verify.js'

export type NamedFile = { name: string; content: Uint8Array }

/** `keys`: verifier keys that are trusted. `log`: where the log has `/checkpoint`, `/checkpoints`, `/consistency` and `/keys`. */
export type VerifyOptions = { keys: readonly string[]; log?: string | undefined }

/** What does not apply to a file is null. */
export type FileReport = {
  file: string
  result: string
  about: string | null
  entries: number | null
  sum: number | null
  balance: number | null
  checkpointSize: number | null
  root: string | null
  signedBy: string | null
  cosignedBy: string | null
}

/** `ok`: verified, by a key that was given. Files that are consistent prove nothing about who has signed them. */
export type VerifyReport = { ok: boolean; result: VerifyResult; key: string; history: string; files: FileReport[] }
export type VerifyResult = Verified['result'] | 'not verified'
export const signerNotKnown = 'consistent, signer not known' satisfies VerifyResult

/** Exit codes of the programs that verify; 2 is an invalid command line. */
export const exitCodes: Record<VerifyResult, number> = { verified: 0, 'not verified': 1, [signerNotKnown]: 3 }

const answerLimitMs = 10_000

/** Throws only for keys that are no verifier keys. */
export async function verifyFiles(given: readonly NamedFile[], options: VerifyOptions): Promise<VerifyReport> {
  const files = given.map(({ name, content }) => ({ name, text: textOf(content) }))
  const log = options.log?.replace(/\/+$/, '')
  const trusted = await Promise.all(options.keys.map(readKey))
  const isPinned = trusted.some(({ isWitness }) => !isWitness)
  const witnesses = trusted.filter(({ isWitness }) => isWitness).map(({ vkey }) => vkey)
  const keys = [...options.keys]
  let unreachable: string | undefined
  try {
    if (log !== undefined) files.push({ name: `${log}/checkpoint`, text: await read(log, '/checkpoint') })
    // Any two files are compared by the keys of all: a receipt brings those that a checkpoint of the same log needs.
    if (!isPinned) keys.push(...(await validKeys(files.flatMap(({ text }) => keysIn(text)))))
    if (!isPinned && log !== undefined) keys.push(...(await validKeys((await read(log, '/keys')).split('\n'))))
    if (log !== undefined) for (const vkey of witnesses) files.push(...(await newestCosigned(log, vkey, keys)))
  } catch (error) {
    unreachable = `the log did not answer: ${sentenceOf(error)}`
  }
  // A receipt and the log may give the same key.
  const known = [...new Set(keys)]
  const verified: Verified[] = []
  const reports: FileReport[] = []
  for (const { name, text } of files) {
    try {
      const found = await verify(text ?? refuseBytes(), known)
      verified.push(found)
      reports.push(reportOf(name, found, isPinned))
    } catch (error) {
      reports.push({ ...nothing, file: name, result: `NOT VERIFIED: ${sentenceOf(error)}` })
    }
  }
  const isEach = verified.length === files.length
  const { isOne, history } =
    unreachable || !isEach
      ? { isOne: false, history: unreachable ?? 'not compared' }
      : await compare(verified, witnesses, log)
  const key = isPinned ? 'given' : 'not given: it was taken from the files or the log; give the key you know with --key'
  const result = !isEach || !isOne ? 'not verified' : isPinned ? 'verified' : signerNotKnown
  return { ok: result === 'verified', result, key, history, files: reports }
}

function textOf(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}

function refuseBytes(): never {
  throw new Error('the file is not UTF-8 text')
}

/** The keys in a receipt, unchecked. */
function keysIn(text: string | undefined): unknown[] {
  try {
    const { keys } = JSON.parse(text ?? '')
    return Array.isArray(keys) ? keys : []
  } catch {
    return []
  }
}

/** The keys of logs among them. */
async function validKeys(list: unknown[]): Promise<string[]> {
  const read = await Promise.all(list.map(async (each) => readKey(each as string).catch(() => undefined)))
  return [...new Set(read.flatMap((key) => (key && !key.isWitness ? [key.vkey] : [])))]
}

async function read(log: string, path: string): Promise<string> {
  const answer = await fetch(`${log}${path}`, { signal: AbortSignal.timeout(answerLimitMs) })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
  return answer.text()
}

/** The newest published checkpoint that the witness has cosigned; none where it did not. */
async function newestCosigned(log: string, witness: string, keys: string[]): Promise<{ name: string; text: string }[]> {
  const { checkpoints } = JSON.parse(await read(log, '/checkpoints')) as { checkpoints: { note: string }[] }
  for (const { note } of checkpoints.reverse()) {
    const found = await verify(note, keys).catch(() => undefined)
    const [checkpoint] = found?.kind === 'checkpoint' ? found.checkpoints : []
    if (checkpoint?.signed.some(({ vkey }) => vkey === witness))
      return [{ name: `${log}/checkpoints of ${checkpoint.size} entries`, text: note }]
  }
  return []
}

type Comparison = { isOne: boolean; history: string }

async function compare(verified: Verified[], witnesses: string[], log: string | undefined): Promise<Comparison> {
  const { isOne, history } = await compareCheckpoints(verified, log)
  const problem = isOne ? (contradictionIn(verified) ?? unseenBy(witnesses, verified)) : undefined
  return { isOne: isOne && problem === undefined, history: problem ?? history }
}

/** A log that only grows can still have two leaves for one entry. Two receipts of that entry are the proof. */
function contradictionIn(verified: Verified[]): string | undefined {
  const seen = new Map<string, VerifiedEntry>()
  for (const each of verified.flatMap(({ entries }) => entries)) {
    const before = seen.get(`${each.customer} ${each.entry}`) ?? each
    if (before.leaf !== each.leaf || before.index !== each.index)
      return `two versions of entry ${each.entry} of customer ${each.customer}: at index ${before.index} and ${each.index}`
    seen.set(`${each.customer} ${each.entry}`, each)
  }
  return undefined
}

/** All are of one history, so what is below the largest checkpoint that a witness has cosigned is what it has seen. */
function unseenBy(witnesses: string[], verified: Verified[]): string | undefined {
  const checkpoints = verified.flatMap((file) => file.checkpoints)
  for (const witness of witnesses) {
    const cosigned = checkpoints.filter(({ signed }) => signed.some(({ vkey }) => vkey === witness))
    if (cosigned.length === 0) return `the witness ${witness} has cosigned none of the checkpoints`
    const isSeen = ({ index }: VerifiedEntry) => cosigned.some(({ size }) => index < size)
    const unseen = verified.flatMap(({ entries }) => entries).find((each) => !isSeen(each))
    if (unseen)
      return `the witness ${witness} has not cosigned a checkpoint with the entry at index ${unseen.index} yet`
  }
  return undefined
}

async function compareCheckpoints(verified: Verified[], log: string | undefined): Promise<Comparison> {
  const checkpoints = verified.flatMap((file) => file.checkpoints)
  const [newest, ...older] = checkpoints.sort((one, other) =>
    one.size < other.size ? 1 : one.size > other.size ? -1 : 0,
  )
  if (!newest || older.length === 0) return { isOne: true, history: 'one checkpoint: nothing to compare it with' }
  const links = verified.flatMap(({ kind, checkpoints: [from, to] }) =>
    kind === 'consistency proof' ? [{ from, to }] : [],
  )
  const proven = [newest]
  try {
    for (const each of older) {
      for (const other of checkpoints) if (other.size === each.size) await verifyConsistency(each, other, [])
      const isLinked = links.some(({ from, to }) => isSame(from, each) && proven.some((one) => isSame(to, one)))
      if (!isLinked && !proven.some((one) => isSame(one, each))) await proveByLog(log, each, newest)
      proven.push(each)
    }
    return {
      isOne: true,
      history: `one history: ${checkpoints.length} checkpoints, the largest of ${newest.size} entries`,
    }
  } catch (error) {
    return { isOne: false, history: sentenceOf(error) }
  }
}

const isSame = (one: Checkpoint | undefined, other: Checkpoint) => one?.size === other.size && one.root === other.root

async function proveByLog(log: string | undefined, from: Checkpoint, to: Checkpoint): Promise<void> {
  const sizes = `${from.size} and ${to.size} entries`
  if (log === undefined) throw new Error(`not proven to be one history: checkpoints of ${sizes}; give --log`)
  const answer = await read(log, `/consistency?from=${from.size}&to=${to.size}`).catch((error) => {
    throw new Error(`the log proves no history of ${sizes}: ${sentenceOf(error)}`)
  })
  await verifyConsistency(from, to, JSON.parse(answer).proof)
}

const nothing: FileReport = {
  file: '',
  result: '',
  about: null,
  entries: null,
  sum: null,
  balance: null,
  checkpointSize: null,
  root: null,
  signedBy: null,
  cosignedBy: null,
}

function reportOf(file: string, found: Verified, isPinned: boolean): FileReport {
  const { kind, subject, entries, checkpoints } = found
  const newest = checkpoints.at(-1)
  const namesOf = (isWitness: boolean) =>
    newest?.signed
      .filter((each) => each.isWitness === isWitness)
      .map(({ vkey, time }) => `${vkey}${time === null ? '' : ` at ${secondsOf(time)}`}`)
      .join(', ') || null
  return {
    file,
    result: isPinned ? `verified ${kind}` : `consistent ${kind}, signer not known`,
    about: subject ? subjectOf(subject) : null,
    entries: kind === 'receipt' ? entries.length : null,
    sum: kind === 'receipt' ? Number(entries.reduce((sum, { delta }) => sum + delta, 0n)) : null,
    balance: kind === 'receipt' ? Number(entries.at(-1)?.balance) : null,
    checkpointSize: Number(newest?.size),
    root: newest?.root ?? null,
    signedBy: namesOf(false),
    cosignedBy: namesOf(true),
  }
}

function subjectOf(subject: NonNullable<Verified['subject']>): string {
  if ('order' in subject) return `order ${subject.order}`
  if ('reference' in subject) return `reference ${subject.reference} of customer ${subject.customer}`
  const { customer, from, to } = subject.statement
  return `entries ${from} to ${to} of customer ${customer}`
}

/** The largest time that a date can have is far below the largest that a witness can sign. */
function secondsOf(time: bigint): string {
  return time < 253_402_300_800n ? new Date(Number(time) * 1_000).toISOString() : `second ${time}`
}

function sentenceOf(error: unknown): string {
  const { message = String(error), cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}
