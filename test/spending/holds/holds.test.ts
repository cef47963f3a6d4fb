// Holds over the internal API: opening, capturing all or part, releasing, and the answers about a hold that has ended.
// holds-expiry.test.ts covers the expiry, holds-races.test.ts simultaneous requests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import { countCodes } from '../../support/service/cluster.ts'
import { totalCalls } from '../../support/service/orders.ts'
import { assertRefused, assertSuccess, type TestCustomer, testPeppers } from '../../support/service/service.ts'
import {
  assertFieldRefused,
  assertLack,
  atOnce,
  creditsPath,
  type SpendingService,
  startSpendingService,
} from '../../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

/** A customer with 21 credits of one order, and a hold on some of them. */
async function heldCustomer(credits: number) {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder('STANDARD')
  const answer = await internal.hold(customer.customerId, credits, { reference: 'the-hold' })
  assertSuccess(answer, 201)
  return { customer, order, id: customer.customerId, holdId: answer.body.data.holdId, opened: answer }
}

async function newCustomer(packageType: 'BASIC' | 'STANDARD' = 'STANDARD'): Promise<TestCustomer> {
  const customer = await service.newCustomer()
  await customer.confirmedOrder(packageType)
  return customer
}

test('a hold answers 201 with its id, its credits, its expiry and the credits that are still available', async () => {
  const { customer, id, opened } = await heldCustomer(15)
  const { holdId, expiresAt, ...rest } = opened.body.data
  assert.match(holdId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.equal(new Date(expiresAt).toISOString(), expiresAt)
  assert.deepEqual(rest, { credits: 15, balance: 6 })
  assert.equal(await customer.credits(), 6)
  assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/15'])
})

test('34a: held credits are neither in the balance of the customer nor in totalCredits, until they are released', async () => {
  const { customer, id, holdId } = await heldCustomer(21)
  assert.equal(await customer.credits(), 0)
  const order = await customer.paidOrder('BASIC')
  assert.equal((await order.confirm()).body.data.totalCredits, 1)
  assert.equal((await internal.statement(id)).body.data.balance.balance, 22)
  assertSuccess(await internal.release(id, holdId), 200)
  assert.equal(await customer.credits(), 22)
})

for (const { expiresInSeconds, lastsSeconds } of [
  { expiresInSeconds: undefined, lastsSeconds: 3_600 },
  { expiresInSeconds: null, lastsSeconds: 3_600 },
  { expiresInSeconds: 1, lastsSeconds: 1 },
  { expiresInSeconds: 604_800, lastsSeconds: 604_800 },
]) {
  test(`a hold with expiresInSeconds ${expiresInSeconds} lasts ${lastsSeconds} s`, async () => {
    const customer = await newCustomer()
    const { expiresAt } = (await internal.hold(customer.customerId, 1, { expiresInSeconds })).body.data
    const [entry] = (await internal.statement(customer.customerId, { kind: 'HOLD' })).body.data.entries
    const lastedMs = new Date(expiresAt).getTime() - new Date(entry?.createdAt ?? '').getTime()
    assert.ok(Math.abs(lastedMs - lastsSeconds * 1_000) < 500, `${lastedMs} ms`)
  })
}

test('every field of a hold is checked, and a refused hold holds nothing', async () => {
  const customer = await newCustomer()
  const fields = { customerId: customer.customerId, credits: 1, reference: 'never', expiresInSeconds: 60 }
  const hold = (body: object) => internal.call(`${creditsPath}/holds`, { body })
  const faulty: Record<string, unknown[]> = {
    customerId: ['x', 5],
    credits: [0, -1, 1.5, 2 ** 53, '1', true],
    reference: ['', 'two words', 'é', 'r'.repeat(201), 5],
    expiresInSeconds: [0, -1, 0.5, 604_801, 2 ** 53, '60', true, []],
  }
  for (const [field, values] of Object.entries(faulty)) {
    for (const value of values) assertFieldRefused(await hold({ ...fields, [field]: value }), 'VAL003', field)
    if (field === 'expiresInSeconds') continue
    for (const none of [undefined, null]) assertFieldRefused(await hold({ ...fields, [field]: none }), 'VAL002', field)
  }
  assert.deepEqual(await service.entries(customer.customerId), ['GRANT 21/0'])
})

test('a hold of more than the available credits is BUS002, and its reference can still be used', async () => {
  const customer = await newCustomer()
  const { customerId } = customer
  assertLack(await internal.hold(customerId, 22, { reference: 'later' }), 22, 21)
  assertSuccess(await internal.hold(customerId, 20), 201)
  assertLack(await internal.hold(customerId, 2, { reference: 'later' }), 2, 1)
  await customer.confirmedOrder('BASIC')
  assertSuccess(await internal.hold(customerId, 2, { reference: 'later' }), 201)
  assert.equal(await customer.credits(), 0)
})

test('a hold is opened once for a reference: a retry gets the first answer, another amount VAL003', async () => {
  const { id, opened, holdId } = await heldCustomer(10)
  const again = (credits: number, more = {}) => internal.hold(id, credits, { reference: 'the-hold', ...more })
  assert.equal((await again(10)).text, opened.text)
  assert.equal((await again(10, { expiresInSeconds: 5 })).text, opened.text)
  for (const credits of [9, 11, 1_000]) {
    const other = await again(credits)
    assertFieldRefused(other, 'VAL003', 'reference')
    assert.match(other.text, /was used for a hold of 10 credits/)
  }
  assertSuccess(await internal.capture(id, holdId, 4), 200)
  assertSuccess(await internal.spend(id, 17), 200)
  assert.equal((await again(10)).text, opened.text)
  assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/10', 'CAPTURE -4/-10', 'SPEND -17/0'])
})

test('32 simultaneous duplicates are one hold and 32 times the same answer, also on the last credit', async () => {
  for (let round = 0; round < 10; round += 1) {
    const customer = await newCustomer(round % 2 === 0 ? 'BASIC' : 'STANDARD')
    const answers = await atOnce(32, () => internal.hold(customer.customerId, 1, { reference: 'one' }))
    assert.deepEqual(countCodes(answers), { SUCCESS: 32 })
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1)
    assert.equal((await service.entries(customer.customerId)).length, 2)
  }
})

type Ending = {
  title: string
  end: (id: string, holdId: string) => ReturnType<typeof internal.capture>
  captured: number
}
const endings: Ending[] = [
  { title: 'captured whole without an amount', end: (id, holdId) => internal.capture(id, holdId), captured: 10 },
  { title: 'captured whole with its amount', end: (id, holdId) => internal.capture(id, holdId, 10), captured: 10 },
  { title: 'captured in part', end: (id, holdId) => internal.capture(id, holdId, 4), captured: 4 },
  { title: 'released', end: (id, holdId) => internal.release(id, holdId), captured: 0 },
]
for (const { title, end, captured } of endings) {
  test(`a hold that is ${title} ends once: a retry gets the first answer, anything else is VAL003`, async () => {
    const { customer, id, holdId } = await heldCustomer(10)
    const first = await end(id.toUpperCase(), holdId.toUpperCase())
    assertSuccess(first, 200)
    assert.deepEqual(first.body.data, { holdId, captured, released: 10 - captured, balance: 21 - captured })
    assert.equal(await customer.credits(), 21 - captured)
    assertSuccess(await internal.spend(id, 5), 200)
    assert.equal((await end(id, holdId)).text, first.text)
    const state = captured === 0 ? 'RELEASED' : 'CAPTURED'
    for (const other of endings.filter((each) => each.captured !== captured)) {
      const refused = await other.end(id, holdId)
      assertFieldRefused(refused, 'VAL003', 'holdId')
      assert.match(refused.text, new RegExp(`the hold is ${state}`), other.title)
    }
    const last = captured === 0 ? 'RELEASE 0/-10' : `CAPTURE -${captured}/-10`
    assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/10', last, 'SPEND -5/0'])
  })
}

test('a capture of more than was held is VAL003, and the hold stays', async () => {
  const { id, holdId } = await heldCustomer(10)
  for (const credits of [11, 21, Number.MAX_SAFE_INTEGER]) {
    assertFieldRefused(await internal.capture(id, holdId, credits), 'VAL003', 'credits')
  }
  for (const credits of [0, -1, 1.5, '1', 2 ** 53]) {
    assertFieldRefused(await internal.capture(id, holdId, credits), 'VAL003', 'credits')
  }
  assertSuccess(await internal.capture(id, holdId, 10), 200)
  assertFieldRefused(await internal.capture(id, holdId, 11), 'VAL003', 'credits')
})

test('the end of a hold needs its customer: missing VAL002, no UUID VAL003; another customer, another hold or an invalid hold id: NOT000', async () => {
  const { id, holdId } = await heldCustomer(10)
  const { customer: other, holdId: otherHold } = await heldCustomer(3)
  for (const verb of ['capture', 'release']) {
    const end = (hold: string, body: object) => internal.call(`${creditsPath}/holds/${hold}/${verb}`, { body })
    assertFieldRefused(await end(holdId, {}), 'VAL002', 'customerId')
    assertFieldRefused(await end(holdId, { customerId: 'x' }), 'VAL003', 'customerId')
    assertFieldRefused(await end('x', {}), 'VAL002', 'customerId')
    const unknown = await end(crypto.randomUUID(), { customerId: id })
    assertRefused(unknown, 'NOT000')
    assert.equal((await end(holdId, { customerId: other.customerId })).text, unknown.text)
    assert.equal((await end(otherHold, { customerId: id })).text, unknown.text)
    assert.equal((await end('x', { customerId: id })).text, unknown.text)
    assertRefused(await internal.call(`${creditsPath}/holds/${holdId}/${verb}`, { method: 'POST' }), 'VAL001')
  }
  assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/10'])
})

test('a foreign customerId is NOT000, also while the customer ends the hold', async () => {
  const [{ id, holdId }, other, plug] = [await heldCustomer(10), await newCustomer(), await heldCustomer(3)]
  const end = (customerId: string, hold: string) =>
    service.payments.credits.endHold({
      customerId,
      holdId: hold,
      ending: 'CAPTURE',
      captured: 3,
      serviceId: internal.issued.serviceId,
    })
  // The first two occupy the connections; requests that arrive meanwhile share the next statement.
  const plugs = [end(plug.id, plug.holdId), end(plug.id, plug.holdId)]
  const [own, foreign] = await Promise.all([end(id, holdId), end(other.customerId, holdId), ...plugs])
  assert.equal(own?.state, 'CAPTURED')
  assert.equal(foreign, null)
  assert.equal(await other.credits(), 21)
})

test('another service may end a hold with the scope manage-holds, and the ledger has the service that did', async () => {
  const { id, holdId } = await heldCustomer(10)
  const { token } = await issueToken(service.payments.database, testPeppers, 'the other', ['hold', 'manage-holds'])
  assertSuccess(await internal.as(token).capture(id, holdId, 4), 200)
  const { entries } = (await internal.statement(id, { kind: 'HOLD,CAPTURE' })).body.data
  assert.deepEqual(
    entries.map((entry) => `${entry.kind} ${entry.service} ${entry.reference}`),
    ['CAPTURE the other the-hold', 'HOLD analyses the-hold'],
  )
})

test('4.6: a cancel is refused while its credits are held, without a gateway call, and succeeds after the release', async () => {
  const { customer, order, id, holdId } = await heldCustomer(1)
  const calls = totalCalls(service)
  const refused = await customer.cancel(order.paymentKey)
  assert.deepEqual([refused.status, refused.body.code], [400, 'PAYMENT_CANCEL_FAILED'])
  assert.equal(totalCalls(service), calls)
  assert.equal(await customer.status(order.orderId), 'CONFIRMED')
  assertSuccess(await internal.release(id, holdId), 200)
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  assert.equal(await customer.credits(), 0)
})

for (const held of [15, 21]) {
  test(`a refund of the platform deducts the credits of 21 that are not held: ${held} are held, and can still be captured`, async () => {
    const { customer, order, id, holdId } = await heldCustomer(held)
    const { orderId } = order
    const answer = await refund(service.payments, { orderId, reason: 'decided by the platform' })
    const taken = 21 - held
    assert.deepEqual(answer, {
      orderId,
      status: 'REFUNDED',
      refundedAmount: 20_000,
      creditsTakenBack: taken,
      shortfall: held,
    })
    assert.equal(await customer.credits(), 0)
    const captured = await internal.capture(id, holdId, 5)
    assert.deepEqual(captured.body.data, { holdId, captured: 5, released: held - 5, balance: held - 5 })
    assert.equal(await customer.credits(), held - 5)
  })
}
