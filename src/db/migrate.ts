// Applies the numbered files of migrations/ in order, each in a transaction of its own, under a lock: any number of
// instances may start at once. A file that has landed is never edited; its checksum says so. A database that is ahead of
// this code is left alone: that is the old version running beside the new one.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
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

/** Applies what is missing and returns the names. The client is one connection for this alone. */
export async function migrate(client: pg.ClientBase, migrations = listMigrations()): Promise<string[]> {
  await client.query('select pg_advisory_lock($1)', [lockNumber])
  try {
    await client.query(`create table if not exists schema_migrations (
      version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`)
    const { rows } = await client.query<Migration>('select version, name, checksum from schema_migrations')
    const applied = new Map(rows.map((row) => [row.version, row]))
    const missing = migrations.filter((migration) => !requireUnchanged(migration, applied.get(migration.version)))
    for (const migration of missing) await apply(client, migration)
    return missing.map((migration) => migration.name)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockNumber])
  }
}

/** True when it is applied as it stands. */
function requireUnchanged(migration: Migration, applied: Migration | undefined): boolean {
  if (applied && applied.checksum !== migration.checksum) {
    throw new Error(`migration ${migration.name} was edited after it was applied: add a new file instead`)
  }
  return applied !== undefined
}

async function apply(client: pg.ClientBase, { version, name, checksum, text }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`migration ${name} failed: ${(error as Error).message}`)
  }
}

const listVersions = statement('db.listVersions', 'select version from schema_migrations')

/** For readiness: the names of the migrations this code needs and the database does not have. */
export async function missingMigrations(database: Database, migrations: Migration[]): Promise<string[]> {
  const rows = await database.run<{ version: number }>(listVersions)
  const versions = new Set(rows.map((row) => row.version))
  return migrations.filter((migration) => !versions.has(migration.version)).map((migration) => migration.name)
}
