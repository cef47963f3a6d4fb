// Verifier keys (`name+id+base64`) and signature lines of signed notes (C2SP signed-note), of the log and of witnesses. They are
// read strictly: verifiers accept one text for the same bytes, and refuse a note with any other.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'

export type VerifierKey = { vkey: string; name: string; keyId: Buffer; key: KeyObject }

/** The type bytes of keys in signed notes: Ed25519, and Ed25519 cosignatures. */
export const keyTypes = { ed25519: 1, cosignature: 4 }
const [keyIdBytes, publicKeyBytes] = [4, 32]
/** RFC 8410: what precedes the 32 bytes of an Ed25519 key. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** `material`: the type and the public key. */
export function keyIdOf(name: string, material: Buffer): Buffer {
  return createHash('sha256').update(`${name}\n`).update(material).digest().subarray(0, keyIdBytes)
}

/** Undefined: it is no verifier key, or not of this type. */
export function readVerifierKey(vkey: string, type: number): VerifierKey | undefined {
  const [, name = '', id = '', encoded = ''] =
    /^([^+\s\p{Cc}\p{Cs}]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u.exec(vkey) ?? []
  const material = bytesOf(encoded)
  const keyId = keyIdOf(name, material)
  if (material.length !== 1 + publicKeyBytes || material[0] !== type || keyId.toString('hex') !== id) return undefined
  const der = Buffer.concat([spkiPrefix, material.subarray(1)])
  return { vkey, name, keyId, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) }
}

/** The same key of a log with another name. What is no verifier key stays as it is. */
export function renameKey(vkey: string, name: string): string {
  const encoded = /^[^+]+\+[0-9a-f]{8}\+(.+)$/.exec(vkey)?.[1]
  if (encoded === undefined) return vkey
  return `${name}+${keyIdOf(name, bytesOf(encoded)).toString('hex')}+${encoded}`
}

/** Whether one of the lines is a valid signature of the text by this key of a log. */
export function isSignedBy(lines: string, text: string, key: VerifierKey): boolean {
  return lines.split('\n').some((line) => {
    const signature = readSignatureLine(line, key)
    return signature !== undefined && verify(null, Buffer.from(text), key.key, signature)
  })
}

/** What a line, without its line feed, has behind the id of this key; undefined: it is the line of another, or none. */
export function readSignatureLine(line: string, { name, keyId }: VerifierKey): Buffer | undefined {
  const [, by, encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
  const bytes = bytesOf(encoded)
  const isOfKey = by === name && bytes.subarray(0, keyIdBytes).equals(keyId)
  return isOfKey ? bytes.subarray(keyIdBytes) : undefined
}

/** Empty: the bytes have another text. */
function bytesOf(encoded: string): Buffer {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes : Buffer.alloc(0)
}
