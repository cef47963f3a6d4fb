// What the schema refuses about the log to every role: that it becomes smaller, changes, or says something about its size that
// its runs and tiles do not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { logCases, wholeAppend } from '../support/constraints/log-cases.ts'
import { bookkeeper, confirmed, newCustomer, spend } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

let own: OwnTestDatabase
let customerId: string

before(async () => {
  own = await createTestDatabase()
  const context = bookkeeper(own.pool)
  customerId = await newCustomer(context)
  await confirmed(context, customerId)
  await spend(context, customerId, 1)
  const job = createAppendToLog(createDatabase(own.pool, silentLog), { keys: logKeysOf(testPeppers, 'o'), origin: 'o' })
  while ((await job()).more);
  // A third entry, which is not logged.
  await spend(context, customerId, 1)
})
after(() => own.drop())

test('an entry with its run, its hash and the head is accepted in one statement', async () => {
  const client = await own.ownerPool.connect()
  try {
    await client.query('begin')
    await client.query(wholeAppend)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

for (const [what, guard, sql, message] of logCases) {
  test(`the schema refuses ${what} (${guard})`, async () => {
    const refusal = await own.query(sql).then(
      () => assert.fail('accepted'),
      (error: { message: string; constraint?: string }) => error,
    )
    assert.match(refusal.message, message)
    assert.equal(refusal.constraint ?? guard, guard)
  })
}
