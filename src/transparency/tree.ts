// The Merkle tree of the transparency log (RFC 6962) over tiles of 256 hashes, as C2SP tlog-tiles has them: a tile of level L
// holds the hashes of subtrees of 256^L leaves each. Pure functions: the hashes of a proof are ranges of leaves, the ranges name
// the tiles that have to be read, and a hash in a tile never changes, so tiles that are newer than the tree of a proof will do.
import { hash } from 'node:crypto'
import { assert } from '../core/assert.ts'

export const hashBytes = 32
/** Hashes of a full tile. */
export const tileWidth = 256
const tileHeight = 8

export type TileId = { level: number; tile: number }
/** Leaves from the first on and before the second. */
export type LeafRange = readonly [from: number, to: number]
/** The hashes of a tile, one after the other; at least those of the tree in question. */
export type ReadHashes = (tile: TileId) => Buffer

export function hashLeaf(leaf: string | Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(leaf)]), 'buffer')
}

export function hashNode(left: Buffer, right: Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.of(1), left, right]), 'buffer')
}

/** The root of a tree without leaves. */
export const emptyRoot = hash('sha256', '', 'buffer')

/** The largest power of two that is not above the number. Exact, which a logarithm is not. */
function powerWithin(count: number): { height: number; leaves: number } {
  let [height, leaves] = [0, 1]
  while (leaves * 2 <= count) {
    height += 1
    leaves *= 2
  }
  return { height, leaves }
}

/** Where RFC 6962 splits a tree: at the largest power of two below its size. */
const splitOf = (size: number) => powerWithin(size - 1).leaves

/** What the inclusion proof of a leaf consists of, in the order of the proof. */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  assert(index >= 0 && index < size, `leaf ${index} is not in a tree of ${size}`)
  const ranges: LeafRange[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + splitOf(to - from)
    if (index < middle) {
      ranges.unshift([middle, to])
      to = middle
    } else {
      ranges.unshift([from, middle])
      from = middle
    }
  }
  return ranges
}

/** What the proof consists of that the tree of `newSize` begins with the tree of `oldSize`. */
export function consistencyRanges(oldSize: number, newSize: number): LeafRange[] {
  assert(oldSize <= newSize, `a tree of ${newSize} does not contain one of ${oldSize}`)
  if (oldSize === 0 || oldSize === newSize) return []
  const ranges: LeafRange[] = []
  let [from, to] = [0, newSize]
  while (to > oldSize) {
    const middle = from + splitOf(to - from)
    if (oldSize <= middle) {
      ranges.unshift([middle, to])
      to = middle
    } else {
      ranges.unshift([from, middle])
      from = middle
    }
  }
  // The verifier has the root of the old tree: it is not sent where it is a node of the new one.
  return from === 0 ? ranges : [[from, to], ...ranges]
}

/** A complete subtree: 2^height leaves, the position-th of its height. */
type Subtree = { height: number; position: number }

/** A range that begins where a tree of its length may begin, as complete subtrees from left to right. */
function subtreesOf([from, to]: LeafRange): Subtree[] {
  const subtrees: Subtree[] = []
  for (let at = from; at < to; ) {
    const { height, leaves } = powerWithin(to - at)
    subtrees.push({ height, position: at / leaves })
    at += leaves
  }
  return subtrees
}

function placeOf({ height, position }: Subtree): TileId & { offset: number; width: number } {
  const width = 2 ** (height % tileHeight)
  const first = position * width
  return {
    level: Math.floor(height / tileHeight),
    tile: Math.floor(first / tileWidth),
    offset: first % tileWidth,
    width,
  }
}

/** The tiles that have these hashes, each once. */
export function tilesOfRanges(ranges: readonly LeafRange[]): TileId[] {
  const tiles = new Map<string, TileId>()
  for (const { level, tile } of ranges.flatMap(subtreesOf).map(placeOf)) tiles.set(`${level}/${tile}`, { level, tile })
  return [...tiles.values()]
}

export function hashOfRange(range: LeafRange, read: ReadHashes): Buffer {
  const hashes = subtreesOf(range).map((subtree) => {
    const { offset, width, ...tile } = placeOf(subtree)
    const found = read(tile).subarray(offset * hashBytes, (offset + width) * hashBytes)
    assert(found.length === width * hashBytes, `tile ${tile.level}/${tile.tile} has no hash ${offset + width - 1}`)
    return hashOfHashes(found)
  })
  return (
    hashes.reduceRight<Buffer | undefined>((right, left) => (right ? hashNode(left, right) : left), undefined) ??
    emptyRoot
  )
}

/** A node before it is hashed. */
const pair = Buffer.alloc(1 + 2 * hashBytes, 1)
/** The hashes of one level after the other, each over those of the level below. */
const scratch = Buffer.alloc(tileWidth * hashBytes)

/**
 * The root over hashes of one level, a power of two of them, at most those of a tile. A hash as a string of bytes takes a third of
 * the time that one in a buffer of its own does, and the worker makes one for every leaf.
 */
function hashOfHashes(hashes: Buffer): Buffer {
  assert(hashes.length <= scratch.length, 'more hashes than a tile has')
  hashes.copy(scratch)
  for (let bytes = hashes.length; bytes > hashBytes; bytes /= 2) {
    for (let at = 0; at < bytes; at += 2 * hashBytes) {
      scratch.copy(pair, 1, at, at + 2 * hashBytes)
      scratch.write(hash('sha256', pair, 'binary'), at / 2, 'binary')
    }
  }
  return Buffer.from(scratch.subarray(0, hashBytes))
}

/** The tiles at the right edge of a tree that are not full, one of each level; those without a hash are left out. */
export function edgeOfTree(size: number): (TileId & { width: number })[] {
  const edge: (TileId & { width: number })[] = []
  for (let [level, count] = [0, size]; count > 0; level += 1, count = Math.floor(count / tileWidth)) {
    const [tile, width] = [Math.floor(count / tileWidth), count % tileWidth]
    if (width > 0) edge.push({ level, tile, width })
  }
  return edge
}

/** What a tree needs to grow: the hashes of the tiles at its right edge, by level. */
export type TreeEdge = { size: number; hashes: readonly Buffer[] }
/** Hashes that a tile gets, behind those that it has. */
export type TileGrowth = TileId & { isNew: boolean; added: Buffer }

/** The tree with more leaves, given as their hashes one after the other, and what its tiles get. */
export function growTree(edge: TreeEdge, leafHashes: Buffer): { edge: TreeEdge; growth: TileGrowth[] } {
  const growth: TileGrowth[] = []
  const hashes = [...edge.hashes]
  let added = leafHashes
  let countBefore = edge.size
  for (let level = 0; added.length > 0; level += 1) {
    const partial = hashes[level] ?? Buffer.alloc(0)
    const whole = Buffer.concat([partial, added])
    const roots: Buffer[] = []
    let at = 0
    for (let tile = Math.floor(countBefore / tileWidth); at < whole.length; tile += 1, at += tileWidth * hashBytes) {
      const chunk = whole.subarray(at, at + tileWidth * hashBytes)
      const isNew = at > 0 || partial.length === 0
      growth.push({ level, tile, isNew, added: isNew ? chunk : chunk.subarray(partial.length) })
      if (chunk.length === tileWidth * hashBytes) roots.push(hashOfHashes(chunk))
    }
    hashes[level] = Buffer.from(whole.subarray(roots.length * tileWidth * hashBytes))
    added = Buffer.concat(roots)
    countBefore = Math.floor(countBefore / tileWidth)
  }
  return { edge: { size: edge.size + leafHashes.length / hashBytes, hashes }, growth }
}

export function rootOfEdge({ size, hashes }: TreeEdge): Buffer {
  const byLevel = new Map(hashes.map((ofLevel, level) => [level, ofLevel]))
  // Every complete subtree of the whole tree is in a tile of its right edge.
  return hashOfRange([0, size], ({ level }) => byLevel.get(level) ?? Buffer.alloc(0))
}
