// Special databases: of a provider that makes commits durable in its own way, or with the schema of a newer version.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { selfCheck } from '../../src/db/self-check.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'

let database: OwnTestDatabase
beforeEach(async () => {
  database = await createTestDatabase({ maxConnections: 2 })
})
afterEach(() => database.drop())

test('DATABASE_DURABILITY=provider is trusted although fsync is off, and every start logs an error about it', async () => {
  const withoutDisk = {
    async query(query: { name: string; text: string; values: unknown[] }) {
      const { rows } = await database.pool.query(query)
      const off = { fsync: 'off', fullPageWrites: 'off' }
      return { rows: query.name === 'db.findFacts' ? [{ ...rows[0], ...off }] : rows }
    },
  }
  const errors: string[] = []
  const log = { ...silentLog, error: (_: object, message: string) => errors.push(message) as never }
  const run = createDatabase(withoutDisk, silentLog)
  await assert.rejects(selfCheck(run, { log }), /^Error: fsync is off.*\nfull_page_writes is off/)
  assert.deepEqual(errors, [])
  await selfCheck(run, { log, durability: 'provider' })
  assert.equal(errors.length, 2)
  assert.match(errors[0] ?? '', /^DATABASE_DURABILITY=provider: started although fsync is off/)
})

test('the audit of an older version does not miss the guards of a newer schema, but reports disabled ones', async () => {
  await database.query(`alter table orders drop constraint orders_rules;
    alter table ledger_entries disable trigger ledger_entries_append_only`)
  const broken = async () =>
    (await audit(createDatabase(database.pool, silentLog))).violations.map(
      ({ detail }) => (detail as { name: string }).name,
    )
  assert.deepEqual(await broken(), ['orders_rules', 'ledger_entries_append_only'])
  await database.query(`insert into schema_migrations (version, name, checksum) values (9999, '9999_newer.sql', '')`)
  assert.deepEqual(await broken(), ['ledger_entries_append_only'])
})
