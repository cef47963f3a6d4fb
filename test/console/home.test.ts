// The first page over HTTP: what was sold today, and what somebody has to look at, with its age.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { koreanDayOf } from '../../src/core/korean-days.ts'
import { saveDiscrepancy } from '../../src/payments/discrepancy-sql.ts'
import { type Operator, type OperatorDesk, openOperatorDesk } from '../support/operator-desk.ts'
import { settleAll } from '../support/recovery.ts'
import { assertRefused, startTestService, type TestService } from '../support/service.ts'

let service: TestService
let desk: OperatorDesk
let viewer: Operator

before(async () => {
  service = await startTestService({ settings: { operationWaitMs: 1 } })
  desk = await openOperatorDesk(service)
  viewer = await desk.newOperator('viewer')
})
after(async () => {
  await desk.close()
  await service.close()
})

test('before anything has happened everything is zero and nothing is missing', async () => {
  const home = await viewer.get('home')
  assert.deepEqual(home.orders, { PENDING: 0, CONFIRMED: 0, FAILED: 0, CANCELLED: 0, REFUNDED: 0 })
  assert.deepEqual([home.creditsOutstanding, home.today.revenue, home.today.conversion], [0, 0, null])
  assert.deepEqual([home.figuresUpTo, home.operations.count, home.discrepancies.count], [null, 0, 0])
  assert.deepEqual(home.gateway, { state: 'untried', since: null, heldBack: false })
  assert.equal(home.days.length, 30)
})

test('revenue is what was captured less what was given back; conversion is of the orders that were made', async () => {
  const customer = await service.newCustomer()
  await customer.confirmedOrder('PRO')
  await customer.cancel((await customer.confirmedOrder('STANDARD')).paymentKey)
  await (await customer.paidOrder('BASIC', 'decline')).confirm()
  await customer.purchase('BASIC')
  const { today, month, orders, days, creditsOutstanding, asOf } = await viewer.get('home', { query: { days: '7' } })
  assert.deepEqual([today.captured, today.returned, today.revenue], [120_000, 20_000, 100_000])
  assert.deepEqual([today.ordersMade, today.ordersConfirmed, today.conversion], [4, 2, 0.5])
  assert.deepEqual([today.creditsSold, today.creditsTakenBack, today.creditsSpent], [131, 21, 0])
  assert.deepEqual(orders, { PENDING: 1, CONFIRMED: 1, FAILED: 1, CANCELLED: 1, REFUNDED: 0 })
  assert.equal(creditsOutstanding, 110)
  assert.deepEqual([month.revenue, today.to], [100_000, asOf])
  assert.deepEqual([days.length, days.at(-1)?.day], [7, koreanDayOf(new Date(asOf))])
  assert.equal(today.from, new Date(`${days.at(-1)?.day}T00:00:00+09:00`).toISOString())
})

test('what is open is there with its age and what the gateway said, and gone when it is settled', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder('STANDARD')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  const key = { customerId: customer.customerId, orderId: order.orderId }
  const { database } = service.payments
  await saveDiscrepancy(database, { kind: 'UNKNOWN_ORDER', subject: 'pay_newer', order: null, detail: {} })
  await saveDiscrepancy(database, { kind: 'CAPTURED', subject: order.orderId, order: key, detail: {} })
  await service.database.query(`update discrepancies set found_at = now() - interval '1 hour' where subject = $1`, [
    order.orderId,
  ])
  const { operations, discrepancies, gateway } = await viewer.get('home')
  assert.equal(operations.count, 1)
  const [open] = operations.oldest
  assert.deepEqual([open?.orderId, open?.customerId, open?.kind], [order.orderId, customer.customerId, 'CONFIRM'])
  assert.ok(open && open.ageSeconds >= 0 && open.nextAttemptAt !== null)
  assert.deepEqual(
    [discrepancies.count, discrepancies.oldest.map(({ subject }) => subject)],
    [2, [order.orderId, 'pay_newer']],
  )
  assert.ok((discrepancies.oldest[0]?.ageSeconds ?? 0) >= 3_600)
  assert.equal(gateway.state, 'failing')
  await settleAll(service)
  const settled = await viewer.get('home')
  assert.deepEqual([settled.operations, settled.gateway.state], [{ count: 0, oldest: [] }, 'answering'])
})

test('a span of days that the page does not offer is refused', async () => {
  assertRefused(await viewer.ask('home', { query: { days: '31' } as never }), 'VAL003')
})
