// The table "What the audit finds" of SECURITY.md: every row has its cases, and the audit finds what the table says.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { findOrCreateCustomer } from '../../src/customers/customers.sql.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { platformCustomer } from '../../src/events/outbox.sql.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { createPublish } from '../../src/transparency/publication/publish.ts'
import { writeRecords } from '../support/audit/journal-cases.ts'
import { createChainHash } from '../support/audit/rewrite-ledgers.ts'
import { type SecurityBooks, securityCases } from '../support/audit/security-cases.ts'
import { bookkeeper, writeAdjustments, writeBooks } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

const rows = readFileSync('SECURITY.md', 'utf8')
  .split(/^## /m)
  .find((section) => section.startsWith('What the audit finds'))
  ?.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| changed or removed'))
  .map((line) => line.slice('| '.length).split(' | '))

let database: OwnTestDatabase
let owner: pg.PoolClient
let books: SecurityBooks
before(async () => {
  database = await createTestDatabase()
  const context = bookkeeper(database.pool)
  const adjusted = await writeAdjustments(context)
  books = { ...(await writeBooks(context)), adjusted }
  const service: Database = createDatabase(database.pool, silentLog)
  await writeRecords(service, (await issueKey(service, testPeppers, 'whose key leaked')).keyId)
  const origin = 'example.com/log'
  const keys = logKeysOf(testPeppers, origin)
  const signer = { keys, origin }
  const append = createAppendToLog(service, signer, { freshMs: 0 })
  while ((await append()).more);
  await createPublish({
    database: service,
    signer,
    settings: { witnesses: [], everySeconds: 0, file: undefined },
    post: () => assert.fail('there is no witness'),
    openAccount: () => findOrCreateCustomer(service, platformCustomer, null),
    tallies: createTallies(),
    log: silentLog,
  })(new AbortController().signal)
  await database.query(createChainHash)
  owner = await database.ownerPool.connect()
})
after(async () => {
  owner.release()
  await database.drop()
})

/** Without those of the guards, which a case may have to remove first. */
async function rulesBrokenBy(change: string): Promise<string[]> {
  await owner.query('begin; set local session_replication_role = replica')
  try {
    await owner.query(change)
    await owner.query('set local session_replication_role = origin')
    const { violations } = await audit(createDatabase(owner, silentLog))
    return violations.filter(({ invariant }) => invariant !== 'SCHEMA').map(({ rule }) => rule)
  } finally {
    await owner.query('rollback')
  }
}

test('every row of the table has cases, and every case a row', () => {
  assert.deepEqual(
    rows?.map(([what]) => what),
    Object.keys(securityCases),
  )
})

test('the books are right before they are changed', async () => {
  assert.deepEqual(await rulesBrokenBy('select'), [])
  const [row] = await database.query('select count(*) as count from log_checkpoints where published_at is not null')
  assert.deepEqual(row, { count: 1 })
})

for (const [what = '', found = ''] of rows ?? []) {
  const cases = securityCases[what] ?? []
  test(`${what}: ${found}`, async () => {
    for (const each of cases) {
      if ('file' in each) {
        assert.ok(readFileSync(each.file, 'utf8').includes(each.title), `${each.file} has no test "${each.title}"`)
        continue
      }
      const change = typeof each.change === 'string' ? each.change : each.change(books)
      const broken = await rulesBrokenBy(change)
      assert.equal(broken.length > 0, each.found, `${change}: ${broken.join('; ')}`)
    }
    const results = new Set(cases.flatMap((each) => ('file' in each ? [] : [each.found])))
    if (found === 'yes') assert.ok(!results.has(false), 'the table says that it is found')
    if (found === 'no') assert.ok(!results.has(true) || results.has(false), 'the table says that it is not found')
  })
}
