// Receipts over HTTP, of every subject: proven under the key of the log by a check that is independent of the verifiers. And what
// has no receipt, or none yet, is refused.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSpendingClient } from '../../client/src/index.ts'
import { newDirectory } from '../../harness/processes.ts'
import { receiptCommands } from '../../src/commands/nouns/receipt-commands.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { addCosignature, beginPublication, endPublication } from '../../src/transparency/publication/checkpoints.sql.ts'
import { documentedReceipts } from '../../src/transparency/receipts/document.ts'
import type { Receipt } from '../../src/transparency/receipts/receipts.ts'
import { callCli } from '../support/service/cli-call.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { orderInState } from '../support/service/orders.ts'
import {
  type Answer,
  assertRefused,
  assertSuccess,
  type TestCustomer,
  testLogKeys,
  testSigner,
} from '../support/service/service.ts'
import { checkReceipt, lineOf, logEntries } from '../support/spending/receipts.ts'
import { assertFieldRefused, type SpendingService, startSpendingService } from '../support/spending/spending.ts'
import { cosign, testWitness } from '../support/transparency/test-witness.ts'

const logged: string[] = []
let service: SpendingService
let customer: TestCustomer
let customerId: string
before(async () => {
  service = await startSpendingService({ onLogged: (line) => logged.push(line) })
  customer = await service.customerWith(100)
  customerId = customer.customerId
})
after(() => service.close())

const logAll = () => logEntries(service.payments.database)

/** A success, checked; each entry as its lines `names`. */
async function proven(answering: Promise<Answer<Receipt>>, ...names: string[]) {
  const answer = await answering
  assertSuccess(answer, 200)
  const receipt = answer.body.data
  checkReceipt(receipt)
  const lines = receipt.entries.map(({ leaf }) => names.map((name) => lineOf(leaf, name)).join(' '))
  return { subject: receipt.subject, lines, receipt }
}

test('the receipt of an order proves what it granted and what its cancellation took back', async () => {
  const { orderId } = await orderInState(service, customer, 'CANCELLED')
  await logAll()
  const { subject, lines } = await proven(service.internal.orderReceipt(customerId, orderId), 'order', 'kind', 'delta')
  assert.deepEqual(subject, { order: orderId })
  assert.deepEqual(lines, [`${orderId} GRANT 21`, `${orderId} ROLLBACK -21`])
})

test('the id of a customer may be in capitals for every receipt, which has it in small letters', async () => {
  const { orderId } = await orderInState(service, customer, 'CONFIRMED')
  const [capitals, reference] = [customerId.toUpperCase(), crypto.randomUUID()]
  await service.internal.spend(customerId, 1, reference)
  await logAll()
  for (const answering of [
    service.internal.orderReceipt(capitals, orderId),
    service.internal.referenceReceipt(capitals, reference),
    service.internal.statementReceipt(capitals, { from: '1', to: '1' }),
  ]) {
    const { lines, subject } = await proven(answering, 'customer')
    assert.deepEqual(lines, [customerId])
    assert.equal(JSON.stringify(subject).includes(capitals), false)
  }
})

test('the receipt of a reference proves a spend, its reversal, a part of a hold, or all that became of a hold', async () => {
  const { internal } = service
  const reference = `analyses/2026 11%/${crypto.randomUUID()}`.replaceAll(' ', '-')
  await internal.spend(customerId, 3, reference)
  await internal.reverse(customerId, reference, { credits: 1, reference: `${reference}/back` })
  const { holdId } = (await internal.hold(customerId, 9, { reference: `${reference}/hold` })).body.data
  await internal.capturePart(customerId, holdId, 4, `${reference}/part`)
  await internal.capture(customerId, holdId, 2)
  await logAll()
  const linesOf = async (of: string) => (await proven(internal.referenceReceipt(customerId, of), 'kind', 'delta')).lines
  assert.deepEqual(await linesOf(reference), ['SPEND -3'])
  assert.deepEqual(await linesOf(`${reference}/back`), ['REVERSAL 1'])
  assert.deepEqual(await linesOf(`${reference}/part`), ['CAPTURE -4'])
  assert.deepEqual(await linesOf(`${reference}/hold`), ['HOLD 0', 'CAPTURE -4', 'CAPTURE -2'])
  const held = await proven(internal.referenceReceipt(customerId, `${reference}/hold`), 'hold')
  assert.deepEqual(held.subject, { reference: `${reference}/hold`, customer: customerId })
  assert.deepEqual(held.lines, [holdId, holdId, holdId])
})

test('the receipt of a part of the statement has every entry of it, and their balances add up', async () => {
  const buyer = await service.customerWith(50)
  for (const credits of [1, 2, 3]) await service.internal.spend(buyer.customerId, credits)
  await logAll()
  const part = await proven(
    service.internal.statementReceipt(buyer.customerId, { from: '2', to: '5' }),
    'customer',
    'entry',
    'delta',
    'balance',
  )
  assert.deepEqual(part.subject, { statement: { customer: buyer.customerId, from: 2, to: 5 } })
  const expected = ['2 -60 50', '3 -1 49', '4 -2 47', '5 -3 44']
  assert.deepEqual(
    part.lines,
    expected.map((line) => `${buyer.customerId} ${line}`),
  )
})

test('an entry that is not in the log yet is SVC001 with Retry-After, and the client gets the receipt by repeating', async () => {
  const reference = crypto.randomUUID()
  await service.internal.spend(customerId, 1, reference)
  const answer = await service.internal.referenceReceipt(customerId, reference)
  assertRefused(answer, 'SVC001')
  assert.equal(answer.headers.get('retry-after'), '2')
  assert.equal(answer.body.message, 'An entry of the receipt is not in the log yet. Retry in two seconds.')
  const client = createSpendingClient({ baseUrl: service.internal.url, token: service.internal.issued.token })
  const reading = client.getReferenceReceipt({ customerId, reference })
  await logAll()
  checkReceipt(await reading)
})

/** As the owner, past the triggers. */
const changeEntry = (reference: string, change: string) =>
  service.database.query(`do $$ begin
    perform set_config('session_replication_role', 'replica', true);
    update ledger_entries set ${change} where reference = '${reference}';
  end $$`)

function assertLogged(reason: string): void {
  const line = JSON.parse(logged.find((each) => each.includes(reason)) ?? '{}')
  assert.deepEqual([line.level, line.msg], [50, 'unexpected error'])
}

test('an entry that the ledger has otherwise than the log has no receipt: INT001, and a line of the log that says so', async () => {
  const reference = crypto.randomUUID()
  await service.internal.spend(customerId, 1, reference)
  await logAll()
  const ofReference = () => service.internal.referenceReceipt(customerId, reference)
  const { lines } = await proven(ofReference(), 'entry')
  const changeTime = (by: string) => changeEntry(reference, `created_at = created_at + interval '${by}'`)
  await changeTime('1 s')
  assertRefused(await ofReference(), 'INT001')
  assertLogged(`entry ${lines} of customer ${customerId} has other values in the ledger than in the log`)
  await changeTime('-1 s')
  await proven(ofReference())
})

test('an entry that is in the log and not in the ledger has no receipt: INT001, and a line of the log that names it', async () => {
  const reference = crypto.randomUUID()
  await service.internal.spend(customerId, 1, reference)
  await logAll()
  const [entry = ''] = (await proven(service.internal.referenceReceipt(customerId, reference), 'entry')).lines
  const ofEntry = () => service.internal.statementReceipt(customerId, { from: entry, to: entry })
  await changeEntry(reference, 'entry_number = entry_number + 1000')
  const refused = await ofEntry()
  await changeEntry(reference, 'entry_number = entry_number - 1000')
  assertRefused(refused, 'INT001')
  assertLogged(`entry ${entry} of customer ${customerId} is in the log and not in the ledger`)
  await proven(ofEntry())
})

test('a receipt has the lines of witnesses when a checkpoint that they have cosigned has all its entries, and is verified by their keys alone', async () => {
  const { database } = service.payments
  const [older, newer] = [crypto.randomUUID(), crypto.randomUUID()]
  await service.internal.spend(customerId, 1, older)
  await logAll()
  const head = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
  assert.ok(await beginPublication(database, { note: head.note, keys: 'a list' }, 0))
  await addCosignature(database, head.size, testWitness.key.vkey, cosign(head.note))
  await service.internal.spend(customerId, 1, newer)
  await logAll()
  const receiptOf = async (reference: string) =>
    (await proven(service.internal.referenceReceipt(customerId, reference))).receipt
  const newest = async () => (await readCheckpoint(database))?.note
  assert.equal((await receiptOf(older)).checkpoint, await newest(), 'it is not published yet')
  await endPublication(database, head.size)
  const [cosigned, uncosigned] = [await receiptOf(older), await receiptOf(newer)]
  assert.equal(cosigned.checkpoint, `${head.note}${cosign(head.note)}`)
  assert.equal(uncosigned.checkpoint, await newest())
  const directory = newDirectory({ after })
  const isVerified = async (receipt: Receipt) => {
    const file = join(directory, 'receipt.json')
    writeFileSync(file, JSON.stringify(receipt))
    const keys = [testWitness.key, ...testLogKeys].flatMap(({ vkey }) => ['--key', vkey])
    return (await callCli({ after }, directory, ['verify', file, ...keys])).code === 0
  }
  assert.deepEqual([await isVerified(cosigned), await isVerified(uncosigned)], [true, false])
})

test('another customer’s order, an order that moved nothing and an unknown reference have no receipt', async () => {
  const other = await service.newCustomer()
  const paid = await other.confirmedOrder()
  const failed = await orderInState(service, customer, 'FAILED')
  await logAll()
  const { internal } = service
  const messageOf = async (answering: Promise<Answer<Receipt>>) => {
    const answer = await answering
    assertRefused(answer, 'NOT000')
    return answer.body.message
  }
  const noOrder = 'There is no such order of this customer.'
  assert.equal(await messageOf(internal.orderReceipt(customerId, paid.orderId)), noOrder)
  assert.equal(await messageOf(internal.orderReceipt('no-customer', paid.orderId)), noOrder)
  assert.equal(await messageOf(internal.orderReceipt(customerId, 'ord_%00')), noOrder)
  assert.match(`${await messageOf(internal.orderReceipt(customerId, failed.orderId))}`, /has moved no credits/)
  assert.match(
    `${await messageOf(internal.referenceReceipt(customerId, 'never-used'))}`,
    /no entry with this reference/,
  )
  assert.match(`${await messageOf(internal.referenceReceipt(customerId, '\u0000'))}`, /no entry with this reference/)
})

test('a part of the statement that is too long, ends before it begins or does not exist is refused', async () => {
  const { statementReceipt } = service.internal
  assertFieldRefused(await statementReceipt(customerId, { to: '1' }), 'VAL002', 'from')
  assertFieldRefused(await statementReceipt(customerId, { from: '0', to: '1' }), 'VAL003', 'from')
  assertFieldRefused(await statementReceipt(customerId, { from: '3', to: '2' }), 'VAL003', 'to')
  assertFieldRefused(await statementReceipt(customerId, { from: '1', to: '501' }), 'VAL003', 'to')
  assertRefused(await statementReceipt(customerId, { from: '1', to: '500' }), 'NOT000')
  assertRefused(await statementReceipt(crypto.randomUUID(), { from: '1', to: '2' }), 'NOT000')
  const unused = await service.newCustomer()
  const answer = await statementReceipt(unused.customerId, { from: '1', to: '1' })
  assert.equal(answer.body.message, 'The customer has no entries.')
})

test('the receipt of a hold has at most 500 entries: one more is refused', async () => {
  const { customerId: holder } = await service.customerWith(600)
  const reference = crypto.randomUUID()
  const { holdId } = (await service.internal.hold(holder, 600, { reference })).body.data
  const capture = () => service.internal.capturePart(holder, holdId, 1, crypto.randomUUID())
  await capture()
  for (let entries = 2; entries < 500; entries += 6) {
    await Promise.all(Array.from({ length: 6 }, capture))
    // Fewer at a time than make the log wait before the next ones.
    if (entries === 248) await logAll()
  }
  await logAll()
  assert.equal((await proven(service.internal.referenceReceipt(holder, reference))).lines.length, 500)
  await capture()
  assertFieldRefused(await service.internal.referenceReceipt(holder, reference), 'VAL003', 'reference')
})

test('credits receipt writes the file of an order, a reference or entries, and takes no mixture of them', async () => {
  const { orderId } = await customer.confirmedOrder('BASIC')
  const reference = crypto.randomUUID()
  await service.internal.spend(customerId, 1, reference)
  await logAll()
  const { database } = service.payments
  const run = (positionals: string[], values: object) =>
    callCommand<string>(receiptCommands, 'receipt', { positionals, values }, { database, signer: () => testSigner })
  const written = async (positionals: string[], values: object) => {
    const receipt = JSON.parse(await run(positionals, values))
    checkReceipt(receipt)
    return receipt.subject
  }
  assert.deepEqual(await written([orderId], {}), { order: orderId })
  const ofCustomer = { customer: customerId }
  assert.deepEqual(await written([], { ...ofCustomer, reference }), { reference, customer: customerId })
  const part = { customer: customerId, from: 1, to: 2 }
  assert.deepEqual(await written([], { ...ofCustomer, from: '1', to: '2' }), { statement: part })
  const faults: [string[], object, RegExp][] = [
    [[], {}, /ORDERID or --customer is needed/],
    [[], ofCustomer, /--customer needs --reference, or --from and --to/],
    [[], { ...ofCustomer, from: '1' }, /--customer needs --reference, or --from and --to/],
    [[], { ...ofCustomer, reference, to: '1' }, /--reference takes neither --from nor --to/],
    [[], { ...ofCustomer, from: '0', to: '1' }, /the number of an entry, from 1 on/],
    [[orderId], ofCustomer, /ORDERID takes no other options/],
    [['ord_none'], {}, /There is no order ord_none/],
    [[], { customer: 'nowhere', reference }, /There is no customer nowhere/],
  ]
  for (const [positionals, values, fault] of faults) await assert.rejects(run(positionals, values), fault)
})

test('the receipts of the API document are real ones', () => {
  for (const { answers } of Object.values(documentedReceipts)) {
    const { data } = answers[200]
    checkReceipt(data, data.keys[0])
  }
})
