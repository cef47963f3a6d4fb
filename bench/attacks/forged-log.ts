// The hand of the attacker in the tables of the log: leaves them, or makes them fit the changed ledger in part or in whole. The
// leaves of the log before any attack are kept in memory.
import type pg from 'pg'
import type { Random } from '../../harness/random.ts'
import { type LogKey, logKeysOf, signCheckpoint } from '../../src/transparency/note.ts'
import { growTree, hashBytes, rootOfEdge, tileWidth } from '../../src/transparency/tree.ts'
import type { Changed } from './forged-ledger.ts'

/** What the attacker does to the log, and how many of ten do it: a log that fits the ledger in part takes long to check. */
const shares = {
  'left as it was': 1,
  'runs only': 1,
  'runs and leaves': 1,
  'rebuilt, note kept': 2,
  'rebuilt, own key': 1,
  'rebuilt, real key': 2,
  'appended again, real key': 1,
  'cut back, real key': 1,
} as const
export type LogForgery = keyof typeof shares
export const logForgeries = Object.keys(shares) as LogForgery[]

export function drawForgery(random: Random): LogForgery {
  const drawn = logForgeries.flatMap((each) => Array<LogForgery>(shares[each]).fill(each))
  return random.pick(drawn as [LogForgery, ...LogForgery[]])
}

/** The log before any attack: the hashes of each level, one after the other, the leaves first. */
export type RealLog = { origin: string; keys: readonly LogKey[]; levels: readonly [Buffer, ...Buffer[]] }

const tileBytes = tileWidth * hashBytes

export async function readRealLog(client: pg.ClientBase, origin: string, keys: readonly LogKey[]): Promise<RealLog> {
  const read = async (level: number) => {
    const { rows } = await client.query<{ hashes: Buffer }>(
      'select hashes from log_tiles where level = $1 order by tile',
      [level],
    )
    return Buffer.concat(rows.map(({ hashes }) => hashes))
  }
  const levels: [Buffer, ...Buffer[]] = [await read(0)]
  while (levels.at(-1)?.length) levels.push(await read(levels.length))
  return { origin, keys, levels }
}

type Leaf = { entryNumber: number; hash: Buffer }

const leavesText = `
  select entry_number as "entryNumber",
         sha256('\\x00'::bytea || convert_to(ledger_leaf(customer_id, entry_number, created_at, kind, delta, balance_after,
           held_delta, held_after, adjusted_after, order_id, reference, hold_id, service_id), 'UTF8')) as hash
  from ledger_entries where customer_id = $1 and entry_number >= $2 order by entry_number`

const placesText = `
  select r.first_leaf + n - r.first_entry as leaf
  from log_runs r cross join lateral generate_series(greatest(r.first_entry, $2), r.last_entry) as n
  where r.customer_id = $1 and r.last_entry >= $2 order by n`

/** What becomes of the leaves: hashes that are replaced, leaves that go, leaves that are added behind others. */
type Edits = { replaced: Map<number, Buffer>; removed: Set<number>; added: { behind: number; hash: Buffer }[] }

export async function forgeLog(
  client: pg.ClientBase,
  forgery: LogForgery,
  log: RealLog,
  changed: Changed[],
  random: Random,
): Promise<void> {
  if (forgery === 'left as it was') return
  if (forgery === 'cut back, real key') return cutBack(client, log, await firstPlace(client, changed))
  if (forgery === 'appended again, real key') return appendAgain(client, log, changed)
  const [before] = log.levels
  const size = before.length / hashBytes
  const edits: Edits = { replaced: new Map(), removed: new Set(), added: [] }
  const atTheEnd = random.chance(0.5)
  const plans: RunsPlan[] = []
  for (const each of changed) plans.push(await planRuns(client, each, edits, size, atTheEnd))
  for (const plan of plans) await forgeRuns(client, plan, atTheEnd)
  if (forgery === 'runs only') return
  const tree = regrow(log, editedLeaves(before, edits))
  // With the leaves alone, a comparison of the ledger with them finds it right, and the roots above are still the real ones.
  if (forgery === 'runs and leaves') return writeTiles(client, tree, 0)
  await writeTiles(client, tree)
  const keysOf = { 'rebuilt, note kept': null, 'rebuilt, own key': ownKeys(log.origin), 'rebuilt, real key': log.keys }
  await writeHead(client, log, tree, keysOf[forgery])
}

function ownKeys(origin: string): LogKey[] {
  return logKeysOf([{ secret: 'a secret that the attacker made up' }], origin)
}

async function writeHead(client: pg.ClientBase, { origin }: RealLog, tree: Tree, keys: readonly LogKey[] | null) {
  const edges = tree.levels.map((hashes) => hashes.subarray(hashes.length - (hashes.length % tileBytes)))
  const size = (tree.levels[0]?.length ?? 0) / hashBytes
  const root = rootOfEdge({ size, hashes: edges })
  const note = keys && signCheckpoint(keys, { origin, size, root })
  await client.query('update log_head set size = $1, root = $2, note = coalesce($3, note)', [size, root, note])
}

async function firstPlace(client: pg.ClientBase, changed: Changed[]): Promise<number> {
  const firsts: number[] = []
  for (const { customerId, from } of changed) {
    const { rows } = await client.query<{ leaf: number }>(`${placesText} limit 1`, [customerId, from])
    firsts.push(...rows.map(({ leaf }) => Number(leaf)))
  }
  return Math.min(...firsts)
}

/** How many entries of a customer are in the log, and how many the changed ledger has, from a number on. */
type RunsPlan = Changed & { logged: number; now: number }

/** Before any run is changed: the edits have the places that the leaves had. */
async function planRuns(
  client: pg.ClientBase,
  { customerId, from }: Changed,
  edits: Edits,
  size: number,
  atTheEnd: boolean,
): Promise<RunsPlan> {
  const { rows: leaves } = await client.query<Leaf>(leavesText, [customerId, from])
  const { rows } = await client.query<{ leaf: number }>(placesText, [customerId, from])
  const places = rows.map(({ leaf }) => Number(leaf))
  for (const [at, place] of places.entries()) {
    const leaf = leaves[at]
    if (leaf) edits.replaced.set(place, leaf.hash)
    else edits.removed.add(place)
  }
  const behind = atTheEnd ? size - 1 : (places.at(-1) ?? size - 1)
  for (const { hash } of leaves.slice(places.length)) edits.added.push({ behind, hash })
  return { customerId, from, logged: places.length, now: leaves.length }
}

async function forgeRuns(client: pg.ClientBase, plan: RunsPlan, atTheEnd: boolean): Promise<void> {
  const { customerId, from, logged, now } = plan
  const more = now - logged
  if (more > 0 && atTheEnd) {
    await client.query(
      `insert into log_runs
       select $1, $2::bigint, $2::bigint + $3::int - 1, max(first_leaf + last_entry - first_entry) + 1 from log_runs`,
      [customerId, from + logged, more],
    )
  } else if (more > 0) {
    await shiftRuns(client, await placeNow(client, customerId), more)
    await client.query(
      `update log_runs set last_entry = last_entry + $2
       where customer_id = $1 and first_entry = (select max(first_entry) from log_runs where customer_id = $1)`,
      [customerId, more],
    )
  }
  for (let fewer = -more; fewer > 0; fewer -= 1) {
    const place = await placeNow(client, customerId)
    await client.query(
      `with last as (select max(first_entry) as first_entry from log_runs where customer_id = $1),
       gone as (delete from log_runs r using last
                where r.customer_id = $1 and r.first_entry = last.first_entry and r.last_entry = r.first_entry)
       update log_runs r set last_entry = last_entry - 1 from last
       where r.customer_id = $1 and r.first_entry = last.first_entry and r.last_entry > r.first_entry`,
      [customerId],
    )
    await shiftRuns(client, place, -1)
  }
}

/** The place of the last leaf of a customer, as the runs are now. */
async function placeNow(client: pg.ClientBase, customerId: string): Promise<number> {
  const { rows } = await client.query<{ leaf: number }>(
    `select first_leaf + last_entry - first_entry as leaf from log_runs where customer_id = $1
     order by first_entry desc limit 1`,
    [customerId],
  )
  return Number(rows[0]?.leaf)
}

// A row at a time would meet the next one, whose place it takes: the order decides which is free.
const shiftText = `
  with gone as (delete from log_runs where first_leaf > $1 returning *)
  insert into log_runs select customer_id, first_entry, last_entry, first_leaf + $2 from gone order by first_leaf`

async function shiftRuns(client: pg.ClientBase, behind: number, by: number): Promise<void> {
  await client.query(shiftText, [behind, by])
}

function editedLeaves(leaves: Buffer, { replaced, removed, added }: Edits): Buffer {
  const edited = Buffer.from(leaves)
  for (const [place, hash] of replaced) hash.copy(edited, place * hashBytes)
  const cuts = [
    ...[...removed].map((place) => ({ place, hash: null })),
    ...added.map(({ behind, hash }) => ({ place: behind, hash })),
  ].sort((one, other) => one.place - other.place)
  const parts: Buffer[] = []
  let at = 0
  for (const { place, hash } of cuts) {
    parts.push(edited.subarray(at * hashBytes, (hash ? place + 1 : place) * hashBytes))
    if (hash) parts.push(hash)
    at = place + 1
  }
  parts.push(edited.subarray(at * hashBytes))
  return Buffer.concat(parts)
}

type Tile = { level: number; tile: number; hashes: Buffer }
/** The hashes of each level, and the tiles that differ from those of the real log. */
type Tree = { levels: Buffer[]; changed: Tile[] }

function regrow({ levels: real }: RealLog, leaves: Buffer): Tree {
  const tree: Tree = { levels: [leaves], changed: [] }
  for (let [level, hashes] = [0, leaves]; hashes.length > 0; level += 1) {
    const [before, above] = [real[level] ?? Buffer.alloc(0), real[level + 1] ?? Buffer.alloc(0)]
    const next = Buffer.alloc(Math.floor(hashes.length / tileBytes) * hashBytes)
    above.copy(next)
    for (let [tile, at] = [0, 0]; at < hashes.length; tile += 1, at += tileBytes) {
      const chunk = hashes.subarray(at, at + tileBytes)
      if (chunk.equals(before.subarray(at, at + tileBytes))) continue
      tree.changed.push({ level, tile, hashes: chunk })
      if (chunk.length === tileBytes) rootOfTile(chunk).copy(next, tile * hashBytes)
    }
    tree.levels.push(next)
    hashes = next
  }
  return tree
}

/** The first hash above a full tile. */
function rootOfTile(hashes: Buffer): Buffer {
  return growTree({ size: 0, hashes: [] }, hashes).edge.hashes[1] ?? Buffer.alloc(0)
}

const writeTilesText = `
  insert into log_tiles (level, tile, hashes) select * from unnest($1::int[], $2::bigint[], $3::bytea[])
  on conflict (level, tile) do update set hashes = excluded.hashes`

/** Up to a level. */
async function writeTiles(client: pg.ClientBase, { levels, changed }: Tree, highest = levels.length): Promise<void> {
  for (const [level, hashes] of levels.entries()) {
    if (level > highest) break
    const count = Math.ceil(hashes.length / tileBytes)
    await client.query('delete from log_tiles where level = $1 and tile >= $2', [level, count])
  }
  const tiles = changed.filter(({ level }) => level <= highest)
  await client.query(writeTilesText, [
    tiles.map(({ level }) => level),
    tiles.map(({ tile }) => tile),
    tiles.map(({ hashes }) => hashes),
  ])
}

const forgetRunsText = `
  with gone as (delete from log_runs where customer_id = $1 and last_entry >= $2 returning *)
  insert into log_runs select customer_id, first_entry, $2 - 1, first_leaf from gone where first_entry < $2`

/** The old leaves stay, so that the tree has only grown; the runs lead to new ones, with the entries as they are now. */
async function appendAgain(client: pg.ClientBase, log: RealLog, changed: Changed[]): Promise<void> {
  let leaves: Buffer = log.levels[0]
  for (const { customerId, from } of changed) {
    const { rows } = await client.query<Leaf>(leavesText, [customerId, from])
    await client.query(forgetRunsText, [customerId, from])
    const run = [customerId, from, from + rows.length - 1, leaves.length / hashBytes]
    if (rows.length > 0) await client.query('insert into log_runs values ($1, $2, $3, $4)', run)
    leaves = Buffer.concat([leaves, ...rows.map(({ hash }) => hash)])
  }
  const tree = regrow(log, leaves)
  await writeTiles(client, tree)
  await writeHead(client, log, tree, log.keys)
}

/** To the leaves before the attack, so that the worker would append the changed entries as new ones. */
async function cutBack(client: pg.ClientBase, log: RealLog, size: number): Promise<void> {
  await client.query(
    `with gone as (delete from log_runs where first_leaf + last_entry - first_entry >= $1 returning *)
     insert into log_runs select customer_id, first_entry, first_entry + $1 - first_leaf - 1, first_leaf
     from gone where first_leaf < $1`,
    [size],
  )
  const tree = regrow(log, log.levels[0].subarray(0, size * hashBytes))
  await writeTiles(client, tree)
  await writeHead(client, log, tree, log.keys)
}
