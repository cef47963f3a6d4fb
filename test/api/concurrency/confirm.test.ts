// Section 4.2, row 23 of the decisions: a confirm while another one of the same order is running, in the same process and
// in another one on the same database. There is one gateway call in all.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { until } from '../../../harness/until.ts'
import { closeAll } from '../../support/closing.ts'
import { movements } from '../../support/service/orders.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../../support/service/service.ts'

let service: TestService
let sibling: TestService
let impatient: TestService
before(async () => {
  service = await startTestService()
  const beside = { database: service.database, sandboxUrl: service.sandboxUrl }
  sibling = await startTestService({ beside })
  impatient = await startTestService({ beside, settings: { operationWaitMs: 100 } })
})
after(() => closeAll(impatient, sibling, service))
afterEach(() => service.sandbox.clearFaults())

const confirmsSent = () => service.calls.confirm + sibling.calls.confirm + impatient.calls.confirm

/** A customer, a paid order, and a function that confirms it at any of the processes. */
async function prepare() {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  const { orderId, amount } = order
  const confirmAt = (at: TestService, paymentKey = order.paymentKey) =>
    at.call('/public/v1/payments/confirm', { key: customer.apiKey, body: { orderId, paymentKey, amount } })
  return { customer, order, confirmAt }
}

/** Starts a confirm and returns when the gateway was called; the gateway answers after `delayMs`. */
async function startSlowly<Started>(
  delayMs: number,
  start: () => Promise<Started>,
): Promise<{ first: Promise<Started> }> {
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'delay', times: 1, delayMs }])
  const sent = confirmsSent()
  const first = start()
  await until('the gateway is called', () => confirmsSent() === sent + 1)
  return { first }
}

const places = [
  { where: 'the same process', second: () => service },
  { where: 'another process', second: () => sibling },
]

for (const { where, second } of places) {
  test(`4.2: the same confirm in ${where} waits for the running one and returns its answer`, async () => {
    const { customer, confirmAt } = await prepare()
    const sent = confirmsSent()
    const { first } = await startSlowly(400, () => confirmAt(service))
    const others = await Promise.all([confirmAt(second()), confirmAt(second()), confirmAt(second())])
    assertSuccess(await first, 200)
    for (const other of others) assert.equal(other.text, (await first).text)
    assert.equal(confirmsSent(), sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  })

  test(`4.2: another paymentKey in ${where} waits for the running confirm, then is VAL003`, async () => {
    const { customer, order, confirmAt } = await prepare()
    const otherKey = await service.sandbox.pay(order.orderId, order.amount)
    const sent = confirmsSent()
    const { first } = await startSlowly(400, () => confirmAt(service))
    const other = await confirmAt(second(), otherKey)
    assertRefused(other, 'VAL003')
    const fields = [{ field: 'orderId', rule: 'the order is CONFIRMED' }]
    assert.deepEqual(other.body.metadata, { fields, reason: 'order-not-pending' })
    assertSuccess(await first, 200)
    assert.equal(confirmsSent(), sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  })

  test(`4.2: another amount in ${where} does not get the answer of the running confirm: VAL003`, async () => {
    const { customer, order, confirmAt } = await prepare()
    const { orderId, paymentKey } = order
    const { first } = await startSlowly(300, () => confirmAt(service))
    const body = { orderId, paymentKey, amount: order.amount + 1 }
    const other = await second().call('/public/v1/payments/confirm', { key: customer.apiKey, body })
    assertRefused(other, 'VAL003')
    assert.equal(other.body.metadata?.reason, 'wrong-amount')
    assertSuccess(await first, 200)
  })

  test(`4.2: a confirm in ${where} that waits for one that is refused is VAL003 too`, async () => {
    const customer = await service.newCustomer()
    const order = await customer.paidOrder('STANDARD', 'decline')
    const { orderId, paymentKey, amount } = order
    const sent = confirmsSent()
    const { first } = await startSlowly(300, () => order.confirm())
    const body = { orderId, paymentKey, amount }
    const other = await second().call('/public/v1/payments/confirm', { key: customer.apiKey, body })
    for (const answer of [await first, other]) assertRefused(answer, 'VAL003')
    assert.equal(confirmsSent(), sent + 1)
    assert.equal(await customer.status(orderId), 'FAILED')
  })
}

for (const [where, first] of [
  ['the same process', () => impatient],
  ['another process', () => service],
] as const) {
  test(`4.2: a confirm that waits for one in ${where} for longer than the limit is SVC001, and the running one continues`, async () => {
    const { customer, order, confirmAt } = await prepare()
    const otherKey = await service.sandbox.pay(order.orderId, order.amount)
    const sent = confirmsSent()
    const { first: running } = await startSlowly(1_000, () => confirmAt(first()))
    for (const answer of await Promise.all([confirmAt(impatient), confirmAt(impatient, otherKey)])) {
      assertRefused(answer, 'SVC001')
      assert.equal(answer.headers.get('retry-after'), '1')
    }
    assert.equal(await customer.status(order.orderId), 'PENDING')
    assertSuccess(await running, 200)
    assert.equal((await confirmAt(impatient)).text, (await running).text)
    assert.equal(confirmsSent(), sent + 1)
  })
}

test('4.2: 64 confirms of one order at once, at two processes: one call, one grant, one answer', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { customer, confirmAt } = await prepare()
    const sent = confirmsSent()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => confirmAt(index % 2 ? service : sibling)),
    )
    for (const answer of answers) assert.equal(answer.text, answers[0]?.text)
    assertSuccess(answers[0] as never, 200)
    assert.equal(confirmsSent(), sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  }
})

test('4.2: two payments of one order confirmed at the same moment: one is captured, the other is VAL003 and not charged', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { customer, order, confirmAt } = await prepare()
    const otherKey = await service.sandbox.pay(order.orderId, order.amount)
    const answers = await Promise.all([confirmAt(service), confirmAt(sibling, otherKey)])
    assert.deepEqual(answers.map((answer) => answer.body.code).sort(), ['SUCCESS', 'VAL003'])
    const payments = await service.sandbox.paymentsOf(order.orderId)
    assert.deepEqual(payments.map((payment) => payment.status).sort(), ['DONE', 'IN_PROGRESS'])
    assert.equal(await customer.credits(), 21)
  }
})

test('4.2: one paymentKey for two orders at the same moment: only the order that was paid can be confirmed with it', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { customer, order, confirmAt } = await prepare()
    const { orderId, amount } = (await customer.purchase()).body.data
    const [own, other] = await Promise.all([confirmAt(service), customer.confirm(orderId, order.paymentKey, amount)])
    assertRefused(other, 'VAL003')
    // The key is in use while the confirm of the other order is running.
    assert.ok(['SUCCESS', 'VAL003'].includes(own.body.code), own.text)
    assertSuccess(await confirmAt(service), 200)
    assert.ok(['PENDING', 'FAILED'].includes(await customer.status(orderId)))
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  }
})

test('4.2: a confirm that began while its paymentKey was in use for another order is VAL003 without a call, also when the other one is refused meanwhile', async () => {
  const customer = await service.newCustomer()
  const refused = await customer.paidOrder('STANDARD', 'decline')
  const order = await customer.paidOrder()
  const { first } = await startSlowly(400, refused.confirm)
  const owner = await service.database.begin(customer.customerId)
  await owner.query('select from orders where order_id = $1 for update', [order.orderId])
  // Its statement begins before the other confirm is refused, and may end after that.
  const second = sibling.call('/public/v1/payments/confirm', {
    key: customer.apiKey,
    body: { orderId: order.orderId, paymentKey: refused.paymentKey, amount: order.amount },
  })
  const isWaiting = `select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database() and query like '%insert into payment_operations%'`
  let isAnswered = false
  second.then(() => {
    isAnswered = true
  })
  await until(
    'the second is refused or waits for its order',
    async () => isAnswered || (await service.database.queryServers(isWaiting)).length === 1,
  )
  assertRefused(await first, 'VAL003')
  const sent = confirmsSent()
  await owner.rollback()
  assertRefused(await second, 'VAL003')
  assert.equal(confirmsSent(), sent)
  assert.equal(await customer.status(order.orderId), 'PENDING')
})
