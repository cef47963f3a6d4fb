// Rows of a copy in PostgreSQL's own text format, with their number and a hash. Every setting that the text depends on is set, so
// any server produces the same text: equal sums mean equal tables. A source is a running database in one snapshot, a cluster
// (src/db/copy/cluster-source.ts), or a file.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { type Applied, listApplied } from '../migrate.ts'
import { listTables, type Table } from './tables.ts'

export type TableSum = { table: string; rows: number; sha256: string }

export type TableRows = { table: string; columns: string[]; rows: AsyncIterable<Buffer> }

export type Source = {
  migrations: Applied[]
  /** For progress. */
  totalRows: number
  /** In an order in which they can be loaded. Read the rows of one before the next table. */
  tables(): AsyncIterable<TableRows>
}

export type OnRows = (done: number) => void

const newline = 0x0a

/** Passes the chunks on. The sum is complete when all of them were read. */
export function summing({ table, rows }: TableRows, onRows: OnRows = () => undefined) {
  const hash = createHash('sha256')
  const sum: TableSum = { table, rows: 0, sha256: '' }
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of rows) {
      hash.update(chunk)
      const before = sum.rows
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) sum.rows += 1
      onRows(sum.rows - before)
      yield chunk
    }
    sum.sha256 = hash.digest('hex')
  }
  return { sum, chunks: chunks() }
}

/** The sum of a table in the database. */
export async function sumOf(client: pg.ClientBase, table: Table, onRows?: OnRows): Promise<TableSum> {
  const { sum, chunks } = summing(rowsOf(client, table), onRows)
  for await (const _ of chunks);
  return sum
}

/** For the transaction: no time limits, and every setting that the text of a row depends on. */
const settingsText = `
  set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local client_encoding = 'UTF8'; set local timezone = 'UTC'; set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'postgres'; set local bytea_output = 'hex'; set local extra_float_digits = 3`

export async function setTextFormat(client: pg.ClientBase): Promise<void> {
  await client.query(settingsText)
}

export function rowsOf(
  client: pg.ClientBase,
  { name, columns, quotedName, quotedColumns, quotedOrder }: Table,
): TableRows {
  async function* rows(): AsyncGenerator<Buffer> {
    yield* client.query(
      copyTo(`copy (select ${quotedColumns} from ${quotedName} order by ${quotedOrder}) to stdout (encoding 'UTF8')`),
    )
  }
  return { table: name, columns, rows: rows() }
}

/** The first query takes the snapshot. */
export async function beginSnapshot(client: pg.ClientBase): Promise<void> {
  await client.query('begin isolation level repeatable read read only')
  await setTextFormat(client)
}

/**
 * One consistent snapshot, while other processes go on writing. After an error the connection can only be ended: a table that
 * was not read to its end would block every other statement, even a rollback.
 */
export async function withSnapshot<Value>(
  client: pg.ClientBase,
  names: string[],
  work: (source: Source) => Promise<Value>,
): Promise<Value> {
  await beginSnapshot(client)
  const tables = await listTables(client, names)
  const migrations = await listApplied(client)
  const value = await work({
    migrations,
    totalRows: await countRows(client, tables),
    async *tables() {
      for (const table of tables) yield rowsOf(client, table)
    },
  })
  await client.query('commit')
  return value
}

export async function countRows(client: pg.ClientBase, tables: Table[]): Promise<number> {
  let total = 0
  for (const { quotedName } of tables) {
    const { rows } = await client.query<{ rows: string }>(`select count(*) as "rows" from ${quotedName}`)
    total += Number(rows[0]?.rows)
  }
  return total
}
