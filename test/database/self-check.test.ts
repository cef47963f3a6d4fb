// The self-check of a service before it serves. Each property is damaged in a real database, and the start refuses and names
// it, or warns. Settings of the server's own configuration are in test/process/self-check.test.ts.
import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, mock, test } from 'node:test'
import pg from 'pg'
import { databaseUrl, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { listMigrations } from '../../src/db/migrate.ts'
import { type OpenOptions, openDatabase } from '../../src/db/open.ts'
import { selfCheck } from '../../src/db/self-check.ts'
import { createTestDatabase, type OwnTestDatabase, testServer } from '../support/database/database.ts'

const dataDir = newDirectory({ after })
let database: OwnTestDatabase
beforeEach(async () => {
  database = await createTestDatabase({ maxConnections: 2 })
})
afterEach(async () => {
  mock.timers.reset()
  await database.drop()
})

type Warning = { fields: object; message: string }

/** The warnings of a start, or the lines of its refusal. */
async function start(options: Partial<OpenOptions> = {}): Promise<{ warnings: Warning[]; lines: string[] }> {
  const warnings: Warning[] = []
  const log = { ...silentLog, warn: (fields: object, message: string) => warnings.push({ fields, message }) as never }
  try {
    const opened = await openDatabase({
      databaseUrl: databaseUrl(database.connection),
      databaseConnections: 2,
      dataDir,
      use: 'service',
      log,
      ...options,
    })
    await opened.close()
    return { warnings, lines: [] }
  } catch (error) {
    return { warnings, lines: (error as Error).message.split('\n') }
  }
}

test('a correct database is served without warnings, in production too', async () => {
  for (const production of [false, true]) assert.deepEqual(await start({ production }), { warnings: [], lines: [] })
})

test('the start refuses a read-only database', async () => {
  const { database: name } = database.connection
  await database.query(`alter database ${name} set default_transaction_read_only = on`)
  assert.deepEqual((await start()).lines, [
    `The database ${name} at the local socket accepts no writes (a standby, or default_transaction_read_only): use the primary`,
  ])
})

const putBack = 'put it back as schema.sql has it, then run the command audit.'
const tampered: { what: string; damage: (name: string, role: string) => string; lines: string[] }[] = [
  {
    what: 'synchronous_commit of the role is off',
    damage: (_, role) => `alter role ${role} in database current set synchronous_commit = off`,
    lines: [
      'synchronous_commit is off, a crash would lose payments that were answered: take it out of postgresql.conf, ' +
        'the database, the role credits_service and the URL.',
    ],
  },
  {
    what: 'synchronous_commit of the database is off',
    damage: () => 'alter database current set synchronous_commit = off',
    lines: [
      'synchronous_commit is off, a crash would lose payments that were answered: take it out of postgresql.conf, ' +
        'the database, the role credits_service and the URL.',
    ],
  },
  {
    what: 'triggers do not fire for the role',
    damage: (_, role) => `alter role ${role} in database current set session_replication_role = replica`,
    lines: [
      'session_replication_role keeps triggers from firing: take it out of postgresql.conf, the database and the role ' +
        'credits_service.',
    ],
  },
  {
    what: 'a trigger is disabled',
    damage: () => 'alter table ledger_entries disable trigger ledger_entries_append_only',
    lines: [`The trigger ledger_entries_append_only of ledger_entries is disabled: ${putBack}`],
  },
  {
    what: 'keys can be deleted',
    damage: () => 'drop trigger api_keys_never_deleted on api_keys',
    lines: [`The trigger api_keys_never_deleted of api_keys is missing: ${putBack}`],
  },
  {
    what: 'a constraint and an index were dropped',
    damage: () => 'alter table orders drop constraint orders_rules; drop index ledger_entries_once_per_order_or_part',
    lines: [
      `The constraint orders_rules of orders is missing: ${putBack}`,
      `The unique index ledger_entries_once_per_order_or_part of ledger_entries is missing: ${putBack}`,
    ],
  },
  {
    what: 'two things are wrong',
    damage: () => 'alter database current set synchronous_commit = off; drop trigger orders_transitions on orders',
    lines: [
      'synchronous_commit is off, a crash would lose payments that were answered: take it out of postgresql.conf, ' +
        'the database, the role credits_service and the URL.',
      `The trigger orders_transitions of orders is missing: ${putBack}`,
    ],
  },
  {
    what: 'the role lacks rights',
    damage: (_, role) => `revoke insert on events, ledger_entries, orders, holds from ${role}`,
    lines: [
      'The role credits_service may not insert into events, insert into holds, insert into ledger_entries and 1 more: run ' +
        '"npm run -s credits -- migrate" with MIGRATION_DATABASE_URL set to the URL of the owner, who grants the rights.',
    ],
  },
  {
    what: 'the role may read nothing',
    damage: (_, role) => `revoke all on schema_migrations from ${role}`,
    lines: [
      'The role of DATABASE_URL lacks rights (permission denied for table schema_migrations): run ' +
        '"npm run -s credits -- migrate" with MIGRATION_DATABASE_URL set to the URL of the owner, who applies the migrations and grants the rights.',
    ],
  },
]
for (const { what, damage, lines } of tampered) {
  test(`the start refuses, in production and outside, when ${what}`, async () => {
    const { database: name, user } = database.connection
    await database.query(damage(name, user).replaceAll('database current', `database ${name}`))
    for (const production of [true, false]) assert.deepEqual((await start({ production })).lines, lines)
  })
}

test('synchronous_commit in the URL is checked too', async () => {
  const url = `${databaseUrl(database.connection)}&options=-c%20synchronous_commit%3Doff`
  const { lines } = await start({ databaseUrl: url })
  assert.deepEqual([lines.length, lines[0]?.startsWith('synchronous_commit is off')], [1, true])
})

test('missing guards are only a warning in the schema of a newer version, which may have others', async () => {
  await database.query(`alter table orders drop constraint orders_rules;
    insert into schema_migrations (version, name, checksum) values (9999, '9999_newer.sql', '')`)
  const { warnings, lines } = await start()
  assert.deepEqual(lines, [])
  assert.deepEqual(warnings, [
    {
      fields: { broken: [{ kind: 'constraint', table: 'orders', name: 'orders_rules', fault: 'is missing' }] },
      message: 'guards of this version are missing in this newer schema',
    },
  ])
})

test('a guard that is disabled refuses the start in the schema of a newer version too', async () => {
  await database.query(`alter table ledger_entries disable trigger ledger_entries_append_only;
    insert into schema_migrations (version, name, checksum) values (9999, '9999_newer.sql', '')`)
  assert.deepEqual((await start()).lines, [
    `The trigger ledger_entries_append_only of ledger_entries is disabled: ${putBack}`,
  ])
})

test('a trigger that fires always, for replicas too, is a guard as it was', async () => {
  await database.query('alter table ledger_entries enable always trigger ledger_entries_append_only')
  assert.deepEqual(await start(), { warnings: [], lines: [] })
})

test('a database of another encoding is refused', async () => {
  const name = `${database.connection.database}_latin`
  await database.query(`create database ${name} encoding LATIN1 locale 'C' locale_provider libc template template0`)
  const { lines } = await start({ databaseUrl: databaseUrl({ ...testServer(), database: name }) })
  await database.query(`drop database ${name} with (force)`)
  assert.deepEqual(lines, ['The database is encoded in LATIN1: create one with encoding UTF8 and use that.'])
})

test('a server older than the tested versions is refused', async () => {
  const connections = {
    async query(query: { name: string; text: string; values: unknown[] }) {
      const { rows } = await database.pool.query(query)
      return { rows: query.name === 'db.findFacts' ? [{ ...rows[0], version: 14 }] : rows }
    },
  }
  const old = createDatabase(connections, silentLog)
  const message = 'PostgreSQL 14 is too old: use version 15 or later.'
  await assert.rejects(selfCheck(old, { log: silentLog }), { message })
  const present = createDatabase(database.pool, silentLog)
  const cluster = { ...present, workers: () => [{ ...old, anchor: 'a worker' }] }
  await assert.rejects(selfCheck(cluster, { log: silentLog }), {
    message: /^On the worker [^ ]+: PostgreSQL 14 is too old/,
  })
})

test('missing tables are distinguished from missing rights', async () => {
  const { user, database: name } = database.connection
  const migrationDatabaseUrl = databaseUrl(database.ownerConnection)
  await database.query(`alter role ${user} in database ${name} set search_path = elsewhere`)
  assert.deepEqual((await start({ migrationDatabaseUrl })).lines, [
    `The tables are in the schema public, and the role ${user} looks in elsewhere: set its search_path to public.`,
  ])
  const empty = await createTestDatabase({ template: 'template0' })
  const { lines } = await start({ databaseUrl: databaseUrl(empty.connection), migrationDatabaseUrl })
  assert.deepEqual(lines, [
    `The database ${empty.connection.database} has none of our tables: MIGRATION_DATABASE_URL and DATABASE_URL have to be ` +
      'URLs of the same one.',
  ])
  await empty.drop()
})

test('rights of PUBLIC in the database are a warning in production, with the statement that revokes them', async () => {
  const { user, database: name } = database.connection
  await database.query(`grant temporary on database ${name} to public; grant create on schema public to public`)
  const fields = { role: user }
  assert.deepEqual((await start({ production: true })).warnings, [
    {
      fields,
      message: `the role of DATABASE_URL may create temporary tables, which could hide ours: in the database ${name} revoke temporary from public`,
    },
    { fields, message: 'the role of DATABASE_URL may create tables in the schema public: revoke create from public' },
  ])
})

test('migrations applied to one database do not allow another to be served', async () => {
  const last = listMigrations().at(-1)
  await database.query('delete from schema_migrations where version = $1', [last?.version])
  const migrated = await createTestDatabase({ maxConnections: 2 })
  const { lines } = await start({ migrationDatabaseUrl: databaseUrl(migrated.ownerConnection) })
  await migrated.drop()
  assert.deepEqual(lines, [
    `The database lacks ${last?.name}: MIGRATION_DATABASE_URL and DATABASE_URL have to be URLs of the same database.`,
  ])
})

const clocks = [
  { offsetMs: 4_000, warns: false },
  { offsetMs: -4_000, warns: false },
  { offsetMs: 7_000, warns: true },
  { offsetMs: -7_200_000, warns: true },
]
for (const { offsetMs, warns } of clocks) {
  test(`with a clock here that is ${offsetMs} ms off the start ${warns ? 'warns' : 'says nothing'}`, async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() + offsetMs })
    const { warnings, lines } = await start({ production: true })
    assert.deepEqual(lines, [])
    const differences = warnings.map(({ fields }) => (fields as { differenceMs: number }).differenceMs)
    assert.equal(differences.length, warns ? 1 : 0)
    for (const differenceMs of differences) assert.ok(Math.abs(differenceMs + offsetMs) < 2_000, `${differenceMs}`)
  })
}

test('a role that owns the tables and is granted its rights by another role keeps all of them, however often they are granted', async () => {
  const owned = await createTestDatabase({ maxConnections: 2 })
  const role = `owner_of_${owned.connection.database}`
  await owned.query(`create role ${role} login password 'unused'`)
  await owned.query(`do $$ declare t record; begin
    for t in select tablename from pg_tables where schemaname = 'public' loop
      execute format('alter table %I owner to ${role}', t.tablename);
    end loop; end $$`)
  const serving = databaseUrl({ ...owned.connection, user: role, password: 'unused' })
  const urls = { databaseUrl: serving, migrationDatabaseUrl: databaseUrl(owned.ownerConnection) }
  for (let each = 0; each < 2; each += 1) assert.deepEqual((await start(urls)).lines, [])
  const [row] = await owned.query<{ may: boolean }>(
    `select has_table_privilege('${role}', 'customers', 'update') as "may"`,
  )
  assert.equal(row?.may, true)
  await owned.drop()
  await database.query(`drop owned by ${role}; drop role ${role}`)
})

test('a role that owns its tables is a warning in production, and one that may change the ledger is refused everywhere', async () => {
  const asOwner = { databaseUrl: databaseUrl(database.ownerConnection) }
  const advice = `set MIGRATION_DATABASE_URL to the owner's URL, and DATABASE_URL to that of another role`
  assert.deepEqual((await start(asOwner)).warnings, [])
  assert.deepEqual((await start({ ...asOwner, production: true })).warnings, [
    { fields: { role: 'credits' }, message: `the role of DATABASE_URL owns its tables: ${advice}` },
  ])
  await database.query(`grant update on ledger_entries to ${database.connection.user}`)
  assert.deepEqual((await start()).lines, [
    'The right of the role credits_service to UPDATE on ledger_entries is more than the service needs: revoke it from the ' +
      'role, from public and from roles that it is a member of, then run the command audit.',
  ])
})

test('with the URL of the owner any role of DATABASE_URL is granted its rights', async () => {
  const empty = await createTestDatabase({ template: 'template0' })
  const role = `role_of_${empty.connection.database}`
  await empty.query(`create role ${role} login password 'unused'`)
  const serving = databaseUrl({ ...empty.connection, user: role, password: 'unused' })
  const alone = await start({ databaseUrl: serving })
  assert.match(
    alone.lines.join(),
    /^The role of DATABASE_URL lacks rights \(permission denied for schema public\): run "npm run -s credits -- migrate" with MIG/,
  )
  const options = { databaseUrl: serving, production: true }
  const migrationDatabaseUrl = databaseUrl(empty.ownerConnection)
  assert.deepEqual(await start({ ...options, migrationDatabaseUrl }), { warnings: [], lines: [] })
  assert.deepEqual(await start(options), { warnings: [], lines: [] }, 'once granted, the rights stay')
  const client = new pg.Client(serving)
  await client.connect()
  await assert.rejects(client.query('delete from ledger_entries'), { code: '42501' })
  await client.end()
  await empty.query(`drop owned by ${role}; drop role ${role}`)
  await empty.drop()
})
