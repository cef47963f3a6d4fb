// The background finishes operations that were left open, whatever was lost: rows C2, C4, C5, C35 and X3 of the failure
// catalogue. Money moves once, without another request.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { recover } from '../../src/payments/recovery/recover.ts'
import { movements } from '../support/service/orders.ts'
import {
  createOverrides,
  discrepanciesOf,
  lastOperation,
  makeDue,
  openContexts,
  operationStates,
  settleAll,
} from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  type Fault,
  startTestService,
  type TestService,
} from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway, settings: { stuckAfterAttempts: 3 } })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await service.sandbox.behave({ replayServerErrors: false })
  await settleAll(service)
})

const fault = (on: Fault['on'], kind: string, times = 1): Fault => ({ on, kind, times })

/** An order whose confirm was answered SVC001. */
async function lostConfirm(kind: string, result = 'approve') {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder('STANDARD', result)
  await service.sandbox.setFaults([fault('confirm', kind)])
  assertRefused(await order.confirm(), 'SVC001')
  assert.equal(await customer.status(order.orderId), 'PENDING')
  return { customer, ...order }
}

/** An order whose cancel was answered SVC001. */
async function lostCancel(kind: string) {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  await service.sandbox.setFaults([fault('cancel', kind)])
  assertRefused(await customer.cancel(order.paymentKey), 'SVC001')
  return { customer, ...order }
}

async function moneyAtGateway(orderId: string): Promise<number> {
  return (await service.sandbox.paymentsOf(orderId)).reduce((sum, { balanceAmount, status }) => {
    return sum + (status === 'DONE' || status === 'PARTIAL_CANCELED' ? balanceAmount : 0)
  }, 0)
}

for (const { row, what, kind, result, status, sends } of [
  { row: 'C4', what: 'a captured payment whose answer was lost', kind: 'reset-after', status: 'CONFIRMED', sends: 0 },
  { row: 'C4', what: 'a captured payment answered 500', kind: 'error-after', status: 'CONFIRMED', sends: 0 },
  { row: 'C2', what: 'a confirm that never arrived', kind: 'reset-before', status: 'CONFIRMED', sends: 1 },
  {
    row: 'C17',
    what: 'a refusal whose answer was lost',
    kind: 'reset-after',
    result: 'decline',
    status: 'FAILED',
    sends: 0,
  },
  {
    row: 'C17',
    what: 'a confirm that the gateway will refuse',
    kind: 'reset-before',
    result: 'decline',
    status: 'FAILED',
    sends: 1,
  },
  {
    row: 'C2',
    what: 'a confirm whose session has expired',
    kind: 'reset-before',
    result: 'expire',
    status: 'FAILED',
    sends: 0,
  },
]) {
  test(`${row}: the worker finishes ${what}: ${status}, the confirm sent ${sends} more times`, async () => {
    const { customer, orderId } = await lostConfirm(kind, result)
    await makeDue(service)
    const sent = service.calls.confirm
    assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
    assert.equal(service.calls.confirm, sent + sends)
    const confirmed = status === 'CONFIRMED'
    assert.equal(await customer.status(orderId), status)
    assert.equal(await customer.credits(), confirmed ? 21 : 0)
    assert.deepEqual(await movements(service, customer.customerId), confirmed ? ['GRANT 21'] : [])
    assert.equal(await moneyAtGateway(orderId), confirmed ? 20_000 : 0)
    const { state, attempts } = await lastOperation(service, orderId)
    assert.deepEqual([state, attempts], [confirmed ? 'APPROVED' : 'REJECTED', 1])
    assert.deepEqual(await recover(service.payments), { taken: 0, more: false })
  })
}

for (const { what, kind, sends } of [
  { what: 'a cancel whose answer was lost', kind: 'reset-after', sends: 0 },
  { what: 'a cancel that never arrived', kind: 'reset-before', sends: 1 },
]) {
  test(`X3: the worker finishes ${what}: CANCELLED, the credits rolled back once`, async () => {
    const { customer, orderId } = await lostCancel(kind)
    await makeDue(service)
    const sent = service.calls.cancel
    assert.deepEqual(await recover(service.payments), { taken: 1, more: false })
    assert.equal(service.calls.cancel, sent + sends)
    assert.equal(await customer.status(orderId), 'CANCELLED')
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
    assert.equal(await moneyAtGateway(orderId), 0)
  })
}

test('X4: a cancel of the worker that the gateway refuses releases the credits: CONFIRMED', async () => {
  const { customer, orderId } = await lostCancel('reset-before')
  assert.equal(await customer.credits(), 0)
  overrides.cancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  await makeDue(service)
  await recover(service.payments)
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 21)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  const { state, gatewayCode } = await lastOperation(service, orderId)
  assert.deepEqual([state, gatewayCode], ['REJECTED', 'NOT_CANCELABLE_PAYMENT'])
})

test('C10: a leased operation is skipped, even when it is due', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  const answered = Promise.withResolvers<void>()
  const { confirm } = service.payments.gateway
  overrides.confirm = (intent) => {
    delete overrides.confirm
    return answered.promise.then(() => confirm(intent))
  }
  const running = order.confirm()
  while ((await operationStates(service, order.orderId)).length === 0);
  await service.database.query(`update payment_operations set settle_at = now() - interval '1 s' where state = 'OPEN'`)
  const lookups = service.calls.findConfirm
  assert.deepEqual(await recover(service.payments), { taken: 0, more: false })
  assert.deepEqual(await operationStates(service, order.orderId), ['CONFIRM OPEN'])
  answered.resolve()
  assertSuccess(await running, 200)
  assert.equal(service.calls.findConfirm, lookups)
  assert.equal((await lastOperation(service, order.orderId)).attempts, 0)
})

test('C35: one operation that throws each time does not delay the others, and becomes a discrepancy', async () => {
  const orders = []
  for (let number = 0; number < 5; number += 1) orders.push(await lostConfirm('reset-after'))
  const poison = orders[2]?.orderId ?? ''
  // As old as the worker's third try would find it.
  await service.database.query(
    `update payment_operations set opened_at = opened_at - interval '1 hour' where order_id = $1`,
    [poison],
  )
  overrides.findConfirm = ({ orderId }) => {
    if (orderId === poison) throw new Error('a bug that this order triggers')
    return undefined
  }
  for (const attempt of [1, 2, 3, 4]) {
    await makeDue(service)
    assert.deepEqual(await recover(service.payments), { taken: attempt === 1 ? 5 : 1, more: false })
    for (const { customer, orderId } of orders) {
      assert.equal(await customer.status(orderId), orderId === poison ? 'PENDING' : 'CONFIRMED')
    }
    const found = await discrepanciesOf(service, poison)
    const kinds = found.map(({ kind, resolution }) => [kind, resolution])
    assert.deepEqual(kinds, attempt < 3 ? [] : [['OPERATION_STUCK', null]])
  }
  const [stuck] = await discrepanciesOf(service, poison)
  assert.equal(stuck?.detail.code, 'a bug that this order triggers')
  clear()
  await settleAll(service)
  assert.equal(await orders[2]?.customer.status(poison), 'CONFIRMED')
  const [resolved, ...others] = await discrepanciesOf(service, poison)
  assert.deepEqual([resolved?.resolution, others], ['the operation was settled', []])
})

test('eight recovery workers at once share the work: each operation is claimed once and sent once', async () => {
  const orders = []
  for (let number = 0; number < 40; number += 1) orders.push(await lostConfirm('reset-before'))
  await makeDue(service)
  const others = await openContexts(service, 8)
  try {
    const before = { ...service.calls }
    const taken = await Promise.all(
      others.contexts.map(async (context) => {
        // No lease ends while another worker is slow.
        const settings = { ...context.settings, operationLeaseMs: 600_000 }
        let sum = 0
        for (let round = 0; round < 3; round += 1) sum += (await recover({ ...context, settings })).taken
        return sum
      }),
    )
    assert.equal(
      taken.reduce((sum, each) => sum + each, 0),
      orders.length,
    )
    assert.equal(service.calls.confirm - before.confirm, orders.length)
    assert.equal(service.calls.findConfirm - before.findConfirm, orders.length)
  } finally {
    await others.close()
  }
  for (const { customer, orderId } of orders) {
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
    assert.equal((await lastOperation(service, orderId)).attempts, 1)
  }
})

test('from the fourth attempt on a new key is sent: a 500 that the gateway repeats for its key does not block the cancel', async () => {
  await service.sandbox.behave({ replayServerErrors: true })
  const { customer, orderId } = await lostCancel('error-before')
  const keys: string[] = []
  overrides.cancel = ({ idempotencyKey }) => {
    keys.push(idempotencyKey)
    return undefined
  }
  for (const attempt of [1, 2, 3, 4]) {
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    await makeDue(service)
    await recover(service.payments)
    assert.equal((await lastOperation(service, orderId)).attempts, attempt)
  }
  assert.equal(await customer.status(orderId), 'CANCELLED')
  assert.deepEqual(
    keys.map((key) => key.slice(-2)),
    ['-1', '-1', '-1', '-2'],
  )
  assert.equal(new Set(keys.map((key) => key.slice(0, -2))).size, 1)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'ROLLBACK -21'])
})
