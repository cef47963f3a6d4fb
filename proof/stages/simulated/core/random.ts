// Randomness of a run: every use has a generator of its own, derived from the seed and a name, so that one draw more here
// changes no draw there. Bytes for ids and secrets come from a keystream and not from harness/random.ts: its generators are
// places in one sequence of 2^32 numbers, and two of them would one day give the same id.
import { createCipheriv, createHash } from 'node:crypto'
import { createRandom, type Random } from '../../../../harness/random.ts'

/** What one name draws. */
export type Draws = Random & {
  bytes(count: number): Buffer
  /** From 0 to below 1. */
  fraction(): number
}

const blockBytes = 4_096

export function createDraws(seed: number, name: string): Draws {
  const digest = createHash('sha256').update(`${seed}/${name}`).digest()
  // Created here, before any patch could lead back to this file.
  const stream = createCipheriv('aes-128-ctr', digest.subarray(0, 16), digest.subarray(16))
  const zeros = Buffer.alloc(blockBytes)
  let block = Buffer.alloc(0)
  function bytes(count: number): Buffer {
    if (count > blockBytes) return stream.update(Buffer.alloc(count))
    if (block.length < count) block = stream.update(zeros)
    const taken = block.subarray(0, count)
    block = block.subarray(count)
    return taken
  }
  return {
    ...createRandom(digest.readUInt32LE(0)),
    bytes,
    fraction: () => bytes(6).readUIntLE(0, 6) / 2 ** 48,
  }
}
