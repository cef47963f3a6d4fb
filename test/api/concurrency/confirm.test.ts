// Section 4.2, row 23 of the decisions: a confirm while another one of the same order is under way, in the same process
// and in another one on the same database. One call to the gateway in all.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import pg from 'pg'
import { until } from '../../../harness/until.ts'
import { closeAll } from '../../support/closing.ts'
import { movements } from '../../support/service/orders.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../../support/service/service.ts'

let service: TestService
let twin: TestService
let hasty: TestService
before(async () => {
  service = await startTestService()
  const beside = { database: service.database, sandboxUrl: service.sandboxUrl }
  twin = await startTestService({ beside })
  hasty = await startTestService({ beside, settings: { operationWaitMs: 100 } })
})
after(() => closeAll(hasty, twin, service))
afterEach(() => service.sandbox.clearFaults())

const confirmsSent = () => service.calls.confirm + twin.calls.confirm + hasty.calls.confirm

/** A customer, a paid order, and its confirm as any of the processes gets it. */
async function prepare() {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  const { orderId, amount } = order
  const confirmAt = (at: TestService, paymentKey = order.paymentKey) =>
    at.call('/public/v1/payments/confirm', { key: customer.apiKey, body: { orderId, paymentKey, amount } })
  return { customer, order, confirmAt }
}

/** Starts a confirm and returns when the gateway has been asked, with everybody's answer still `delayMs` away. */
async function startSlowly<Started>(
  delayMs: number,
  start: () => Promise<Started>,
): Promise<{ first: Promise<Started> }> {
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'delay', times: 1, delayMs }])
  const sent = confirmsSent()
  const first = start()
  await until('the gateway is asked', () => confirmsSent() === sent + 1)
  return { first }
}

const places = [
  { where: 'the same process', second: () => service },
  { where: 'another process', second: () => twin },
]

for (const { where, second } of places) {
  test(`4.2: the same confirm in ${where} waits for the one under way and gives its answer`, async () => {
    const { customer, confirmAt } = await prepare()
    const sent = confirmsSent()
    const { first } = await startSlowly(400, () => confirmAt(service))
    const others = await Promise.all([confirmAt(second()), confirmAt(second()), confirmAt(second())])
    assertSuccess(await first, 200)
    for (const other of others) assert.equal(other.text, (await first).text)
    assert.equal(confirmsSent(), sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  })

  test(`4.2: another paymentKey in ${where} waits for the confirm under way, then is VAL003`, async () => {
    const { customer, order, confirmAt } = await prepare()
    const otherKey = await service.sandbox.pay(order.orderId, order.amount)
    const sent = confirmsSent()
    const { first } = await startSlowly(400, () => confirmAt(service))
    const other = await confirmAt(second(), otherKey)
    assertRefused(other, 'VAL003')
    assert.deepEqual(other.body.metadata, { fields: [{ field: 'orderId', rule: 'the order is CONFIRMED' }] })
    assertSuccess(await first, 200)
    assert.equal(confirmsSent(), sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
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
  ['the same process', () => hasty],
  ['another process', () => service],
] as const) {
  test(`4.2: past the bound of waiting for a confirm in ${where} it is SVC001, and the one under way goes on`, async () => {
    const { customer, order, confirmAt } = await prepare()
    const otherKey = await service.sandbox.pay(order.orderId, order.amount)
    const sent = confirmsSent()
    const { first: underWay } = await startSlowly(1_000, () => confirmAt(first()))
    for (const answer of await Promise.all([confirmAt(hasty), confirmAt(hasty, otherKey)])) {
      assertRefused(answer, 'SVC001')
      assert.equal(answer.headers.get('retry-after'), '1')
    }
    assert.equal(await customer.status(order.orderId), 'PENDING')
    assertSuccess(await underWay, 200)
    assert.equal((await confirmAt(hasty)).text, (await underWay).text)
    assert.equal(confirmsSent(), sent + 1)
  })
}

test('4.2: 64 confirms of one order at once, over all processes: one call, one grant, one answer', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { customer, confirmAt } = await prepare()
    const sent = confirmsSent()
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => confirmAt(index % 2 ? service : twin)))
    for (const answer of answers) assert.equal(answer.text, answers[0]?.text)
    assertSuccess(answers[0] as never, 200)
    assert.equal(confirmsSent(), sent + 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  }
})

test('4.2: two payments of one order confirmed at the same moment: one is taken, the other is VAL003 and not charged', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { customer, order, confirmAt } = await prepare()
    const otherKey = await service.sandbox.pay(order.orderId, order.amount)
    const answers = await Promise.all([confirmAt(service), confirmAt(twin, otherKey)])
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
    // While the gateway is asked about the other order, the key is taken.
    assert.ok(['SUCCESS', 'VAL003'].includes(own.body.code), own.text)
    assertSuccess(await confirmAt(service), 200)
    assert.ok(['PENDING', 'FAILED'].includes(await customer.status(orderId)))
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
  }
})

test('4.2: a confirm that began while its paymentKey was under way for another order is VAL003 without a call, however that ends', async (t) => {
  const customer = await service.newCustomer()
  const refused = await customer.paidOrder('STANDARD', 'decline')
  const order = await customer.paidOrder()
  const owner = new pg.Client(service.database.connection)
  await owner.connect()
  t.after(() => owner.end())
  const { first } = await startSlowly(400, refused.confirm)
  await owner.query('begin')
  await owner.query('select from orders where order_id = $1 for update', [order.orderId])
  // Its statement begins before the other confirm is refused, and may end after that.
  const second = twin.call('/public/v1/payments/confirm', {
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
    async () => isAnswered || (await service.database.query(isWaiting)).length === 1,
  )
  assertRefused(await first, 'VAL003')
  const sent = confirmsSent()
  await owner.query('rollback')
  assertRefused(await second, 'VAL003')
  assert.equal(confirmsSent(), sent)
  assert.equal(await customer.status(order.orderId), 'PENDING')
})
