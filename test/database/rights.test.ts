// The service role: its rights are the table of src/db/rights.ts and nothing else. Every other test runs its services as this
// role, which shows that the rights are sufficient.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createDatabase } from '../../src/db/database.ts'
import { inLockedTransaction } from '../../src/db/migrate.ts'
import { grantRights, listMissingRights, rights, rightsVersion } from '../../src/db/rights.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'

let database: OwnTestDatabase
let role: string
before(async () => {
  database = await createTestDatabase()
  role = database.connection.user
})
after(() => database.drop())

const refused: Record<string, string> = {
  'changing an entry of the ledger': 'update ledger_entries set delta = 1',
  'changing no entry of the ledger': 'update ledger_entries set delta = 1 where false',
  'deleting from the ledger': 'delete from ledger_entries',
  'emptying the ledger': 'truncate ledger_entries',
  'locking the ledger': 'lock table ledger_entries in access exclusive mode',
  'locking entries': 'select from ledger_entries for update',
  'changing an event': `update events set type = 'credits.low'`,
  'emptying the events': 'truncate events cascade',
  'changing the action log': `update operator_actions set actor = 'another'`,
  'deleting from the action log': 'delete from operator_actions',
  'changing the findings of an audit': 'update audits set violation_count = 0',
  'deleting audits': 'delete from audits',
  'writing into the journal of records': `insert into record_journal values (1, 'a', 'b', null, '', now(), '')`,
  'deleting from the journal of records': 'delete from record_journal',
  'moving the head of the journal': 'update record_journal_head set last_number = 1',
  'deleting keys': 'delete from api_keys',
  'granting a key to another customer': 'update api_keys set customer_id = customer_id',
  'deleting tokens': 'delete from service_tokens',
  'deleting customers': 'delete from customers',
  'renaming customers': 'update customers set name = null',
  'deleting accounts': 'delete from accounts',
  'deleting orders': 'delete from orders',
  'changing the amount of an order': 'update orders set amount = 1',
  'changing the credits of an order': 'update orders set credits = 1',
  'changing the customer of an order': 'update orders set customer_id = customer_id',
  'deleting operations': 'delete from payment_operations',
  'changing the service of a hold': `update holds set service_id = 'svc_other'`,
  'sending events elsewhere': `update event_endpoints set url = 'https://elsewhere.example'`,
  'writing into the journal of the migrations': `insert into schema_migrations values (9999, 'a', 'b')`,
  'making a table': 'create table another (id int)',
  'making a function': `create function another() returns int language sql as 'select 1'`,
  'making a schema': 'create schema another',
  'adding a column': 'alter table ledger_entries add column another int',
  'dropping a table': 'drop table ledger_entries',
  'dropping a constraint': 'alter table orders drop constraint orders_rules',
  'dropping an index': 'drop index orders_once_per_idempotency_key',
  'making an index': 'create index another on ledger_entries (delta)',
  'disabling a trigger': 'alter table ledger_entries disable trigger ledger_entries_append_only',
  'dropping a trigger': 'drop trigger ledger_entries_append_only on ledger_entries',
  'making a trigger': 'create trigger another before insert on ledger_entries execute function refuse_change()',
  'replacing a function':
    'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
  'keeping triggers from firing': 'set session_replication_role = replica',
  'changing the settings of the server': 'alter system set fsync = off',
  'changing the settings of the database': 'alter database postgres set synchronous_commit = off',
  'making a role': 'create role another superuser',
  'becoming the owner': 'set role credits',
  'becoming the owner of the session': 'set session authorization credits',
  'reading the passwords of roles': 'select rolpassword from pg_authid',
  'reading files of the server': `select pg_read_file('postgresql.conf')`,
  'running programs on the server': `copy customers to program 'cat'`,
}
for (const [what, sql] of Object.entries(refused)) {
  test(`${what} is refused for the service role`, async () => {
    const client = await database.pool.connect()
    try {
      // ALTER SYSTEM cannot run in a transaction.
      if (!sql.startsWith('alter system')) await client.query('begin')
      await assert.rejects(client.query(sql), (error: pg.DatabaseError) => {
        assert.equal(error.code, '42501', error.message)
        return true
      })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
}

test('the role can grant neither the rights that it has nor those that it lacks', async () => {
  await database.pool.query('grant select, insert, update, delete on ledger_entries to public')
  const [facts] = await database.query(
    `select array(select a.grantee::regrole::text from aclexplode(relacl) a where a.grantee = 0) as public
     from pg_class where relname = 'ledger_entries'`,
  )
  assert.deepEqual(facts, { public: [] })
})

test('the role has no attribute, owns nothing and is a member of nothing', async () => {
  const [facts] = await database.query(
    `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
       (select count(*) from pg_auth_members where member = r.oid) as memberships,
       (select count(*) from pg_class where relowner = r.oid) + (select count(*) from pg_proc where proowner = r.oid)
         + (select count(*) from pg_database where datdba = r.oid) as owned
     from pg_roles r where rolname = $1`,
    [role],
  )
  assert.deepEqual(facts, {
    rolsuper: false,
    rolcreatedb: false,
    rolcreaterole: false,
    rolreplication: false,
    rolbypassrls: false,
    memberships: 0,
    owned: 0,
  })
})

/** The rights in the catalogs, in the form of the table. */
async function givenRights(): Promise<typeof rights> {
  const rows = await database.query<{ table: string; privilege: string; column: string | null }>(
    `select c.relname as "table", a.privilege_type as "privilege", null as "column"
     from pg_class c cross join lateral aclexplode(c.relacl) a where a.grantee = $1::regrole
     union all
     select c.relname, a.privilege_type, t.attname
     from pg_class c join pg_attribute t on t.attrelid = c.oid cross join lateral aclexplode(t.attacl) a
     where a.grantee = $1::regrole order by 1, 2, 3`,
    [role],
  )
  const given: typeof rights = {}
  for (const { table, privilege, column } of rows) {
    given[table] ??= {}
    const of = given[table]
    if (privilege === 'UPDATE' && column) of.update = [...(of.update ?? []), column]
    else if (privilege === 'INSERT' || privilege === 'DELETE') of[privilege === 'INSERT' ? 'insert' : 'delete'] = true
    else assert.equal(privilege, 'SELECT', `${privilege} on ${table}`)
  }
  return given
}

const sorted = (list: typeof rights) =>
  Object.fromEntries(
    Object.entries(list).map(([table, { update, ...rest }]) => [
      table,
      { ...rest, ...(update && { update: update.toSorted() }) },
    ]),
  )

test('the granted rights equal the table of rights, and every table of the schema is in it', async () => {
  assert.deepEqual(sorted(await givenRights()), sorted(rights))
  const tables = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  assert.deepEqual(tables.map(({ name }) => name).sort(), Object.keys(rights).sort())
})

/** All statements, as one text. */
const source = fileURLToPath(new URL('../../src', import.meta.url))
const texts = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'db/rights.ts')
  .map((file) => readFileSync(`${source}/${file}`, 'utf8'))

/** By instances of the version before, which may run beside this one. */
const neededBefore = ['insert into accounts']

test('no right is granted that no statement needs', () => {
  const isSomewhere = (pattern: RegExp) => texts.some((text) => pattern.test(text))
  const needless = Object.entries(rights).flatMap(([table, { insert, update = [], delete: remove }]) => [
    ...(insert && !isSomewhere(new RegExp(`insert into ${table}\\b`)) ? [`insert into ${table}`] : []),
    ...(remove && !isSomewhere(new RegExp(`delete from ${table}\\b`)) ? [`delete from ${table}`] : []),
    ...update
      .filter((column) => {
        const sets = new RegExp(`(update ${table}\\b|insert into ${table}\\b[^\`]*do update)[^\`]*?\\b${column} = `)
        return !isSomewhere(sets)
      })
      .map((column) => `update ${table} set ${column}`),
  ])
  assert.deepEqual(needless, neededBefore)
})

/** The versions of the catalog rows that hold the rights. */
const versions = () =>
  database.query(`select array_agg(xmin::text || relname order by relname) as rows from pg_class
                  where relnamespace = 'public'::regnamespace`)

async function asOwner(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await database.ownerPool.connect()
  try {
    await work(client)
  } finally {
    client.release()
  }
}

test('granting the rights again writes nothing: running services keep their plans', async () => {
  const before = await versions()
  await asOwner((client) => grantRights(client, role))
  assert.deepEqual(await versions(), before)
})

const newer: Record<string, [arrive: string, leave: string]> = {
  'a newer schema': [
    `insert into schema_migrations values (9999, '9999_of_tomorrow.sql', 'unknown')`,
    'delete from schema_migrations where version = 9999',
  ],
  'a newer table of rights': [
    `comment on table schema_migrations is 'rights ${rightsVersion + 1}'`,
    `comment on table schema_migrations is 'rights ${rightsVersion}'`,
  ],
}
for (const [what, [arrive, leave]] of Object.entries(newer)) {
  test(`missing rights are granted again and manual grants are revoked, but not with ${what}`, async () => {
    await database.query(arrive)
    await givesAndWithdraws(() => database.query(leave))
  })
}

test('nothing is revoked when a newer version arrives during the wait for the lock', async () => {
  const mayTruncate = () =>
    database.query(`select has_table_privilege($1::text, 'ledger_entries', 'truncate') as may`, [role])
  const [arrive, leave] = newer['a newer table of rights'] as [string, string]
  await database.query(`grant truncate on ledger_entries to ${role}`)
  let granting: Promise<void> | undefined
  await asOwner((client) =>
    inLockedTransaction(client, async () => {
      granting = asOwner((other) => grantRights(other, role))
      const waiting = `select from pg_locks where locktype = 'advisory' and not granted
                         and database = (select oid from pg_database where datname = current_database())`
      await until('the other connection waits for the lock', async () => (await database.query(waiting)).length > 0)
      await client.query(arrive)
    }),
  )
  await granting
  assert.deepEqual(await mayTruncate(), [{ may: true }])
  await database.query(leave)
  await asOwner((client) => grantRights(client, role))
  assert.deepEqual(await mayTruncate(), [{ may: false }])
})

async function givesAndWithdraws(leave: () => Promise<unknown>): Promise<void> {
  const right = sorted(await givenRights())
  const run = createDatabase(database.pool, silentLog)
  assert.deepEqual(await listMissingRights(run), [])
  await database.query(`revoke insert on events from ${role}; revoke update (status) on orders from ${role}`)
  assert.deepEqual(await listMissingRights(run), ['insert into events', 'update status of orders'])
  await database.query(`grant all on ledger_entries, orders to ${role}`)
  await asOwner((client) => grantRights(client, role))
  assert.deepEqual(await listMissingRights(run), [])
  assert.deepEqual(
    await database.query(`select has_table_privilege($1::text, 'ledger_entries', 'truncate') as may`, [role]),
    [{ may: true }],
  )
  await leave()
  await asOwner((client) => grantRights(client, role))
  assert.deepEqual(sorted(await givenRights()), right)
}

test('a change of the rights has its own version', () => {
  const digest = createHash('sha256').update(JSON.stringify(rights)).digest('hex').slice(0, 12)
  assert.deepEqual(
    { rightsVersion, digest },
    { rightsVersion: 15, digest: '6f3652bd09ee' },
    'count rightsVersion up, then note both here',
  )
})
