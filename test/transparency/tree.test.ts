// The tree of the log over tiles, compared with the recursive definitions of RFC 6962, and across the borders of tiles of every
// level; the form of keys and checkpoints; and what a receipt of many entries costs.
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../src/db/database.ts'
import { receiptOfEntries } from '../../src/transparency/log.ts'
import { type LogKey, logKeysOf, readCheckpointNote, signCheckpoint, signersOf } from '../../src/transparency/note.ts'
import { readTilePath } from '../../src/transparency/routes.ts'
import {
  consistencyRanges,
  edgeOfTree,
  emptyRoot,
  growTree,
  hashLeaf,
  hashNode,
  hashOfRange,
  inclusionRanges,
  rootOfEdge,
  type TileId,
  type TreeEdge,
  tilesOfRanges,
} from '../../src/transparency/tree.ts'
import { naivePath, naiveProof, naiveRoot } from '../support/transparency.ts'

const keyOf = ({ level, tile }: TileId) => `${level}/${tile}`

/** A tree that grows by one of `steps` leaves at a time. */
function growBy(steps: number[], leaves: Buffer[]) {
  const tiles = new Map<string, Buffer>()
  const roots = new Map<number, Buffer>([[0, emptyRoot]])
  let edge: TreeEdge = { size: 0, hashes: [] }
  for (const step of steps) {
    const grown = growTree(edge, Buffer.concat(leaves.slice(edge.size, edge.size + step)))
    for (const { added, isNew, ...tile } of grown.growth) {
      const before = tiles.get(keyOf(tile))
      assert.equal(before === undefined, isNew)
      tiles.set(keyOf(tile), Buffer.concat([before ?? Buffer.alloc(0), added]))
    }
    edge = grown.edge
    roots.set(edge.size, rootOfEdge(edge))
    for (const { width, ...tile } of edgeOfTree(edge.size)) assert.equal(tiles.get(keyOf(tile))?.length, width * 32)
  }
  return { tiles, roots, read: (tile: TileId) => tiles.get(keyOf(tile)) ?? Buffer.alloc(0) }
}

const isSame = (one: Buffer[], other: Buffer[]) => Buffer.concat(one).equals(Buffer.concat(other))

const leavesOf = (count: number) => Array.from({ length: count }, (_, number) => hashLeaf(`leaf ${number}`))

test('every inclusion and consistency proof of every size up to 300 is that of RFC 6962', () => {
  const leaves = leavesOf(300)
  const { read, roots } = growBy(Array(300).fill(1), leaves)
  for (let size = 1; size <= 300; size += 1) {
    assert.deepEqual(roots.get(size), naiveRoot(leaves, 0, size))
    assert.deepEqual(hashOfRange([0, size], read), naiveRoot(leaves, 0, size))
    // Every leaf of a few sizes, and of the others those at the edges.
    const isWhole = [1, 2, 7, 64, 107, 255, 256, 257, 299].includes(size)
    const indexes = isWhole ? leaves.slice(0, size).keys() : [0, size >> 1, size - 1]
    for (const index of indexes) {
      const proof = inclusionRanges(index, size).map((range) => hashOfRange(range, read))
      assert.ok(isSame(proof, naivePath(index, leaves, 0, size)), `${index} of ${size}`)
      const grown = consistencyRanges(index + 1, size).map((range) => hashOfRange(range, read))
      assert.ok(isSame(grown, naiveProof(index + 1, leaves, 0, size)), `${index + 1} to ${size}`)
    }
  }
})

test('a tree that has filled tiles of the second level has the same root, whatever the steps it grew by', () => {
  const leaves = leavesOf(66_000)
  const [byLarge, bySmall] = [growBy([65_535, 1, 1, 463], leaves), growBy([1, 254, 1, 256, 65_024, 464], leaves)]
  const root = naiveRoot(leaves)
  assert.deepEqual([byLarge.roots.get(66_000), bySmall.roots.get(66_000)], [root, root])
  assert.deepEqual([...bySmall.tiles.keys()].sort(), [...byLarge.tiles.keys()].sort())
  for (const [key, hashes] of byLarge.tiles) assert.ok(bySmall.tiles.get(key)?.equals(hashes), key)
  assert.deepEqual([...byLarge.tiles.keys()].filter((key) => !key.startsWith('0/')).sort(), ['1/0', '1/1', '2/0'])
  for (const index of [0, 255, 256, 65_535, 65_536, 65_999]) {
    const proof = inclusionRanges(index, 66_000).map((range) => hashOfRange(range, byLarge.read))
    assert.deepEqual(proof, naivePath(index, leaves), `${index}`)
  }
})

test('a proof among twenty million leaves, or two to the power of fifty, reads two tiles of each level at most', () => {
  for (const [size, levels] of [
    [20_000_000, 4],
    [2 ** 50 - 1, 7],
  ] as const) {
    for (const index of [0, 1, 255, 256, 65_537, Math.floor(size / 3), size - 2, size - 1]) {
      const tiles = tilesOfRanges(inclusionRanges(index, size))
      assert.ok(tiles.length <= 2 * levels, `${index} of ${size}: ${tiles.length}`)
    }
  }
})

test('the keys are those of the peppers, newest first, and sign checkpoints as C2SP signed notes', () => {
  const origin = 'example.com/log'
  const keys = logKeysOf([{ secret: 'a newer pepper, long' }, { secret: 'an older pepper, long' }], origin)
  const root = hashLeaf('x')
  const note = signCheckpoint(keys, { origin, size: 17, root })
  const text = `${origin}\n17\n${root.toString('base64')}\n`
  assert.ok(note.startsWith(`${text}\n— ${origin} `))
  const lines = note.slice(text.length + 1).split('\n')
  for (const [place, { vkey }] of keys.entries()) {
    const [name, id, encoded] = vkey.split('+', 2).concat(vkey.split('+').slice(2).join('+'))
    const key = Buffer.from(encoded ?? '', 'base64')
    assert.deepEqual([name, key[0], key.length], [origin, 1, 33])
    const signed = Buffer.from(lines[place]?.split(' ')[2] ?? '', 'base64')
    assert.equal(signed.subarray(0, 4).toString('hex'), id)
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key.subarray(1)])
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
    assert.ok(verify(null, Buffer.from(text), publicKey, signed.subarray(4)))
  }
  assert.notEqual(keys[0]?.vkey, keys[1]?.vkey)
  assert.deepEqual(readCheckpointNote(note), { origin, size: 17, root })
  assert.equal(readCheckpointNote(note.replace('\n17\n', '\n017\n')), null)
})

test('a tile is named as C2SP tlog-tiles does, in one way', () => {
  assert.deepEqual(readTilePath('0/x001/x234/067'), { level: 0, tile: 1_234_067, width: 256 })
  assert.deepEqual(readTilePath('1/000.p/34'), { level: 1, tile: 0, width: 34 })
  const refused = [
    '0/67',
    '0/x000/067',
    '64/000',
    '0/000.p/0',
    '0/000.p/256',
    '0/000.p/034',
    '0/x234/067.p',
    '-1/000',
    '0/',
  ]
  assert.deepEqual(
    refused.map(readTilePath),
    refused.map(() => null),
  )
})

const largeSize = 20_000_000

/** The tiles of a level of a log whose leaves are all the same. */
const sameTiles = [0, 8, 16, 24].map((height) => {
  let hash = hashLeaf('leaf')
  for (let at = 0; at < height; at += 1) hash = hashNode(hash, hash)
  return Buffer.concat(Array.from({ length: 256 }, () => hash))
})

/** A log of twenty million leaves that are all the same: what a receipt costs, and not what it says. */
function largeLog(note: string, indexOf: (entryNumber: number) => number) {
  let reads = 0
  const tiles = sameTiles.map((hashes) =>
    Object.assign(Buffer.from(hashes), {
      subarray(from?: number, to?: number) {
        reads += 1
        return Buffer.prototype.subarray.call(hashes, from, to)
      },
    }),
  )
  const root = largeRoot()
  const run = async ({ name }: { name: string }, [first, second]: number[][] = []) => {
    if (name === 'transparency.listTiles') {
      return first?.map((level, place) => ({ level, tile: second?.[place], hashes: tiles[level] }))
    }
    if (name === 'transparency.listNewestCosigned') return []
    const numbers = second ?? []
    if (name === 'transparency.listLeaves') return numbers.map((entryNumber) => ({ entryNumber, leaf: 'leaf' }))
    return [{ size: largeSize, root, note, entryNumbers: numbers, indexes: numbers.map(indexOf) }]
  }
  return { database: { run } as unknown as Database, reads: () => reads }
}

const largeRoot = () => hashOfRange([0, largeSize], ({ level }) => sameTiles[level] ?? Buffer.alloc(0))

const largeNote = (keys: LogKey[]) =>
  signCheckpoint(keys, { origin: 'example.com/log', size: largeSize, root: largeRoot() })

const signerOf = (keys: LogKey[]) => ({ keys, origin: 'example.com/log' })

test('a receipt of 500 entries gives others their turns, and hashes what its proofs share once', async () => {
  const keys = logKeysOf([{ secret: 'a pepper, long' }], 'example.com/log')
  const numbers = Array.from({ length: 500 }, (_, place) => place + 1)
  const { database, reads } = largeLog(largeNote(keys), Number)
  let [turns, isDone] = [0, false]
  const others = (async () => {
    for (; !isDone; turns += 1) await setImmediate()
  })()
  const proven = await receiptOfEntries(database, signerOf(keys), 'any', numbers)
  isDone = true
  await others
  assert.ok(typeof proven === 'object')
  assert.equal(proven.entries.length, 500)
  assert.ok(turns >= 50, `${turns} turns`)
  // Their proofs have 12,500 hashes.
  assert.ok(reads() < 1_500, `${reads()} hashes`)
})

test('of two receipts the second does not hash the large ranges again that the proofs have in common', async () => {
  const keys = logKeysOf([{ secret: 'a pepper, long' }], 'example.com/log')
  const { database, reads } = largeLog(largeNote(keys), Number)
  await receiptOfEntries(database, signerOf(keys), 'any', [1])
  const ofFirst = reads()
  await receiptOfEntries(database, signerOf(keys), 'any', [2])
  assert.ok(reads() - ofFirst <= ofFirst / 2, `${ofFirst} and ${reads() - ofFirst} hashes`)
})

test('receipts have the proofs of RFC 6962 while the log grows, and after it was replaced by another', async () => {
  const keys = logKeysOf([{ secret: 'a pepper, long' }], 'example.com/log')
  const leaves = leavesOf(20_000)
  // Another log with the same leaf at the places that are proven: after a failover that lost commits.
  const others = leaves.map((leaf, at) => (at < 9_000 ? leaf : hashLeaf(`other ${at}`)))
  const [log, otherLog] = [leaves, others].map((each) => growBy([9_000, 11_000], each))
  let { read, roots } = log ?? assert.fail()
  let size = 0
  const run = async ({ name }: { name: string }, [first, second]: number[][] = []) => {
    if (name === 'transparency.listNewestCosigned') return []
    const numbers = second ?? []
    if (name === 'transparency.listTiles') {
      const tiles = numbers.map((tile, place) => ({ level: first?.[place] ?? 0, tile }))
      return tiles.map((tile) => ({ ...tile, hashes: read(tile) }))
    }
    if (name === 'transparency.listLeaves') {
      return numbers.map((entryNumber) => ({ entryNumber, leaf: `leaf ${entryNumber}` }))
    }
    const root = roots.get(size) ?? emptyRoot
    const note = signCheckpoint(keys, { origin: 'example.com/log', size, root })
    return [{ size, root, note, entryNumbers: numbers, indexes: numbers }]
  }
  const database = { run } as unknown as Database
  async function requireProofs(ofLeaves: Buffer[]): Promise<void> {
    for (const number of [0, 1, 8_191, 8_999]) {
      const proven = await receiptOfEntries(database, signerOf(keys), 'any', [number])
      assert.ok(typeof proven === 'object')
      const path = naivePath(number, ofLeaves, 0, size).map((hash) => hash.toString('base64'))
      assert.deepEqual(proven.entries[0]?.proof, path, `${number} of ${size}`)
    }
  }
  for (size of [9_000, 20_000]) await requireProofs(leaves)
  ;({ read, roots } = otherLog ?? assert.fail())
  await requireProofs(others)
  // No receipt that cannot be verified.
  roots.set(size, emptyRoot)
  await assert.rejects(receiptOfEntries(database, signerOf(keys), 'any', [0]), /has another root than its tiles/)
})

test('a proof that does not lead to the signed root is not sent, whatever root is stored beside the note', async () => {
  const keys = logKeysOf([{ secret: 'a pepper, long' }], 'example.com/log')
  const note = signCheckpoint(keys, { origin: 'example.com/log', size: largeSize, root: Buffer.alloc(32) })
  const { database } = largeLog(note, Number)
  await assert.rejects(receiptOfEntries(database, signerOf(keys), 'any', [1]), /has another root than its tiles/)
})

test('a receipt has the signatures of all keys of the process; while the log has none of them there is none', async () => {
  const keysOf = (...names: string[]) =>
    logKeysOf(
      names.map((secret) => ({ secret })),
      'example.com/log',
    )
  const { database } = largeLog(largeNote(keysOf('b', 'c')), Number)
  const keys = keysOf('a', 'b')
  const proven = await receiptOfEntries(database, signerOf(keys), 'any', [1])
  assert.ok(typeof proven === 'object')
  assert.deepEqual(
    proven.keys,
    keys.map(({ vkey }) => vkey),
  )
  assert.equal(signersOf(proven.checkpoint, keysOf('a', 'b', 'c')).length, 3)
  const message = /signed by other keys than those of KEY_PEPPER and LOG_ORIGIN/
  await assert.rejects(receiptOfEntries(database, signerOf(keysOf('a', 'd')), 'any', [1]), message)
})
