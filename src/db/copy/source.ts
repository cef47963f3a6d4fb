// Rows on their way from one place to another, as PostgreSQL's own text of them, and what is summed up on the way: how many,
// and a hash. The same text comes from any server, because everything it depends on is set: two sums that are equal mean
// equal tables. A source is a running database in one snapshot, or a file.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { type Applied, listApplied } from '../migrate.ts'
import { listTables, type Table } from './tables.ts'

export type TableSum = { table: string; rows: number; sha256: string }

export type TableRows = { table: string; columns: string[]; rows: AsyncIterable<Buffer> }

export type Source = {
  migrations: Applied[]
  /** How many rows there are, for those who show progress. */
  totalRows: number
  /** In an order in which they can be loaded. The rows of one are read before the next is asked for. */
  tables(): AsyncIterable<TableRows>
}

export type OnRows = (done: number) => void

const newline = 0x0a

/** Passes the chunks on. The sum is there when all of them were read. */
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

/** What a table holds, read from the database. */
export async function sumOf(client: pg.ClientBase, table: Table, onRows?: OnRows): Promise<TableSum> {
  const { sum, chunks } = summing(rowsOf(client, table), onRows)
  for await (const _ of chunks);
  return sum
}

/** For the transaction: no limit of time, and everything that the text of a row depends on. */
const settingsText = `
  set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local client_encoding = 'UTF8'; set local timezone = 'UTC'; set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'postgres'; set local bytea_output = 'hex'; set local extra_float_digits = 3`

export async function setTextFormat(client: pg.ClientBase): Promise<void> {
  await client.query(settingsText)
}

function rowsOf(client: pg.ClientBase, { name, columns, quotedName, quotedColumns, quotedOrder }: Table): TableRows {
  async function* rows(): AsyncGenerator<Buffer> {
    yield* client.query(
      copyTo(`copy (select ${quotedColumns} from ${quotedName} order by ${quotedOrder}) to stdout (encoding 'UTF8')`),
    )
  }
  return { table: name, columns, rows: rows() }
}

/**
 * Everything as it is at one moment, while others go on writing. After an error the connection can only be ended: a table
 * that was not read to its end would keep every other statement waiting, a rollback too.
 */
export async function withSnapshot<Value>(
  client: pg.ClientBase,
  names: string[],
  work: (source: Source) => Promise<Value>,
): Promise<Value> {
  await client.query('begin isolation level repeatable read read only')
  await setTextFormat(client)
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

async function countRows(client: pg.ClientBase, tables: Table[]): Promise<number> {
  let total = 0
  for (const { quotedName } of tables) {
    const { rows } = await client.query<{ rows: string }>(`select count(*) as "rows" from ${quotedName}`)
    total += Number(rows[0]?.rows)
  }
  return total
}
