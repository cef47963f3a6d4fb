// Receipts in tests: the worker's appends to the log at once, and a check of a receipt by the rules of its document, independent
// of the verifiers.
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import type { Database } from '../../../src/db/database.ts'
import { replaceNote } from '../../../src/transparency/append.sql.ts'
import { createAppendToLog } from '../../../src/transparency/append.ts'
import { readCheckpoint } from '../../../src/transparency/log.sql.ts'
import { type LogKey, signCheckpoint } from '../../../src/transparency/note.ts'
import { testLogKeys, testLogOrigin } from '../service/service.ts'
import { rootByInclusion } from '../transparency.ts'

/** One for each database: the log is left to the process that has just appended. */
const appends = new WeakMap<Database, ReturnType<typeof createAppendToLog>>()

/** Appends until every entry is in the log. */
export async function logEntries(database: Database): Promise<void> {
  const signer = { keys: testLogKeys, origin: testLogOrigin }
  const append = appends.get(database) ?? createAppendToLog(database, signer, { sweepEveryMs: 0 })
  appends.set(database, append)
  while ((await append()).more);
}

/** Its newest checkpoint has the signatures of these keys alone. */
export async function signLogAgain(database: Database, keys: readonly LogKey[]): Promise<void> {
  const { note, size, root } = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
  await replaceNote(database, { size, root }, note, signCheckpoint(keys, { origin: testLogOrigin, size, root }))
}

type Proven = { entries: { leaf: string; index: string; proof: string[] }[]; checkpoint: string; keys: string[] }

const ed25519Spki = Buffer.from('302a300506032b6570032100', 'hex')

/** Checks the signature of the checkpoint under this key, and the way of each leaf to its root. */
export function checkReceipt({ entries, checkpoint, keys }: Proven, vkey = testLogKeys[0]?.vkey ?? ''): void {
  assert.ok(keys.includes(vkey), 'the receipt does not name the key')
  const [text = '', signatures = ''] = checkpoint.split(/(?<=\n)\n/)
  const [origin = '', size = '', root = ''] = text.split('\n')
  const [, keyId = '', encoded = ''] = /\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? []
  const signed = signatures.split('\n').map((line) => Buffer.from(line.replace(`— ${origin} `, ''), 'base64'))
  const own = signed.filter((bytes) => bytes.subarray(0, 4).toString('hex') === keyId)
  assert.equal(own.length, 1, checkpoint)
  const key = Buffer.concat([ed25519Spki, Buffer.from(encoded, 'base64').subarray(1)])
  const publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
  assert.ok(verify(null, Buffer.from(text), publicKey, own[0]?.subarray(4) ?? Buffer.alloc(0)), checkpoint)
  for (const { leaf, index, proof } of entries) {
    const hashes = proof.map((hash) => Buffer.from(hash, 'base64'))
    assert.equal(rootByInclusion(leaf, Number(index), Number(size), hashes).toString('base64'), root, leaf)
  }
}

/** A line of a leaf without its name; undefined: there is none. */
export function lineOf(leaf: string, name: string): string | undefined {
  const line = leaf.split('\n').find((each) => each.startsWith(`${name} `))
  return line?.slice(name.length + 1)
}
