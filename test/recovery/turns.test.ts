// When the worker claims an open operation: after the lease of the process that opened it, soon after an answer without
// an outcome, then less and less often, up to a limit. A retry of the caller does not wait for that.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { newOperationId } from '../../src/core/ids.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { discrepanciesOf, lastOperation, makeDue, settleAll } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

const firstPauseMs = 60_000
const longestPauseMs = 400_000
let service: TestService
before(async () => {
  const settings = { retryFirstPauseMs: firstPauseMs, retryLongestPauseMs: longestPauseMs, stuckAfterAttempts: 4 }
  service = await startTestService({ settings })
})
after(() => service.close())
afterEach(async () => {
  await service.sandbox.clearFaults()
  await settleAll(service)
})

/** The delay that a busy machine may have between two statements. */
const slackMs = 20_000

function assertWithin(value: number, low: number, high: number): void {
  assert.ok(value > low - slackMs && value <= high, `${value} is not between ${low} and ${high}`)
}

async function lostConfirm(kind: string) {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind, times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  return { customer, ...order }
}

/** As if the time until the next try of every open operation had passed. */
async function untilDue(): Promise<void> {
  await service.database.query(
    `update payment_operations set opened_at = opened_at - greatest(settle_at - now(), interval '0') where state = 'OPEN'`,
  )
  await makeDue(service)
}

test('after an answer without an outcome the lease is free, and the operation is due after the first pause', async () => {
  const { customer, orderId } = await lostConfirm('error-before')
  const { leased, settleInMs, attempts, gatewayCode } = await lastOperation(service, orderId)
  assert.deepEqual([leased, attempts, gatewayCode], [false, 0, 'FAILED_INTERNAL_SYSTEM_PROCESSING'])
  assertWithin(settleInMs, firstPauseMs, firstPauseMs)
  assert.deepEqual(await recover(service.payments), { taken: 0, more: false })
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('an operation whose process died is due for the worker when its lease ends', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  const { batches, settings } = service.payments
  const claim = { customerId: customer.customerId, operationId: newOperationId(), orderId, paymentKey, amount }
  assert.equal(await batches.claimConfirm({ ...claim, leaseMs: settings.operationLeaseMs }), true)
  const [row] = await service.database.query(
    'select settle_at = lease_until as same from payment_operations where order_id = $1',
    [orderId],
  )
  assert.deepEqual(row, { same: true })
  assert.deepEqual(await recover(service.payments), { taken: 0, more: false })
  await makeDue(service)
  assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
  assert.equal(await customer.status(orderId), 'CONFIRMED')
})

test('a caller’s retry settles at once, however late the worker’s next attempt is due', async () => {
  for (const kind of ['reset-before', 'reset-after']) {
    const { customer, orderId, confirm } = await lostConfirm(kind)
    assert.ok((await lastOperation(service, orderId)).settleInMs > 0)
    assertSuccess(await confirm(), 200)
    const { state, attempts } = await lastOperation(service, orderId)
    assert.deepEqual([state, attempts], ['APPROVED', 1])
    assert.equal(await customer.credits(), 21)
  }
})

test('each attempt without an outcome doubles the pause, up to the longest; attempts are counted', async () => {
  const { orderId } = await lostConfirm('reset-after')
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 100 }])
  for (const [attempt, pauseMs] of [60_000, 120_000, 240_000, 400_000, 400_000, 400_000].entries()) {
    await untilDue()
    assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
    const { leased, settleInMs, attempts } = await lastOperation(service, orderId)
    assert.deepEqual({ leased, attempts }, { leased: false, attempts: attempt + 1 })
    assertWithin(settleInMs, pauseMs / 2, pauseMs)
    assert.deepEqual(await recover(service.payments), { taken: 0, more: false })
  }
})

test('the pauses have jitter: operations lost at the same time are not due at the same time', async () => {
  const orders = []
  for (let number = 0; number < 8; number += 1) orders.push(await lostConfirm('reset-after'))
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 8 }])
  await makeDue(service)
  assert.deepEqual(await recover(service.payments), { taken: 8, more: false })
  const pauses = await Promise.all(orders.map(async ({ orderId }) => lastOperation(service, orderId)))
  assert.equal(new Set(pauses.map(({ settleInMs }) => Math.round(settleInMs))).size, 8)
})

test('a caller’s retry without an outcome moves the worker’s next attempt neither forward nor back, and is counted', async () => {
  const { orderId, confirm } = await lostConfirm('reset-after')
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 100 }])
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const before = await lastOperation(service, orderId)
    assertRefused(await confirm(), 'SVC001')
    const after = await lastOperation(service, orderId)
    assert.equal(after.attempts, before.attempts + 1)
    assertWithin(after.settleInMs, before.settleInMs, before.settleInMs)
    await makeDue(service)
    await recover(service.payments)
  }
})

test('C35: attempts count whether a request or the worker made them; for the pause and the discrepancy their time counts, too', async () => {
  const { orderId, confirm } = await lostConfirm('error-before')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-before', times: 100 }])
  const retries: [attempts: number, sendNumber: number, stuck: string[]][] = []
  for (let retry = 1; retry <= 5; retry += 1) {
    assertRefused(await confirm(), 'SVC001')
    const { attempts, sendNumber } = await lastOperation(service, orderId)
    const kinds = (await discrepanciesOf(service, orderId)).map(({ kind }) => kind)
    retries.push([attempts, sendNumber, kinds])
  }
  assert.deepEqual(retries, [
    [1, 1, []],
    [2, 1, []],
    [3, 2, []],
    [4, 3, []],
    [5, 4, []],
  ])
  assertWithin((await lastOperation(service, orderId)).settleInMs, firstPauseMs, firstPauseMs)
  for (const [attempt, ageMs, lowMs, highMs, stuck] of [
    [6, 0, firstPauseMs / 2, firstPauseMs, []],
    // The worker alone makes its fourth try after 60 s and half of 60, 120 and 240 s at the earliest.
    [7, 100_000, 100_000, 200_000, []],
    [8, 210_000, longestPauseMs / 2, longestPauseMs, ['OPERATION_STUCK']],
  ] as const) {
    await service.database.query(
      `update payment_operations set opened_at = now() - $2::int * interval '1 ms' where order_id = $1`,
      [orderId, ageMs],
    )
    await makeDue(service)
    await recover(service.payments)
    const { attempts, settleInMs } = await lastOperation(service, orderId)
    assert.equal(attempts, attempt)
    assertWithin(settleInMs, lowMs, highMs + slackMs)
    assert.deepEqual(
      (await discrepanciesOf(service, orderId)).map(({ kind }) => kind),
      stuck,
    )
  }
})

test('C35: after the limit of attempts there is one discrepancy; it is resolved when the operation is settled', async () => {
  const { customer, orderId, confirm } = await lostConfirm('reset-after')
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'error-before', times: 100 }])
  for (const attempt of [1, 2, 3, 4, 5]) {
    await untilDue()
    await recover(service.payments)
    const found = await discrepanciesOf(service, orderId)
    assert.deepEqual(
      found.map(({ kind, resolution, detail }) => [kind, resolution, detail.code]),
      attempt < 4 ? [] : [['OPERATION_STUCK', null, 'FAILED_INTERNAL_SYSTEM_PROCESSING']],
    )
  }
  await service.sandbox.clearFaults()
  assertSuccess(await confirm(), 200)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  const [stuck, ...others] = await discrepanciesOf(service, orderId)
  assert.deepEqual([stuck?.resolution, others], ['the operation was settled', []])
})

test('with more operations than a batch, recover reports that there are more', async () => {
  for (let number = 0; number < 33; number += 1) await lostConfirm('reset-after')
  await makeDue(service)
  assert.deepEqual(await recover(service.payments), { taken: 32, more: true })
  assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
})
