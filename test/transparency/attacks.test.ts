// Attackers with every right over the database, as `npm run bench -- attacks` has them, on small books: the audit with any earlier
// checkpoint or receipt finds each of them, and finds nothing where there was none.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { verbs } from '../../bench/attacks/attacks.ts'
import { type Attacked, attackOnce, type Setting } from '../../bench/attacks/experiment.ts'
import { createForgery } from '../../bench/attacks/forged-ledger.ts'
import { forgeLog, logForgeries, readRealLog } from '../../bench/attacks/forged-log.ts'
import { findFirst, sealBooks, verifyAgain } from '../../bench/attacks/holders.ts'
import { generate } from '../../bench/books/generate.ts'
import { createRandom } from '../../harness/random.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { bookkeeper, writeAdjustments, writeBooks } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

const origin = 'example.com/log'
const seed = 1
const attackCount = 36
const orders = 100

const signer = { keys: logKeysOf(testPeppers, origin), origin }

let own: OwnTestDatabase
let attacker: pg.PoolClient
let setting: Setting

before(async () => {
  own = await createTestDatabase()
  attacker = await own.ownerPool.connect()
  // With more leaves than a tile has, so that there are hashes above them.
  await generate(attacker, orders)
  await writeBooks(bookkeeper(own.pool))
  await writeAdjustments(bookkeeper(own.pool))
  const database = createDatabase(attacker, silentLog)
  const { kept } = await sealBooks(attacker, database, signer, createRandom(seed), 50)
  await attacker.query(createForgery)
  const log = await readRealLog(attacker, origin, signer.keys)
  setting = { client: attacker, database, log, kept, seed }
})

after(async () => {
  attacker.release()
  await own.drop()
})

test('checkpoints and receipts of several sizes are of the log while nothing was changed', async () => {
  assert.ok(new Set(setting.kept.map(({ size }) => size)).size > 3)
  for (const kept of setting.kept) assert.equal(await findFirst(setting.database, kept), null)
})

test('an entry that was changed, inserted, removed or reordered is found, whatever was repaired', async () => {
  const attacked: Attacked[] = []
  for (let number = 0; number < attackCount; number += 1) attacked.push(await attackOnce(setting, number))
  assert.deepEqual(
    attacked.filter(({ found }) => found === null),
    [],
  )
  const seen = (values: string[]) => [...new Set(values)].sort()
  assert.deepEqual(seen(attacked.map(({ verb }) => verb)), [...verbs].sort())
  assert.deepEqual(seen(attacked.map(({ log }) => log)), [...logForgeries].sort())
  assert.equal(await findFirst(setting.database, setting.kept[0]), null)
})

test('an entry that was changed and appended again is found by the holder of its receipt, who needs no database', async () => {
  const receipts = setting.kept.filter(({ what }) => what === 'receipt')
  for (const receipt of receipts) {
    assert.equal(await verifyAgain(setting.database, signer, receipt), null)
    const { customer, from } = JSON.parse(receipt.text).subject.statement
    await attacker.query('begin; set local session_replication_role = replica')
    try {
      await attacker.query(
        `update ledger_entries set created_at = created_at + interval '1 us' where customer_id = $1 and entry_number = $2`,
        [customer, from],
      )
      const changed = [{ customerId: customer, from }]
      await forgeLog(attacker, 'appended again, real key', setting.log, changed, createRandom(seed))
      await attacker.query('set local session_replication_role = origin')
      const found = await verifyAgain(setting.database, signer, receipt)
      assert.match(found ?? 'not found', new RegExp(`^two versions of entry ${from} of customer ${customer}`))
    } finally {
      await attacker.query('rollback')
    }
  }
  assert.ok(receipts.length > 3)
})
