// The tree that this process has signed or checked last. A root is signed only if the tiles give it, and only after that tree: a
// process that runs does not follow a log that was written again. One that starts has no tree to compare with.
import type { Database } from '../db/database.ts'
import { type LogHead, replaceNote, type Tree } from './append.sql.ts'
import { listTiles } from './log.sql.ts'
import { rootAtSize } from './log.ts'
import { checkpointTextOf, type LogKey, signCheckpoint, signedTextOf, signersOf } from './note.ts'
import { edgeOfTree, hashBytes, rootOfEdge, type TreeEdge } from './tree.ts'

export const isSameTree = (one: Tree, other: Tree) => one.size === other.size && one.root.equals(other.root)

/** With its right edge, which is what it needs to grow. */
type GrownTree = Tree & { edge: TreeEdge }

export function createSignedTree(database: Database, keys: readonly LogKey[], origin: string) {
  let lastSigned: GrownTree | null = null
  let lastNote = ''

  /** Throws when the tree may not be signed. */
  async function edgeOf(tree: Tree): Promise<TreeEdge> {
    if (lastSigned && isSameTree(lastSigned, tree)) return lastSigned.edge
    const edge = await readEdge(database, tree.size)
    const isNot = `The transparency log of ${tree.size} entries is not signed`
    if (!rootOfEdge(edge).equals(tree.root)) throw new Error(`${isNot}: its root is not that of its tiles.`)
    if (lastSigned && !(await isContained(lastSigned, tree)))
      throw new Error(`${isNot}: it does not begin with the ${lastSigned.size} that this process knows.`)
    return edge
  }

  async function isContained(older: Tree, tree: Tree): Promise<boolean> {
    const root = older.size <= tree.size ? await rootAtSize(database, older.size) : null
    return root?.equals(older.root) ?? false
  }

  return {
    edgeOf,
    size: () => lastSigned?.size ?? 0,
    noteOf: ({ size, root }: Tree): string => signCheckpoint(keys, { origin, size, root }),
    /** The log has it, under this note. */
    accept(tree: GrownTree, note: string): void {
      lastSigned = tree
      lastNote = note
    },
    /** After a rotation of KEY_PEPPER the last checkpoint gets the signatures of the new keys, also when nothing is appended. */
    async signAgain({ size, root, note }: LogHead): Promise<void> {
      if (note === lastNote) return
      lastSigned = { size, root, edge: await edgeOf({ size, root }) }
      const checkpoint = { origin, size, root }
      const isSigned =
        signedTextOf(note) === checkpointTextOf(checkpoint) && signersOf(note, keys).length === keys.length
      if (!isSigned) await replaceNote(database, { size, root }, note, signCheckpoint(keys, checkpoint))
      lastNote = note
    },
  }
}

async function readEdge(database: Database, size: number): Promise<TreeEdge> {
  const wanted = edgeOfTree(size)
  const tiles = await listTiles(database, wanted)
  const hashes: Buffer[] = []
  for (const { level, tile, width } of wanted) {
    const found = tiles.find((each) => each.level === level && each.tile === tile)
    hashes[level] = found?.hashes.subarray(0, width * hashBytes) ?? Buffer.alloc(0)
  }
  return { size, hashes: Array.from(hashes, (ofLevel) => ofLevel ?? Buffer.alloc(0)) }
}
