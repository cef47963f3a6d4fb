// The client of C2SP tlog-witness: gives a witness a checkpoint with the proof that it continues the last one of that witness, and
// takes its cosignature. A witness that is unavailable, refuses or answers otherwise costs its cosignature and nothing else.
import { signedTextOf } from '../note.ts'
import type { VerifierKey } from '../verifier-key.ts'
import { findCosignature, witnessKeyOf } from './cosignature.ts'

/** `url`: without a slash at its end. */
export type Witness = { url: string; key: VerifierKey }

/** The setting LOG_WITNESSES: `URL VKEY`, separated by commas. Undefined: it is not of that form. */
export function readWitnesses(text: string): Witness[] | undefined {
  const parts = text.split(',').map((part) => part.trim())
  const witnesses = parts.filter((part) => part !== '').map(readWitness)
  const names = new Set(witnesses.map((each) => each?.key.vkey))
  return witnesses.every((each) => each !== undefined) && names.size === witnesses.length ? witnesses : undefined
}

function readWitness(part: string): Witness | undefined {
  const [url = '', vkey = '', ...rest] = part.split(/\s+/)
  const key = witnessKeyOf(vkey)
  const parsed = URL.parse(url)
  const isUrl = ['https:', 'http:'].includes(parsed?.protocol ?? '') && !parsed?.search && !parsed?.hash
  return key && isUrl && rest.length === 0 ? { url: url.replace(/\/$/, ''), key } : undefined
}

export type WitnessAnswer = { status: number; text: string } | { error: string }

export type CheckpointToSign = {
  size: number
  note: string
  /** The proof for the tree of the checkpoint, from an older one; null: there is no such tree. */
  proofFrom(oldSize: number): Promise<Buffer[] | null>
}

/** `isContradiction`: what the witness has seen of the log is not what this database has. */
export type Cosigning = { line: string } | { error: string; isContradiction?: true }

/**
 * The cosignature of a witness, or why there is none. `knownSize`: the tree that it cosigned last, as far as known; a witness that
 * knows another answers with that size, and is asked once more.
 */
export async function askWitness(
  post: (url: string, body: string) => Promise<WitnessAnswer>,
  { url, key }: Witness,
  { size, note, proofFrom }: CheckpointToSign,
  knownSize: number,
): Promise<Cosigning> {
  const ask = async (oldSize: number) => {
    const proof = await proofFrom(oldSize)
    if (!proof) return contradiction(`the witness has cosigned a tree of ${oldSize} leaves, which is not of this log`)
    const hashes = proof.map((hash) => `${hash.toString('base64')}\n`).join('')
    return post(`${url}/add-checkpoint`, `old ${oldSize}\n${hashes}\n${note}`)
  }
  let answer = await ask(knownSize)
  if ('status' in answer && answer.status === 409) {
    const oldSize = /^(0|[1-9]\d{0,15})\n?$/.exec(answer.text)?.[1]
    if (oldSize === undefined) return { error: 'HTTP 409 without a size' }
    if (Number(oldSize) > size) return contradiction(`the witness has cosigned a larger tree, of ${oldSize} leaves`)
    answer = await ask(Number(oldSize))
  }
  if ('error' in answer) return answer
  // The proof is right: it leads from a tree of the size that the witness has named.
  if (answer.status === 422) return contradiction('the witness has cosigned another tree of that size')
  if (answer.status !== 200) return { error: `HTTP ${answer.status}` }
  const line = findCosignature(answer.text, signedTextOf(note), key)
  return line === undefined ? { error: 'no valid cosignature of its key' } : { line }
}

function contradiction(error: string): { error: string; isContradiction: true } {
  return { error, isContradiction: true }
}
