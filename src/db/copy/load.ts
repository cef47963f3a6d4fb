// Fills an empty database from a source, in one transaction: everything or nothing. All constraints are enforced during the load;
// only our own triggers are disabled, which would put the current time into old rows, or refuse an order that starts as
// confirmed. Before the commit the rows are read back and their sums compared. The database is marked before the first row, and
// until the caller has checked the rest. Into a cluster the rows come the same way, to the coordinator: what prepares the database
// after the load distributes them, in one transaction.
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { isCoordinator, requireNoBudgetOfAll } from '../cluster/distribute.ts'
import { findMissing, inLockedTransaction, listApplied, listMigrations, type Migration, migrate } from '../migrate.ts'
import { rights } from '../rights.ts'
import { type OnRows, type Source, setTextFormat, summing, sumOf, type TableSum } from './source.ts'
import { listOthers, listTables, type Table } from './tables.ts'
import { isUnfinished, markFinished, markUnfinished, requireNoOtherSession } from './unfinished.ts'

/** What belongs to one database at one time: a copy would bring ended sessions back. */
const leftEmpty = ['operator_sessions', 'sign_in_failures', 'sweeping_processes']

/** All but the journal of the migrations: those are applied instead of copied. */
const ourTables = Object.keys(rights).filter((name) => name !== 'schema_migrations')

export const copiedTables = ourTables.filter((name) => !leftEmpty.includes(name))

export type Loading = {
  source: Source
  /** For error messages. */
  place: string
  onProgress(phase: 'loading' | 'verifying', done: number, total: number): void
  signal: AbortSignal
}

/** Returns the sums of the loaded tables. */
export async function loadInto(client: pg.ClientBase, loading: Loading): Promise<TableSum[]> {
  const migrations = knownMigrations(loading.source)
  await inLockedTransaction(client, async () => {
    await requireEmpty(client, migrations, loading.place)
    await markUnfinished(client)
  })
  try {
    await requireNoOtherSession(client, loading.place)
    await migrate(client, migrations)
    const sums = await inLockedTransaction(client, () => load(client, loading))
    await client.query('analyze')
    return sums
  } catch (error) {
    await unmarkIfEmpty(client)
    throw error
  }
}

/** After a rollback the load may be retried. The mark stays where that is not certain. */
async function unmarkIfEmpty(client: pg.ClientBase): Promise<void> {
  try {
    if ((await findRows(client)) === undefined) await markFinished(client)
  } catch {
    // The connection is lost, so it is unknown what it has left behind.
  }
}

/** The migrations of the source, which this code has to know: rows are loaded into the same tables. */
export function knownMigrations({ migrations: applied }: Pick<Source, 'migrations'>): Migration[] {
  const known = listMigrations()
  const unknown = applied.filter(({ version }) => !known.some((each) => each.version === version))
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ')
    throw new Error(`It was made by a newer version, with ${names}: use that version.`)
  }
  const missing = new Set(findMissing(known, applied))
  return known.filter((migration) => !missing.has(migration))
}

async function requireEmpty(client: pg.ClientBase, migrations: Migration[], place: string): Promise<void> {
  const refused = (why: string) => new Error(`The database ${place} is not empty (${why}): use an empty one.`)
  if (await isUnfinished(client)) throw refused('a restore or a move into it was interrupted')
  const others = await listOthers(client, Object.keys(rights))
  if (others.includes('cluster_grants')) throw refused('its tables are distributed over workers already')
  if (others.length > 0) throw refused(`it has ${others[0]}`)
  const applied = await listApplied(client)
  const ahead = applied.find(({ version }) => !migrations.some((each) => each.version === version))
  if (ahead) throw refused(`it has ${ahead.name} already, which the copy does not have`)
  const filled = await findRows(client)
  if (filled) throw refused(`${filled} has rows`)
}

/** The first of our tables that has rows. */
async function findRows(client: pg.ClientBase): Promise<string | undefined> {
  for (const quotedName of await listOurs(client)) {
    const { rows } = await client.query(`select from ${quotedName} limit 1`)
    if (rows.length > 0) return quotedName
  }
  return undefined
}

async function listOurs(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(name) as "name" from unnest($1::text[]) as name where to_regclass(name) is not null`,
    [ourTables],
  )
  return rows.map(({ name }) => name)
}

async function load(client: pg.ClientBase, { source, onProgress, signal }: Loading): Promise<TableSum[]> {
  await setTextFormat(client)
  const report = (phase: 'loading' | 'verifying'): OnRows => {
    let done = 0
    return (rows) => {
      done += rows
      onProgress(phase, done, source.totalRows)
    }
  }
  const [loaded, verified] = [report('loading'), report('verifying')]
  const sums: TableSum[] = []
  const tables: Table[] = []
  for await (const each of source.tables()) {
    if (leftEmpty.includes(each.table)) {
      // A backup of an earlier version has them. They are read nevertheless: a file is complete when all of it was read.
      for await (const _ of each.rows);
      continue
    }
    const [table] = await listTables(client, [each.table])
    if (table?.columns.join() !== each.columns.join()) throw new Error(`The table ${each.table} has other columns.`)
    const { quotedName, quotedColumns } = table
    await client.query(`alter table ${quotedName} disable trigger user`)
    const { sum, chunks } = summing(each, loaded)
    await pipeline(
      chunks,
      client.query(copyFrom(`copy ${quotedName} (${quotedColumns}) from stdin (encoding 'UTF8')`)),
      { signal },
    )
    await client.query(`alter table ${quotedName} enable trigger user`)
    // Not after the commit: then the copy would be here, and could not be distributed.
    if (each.table === 'budgets' && (await isCoordinator(client))) await requireNoBudgetOfAll(client)
    sums.push(sum)
    tables.push(table)
  }
  for (const [index, table] of tables.entries()) {
    signal.throwIfAborted()
    const { rows, sha256 } = await sumOf(client, table, verified)
    if (sha256 !== sums[index]?.sha256) {
      throw new Error(`The table ${table.name} is not what was sent (${rows} of ${sums[index]?.rows} rows).`)
    }
  }
  return sums
}
