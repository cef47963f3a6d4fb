// Applies the numbered files of migrations/ in order, each in a transaction of its own that holds a lock: any number of
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

/**
 * One at a time changes the schema, and who may do what with it. The lock is the transaction's, and so is everything that is
 * done under it: a connection that a pooler lends for one transaction at a time holds it as well as one of our own.
 */
export async function inLockedTransaction<Value>(client: pg.ClientBase, work: () => Promise<Value>): Promise<Value> {
  // What was committed while it waited for the lock has to be seen behind it.
  await client.query('begin isolation level read committed')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber])
    const value = await work()
    await client.query('commit')
    return value
  } catch (error) {
    // A connection that is lost has rolled back by itself.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Applies what is missing and returns the names. The client is one connection for this alone. */
export async function migrate(client: pg.ClientBase, migrations = listMigrations()): Promise<string[]> {
  const missing = missingOf(migrations, await listApplied(client))
  const names: string[] = []
  for (const migration of missing) if (await apply(client, migration)) names.push(migration.name)
  return names
}

/** Whether a newer version of this code has been here. */
export async function isAhead(client: pg.ClientBase, migrations = listMigrations()): Promise<boolean> {
  const known = new Set(migrations.map(({ version }) => version))
  return (await listApplied(client)).some(({ version }) => !known.has(version))
}

const createJournal = `create table if not exists schema_migrations (
  version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`

export type Applied = Omit<Migration, 'text'>

export async function listApplied(client: pg.ClientBase): Promise<Applied[]> {
  // Not to_regclass alone: behind an advisory lock it still answers from what the session remembers. Opening a table of the
  // catalog makes it look again.
  const found = await client.query(`select from pg_class where oid = to_regclass('schema_migrations')`)
  if (found.rowCount === 0) return []
  return (await client.query<Applied>('select version, name, checksum from schema_migrations order by version')).rows
}

/** Those that were applied are as they stand, or it is refused. */
export function missingOf(migrations: Migration[], applied: Applied[]): Migration[] {
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]))
  return migrations.filter(({ version, name, checksum }) => {
    const there = checksums.get(version)
    if (there !== undefined && there !== checksum) {
      throw new Error(`migration ${name} was edited after it was applied: add a new file instead`)
    }
    return there === undefined
  })
}

/** It waited for too long, or for somebody who waited for it. */
const lockNotHad = ['55P03', '40P01']
const lockAttempts = 60
const lockPauseMs = 1_000

/**
 * What waits for a lock makes everybody behind it wait too, a backup that runs for an hour is enough: so it waits for a
 * little while only, and comes again. False when somebody else has applied it meanwhile.
 */
async function apply(client: pg.ClientBase, migration: Migration, attempt = 1): Promise<boolean> {
  try {
    return await inLockedTransaction(client, () => applyOnce(client, migration))
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (lockNotHad.includes(code ?? '') && attempt < lockAttempts) {
      await sleep(lockPauseMs)
      return apply(client, migration, attempt + 1)
    }
    throw new Error(`migration ${migration.name} failed: ${message}`, { cause: error })
  }
}

async function applyOnce(client: pg.ClientBase, migration: Migration): Promise<boolean> {
  if (missingOf([migration], await listApplied(client)).length === 0) return false
  await client.query(`set local lock_timeout = '1s'`)
  await client.query(createJournal)
  await client.query(migration.text)
  const { version, name, checksum } = migration
  await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
    version,
    name,
    checksum,
  ])
  return true
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
