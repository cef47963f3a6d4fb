// schema.sql is what the migrations come to.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createTestDatabase } from './support/database.ts'
import { dumpSchema } from './support/dump-schema.ts'

const schema = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8')

test('schema.sql is the schema after all migrations', async () => {
  const migrated = await createTestDatabase()
  const actual = await dumpSchema(migrated.pool)
  await migrated.drop()
  assert.equal(schema, actual, 'schema.sql is behind the migrations: run `npm run schema` and commit the result')
})

test('schema.sql is whole: an empty database that it is run on has the same schema', async () => {
  const empty = await createTestDatabase({ template: 'template0' })
  await empty.query(schema)
  const actual = await dumpSchema(empty.pool)
  await empty.drop()
  assert.equal(actual, schema)
})

test('schema.sql leaves out the journal of the migrations', () => {
  assert.doesNotMatch(schema, /schema_migrations/)
})

test('a schema that cannot be written down whole is refused, not written down in part', async () => {
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
    await assert.rejects(dumpSchema(client), { message: `teach test/support/dump-schema.ts to write: ${what}` })
    await client.query('rollback')
    client.release()
  }
  await database.drop()
})
