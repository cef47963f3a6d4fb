// Receipts that operators save, and the state of the transparency log: what is in it and what waits.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { publicationHandlers } from '../../src/console/transparency/publications.ts'
import { findOrCreateCustomer } from '../../src/customers/customers.sql.ts'
import { platformCustomer } from '../../src/events/outbox.sql.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { addCosignature, beginPublication, endPublication } from '../../src/transparency/publication/checkpoints.sql.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { spend } from '../support/service/orders.ts'
import { startTestService, type TestService, testLogKeys, testLogOrigin } from '../support/service/service.ts'
import { checkReceipt, logEntries } from '../support/spending/receipts.ts'
import { cosign, testWitness } from '../support/transparency/test-witness.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

test('the log shows its checkpoint and its keys, and counts the entries that are not in it yet', async () => {
  const keys = testLogKeys.map(({ vkey }) => vkey)
  const empty = { checkpoint: null, keys, waiting: 0, waitingIsMore: false, heldBack: null }
  assert.deepEqual(await viewer.get('transparencyLog'), empty)
  const [one, other] = [await service.newCustomer(), await service.newCustomer()]
  for (const customer of [one, one, other]) await customer.confirmedOrder('STANDARD')
  assert.deepEqual(await viewer.get('transparencyLog'), { ...empty, waiting: 3 })
  await logEntries(service.payments.database)
  for (const { customerId } of [one, one, other]) assert.ok(await spend(service, customerId, 1))
  const { checkpoint, ...log } = await viewer.get('transparencyLog')
  assert.deepEqual(log, { keys, waiting: 3, waitingIsMore: false, heldBack: null })
  assert.equal(checkpoint?.size, 3)
  assert.match(checkpoint.root, /^[A-Za-z0-9+/]{43}=$/)
  assert.ok(Date.now() - Date.parse(checkpoint.writtenAt) < 60_000)
  await logEntries(service.payments.database)
  assert.equal((await viewer.get('transparencyLog')).waiting, 0)
})

test('the page of the log has the witnesses of the settings, by host, each with what it has cosigned itself, and what was published with its cosigners; the platform is no customer of a list', async () => {
  const { database } = service.payments
  const { name, vkey } = testWitness.key
  const ofSettings = { name, host: 'witness.example', size: null, cosignedAt: null }
  assert.deepEqual(await viewer.get('publications'), { witnesses: [ofSettings], checkpoints: [] })
  const customer = await service.newCustomer()
  for (const isCosigned of [true, false]) {
    await customer.confirmedOrder()
    await logEntries(database)
    const head = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
    assert.ok(await beginPublication(database, { note: head.note, keys: 'a list' }, 0))
    if (isCosigned) await addCosignature(database, head.size, vkey, cosign(head.note))
    await endPublication(database, head.size)
  }
  await findOrCreateCustomer(database, platformCustomer, null)
  for (const sort of ['newest', 'balance'] as const) {
    const { customers } = await viewer.get('customers', { query: { sort } })
    assert.ok(customers.length > 0 && customers.every(({ customerId }) => customerId !== platformCustomer), sort)
  }
  const { witnesses, checkpoints } = await viewer.get('publications')
  const [newest, older] = checkpoints
  assert.deepEqual([newest?.cosigners, older?.cosigners], [[], [name]])
  assert.ok(newest && older && newest.size > older.size && older.publishedAt !== null)
  assert.deepEqual([witnesses[0]?.size, witnesses[0]?.cosignedAt !== null], [older.size, true])
  const another = { ...testWitness, key: { ...testWitness.key, vkey: 'another+00000000+AAAA' } }
  const two = await publicationHandlers({ database, witnesses: [another, testWitness] }).publications({} as never)
  assert.deepEqual(
    two.witnesses.map(({ size }) => size),
    [null, older.size],
  )
})

test('every role saves the receipt of an order and of entries; before the entries are logged it is refused as such', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const { orderId } = await customer.confirmedOrder()
  const ofOrder = { params: { orderId } }
  const tooEarly = await viewer.request('orderReceipt', ofOrder)
  assert.deepEqual([tooEarly.status, tooEarly.body.metadata?.reason], [503, 'not logged yet'])
  await logEntries(service.payments.database)
  const file = await viewer.get('orderReceipt', ofOrder)
  assert.equal(file.name, `receipt-${orderId}.json`)
  const receipt = JSON.parse(file.content)
  assert.deepEqual(receipt.subject, { order: orderId })
  checkReceipt(receipt)
  const part = { params: { customerId: customerId.toUpperCase() }, query: { from: '1', to: '1' } }
  const saved = await viewer.get('statementReceipt', part)
  assert.equal(saved.name, `receipt-${customerId}-1-1.json`)
  checkReceipt(JSON.parse(saved.content))
  const unpaid = await customer.paidOrder()
  assert.equal((await viewer.request('orderReceipt', { params: { orderId: unpaid.orderId } })).status, 404)
})

test('a log that was restored from a backup is shown as such, and receipts are refused with that reason', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await logEntries(service.payments.database)
  await service.database.query(
    `insert into log_restores (restore_number, restore_id, origins, size) values (1, gen_random_uuid(), $1, 7)`,
    [[testLogOrigin]],
  )
  const { heldBack } = await viewer.get('transparencyLog')
  assert.deepEqual([heldBack?.origin, heldBack?.size], [testLogOrigin, 7])
  const refused = [
    await viewer.request('orderReceipt', { params: { orderId } }),
    await viewer.request('statementReceipt', {
      params: { customerId: customer.customerId },
      query: { from: '1', to: '1' },
    }),
  ]
  for (const { status, body } of refused) assert.deepEqual([status, body.metadata?.reason], [503, 'log held back'])
})
