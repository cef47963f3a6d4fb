// Cosignatures of witnesses (C2SP tlog-cosignature, cosignature/v1): a line of a note that says at which time a witness had seen
// the checkpoint as the newest of one history. Lines of unknown keys are ignored.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'

export type CosignedCheckpoint = { note: string; cosignatures: { vkey: string; line: string }[] }

export type WitnessKey = { vkey: string; name: string; keyId: Buffer; key: KeyObject }

/** The type byte of Ed25519 cosignatures in verifier keys. */
const cosignatureType = 4
/** A time is signed, in eight bytes. */
const latestTime = 2n ** 63n - 1n
const [keyIdBytes, timeBytes, signatureBytes] = [4, 8, 64]
/** RFC 8410: what precedes the 32 bytes of an Ed25519 key. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Verifiers accept one text for the same bytes, and refuse a note with any other. Empty: it is another. */
function bytesOf(encoded: string): Buffer {
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes : Buffer.alloc(0)
}

/** Of a verifier key of a witness (`name+id+base64`); undefined: it is none, or not of this type. */
export function witnessKeyOf(vkey: string): WitnessKey | undefined {
  const [, name = '', id = '', encoded = ''] =
    /^([^+\s\p{Cc}\p{Cs}]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u.exec(vkey) ?? []
  const material = bytesOf(encoded)
  const keyId = createHash('sha256').update(`${name}\n`).update(material).digest().subarray(0, keyIdBytes)
  if (material.length !== 33 || material[0] !== cosignatureType || keyId.toString('hex') !== id) return undefined
  const der = Buffer.concat([spkiPrefix, material.subarray(1)])
  return { vkey, name, keyId, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) }
}

/** The line of this witness among signature lines, when it is valid for the text of a checkpoint. */
export function findCosignature(lines: string, text: string, { name, keyId, key }: WitnessKey): string | undefined {
  // What follows the last line feed is no line.
  const complete = lines.split('\n').slice(0, -1)
  const found = complete.find((line) => {
    const [, by, encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
    const bytes = bytesOf(encoded)
    if (by !== name || bytes.length !== keyIdBytes + timeBytes + signatureBytes) return false
    const time = bytes.readBigUInt64BE(keyIdBytes)
    const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`)
    const isOfKey = bytes.subarray(0, keyIdBytes).equals(keyId) && time > 0n && time <= latestTime
    return isOfKey && verify(null, message, key, bytes.subarray(keyIdBytes + timeBytes))
  })
  return found === undefined ? undefined : `${found}\n`
}

/** When the witness signed it, of a line that was verified. */
export function timeOfCosignature(line: string): Date {
  const bytes = Buffer.from(line.trimEnd().split(' ').at(-1) ?? '', 'base64')
  return new Date(Number(bytes.readBigUInt64BE(keyIdBytes)) * 1000)
}

/** What the signatures of a checkpoint are about: everything before the empty line. */
export function signedTextOf(note: string): string {
  return note.slice(0, note.indexOf('\n\n') + 1)
}

/** A checkpoint with the lines of its witnesses behind the log's own. One that is not valid would make the whole note unreadable. */
export function cosignedNote({ note, cosignatures }: CosignedCheckpoint): string {
  const text = signedTextOf(note)
  const valid = cosignatures.filter(({ vkey, line }) => {
    const key = witnessKeyOf(vkey)
    return key && findCosignature(line, text, key) === line
  })
  return `${note}${valid.map(({ line }) => line).join('')}`
}
