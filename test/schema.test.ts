// schema.sql and src/db/guards.json equal the result of all migrations.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { silentLog } from '../harness/silent-log.ts'
import { createDatabase } from '../src/db/database.ts'
import { findBrokenGuards, readGuards, writeGuards } from '../src/db/guards.ts'
import { migrate } from '../src/db/migrate.ts'
import { createTestDatabase } from './support/database/database.ts'
import { dumpSchema } from './support/written/dump-schema.ts'

const schema = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8')

test('schema.sql is the schema after all migrations', async () => {
  const migrated = await createTestDatabase()
  const actual = await dumpSchema(migrated.pool)
  await migrated.drop()
  assert.equal(schema, actual, 'schema.sql is behind the migrations: run `npm run schema` and commit the result')
})

test('src/db/guards.json has the definitions of the schema after all migrations', async () => {
  const migrated = await createTestDatabase()
  const actual = writeGuards(await readGuards(createDatabase(migrated.pool, silentLog)))
  await migrated.drop()
  const written = readFileSync(new URL('../src/db/guards.json', import.meta.url), 'utf8')
  assert.equal(
    written,
    actual,
    'src/db/guards.json is behind the migrations: run `npm run schema` and commit the result',
  )
})

test('the definitions are the same in a schema of another name', async () => {
  const elsewhere = await createTestDatabase({ template: 'template0' })
  const client = await elsewhere.ownerPool.connect()
  await client.query('create schema "Our Books"; set search_path = "Our Books"')
  await migrate(client)
  assert.deepEqual(await findBrokenGuards(createDatabase(client, silentLog)), [])
  client.release(true)
  await elsewhere.drop()
})

test('schema.sql is complete: an empty database has the same schema after it is run', async () => {
  const empty = await createTestDatabase({ template: 'template0' })
  await empty.query(schema)
  const actual = await dumpSchema(empty.pool)
  await empty.drop()
  assert.equal(actual, schema)
})

test('schema.sql omits the journal of the migrations', () => {
  assert.doesNotMatch(schema, /schema_migrations/)
})

test('a schema that cannot be dumped completely is refused, not dumped in part', async () => {
  const database = await createTestDatabase()
  for (const [statement, what] of [
    ['create view a_view as select 1 as one', 'relation a_view'],
    ['create sequence a_sequence', 'relation a_sequence'],
    [`create type a_type as enum ('a')`, 'type a_type'],
    ['alter table customers add column a_column int generated always as (1) stored', 'column a_column'],
  ] as const) {
    const client = await database.ownerPool.connect()
    await client.query('begin')
    await client.query(statement)
    await assert.rejects(dumpSchema(client), { message: `teach test/support/written/dump-schema.ts to write: ${what}` })
    await client.query('rollback')
    client.release()
  }
  await database.drop()
})
