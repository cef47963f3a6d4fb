// A transparency log in memory, from the pure parts of the service: a history of leaves whose checkpoints and proofs a test can
// show to others, also two histories under one key.
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningWitness, startWitness, type WitnessOptions } from '../../../examples/witness/witness.ts'
import { logKeysOf, signCheckpoint } from '../../../src/transparency/note.ts'
import { consistencyRanges, growTree, hashLeaf, hashOfRange } from '../../../src/transparency/tree.ts'

export const origin = 'log.example/credits'
export const logPeppers = [{ secret: 'a pepper of the log' }]

export type MemoryLog = {
  size: number
  rootAt(size: number): Buffer
  /** The signed checkpoint of a size. */
  note(size?: number): string
  proof(from: number, to: number): Buffer[]
}

export function memoryLog(leaves: string[], peppers = logPeppers): MemoryLog {
  const { growth } = growTree({ size: 0, hashes: [] }, Buffer.concat(leaves.map(hashLeaf)))
  const tiles = new Map(growth.map(({ level, tile, added }) => [`${level}/${tile}`, added]))
  const read = ({ level, tile }: { level: number; tile: number }) => tiles.get(`${level}/${tile}`) ?? Buffer.alloc(0)
  const rootAt = (size: number) => hashOfRange([0, size], read)
  return {
    size: leaves.length,
    rootAt,
    note: (size = leaves.length) => signCheckpoint(logKeysOf(peppers, origin), { origin, size, root: rootAt(size) }),
    proof: (from, to) => consistencyRanges(from, to).map((range) => hashOfRange(range, read)),
  }
}

export const leavesOf = (count: number, name = 'leaf') => Array.from({ length: count }, (_, at) => `${name} ${at}`)

export const vkeysOf = (peppers: { secret: string }[]) => logKeysOf(peppers, origin).map(({ vkey }) => vkey)

/** The witness of the examples, with a state file of its own unless one is given. */
export function startTestWitness(options: Partial<WitnessOptions> = {}): Promise<RunningWitness> {
  const stateFile = join(tmpdir(), `witness-${randomUUID()}.json`)
  return startWitness({ name: 'witness.example/w1', logs: vkeysOf(logPeppers), stateFile, port: 0, ...options })
}
