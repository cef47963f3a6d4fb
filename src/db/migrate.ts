// Applies the numbered files of migrations/ in order, each in a transaction of its own, under a lock: any number of
// instances may start at once. A file that has landed is never edited; its checksum says so. A database that is ahead of
// this code is left alone: that is the old version running beside the new one.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { sleep } from '../core/clock.ts'
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

/** Any number that nothing else locks in this database. */
const lockNumber = 7_205_511

/** One at a time changes the schema, and who may do what with it. May be called within itself. */
export async function underLock<Value>(client: pg.ClientBase, work: () => Promise<Value>): Promise<Value> {
  await client.query('select pg_advisory_lock($1)', [lockNumber])
  try {
    return await work()
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockNumber])
  }
}

/** Applies what is missing and returns the names. The client is one connection for this alone. */
export function migrate(client: pg.ClientBase, migrations = listMigrations()): Promise<string[]> {
  return underLock(client, async () => {
    const applied = new Map((await listApplied(client)).map((row) => [row.version, row]))
    const missing = migrations.filter((migration) => !requireUnchanged(migration, applied.get(migration.version)))
    // Not before something is missing: a role that may only read it starts on a database that has everything.
    if (missing.length > 0) await client.query(createJournal)
    for (const migration of missing) await apply(client, migration)
    return missing.map((migration) => migration.name)
  })
}

/** Whether a newer version of this code has been here. */
export async function isAhead(client: pg.ClientBase, migrations = listMigrations()): Promise<boolean> {
  const known = new Set(migrations.map(({ version }) => version))
  return (await listApplied(client)).some(({ version }) => !known.has(version))
}

const createJournal = `create table if not exists schema_migrations (
  version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`

type Applied = Omit<Migration, 'text'>

async function listApplied(client: pg.ClientBase): Promise<Applied[]> {
  const found = await client.query<{ found: boolean }>(`select to_regclass('schema_migrations') is not null as "found"`)
  if (!found.rows[0]?.found) return []
  return (await client.query<Applied>('select version, name, checksum from schema_migrations')).rows
}

/** True when it is applied as it stands. */
function requireUnchanged(migration: Migration, applied: Applied | undefined): boolean {
  if (applied && applied.checksum !== migration.checksum) {
    throw new Error(`migration ${migration.name} was edited after it was applied: add a new file instead`)
  }
  return applied !== undefined
}

const lockNotHad = '55P03'
const lockAttempts = 60
const lockPauseMs = 1_000

/**
 * What waits for a lock makes everybody behind it wait too, a backup that runs for an hour is enough: so it waits for a
 * little while only, and comes again.
 */
async function apply(client: pg.ClientBase, migration: Migration, attempt = 1): Promise<void> {
  try {
    await applyOnce(client, migration)
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    if (code !== lockNotHad || attempt === lockAttempts) throw error
    await sleep(lockPauseMs)
    await apply(client, migration, attempt + 1)
  }
}

async function applyOnce(client: pg.ClientBase, { version, name, checksum, text }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = '1s'`)
    await client.query(text)
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

const listVersions = statement('db.listVersions', 'select version from schema_migrations')

/** What this code needs and the database does not have, by name; and whether it has what this code does not know. */
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
