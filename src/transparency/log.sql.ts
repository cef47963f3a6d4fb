// The statements of the transparency log: its head, the runs of entries and the tiles. On a cluster these tables are on the
// coordinator, and the entries in the groups of their customers.
import { type Database, statement } from '../db/database.ts'
import { quotedRestoreId } from './restored/restores.sql.ts'
import type { TileId } from './tree.ts'

export type Checkpoint = { size: number; root: Buffer; note: string }

const findCheckpointStatement = statement.global('transparency.findCheckpoint', 'select size, root, note from log_head')

/** The newest; null: no log has been begun. */
export async function readCheckpoint(database: Database): Promise<Checkpoint | null> {
  return (await database.run<Checkpoint>(findCheckpointStatement))[0] ?? null
}

// One snapshot: what the runs contain is below the size of the head.
const findPlacesStatement = statement.global(
  'transparency.findPlaces',
  `select h.size, h.root, h.note, p.entry_numbers as "entryNumbers", p.indexes,
    ${quotedRestoreId} as "restoreId"
  from log_head h
  cross join (select $3::text as origin) log_name
  cross join lateral (
    select coalesce(array_agg(n.entry_number order by n.entry_number), '{}') as entry_numbers,
           coalesce(array_agg(r.first_leaf + n.entry_number - r.first_entry order by n.entry_number), '{}') as indexes
    from unnest($2::bigint[]) as n (entry_number)
    cross join lateral (select * from log_runs r
                        where r.customer_id = $1::uuid and r.first_entry <= n.entry_number
                        order by r.first_entry desc limit 1) r
    where r.last_entry >= n.entry_number
  ) p`,
)

/** Where entries of a customer are in the log, by their numbers; those that are not in it are missing. */
export type LogPlaces = {
  checkpoint: Checkpoint
  indexes: Map<number, number>
  /** The newest restore of a log with the name that was asked for; null: there was none. */
  restoreId: string | null
}

export async function findPlaces(
  database: Database,
  customerId: string,
  entryNumbers: number[],
  origin = '',
): Promise<LogPlaces | null> {
  type Row = Checkpoint & { entryNumbers: string[]; indexes: string[]; restoreId: string | null }
  const [row] = await database.run<Row>(findPlacesStatement, [customerId, entryNumbers, origin])
  if (!row) return null
  const { entryNumbers: found, indexes, restoreId, ...checkpoint } = row
  return {
    checkpoint,
    indexes: new Map(found.map((number, at) => [Number(number), Number(indexes[at])])),
    restoreId,
  }
}

/** The leaf of an entry, where `e` is its row of ledger_entries. */
const quotedLeaf = `ledger_leaf(
    e.customer_id, e.entry_number, e.created_at, e.kind, e.delta, e.balance_after, e.held_delta, e.held_after,
    e.adjusted_after, e.order_id, e.reference, e.hold_id, e.service_id)`

/** The hashes of the leaves of rows `e`, one after the other in the order of their numbers. */
export const quotedLeafHashes = `string_agg(sha256('\\x00'::bytea || convert_to(${quotedLeaf}, 'UTF8')),
    ''::bytea order by e.entry_number)`

const listLeavesStatement = statement.ofCustomer(
  'transparency.listLeaves',
  `select e.entry_number as "entryNumber", ${quotedLeaf} as "leaf"
  from ledger_entries e
  where e.customer_id = $1 and e.entry_number = any ($2::bigint[])`,
)

/** The leaves of entries of a customer, as the ledger has them now, by their numbers. */
export async function listLeaves(
  database: Database,
  customerId: string,
  entryNumbers: number[],
): Promise<Map<number, string>> {
  type Row = { entryNumber: number; leaf: string }
  const rows = await database.run<Row>(listLeavesStatement, [customerId, entryNumbers])
  return new Map(rows.map(({ entryNumber, leaf }) => [entryNumber, leaf]))
}

const listTilesStatement = statement.global(
  'transparency.listTiles',
  `select t.level, t.tile, t.hashes
  from unnest($1::int[], $2::bigint[]) as w (level, tile)
  join log_tiles t on t.level = w.level and t.tile = w.tile`,
)

/** Those that exist. */
export function listTiles(database: Database, tiles: TileId[]): Promise<(TileId & { hashes: Buffer })[]> {
  return database.run(listTilesStatement, [tiles.map(({ level }) => level), tiles.map(({ tile }) => tile)])
}
