// Inserts big books quickly: keys and indexes are dropped and built again after the rows, and commits and checkpoints
// do not wait meanwhile. Afterwards the keys and indexes are those that were there before.
import { totalmem } from 'node:os'
import type pg from 'pg'

const tables = ['orders', 'ledger_entries', 'payment_operations', 'holds', 'events']
const tableList = `array[${tables.map((table) => `'${table}'`).join(', ')}]::regclass[]`

const keysText = (condition: string) => `
  select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where ${condition} order by conrelid::regclass::text, conname`

const indexesText = `
  select c.relname as name, pg_get_indexdef(i.indexrelid) as text
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = any (${tableList}) and not i.indisprimary`

type Key = { table: string; name: string; definition: string }

/** Rows have to be inserted in the order of time, as in real books; `build` builds a table's primary key early. */
export async function withoutIndexes(
  client: pg.Client,
  fill: (build: (table: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const ofTables = `(conrelid = any (${tableList}) or confrelid = any (${tableList}))`
  const { rows: foreignKeys } = await client.query<Key>(keysText(`contype = 'f' and ${ofTables}`))
  const { rows: primaryKeys } = await client.query<Key>(keysText(`contype = 'p' and conrelid = any (${tableList})`))
  const { rows: indexes } = await client.query<{ name: string; text: string }>(indexesText)
  const add = ({ table, name, definition }: Key) =>
    client.query(`alter table ${table} add constraint ${name} ${definition}`)
  const drop = ({ table, name }: Key) => client.query(`alter table ${table} drop constraint ${name}`)

  for (const key of [...foreignKeys, ...primaryKeys]) await drop(key)
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  const unbuilt = new Set(primaryKeys)
  const build = async (key: Key) => {
    await add(key)
    unbuilt.delete(key)
  }
  await fill(async (table) => {
    for (const key of unbuilt) if (key.table === table) await build(key)
  })
  for (const key of unbuilt) await build(key)
  for (const { text } of indexes) await client.query(text)
  for (const key of foreignKeys) await add(key)
}

/** A sixteenth of the memory for each sort, within bounds: several run at once. */
const sortMegabytes = Math.round(Math.min(1_024, Math.max(64, totalmem() / 2 ** 20 / 16)))

/** For this session, except the size of the WAL: that is the server's, and is reset afterwards. */
export async function inBulk(client: pg.Client, fill: () => Promise<void>): Promise<void> {
  for (const setting of [`work_mem = '${sortMegabytes}MB'`, `maintenance_work_mem = '${sortMegabytes}MB'`]) {
    await client.query(`set ${setting}`)
  }
  await client.query('set synchronous_commit = off')
  // Checks of foreign keys row by row would be most of the time.
  await client.query('set session_replication_role = replica')
  await client.query(`alter system set max_wal_size = '16GB'`)
  await client.query('select pg_reload_conf()')
  await fill()
  await client.query('alter system reset max_wal_size')
  await client.query('select pg_reload_conf()')
  for (const name of ['work_mem', 'maintenance_work_mem', 'synchronous_commit', 'session_replication_role']) {
    await client.query(`reset ${name}`)
  }
  await client.query('checkpoint')
}
