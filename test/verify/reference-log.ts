// A transparency log written from the documents alone, as the oracle of the tests: RFC 6962 by its recursive definitions, leaves
// and files of docs/receipts.md, notes signed by Node's own Ed25519. Nothing of the service is used.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

export const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

export type Signer = { name: string; vkey: string; line(text: string, time?: bigint, writtenTime?: string): string }

const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** `type`: 1 for a log, 4 for a witness, whose lines have a time; `writtenTime` is what a witness signs if not that. */
export function newSigner(name: string, seed: Buffer, type: 1 | 4 = 1): Signer {
  const key: KeyObject = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' })
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  const material = Buffer.concat([Buffer.of(type), raw])
  const id = sha256(Buffer.from(`${name}\n`), material).subarray(0, 4)
  return {
    name,
    vkey: `${name}+${id.toString('hex')}+${material.toString('base64')}`,
    line(text, time, writtenTime = String(time)) {
      const stamp = Buffer.alloc(time === undefined ? 0 : 8)
      if (time !== undefined) stamp.writeBigUInt64BE(time)
      const message = time === undefined ? text : `cosignature/v1\ntime ${writtenTime}\n${text}`
      const signature = Buffer.concat([id, stamp, sign(null, Buffer.from(message), key)])
      return `— ${name} ${signature.toString('base64')}\n`
    },
  }
}

export const seedOf = (text: string): Buffer => sha256(Buffer.from(text))

export const hashLeaf = (leaf: string): Buffer => sha256(Buffer.of(0), Buffer.from(leaf))
const hashNode = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right)

/** The largest power of two below the number. */
function splitOf(count: number): number {
  let split = 1
  while (split * 2 < count) split *= 2
  return split
}

/** MTH of RFC 6962, section 2.1. */
export function rootOf(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0] as Buffer
  const split = splitOf(leaves.length)
  return hashNode(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

/** PATH of RFC 6962, section 2.1.1. */
export function inclusionOf(index: number, leaves: Buffer[]): Buffer[] {
  if (leaves.length <= 1) return []
  const split = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return index < split
    ? [...inclusionOf(index, left), rootOf(right)]
    : [...inclusionOf(index - split, right), rootOf(left)]
}

/** PROOF of RFC 6962, section 2.1.2. */
export function consistencyOf(size: number, leaves: Buffer[], isComplete = true): Buffer[] {
  if (size === leaves.length) return isComplete ? [] : [rootOf(leaves)]
  const split = splitOf(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return size <= split
    ? [...consistencyOf(size, left, isComplete), rootOf(right)]
    : [...consistencyOf(size - split, right, false), rootOf(left)]
}

export type LeafFields = {
  customer: string
  entry: number
  kind: string
  delta: number
  balance: number
  order?: string | undefined
  reference?: string
  hold?: string
}

export function leafOf({ customer, entry, kind, delta, balance, order, reference, hold }: LeafFields): string {
  const time = `2026-11-15T11:05:${String(entry % 60).padStart(2, '0')}.863123Z`
  return [
    'prepaid-credits/entry/v1',
    `customer ${customer}`,
    `entry ${entry}`,
    `time ${time}`,
    `kind ${kind}`,
    `delta ${delta}`,
    `balance ${balance}`,
    'held-delta 0',
    'held 0',
    ...(order ? [`order ${order}`] : []),
    ...(reference ? [`reference ${reference}`] : []),
    ...(hold ? [`hold ${hold}`] : []),
    ...(order ? [] : ['service svc_1']),
  ].join('\n')
}

export type Subject = Record<string, unknown>
export type Receipt = {
  format: string
  subject: Subject
  entries: { leaf: string; index: string; proof: string[] }[]
  checkpoint: string
  keys: string[]
}

/** A log of these leaves, with the files that it hands out. */
export function newLog(origin: string, leaves: string[], signers: Signer[]) {
  const hashes = leaves.map(hashLeaf)
  const bodyOf = (size: number) => `${origin}\n${size}\n${rootOf(hashes.slice(0, size)).toString('base64')}\n`
  const log = {
    leaves,
    hashes,
    bodyOf,
    checkpoint(size = leaves.length, more: string[] = []): string {
      const body = bodyOf(size)
      return `${body}\n${signers.map((signer) => signer.line(body)).join('')}${more.join('')}`
    },
    receipt(subject: Subject, indexes: number[], size = leaves.length): Receipt {
      const entries = indexes.map((index) => ({
        leaf: leaves[index] ?? '',
        index: String(index),
        proof: inclusionOf(index, hashes.slice(0, size)).map((hash) => hash.toString('base64')),
      }))
      const keys = signers.map(({ vkey }) => vkey)
      return { format: 'prepaid-credits/receipt/v1', subject, entries, checkpoint: log.checkpoint(size), keys }
    },
    proof: (from: number, to: number) =>
      consistencyOf(from, hashes.slice(0, to)).map((hash) => hash.toString('base64')),
    consistency(from: number, to = leaves.length) {
      const proof = log.proof(from, to)
      return { format: 'prepaid-credits/consistency/v1', from: log.checkpoint(from), to: log.checkpoint(to), proof }
    },
  }
  return log
}

export type ReferenceLog = ReturnType<typeof newLog>

export const customers = ['5509d75f-dfe0-4984-9be9-f02d7cdb5de6', '0b1c7f0e-62f5-4a3c-9d55-3a2f2f1f7c11'] as const
export const orderOf = (customer: number): string => `ord_${'0'.repeat(35)}${customer + 1}`

/** Two customers by turns: each buys 21 credits and spends them by threes, again and again. */
export function sampleLeaves(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const customer = index % 2
    const entry = Math.floor(index / 2) + 1
    const isGrant = (entry - 1) % 8 === 0
    const balance = isGrant ? 21 : 21 - 3 * ((entry - 1) % 8)
    const cause = isGrant
      ? { order: entry === 1 ? orderOf(customer) : `ord_${entry}_${customer}` }
      : { reference: `use-${entry}` }
    const moved = { kind: isGrant ? 'GRANT' : 'SPEND', delta: isGrant ? 21 : -3, balance }
    return leafOf({ customer: customers[customer as 0 | 1], entry, ...moved, ...cause })
  })
}
