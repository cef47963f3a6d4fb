// A ledger that is longer than one page scans: rare kinds are found nevertheless, page by page.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { entriesScannedAtMost, readStatement } from '../../src/credits/statement/statement.ts'
import { statementCsv } from '../../src/credits/statement/statement-csv.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'

const customerId = '11111111-1111-4111-8111-111111111111'
const entries = entriesScannedAtMost + 10_000
let testDatabase: TestDatabase
let database: Database
before(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase(testDatabase.pool, silentLog)
  await testDatabase.query('insert into customers (customer_id) values ($1)', [customerId])
  await testDatabase.queryUnguarded(
    `update accounts set balance = 1, last_entry = $2, last_hash = sha256('') where customer_id = $1`,
    [customerId, entries],
  )
  // One grant, then only spends; these books are not audited, so their hashes do not matter.
  await testDatabase.queryUnguarded(
    `insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, held_delta,
                                 held_after, service_id, entry_hash)
    select $1, n, case n when 1 then 'GRANT' else 'SPEND' end, case n when 1 then $2 else -1 end, $2 - n + 1,
           case n when 1 then 'order' end, case when n > 1 then 'use-' || n end, 0, 0, 'svc_test', sha256('')
    from generate_series(1, $2::int) as n`,
    [customerId, entries],
  )
  await testDatabase.query('analyze')
})
after(() => testDatabase.drop())

const query = { customerId, from: null, to: null, kinds: ['GRANT' as const], limit: 10 }

test('a page that found nothing within its scan returns the cursor to continue', async () => {
  const first = await readStatement(database, { ...query, cursor: null })
  assert.deepEqual([first.entries, first.nextCursor], [[], `${entries - entriesScannedAtMost + 1}`])
  const second = await readStatement(database, { ...query, cursor: Number(first.nextCursor) })
  assert.deepEqual(
    second.entries.map(({ entryNumber, kind }) => [entryNumber, kind]),
    [[1, 'GRANT']],
  )
  assert.equal(second.nextCursor, null)
})

test('the CSV of a rare kind has its entries', async () => {
  const lines = (await Array.fromAsync(statementCsv(database, query))).join('').split('\r\n')
  assert.equal(lines.length, 3)
  assert.match(lines[1] ?? '', /^1,.*,GRANT,/)
})

test('the CSV of all kinds has every entry once', async () => {
  const text = (await Array.fromAsync(statementCsv(database, { ...query, kinds: null }))).join('')
  const found = text.trimEnd().split('\r\n').slice(1)
  assert.deepEqual(
    found.map((line) => Number(line.slice(0, line.indexOf(',')))),
    Array.from({ length: entries }, (_, index) => index + 1),
  )
})
