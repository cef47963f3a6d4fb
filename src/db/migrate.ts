// Applies the numbered files of migrations/ in order, each in its own transaction under a lock: any number of instances may
// start at once. An applied file is never edited; its checksum is compared. A database that is ahead of this code is left
// unchanged: an old version may run beside a new one.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { sleep } from '../core/clock.ts'
import { distribute, isDistributed, resetSearchPaths, setForCluster } from './cluster/distribute.ts'
import { splitStatements } from './cluster/split.ts'
import { type Database, statement } from './database.ts'

const directory = new URL('../../migrations/', import.meta.url)

export type Migration = { version: number; name: string; checksum: string; text: string }

export function listMigrations(): Migration[] {
  const names = readdirSync(directory).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
  return names.sort().map((name) => {
    const text = readFileSync(new URL(name, directory), 'utf8')
    return { version: Number(name.slice(0, 4)), name, checksum: createHash('sha256').update(text).digest('hex'), text }
  })
}

/** Arbitrary; nothing else in this database uses it. */
const lockNumber = 7_205_511

/**
 * One process at a time changes the schema and its rights. Lock and changes belong to one transaction, so it also works through
 * a pooler that assigns connections per transaction.
 */
export async function inLockedTransaction<Value>(client: pg.ClientBase, work: () => Promise<Value>): Promise<Value> {
  // It has to see what was committed while it waited for the lock.
  await client.query('begin isolation level read committed')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber])
    const value = await work()
    await client.query('commit')
    return value
  } catch (error) {
    // A lost connection has rolled back by itself.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Applies what is missing and returns the names. The client has to be a connection for this alone. */
export async function migrate(client: pg.ClientBase, migrations = listMigrations()): Promise<string[]> {
  const missing = findMissing(migrations, await listApplied(client))
  const names: string[] = []
  for (const migration of missing) if (await apply(client, migration)) names.push(migration.name)
  return names
}

/** Whether a newer version of this code has migrated it. */
export async function isAhead(client: pg.ClientBase, migrations = listMigrations()): Promise<boolean> {
  const known = new Set(migrations.map(({ version }) => version))
  return (await listApplied(client)).some(({ version }) => !known.has(version))
}

const createJournal = `create table if not exists schema_migrations (
  version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`

export type Applied = Omit<Migration, 'text'>

export async function listApplied(client: pg.ClientBase): Promise<Applied[]> {
  // Not to_regclass alone: after an advisory lock it still answers from the session's cache. Opening a catalog table
  // invalidates the cache.
  const found = await client.query(`select from pg_class where oid = to_regclass('schema_migrations')`)
  if (found.rowCount === 0) return []
  return (await client.query<Applied>('select version, name, checksum from schema_migrations order by version')).rows
}

/** Throws when an applied one has been edited. */
export function findMissing(migrations: Migration[], applied: Applied[]): Migration[] {
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]))
  return migrations.filter(({ version, name, checksum }) => {
    const there = checksums.get(version)
    if (there !== undefined && there !== checksum) {
      throw new Error(`migration ${name} was edited after it was applied: add a new file instead`)
    }
    return there === undefined
  })
}

/** A lock timeout or a deadlock. */
const lockFailures = ['55P03', '40P01']
const lockAttempts = 60
const lockPauseMs = 1_000

/**
 * A change that waits for a lock blocks all statements behind it; a backup of an hour would be enough. So it waits for a second
 * only and is retried.
 */
export async function changeSchema<Value>(
  client: pg.ClientBase,
  change: () => Promise<Value>,
  attempt = 1,
): Promise<Value> {
  try {
    return await inLockedTransaction(client, async () => {
      await setForCluster(client)
      return change()
    })
  } catch (error) {
    if (!lockFailures.includes((error as { code?: string }).code ?? '') || attempt === lockAttempts) throw error
    await sleep(lockPauseMs)
    return changeSchema(client, change, attempt + 1)
  }
}

/** False when another process has applied it meanwhile. */
async function apply(client: pg.ClientBase, migration: Migration): Promise<boolean> {
  try {
    return await changeSchema(client, () => applyOnce(client, migration))
  } catch (error) {
    throw new Error(`migration ${migration.name} failed: ${(error as Error).message}`, { cause: error })
  }
}

/** Statement by statement: Citus takes no more at once. */
async function applyOnce(client: pg.ClientBase, migration: Migration): Promise<boolean> {
  if (findMissing([migration], await listApplied(client)).length === 0) return false
  await client.query(createJournal)
  const isSpread = await isDistributed(client)
  for (const text of splitStatements(migration.text)) {
    await client.query(text)
    if (isSpread) await distribute(client)
  }
  if (isSpread) await resetSearchPaths(client)
  const { version, name, checksum } = migration
  await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
    version,
    name,
    checksum,
  ])
  return true
}

const listVersions = statement.global('db.listVersions', 'select version from schema_migrations')

/** The names of missing migrations, and whether the database has some that this code does not know. */
export async function compareSchema(
  database: Database,
  migrations: Migration[] = listMigrations(),
): Promise<{ missing: string[]; isAhead: boolean }> {
  const rows = await database.run<{ version: number }>(listVersions)
  const versions = new Set(rows.map((row) => row.version))
  const missing = migrations.filter((migration) => !versions.delete(migration.version))
  return { missing: missing.map((migration) => migration.name), isAhead: versions.size > 0 }
}

/** For readiness. */
export async function missingMigrations(database: Database, migrations: Migration[]): Promise<string[]> {
  return (await compareSchema(database, migrations)).missing
}
