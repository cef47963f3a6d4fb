// A witness whose key is the same in every run, for tests that need its cosignatures and no requests to it.
import assert from 'node:assert/strict'
import { createPrivateKey, sign } from 'node:crypto'
import { witnessKeyOf } from '../../../examples/witness/checkpoint.ts'
import { signedTextOf } from '../../../src/transparency/note.ts'
import { readWitnesses } from '../../../src/transparency/publication/witnesses.ts'

const name = 'witness.example/w1'
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const der = Buffer.concat([pkcs8Prefix, Buffer.alloc(32, 7)])
const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
const { keyId, vkey } = witnessKeyOf(name, privateKey)

const [witness] = readWitnesses(`https://witness.example/secret ${vkey}`) ?? []
assert.ok(witness)
export const testWitness = witness

/** Its line for a checkpoint. */
export function cosign(note: string, seconds: number | bigint = 1_794_740_745): string {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(seconds))
  const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${signedTextOf(note)}`), privateKey)
  return `— ${name} ${Buffer.concat([keyId, time, signature]).toString('base64')}\n`
}
