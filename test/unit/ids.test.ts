// Identifiers: unique, of the agreed shape, and order ids sorted by time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import {
  newCustomerId,
  newOperationId,
  newOrderId,
  orderIdAt,
  orderIdPattern,
  randomLettersAndDigits,
} from '../../src/core/ids.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { createDatabase } from '../../src/db/database.ts'
import { createTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

test('100,000 order ids are all different and in the form the gateway accepts, even in one millisecond', () => {
  const now = Date.now()
  const ids = new Set<string>()
  for (let count = 0; count < 100_000; count += 1) {
    const id = newOrderId(now)
    assert.match(id, /^[A-Za-z0-9_-]{6,64}$/)
    assert.match(id, orderIdPattern)
    ids.add(id)
  }
  assert.equal(ids.size, 100_000)
})

test('order ids sort by the millisecond of their creation', () => {
  const starts = [0, 30, 32, 1_000, 2 ** 32, 2 ** 40 - 1, Date.now(), 2 ** 45 - 1, 2 ** 47, 2 ** 48 - 2]
  const ids = starts.flatMap((start) => [newOrderId(start), newOrderId(start + 1)])
  assert.deepEqual([...ids].sort(), ids)
  const [before, id, after] = [newOrderId(Date.now() - 1), newOrderId(), newOrderId(Date.now() + 1)]
  assert.deepEqual([before, id, after].sort(), [before, id, after])
  for (const start of starts.slice(1))
    assert.ok(newOrderId(start - 1) < orderIdAt(start) && orderIdAt(start) <= newOrderId(start))
})

test('the pattern of order ids accepts nothing else', () => {
  const id = newOrderId()
  for (const other of [
    '',
    id.slice(1),
    `${id}0`,
    `${id}\n`,
    ` ${id}`,
    id.toLowerCase(),
    id.replace('ord', 'xxx'),
    '%',
  ]) {
    assert.doesNotMatch(other, orderIdPattern)
  }
})

test('the random part of an order id uses all of its 130 bits', () => {
  const seen = Array.from({ length: 26 }, () => new Set<string>())
  for (let count = 0; count < 2_000; count += 1) {
    for (const [index, letter] of [...newOrderId().slice(-26)].entries()) seen[index]?.add(letter)
  }
  assert.deepEqual(
    seen.map((letters) => letters.size),
    Array.from({ length: 26 }, () => 32),
  )
})

test('letters and digits are equally frequent', () => {
  const counts = new Map<string, number>()
  const text = randomLettersAndDigits(620_000)
  assert.equal(text.length, 620_000)
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  assert.equal(counts.size, 62)
  // Expected are 10,000 of each, with a standard deviation of 100: a tenth is ten standard deviations.
  for (const [letter, count] of counts) assert.ok(count > 9_000 && count < 11_000, `${letter}: ${count}`)
  for (const length of [0, 1, 43]) assert.equal(randomLettersAndDigits(length).length, length)
})

test('customers and operations have UUIDs', () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  for (const id of [newCustomerId(), newOperationId()]) assert.match(id, uuid)
})

test('5: an API key has a prefix, a separator and a long secret part, and is not stored in readable form', async () => {
  const testDatabase = await createTestDatabase()
  const database = createDatabase(testDatabase.pool, silentLog)
  const issued = []
  for (let count = 0; count < 20; count += 1) issued.push(await issueKey(database, testPeppers, 'one customer'))
  for (const { apiKey, keyId } of issued) {
    assert.match(apiKey, /^cpk_[0-9A-Za-z]{43}$/)
    assert.match(keyId, /^key_[0-9A-Za-z]{20}$/)
  }
  assert.equal(new Set(issued.map((each) => each.apiKey)).size, 20)
  assert.equal(new Set(issued.map((each) => each.customerId)).size, 1)
  const stored = JSON.stringify(await testDatabase.query(`select k.*, encode(key_hash, 'escape') from api_keys k`))
  for (const { apiKey } of issued) assert.ok(!stored.includes(apiKey.slice(4, 20)))
  await testDatabase.drop()
})
