// The lists of the command line: which rows a filter leaves, in which order, and that a customer has its name beside its id.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Call, Values } from '../../src/commands/command.ts'
import { commands } from '../../src/commands/command-table.ts'
import { koreanDayOf } from '../../src/core/korean-days.ts'
import { addEndpoint } from '../../src/events/endpoints.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { startTestService, type TestService, testPeppers } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

type Row = Record<string, unknown>
const run = <Result = Row[]>(name: string, values: Values, ...positionals: string[]) => {
  const { payments } = service
  const adjustments = { limits: { viewer: 0, support: 0, finance: 0, admin: 100 }, approvalAbove: 30 }
  const parts: Partial<Call> = { database: payments.database, payments: async () => payments, adjustments }
  return callCommand<Result>(commands, name, { values, positionals }, parts)
}
const idsOf = async (values: Values) => (await run('orders list', values)).map(({ orderId }) => orderId)

test('customers are listed newest first, or by the beginning of their names, with their balances', async () => {
  const older = await service.newCustomer('Listed one')
  const newer = await service.newCustomer('listed TWO')
  await newer.confirmedOrder('BASIC')
  const both = await run('customers list', { limit: '2' })
  assert.deepEqual(
    both.map(({ customerId }) => customerId),
    [newer.customerId, older.customerId],
  )
  const named = await run('customers list', { name: ' LISTED ' })
  assert.deepEqual(
    named.map(({ name, balance, held }) => [name, balance, held]),
    [
      ['Listed one', 0, 0],
      ['listed TWO', 1, 0],
    ],
  )
  assert.equal((await run('customers list', { name: 'listed', limit: '1' })).length, 1)
  assert.deepEqual(await run('customers list', { name: '_isted' }), [])
})

test('orders are listed newest first, of one customer, status or span of days, with the name of the customer', async () => {
  const customer = await service.newCustomer('Buys twice')
  const first = await customer.confirmedOrder('BASIC')
  const second = (await customer.purchase('STANDARD')).body.data
  const other = await (await service.newCustomer()).confirmedOrder('BASIC')
  assert.deepEqual(await idsOf({ limit: '2' }), [other.orderId, second.orderId])
  assert.deepEqual(await idsOf({ customer: 'Buys twice' }), [second.orderId, first.orderId])
  assert.deepEqual(await idsOf({ customer: 'Buys twice', status: 'CONFIRMED' }), [first.orderId])
  const [row = {}] = await run('orders list', { customer: 'Buys twice', status: 'CONFIRMED' })
  assert.deepEqual(
    [row.customerId, row.customerName, row.packageType, row.amount, row.failure],
    [customer.customerId, 'Buys twice', 'BASIC', 1_000, null],
  )
  const today = koreanDayOf(new Date())
  assert.deepEqual(await idsOf({ customer: 'Buys twice', from: today, to: today }), [second.orderId, first.orderId])
  assert.deepEqual(await idsOf({ customer: 'Buys twice', to: '2026-01-01' }), [])
  await assert.rejects(run('orders list', { status: 'PAID' }), /--status: "PAID" is not one of PENDING/)
})

test('orders are found by their payment key, and by the approval number on the card slip', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder('BASIC')
  const [{ approvalNumber } = { approvalNumber: '' }] = await service.database.query<{ approvalNumber: string }>(
    `select approval_number as "approvalNumber" from payment_operations where order_id = $1`,
    [orderId],
  )
  assert.deepEqual(await idsOf({ payment: paymentKey }), [orderId])
  assert.deepEqual(await idsOf({ payment: ` ${approvalNumber} `, customer: customer.customerId }), [orderId])
  assert.deepEqual(await idsOf({ payment: paymentKey, status: 'REFUNDED' }), [])
  const { customerId: another } = await service.newCustomer()
  assert.deepEqual(await idsOf({ payment: paymentKey, customer: another }), [])
  assert.deepEqual(await idsOf({ payment: 'no such payment' }), [])
  assert.deepEqual(await idsOf({ payment: 'none_such' }), [])
})

test('requests, discrepancies and dead events have the name of their customer beside its id', async () => {
  const { customerId, confirmedOrder } = await service.newCustomer('Has a name')
  await run('adjustments grant', { customer: customerId, credits: '31', reason: 'for the list' })
  const { orderId, paymentKey } = await confirmedOrder('STANDARD')
  await service.sandbox.cancel(paymentKey, 5_000)
  await review(service.payments, { customerId, orderId })
  const wanted = { url: 'https://example.com/', types: [] }
  const { endpointId } = await addEndpoint(service.payments.database, testPeppers[0], wanted)
  await service.database.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     select customer_id, $2, event_number, 1, 'refused' from events where customer_id = $1 limit 1`,
    [customerId, endpointId],
  )
  for (const name of ['adjustments pending', 'discrepancies list', 'events dead'] as const) {
    const row = (await run(name, {})).find((each) => each.customerId === customerId)
    assert.equal(row?.customerName, 'Has a name', name)
  }
})
