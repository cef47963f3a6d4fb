// A log of many millions of leaves, and the proofs of entries in it. A million real entries are appended by the real job, which
// is measured. Then the tree is built again with leaves of other customers between the real ones, whose hashes are random: the
// tree is a real one, and the real entries are spread over all of it.
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { createRandom, type Random } from '../../harness/random.ts'
import { createDatabase, createPool, type Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { receiptOfEntries } from '../../src/transparency/log.ts'
import { type LogSigner, logKeysOf, signCheckpoint } from '../../src/transparency/note.ts'
import {
  growTree,
  hashBytes,
  hashLeaf,
  hashNode,
  rootOfEdge,
  type TreeEdge,
  tileWidth,
} from '../../src/transparency/tree.ts'
import { inBulk } from '../books/bulk.ts'
import { entriesPerOrder, generate } from '../books/generate.ts'
import { startServer } from '../books/server.ts'
import { databaseLog, logLine } from '../report/progress.ts'
import { logOrigin as origin, pepper } from '../stage/books.ts'
import type { BigLog, Sealing } from './report.ts'

const provenEntries = 5_000
/** As a service that has run for a while: Node compiles in that time, on the cores that PostgreSQL needs. */
const warmEntries = 5_000
/** Those of requests in a service with the default settings. */
const requestConnections = 6
const longestStatementMs = 600_000
const tilesPerInsert = 512

export async function measureBigLog(
  parts: AsyncDisposableStack,
  { entries, leaves }: { entries: number; leaves: number },
): Promise<{ sealing: Sealing; bigLog: BigLog }> {
  const { connection } = await startServer({ keep: false }, parts)
  const pool = createPool({ connection, maxConnections: 2, statementLimitMs: longestStatementMs, log: databaseLog })
  parts.defer(() => pool.end())
  const client = await pool.connect()
  const signer = { keys: logKeysOf([{ secret: pepper }], origin), origin }
  await migrate(client)
  logLine(`Generating books with ${entries} entries ...`)
  await generate(client, Math.ceil(entries / entriesPerOrder))
  const sealing = await measureSealing(client, createDatabase(pool, databaseLog), signer)
  const built = await spreadLeaves(client, signer, Math.ceil(leaves / sealing.entries))
  client.release(true)
  // Planned once, as the connections of requests.
  const requests = createPool({ connection, maxConnections: requestConnections, plans: 'once', log: databaseLog })
  parts.defer(() => requests.end())
  const proofsMs = await measureProofs(createDatabase(requests, databaseLog), signer, requests)
  return { sealing, bigLog: { ...built, proofsMs } }
}

async function sizesOf(client: pg.ClientBase): Promise<{ tileMegabytes: number; runMegabytes: number }> {
  const { rows } = await client.query<{ tileMegabytes: number; runMegabytes: number }>(
    `select pg_total_relation_size('log_tiles') / 1e6::float8 as "tileMegabytes",
            pg_total_relation_size('log_runs') / 1e6::float8 as "runMegabytes"`,
  )
  return rows[0] as { tileMegabytes: number; runMegabytes: number }
}

/** By the worker's job as it is, with the pauses that it leaves to requests. */
async function measureSealing(client: pg.ClientBase, database: Database, signer: LogSigner): Promise<Sealing> {
  logLine('Appending them to the log ...')
  const append = createAppendToLog(database, signer)
  const startedAt = performance.now()
  while ((await append()).more);
  const seconds = (performance.now() - startedAt) / 1_000
  const { rows } = await client.query<{ entries: number; runs: number }>(
    'select (select size from log_head) as entries, (select count(*) from log_runs) as runs',
  )
  const { entries = 0, runs = 0 } = rows[0] ?? {}
  logLine(`Appended ${entries} entries in ${seconds.toFixed(0)} s.`)
  return { entries, runs, seconds, ...(await sizesOf(client)) }
}

// A run of n leaves becomes a block of n times the factor, in which the real one has a place and others have the rest.
const place = (factor: number) => `(r.first_leaf % ${factor})`
const length = '(r.last_entry - r.first_entry + 1)'
const spreadRuns = (factor: number) => `
  insert into log_runs (customer_id, first_entry, last_entry, first_leaf)
  select case when n = ${place(factor)} then r.customer_id else gen_random_uuid() end,
         case when n = ${place(factor)} then r.first_entry else 1 end,
         case when n = ${place(factor)} then r.last_entry else ${length} end,
         r.first_leaf * ${factor} + n * ${length}
  from real_runs r cross join generate_series(0, ${factor - 1}) as n`

/** Without its keys while it is filled: that takes a fraction of the time. */
const keysOfRuns = {
  log_runs_pkey: 'primary key (customer_id, first_entry)',
  log_runs_first_leaf: 'unique (first_leaf)',
}

async function spreadLeaves(
  client: pg.PoolClient,
  signer: LogSigner,
  factor: number,
): Promise<Omit<BigLog, 'proofsMs'>> {
  logLine(`Spreading them over ${factor} times as many leaves ...`)
  const startedAt = performance.now()
  const took = () => `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`
  const { rows: tiles } = await client.query<{ hashes: Buffer }>(
    'select hashes from log_tiles where level = 0 order by tile',
  )
  const real = Buffer.concat(tiles.map(({ hashes }) => hashes))
  let leaves = 0
  await inBulk(client, async () => {
    await client.query('create table real_runs as select * from log_runs')
    await client.query('create index real_runs_by_leaf on real_runs (first_leaf)')
    await client.query('truncate log_runs, log_tiles')
    for (const name of Object.keys(keysOfRuns)) await client.query(`alter table log_runs drop constraint ${name}`)
    await client.query(spreadRuns(factor))
    for (const [name, key] of Object.entries(keysOfRuns)) {
      await client.query(`alter table log_runs add constraint ${name} ${key}`)
    }
    logLine(`  ${took()}: runs`)
    leaves = await writeTree(client, signer, factor, real)
  })
  // What filling the tables has left to do would otherwise be done during the proofs.
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  logLine(`  ${took()}: ${leaves} leaves`)
  const { rows } = await client.query<{ count: number }>('select count(*) as count from log_runs')
  return { leaves, runs: rows[0]?.count ?? 0, ...(await sizesOf(client)) }
}

/** The tree of the leaves in their new places, with its head. Returns its size. */
async function writeTree(client: pg.ClientBase, signer: LogSigner, factor: number, real: Buffer): Promise<number> {
  const { rows: runs } = await client.query<{ firstLeaf: number; count: number }>(
    `select first_leaf as "firstLeaf", ${length} as count from real_runs r order by first_leaf`,
  )
  let edge: TreeEdge = { size: 0, hashes: [] }
  const above = new Map<string, Omit<Tile, 'hashes'> & { parts: Buffer[] }>()
  async function grow(leafHashes: Buffer): Promise<void> {
    const grown = growTree(edge, leafHashes)
    edge = grown.edge
    const ofLeaves = grown.growth.filter(({ level }) => level === 0)
    await insertTiles(
      client,
      ofLeaves.map(({ level, tile, added }) => ({ level, tile, hashes: added })),
    )
    for (const { level, tile, added } of grown.growth) {
      if (level === 0) continue
      const key = `${level}/${tile}`
      const { parts } = above.get(key) ?? { parts: [] }
      above.set(key, { level, tile, parts: [...parts, added] })
    }
  }
  const portion = tilesPerInsert * tileWidth * hashBytes
  let waiting: Buffer[] = []
  let waitingBytes = 0
  for (const { firstLeaf, count } of runs) {
    const block = randomBytes(factor * count * hashBytes)
    real.copy(block, (firstLeaf % factor) * count * hashBytes, firstLeaf * hashBytes, (firstLeaf + count) * hashBytes)
    waiting.push(block)
    waitingBytes += block.length
    if (waitingBytes < portion) continue
    // Whole tiles only: those of the leaves are then written once.
    const all = Buffer.concat(waiting)
    const whole = all.length - (all.length % (tileWidth * hashBytes))
    await grow(all.subarray(0, whole))
    waiting = [all.subarray(whole)]
    waitingBytes = all.length - whole
  }
  await grow(Buffer.concat(waiting))
  await insertTiles(
    client,
    [...above.values()].map(({ level, tile, parts }) => ({ level, tile, hashes: Buffer.concat(parts) })),
  )
  const root = rootOfEdge(edge)
  const note = signCheckpoint(signer.keys, { origin: signer.origin, size: edge.size, root })
  await client.query('update log_head set size = $1, root = $2, note = $3', [edge.size, root, note])
  return edge.size
}

type Tile = { level: number; tile: number; hashes: Buffer }

async function insertTiles(client: pg.ClientBase, tiles: Tile[]) {
  await client.query(
    'insert into log_tiles (level, tile, hashes) select * from unnest($1::int[], $2::bigint[], $3::bytea[])',
    [tiles.map(({ level }) => level), tiles.map(({ tile }) => tile), tiles.map(({ hashes }) => hashes)],
  )
}

const sampleText = `
  select customer_id as "customerId", first_entry + floor($2::float8 * (last_entry - first_entry + 1))::bigint as "entryNumber"
  from real_runs where first_leaf <= $1 order by first_leaf desc limit 1`

type Sample = { customerId: string; entryNumber: number }

/** Milliseconds of each, one after the other: the statements, the proof and its text. */
async function measureProofs(database: Database, signer: LogSigner, pool: pg.Pool): Promise<number[]> {
  const random = createRandom(1)
  const { rows } = await pool.query<{ lastRun: number }>('select max(first_leaf) as "lastRun" from real_runs')
  const samples: Sample[] = []
  for (let each = 0; each < warmEntries + provenEntries; each += 1) {
    samples.push(await sampleOf(pool, random, rows[0]?.lastRun ?? 0))
  }
  const tookMs: number[] = []
  for (const { customerId, entryNumber } of samples) {
    const startedAt = performance.now()
    const receipt = await receiptOfEntries(database, signer, customerId, [entryNumber])
    const text = JSON.stringify(receipt)
    tookMs.push(performance.now() - startedAt)
    requireProof(text)
  }
  return tookMs.slice(warmEntries)
}

async function sampleOf(pool: pg.Pool, random: Random, lastRun: number): Promise<Sample> {
  const share = random.integer(0, 999_999) / 1_000_000
  const { rows } = await pool.query<Sample>(sampleText, [random.integer(0, lastRun), share])
  return rows[0] as Sample
}

/** Outside of the time that is measured: the proof leads to the root of the checkpoint (RFC 9162, section 2.1.3.2). */
function requireProof(text: string): void {
  type Receipt = { entries: [{ leaf: string; index: string; proof: string[] }]; checkpoint: string }
  const { entries, checkpoint } = JSON.parse(text) as Receipt
  const [{ leaf, index, proof }] = entries
  const [, size = '', root = ''] = checkpoint.split('\n')
  let [at, last, hash] = [BigInt(index), BigInt(size) - 1n, hashLeaf(leaf)]
  for (const sibling of proof.map((each) => Buffer.from(each, 'base64'))) {
    if (at % 2n === 1n || at === last) {
      hash = hashNode(sibling, hash)
      while (at % 2n === 0n && at !== 0n) [at, last] = [at / 2n, last / 2n]
    } else {
      hash = hashNode(hash, sibling)
    }
    ;[at, last] = [at / 2n, last / 2n]
  }
  if (hash.toString('base64') !== root) throw new Error(`the proof of leaf ${index} does not lead to the root`)
}
