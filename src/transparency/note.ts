// Checkpoints of the log: C2SP tlog-checkpoint in a C2SP signed note, with Ed25519. The keys are derived from the secrets of
// KEY_PEPPER, so none is stored and there is no further secret to keep: a copy of the database cannot sign. While
// two peppers are configured every checkpoint has a signature under each, so verifiers have time to learn the newer key.
import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'
import { keyIdOf, keyTypes } from './verifier-key.ts'

/** One of KEY_PEPPER, in its order. */
export type Secret = { secret: string }

export type LogKey = {
  /** The verifier key in its C2SP form: what others need to check a signature. */
  vkey: string
  /** The line of a note for its text. */
  signatureOf(text: string): string
}

const keyInfo = 'prepaid-credits transparency log'
const seedBytes = 32
/** RFC 8410: what precedes the seed of an Ed25519 key in PKCS #8; a public key ends with its 32 bytes. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The keys of the log, in the order of KEY_PEPPER. The origin is the log's name, which is part of every key's id. */
export function logKeysOf(peppers: readonly Secret[], origin: string): LogKey[] {
  return peppers.map(({ secret }) => logKeyOf(Buffer.from(hkdfSync('sha256', secret, '', keyInfo, seedBytes)), origin))
}

/** `continuedRestore`: the id of the restore after which a person lets the log go on under its name. */
export type LogName = { origin: string; continuedRestore?: string | undefined }
export type LogSigner = LogName & { keys: readonly LogKey[] }

export function logSignerOf(peppers: readonly Secret[], settings: LogName): LogSigner {
  const { origin, continuedRestore } = settings
  return { keys: logKeysOf(peppers, origin), origin, continuedRestore }
}

export function logKeyOf(seed: Buffer, origin: string): LogKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const encoded = Buffer.concat([Buffer.of(keyTypes.ed25519), spki.subarray(-seedBytes)])
  const id = keyIdOf(origin, encoded)
  return {
    vkey: `${origin}+${id.toString('hex')}+${encoded.toString('base64')}`,
    signatureOf: (text) => {
      const signature = sign(null, Buffer.from(text), key)
      return `— ${origin} ${Buffer.concat([id, signature]).toString('base64')}\n`
    },
  }
}

/** What a checkpoint says, without its signatures. */
export type CheckpointText = { origin: string; size: number; root: Buffer }

export function checkpointTextOf({ origin, size, root }: CheckpointText): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** The signed note. */
export function signCheckpoint(keys: readonly LogKey[], checkpoint: CheckpointText): string {
  const text = checkpointTextOf(checkpoint)
  return `${text}\n${keys.map((key) => key.signatureOf(text)).join('')}`
}

/** Reads a note without checking its signatures; null: it is not a checkpoint. */
export function readCheckpointNote(note: string): CheckpointText | null {
  const [, origin, size, root] =
    /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*\n— /.exec(note) ?? []
  if (origin === undefined || size === undefined || root === undefined) return null
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') }
}

/** What the signatures of a note are about: everything before the empty line. */
export function signedTextOf(note: string): string {
  return note.slice(0, note.indexOf('\n\n') + 1)
}

/** Those of the keys whose signature a note has. Signatures of Ed25519 are the same every time. */
export function signersOf(note: string, keys: readonly LogKey[]): LogKey[] {
  const text = signedTextOf(note)
  return keys.filter((key) => note.includes(`\n${key.signatureOf(text)}`))
}

/** A note that one of the keys has signed, with the signatures of all: a verifier may know any one of them. Null: none has. */
export function signedByAll(note: string, keys: readonly LogKey[]): string | null {
  const signers = signersOf(note, keys)
  if (signers.length === 0) return null
  const text = signedTextOf(note)
  const others = keys.filter((key) => !signers.includes(key))
  return `${note}${others.map((key) => key.signatureOf(text)).join('')}`
}
