// statements.sql has every statement as it is sent to PostgreSQL.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { statement } from '../src/db/database.ts'
import { createTestDatabase } from './support/database/database.ts'
import { allStatements, dumpStatements } from './support/written/statements.ts'

test('statements.sql has the final text of every statement', async () => {
  const file = readFileSync(new URL('../statements.sql', import.meta.url), 'utf8')
  assert.equal(file, await dumpStatements(), 'statements.sql is behind src/: run `npm run statements` and commit it')
})

test('PostgreSQL accepts every statement on the current schema, as the service role', async () => {
  const database = await createTestDatabase()
  try {
    for (const [name, text] of await allStatements()) {
      await database.pool.query(`explain (generic_plan) ${text}`).catch((error) => assert.fail(`${name}: ${error}`))
    }
  } finally {
    await database.drop()
  }
})

test('a second text with the name of an existing statement is refused', () => {
  statement.global('test.onlyOnce', 'select 1')
  assert.throws(() => statement.global('test.onlyOnce', 'select 2'), /two statements are named test\.onlyOnce/)
})
