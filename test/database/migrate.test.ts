// Migrations: each is applied once, however many processes start, completely or not at all, and never edited afterwards.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { changeSchema, listMigrations, type Migration, migrate, missingMigrations } from '../../src/db/migrate.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'

let database: TestDatabase
let clients: pg.Client[]
beforeEach(async () => {
  database = await createTestDatabase({ template: 'template0' })
  clients = []
})
afterEach(async () => {
  for (const client of clients) await client.end()
  await database.drop()
})

async function open(): Promise<pg.Client> {
  const client = new pg.Client(database.connection)
  await client.connect()
  clients.push(client)
  return client
}

const first: Migration = { version: 1, name: '0001_first.sql', checksum: 'a', text: 'create table first (id int)' }
const second: Migration = { version: 2, name: '0002_second.sql', checksum: 'b', text: 'create table second (id int)' }

async function listTables(): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`,
  )
  return rows.map((row) => row.name)
}

async function listVersions(): Promise<number[]> {
  const rows = await database.query<{ version: number }>('select version from schema_migrations order by version')
  return rows.map((row) => row.version)
}

test('the files of migrations/ are numbered from 0001 without a gap', () => {
  const migrations = listMigrations()
  assert.ok(migrations.length > 0)
  assert.deepEqual(
    migrations.map((migration) => migration.version),
    migrations.map((_, index) => index + 1),
  )
  for (const { name, checksum, text } of migrations) {
    assert.match(name, /^\d{4}_[a-z0-9_]+\.sql$/)
    assert.match(checksum, /^[0-9a-f]{64}$/)
    assert.ok(text.length > 0)
  }
})

test('eight processes that start at once on an empty database apply each file once', async () => {
  const migrators = await Promise.all(Array.from({ length: 8 }, open))
  const applied = await Promise.all(migrators.map((client) => migrate(client)))
  const names = listMigrations().map((migration) => migration.name)
  assert.deepEqual(applied.flat().sort(), names)
  assert.deepEqual(
    await listVersions(),
    listMigrations().map((migration) => migration.version),
  )
  assert.ok((await listTables()).includes('ledger_entries'))
})

/** A pooler in transaction mode: each transaction may run on another connection. */
function pooledBy(clients: pg.Client[]): pg.ClientBase {
  let current = 0
  let inTransaction = false
  const query = (text: string, values?: unknown[]) => {
    if (!inTransaction) current = (current + 1) % clients.length
    if (/^begin\b/.test(text)) inTransaction = true
    if (/^(commit|rollback)\b/.test(text)) inTransaction = false
    return clients[current]?.query(text, values)
  }
  return { query } as unknown as pg.ClientBase
}

test('through a pooler in transaction mode every file is applied, and no lock remains on any connection', async () => {
  const pooled = pooledBy([await open(), await open()])
  assert.equal((await migrate(pooled)).length, listMigrations().length)
  // Other tests take such locks on this server at the same time, in their own databases.
  const locks = `select from pg_locks where locktype = 'advisory'
                   and database = (select oid from pg_database where datname = current_database())`
  assert.deepEqual(await database.query(locks), [])
})

test('a second start applies nothing, and a new file is applied alone', async () => {
  const client = await open()
  assert.deepEqual(await migrate(client, [first]), ['0001_first.sql'])
  assert.deepEqual(await migrate(client, [first]), [])
  assert.deepEqual(await migrate(client, [first, second]), ['0002_second.sql'])
  assert.deepEqual(await listVersions(), [1, 2])
})

test('a file that was edited after it was applied is refused by name, and nothing is applied', async () => {
  const client = await open()
  await migrate(client, [first])
  const edited = { ...first, checksum: 'edited' }
  const message = 'migration 0001_first.sql was edited after it was applied: add a new file instead'
  await assert.rejects(migrate(client, [edited, second]), { message })
  assert.deepEqual(await listTables(), ['first', 'schema_migrations'])
  assert.deepEqual(await migrate(await open(), [first, second]), ['0002_second.sql'], 'the lock is free again')
})

test('a migration that fails is rolled back completely; earlier ones stay, later ones are not tried', async () => {
  const client = await open()
  const failing = { ...second, text: `${second.text}; insert into second values (1); select 1/0` }
  const third = { ...second, version: 3, name: '0003_third.sql', text: 'create table third (id int)' }
  const message = 'migration 0002_second.sql failed: division by zero'
  await assert.rejects(migrate(client, [first, failing, third]), { message })
  assert.deepEqual(await listTables(), ['first', 'schema_migrations'])
  assert.deepEqual(await listVersions(), [1])
  const other = await open()
  assert.deepEqual(await migrate(other, [first, second, third]), ['0002_second.sql', '0003_third.sql'])
})

test('a migration that cannot be recorded is not applied', async () => {
  const client = await open()
  await assert.rejects(
    migrate(client, [first, { ...second, version: 1 }]),
    /^Error: migration 0002_second.sql failed: /,
  )
  assert.deepEqual(await listTables(), ['first', 'schema_migrations'])
})

test('a migration that waits for a lock lets other statements pass meanwhile, and is applied when the lock is free', async () => {
  const client = await open()
  await migrate(client, [first])
  const reader = await open()
  await reader.query('begin')
  await reader.query('select from first')
  const waiting = migrate(client, [first, { ...second, text: 'alter table first add column more int' }])
  const writer = await open()
  // A write queued behind a waiting lock would wait as long.
  await writer.query(`set lock_timeout = '5s'`)
  for (let each = 0; each < 3; each += 1) await writer.query('insert into first default values')
  await reader.query('commit')
  assert.deepEqual(await waiting, ['0002_second.sql'])
})

test('a change of the schema that never gets its lock fails after sixty tries', async () => {
  let tries = 58
  const change = async () => {
    tries += 1
    throw Object.assign(new Error('locked'), { code: tries > 60 ? 'XX000' : '55P03' })
  }
  await assert.rejects(changeSchema(await open(), change, 59), { code: '55P03' })
  assert.equal(tries, 60)
})

test('a database that is ahead of this code is left alone', async () => {
  const client = await open()
  await migrate(client, [first, second])
  assert.deepEqual(await migrate(client, [first]), [])
  assert.deepEqual(await listVersions(), [1, 2])
  assert.deepEqual(await listTables(), ['first', 'schema_migrations', 'second'])
})

test('readiness names the migrations that this code needs and the database lacks', async () => {
  await migrate(await open(), [first])
  const run = createDatabase(database.pool, silentLog)
  assert.deepEqual(await missingMigrations(run, [first, second]), ['0002_second.sql'])
  assert.deepEqual(await missingMigrations(run, [first]), [])
})
