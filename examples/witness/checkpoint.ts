// Verifier keys, checkpoints and consistency proofs, as C2SP signed-note, tlog-checkpoint and RFC 6962 define them.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

export type Checkpoint = { origin: string; size: bigint; root: Buffer; text: string; signatures: Signature[] }
export type Signature = { line: string; name: string; bytes: Buffer }

const [logType, cosignatureType] = [1, 4]
export const sha256 = (...parts: (Buffer | string)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const keyIdOf = (name: string, material: Buffer) => sha256(`${name}\n`, material).subarray(0, 4)
const nodeOf = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right)
const ed25519 = Buffer.from('302a300506032b6570032100', 'hex')
const publicKeyOf = (raw: Buffer) =>
  createPublicKey({ key: Buffer.concat([ed25519, raw]), format: 'der', type: 'spki' })

export function readLogKey(vkey: string): { name: string; keyId: Buffer; key: KeyObject } {
  const [, name = '', id = '', encoded = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? []
  const material = Buffer.from(encoded, 'base64')
  const keyId = keyIdOf(name, material)
  const isRight = material.length === 33 && material[0] === logType && keyId.toString('hex') === id
  if (!isRight) throw new Error(`not a verifier key of a log: ${vkey}`)
  return { name, keyId, key: publicKeyOf(material.subarray(1)) }
}

export function witnessKeyOf(name: string, privateKey: KeyObject): { keyId: Buffer; vkey: string } {
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(ed25519.length)
  const material = Buffer.concat([Buffer.of(cosignatureType), raw])
  const keyId = keyIdOf(name, material)
  return { keyId, vkey: `${name}+${keyId.toString('hex')}+${material.toString('base64')}` }
}

export function readCheckpoint(note: string): Checkpoint | undefined {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const [origin = '', size = '', root = '', ...extensions] = text.slice(0, -1).split('\n')
  const lines = note.slice(end + 2).match(/[^\n]*\n/g) ?? []
  const signatures = lines.map((line): Signature => {
    const [, name = '', encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})\n$/.exec(line) ?? []
    return { line, name, bytes: Buffer.from(encoded, 'base64') }
  })
  const isRead = end > 0 && note.endsWith('\n') && signatures.length > 0 && signatures.every(({ name }) => name !== '')
  if (!isRead || origin === '' || extensions.includes('') || !isSize(size) || !isHash(root)) return undefined
  return { origin, size: BigInt(size), root: Buffer.from(root, 'base64'), text, signatures }
}

export const isSize = (text: string) => /^(0|[1-9]\d{0,18})$/.test(text)
export const isHash = (text: string) => /^[A-Za-z0-9+/]{43}=$/.test(text)

/** RFC 9162, section 2.1.4.2: whether the first leaves of the newer tree are the older tree. */
export function isConsistent(from: bigint, to: bigint, fromRoot: Buffer, toRoot: Buffer, proof: Buffer[]): boolean {
  if (from === to) return proof.length === 0 && fromRoot.equals(toRoot)
  if (from === 0n) return proof.length === 0
  const isPowerOfTwo = (from & (from - 1n)) === 0n
  const [first, ...others] = isPowerOfTwo ? [fromRoot, ...proof] : proof
  if (!first) return false
  let [older, newer] = [from - 1n, to - 1n]
  const rise = () => {
    older >>= 1n
    newer >>= 1n
  }
  while (older & 1n) rise()
  let [olderRoot, newerRoot] = [first, first]
  for (const hash of others) {
    if (newer === 0n) return false
    if (older & 1n || older === newer) {
      olderRoot = nodeOf(hash, olderRoot)
      newerRoot = nodeOf(hash, newerRoot)
      while (!(older & 1n) && older !== 0n) rise()
    } else newerRoot = nodeOf(newerRoot, hash)
    rise()
  }
  return newer === 0n && olderRoot.equals(fromRoot) && newerRoot.equals(toRoot)
}
