// Which roles can return money: a cancel needs an API key of the customer and the payment key, and the console shows neither
// to a role that may not refund. Every response is searched, whatever the names of its fields.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listNewKeyCancels } from '../../src/console/books/new-key-cancels.sql.ts'
import { contract } from '../../src/console/contract.ts'
import type { EndpointName } from '../../src/console/endpoints.ts'
import { newestCursor } from '../../src/console/paging.ts'
import { shownTo } from '../../src/console/payment-keys.ts'
import { permissions, type Role } from '../../src/operators/permissions.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { insertNotification } from '../../src/payments/recovery/notifications.sql.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
const operators = {} as Record<Role, Operator>
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  for (const role of ['viewer', 'support', 'finance', 'admin'] as const) operators[role] = await api.newOperator(role)
})
after(async () => {
  await api.close()
  await service.close()
})

const body = { reason: 'the customer has called' }
const doubtedKey = 'tviva20261115200512AbCd1'
const foreignKey = 'tvivb20261115200512AbCd2'
/** The key of a payment that appears only in an operator's note. */
const quotedKey = 'tvivc20261115200512AbCd3'

/** An order whose payment keys are in every place where the console can show one. */
async function orderWithTraces() {
  const customer = await service.newCustomer()
  const endpoint = { body: { url: 'http://127.0.0.1:1/', types: [], ...body } }
  const { endpointId } = await operators.admin.get('addEndpoint', endpoint)
  const order = await customer.confirmedOrder()
  const { orderId, paymentKey } = order
  await api.deliver()
  await service.database.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     select customer_id, $2, event_number, 1, 'ECONNREFUSED' from events where customer_id = $1`,
    [customer.customerId, endpointId],
  )
  const { database } = service.payments
  const key = { customerId: customer.customerId, orderId }
  await saveDiscrepancy(database, {
    kind: 'PAYMENT_DIFFERS',
    subject: doubtedKey,
    order: key,
    detail: { paymentKey: doubtedKey, gateway: { status: `see ${paymentKey}, not ${doubtedKey}` } },
  })
  await saveDiscrepancy(database, { kind: 'UNKNOWN_ORDER', subject: foreignKey, order: null, detail: { orderId } })
  await saveDiscrepancy(database, { kind: 'SECOND_PAYMENT', subject: orderId, order: key, detail: {} })
  const { discrepancies: open } = await operators.finance.get('discrepancies')
  const { discrepancyId = '' } = open.find(({ subject }) => subject === orderId) ?? {}
  const note = { reason: `a duplicate of ${quotedKey}` }
  await operators.finance.get('resolveDiscrepancy', { params: { discrepancyId }, body: note })
  await insertNotification(database, {
    transmissionId: crypto.randomUUID(),
    eventType: 'PAYMENT_STATUS_CHANGED',
    status: 'DONE',
    orderId,
    paymentKey,
  })
  const { discrepancies } = await operators.admin.get('discrepancies')
  const mine = discrepancies.filter(({ subject }) => [doubtedKey, foreignKey].includes(subject))
  return { ...order, customer, endpointId, discrepancyIds: mine.map(({ discrepancyId }) => discrepancyId) }
}

type Call = { name: EndpointName; input: object }

function everyCall(made: Awaited<ReturnType<typeof orderWithTraces>>): Call[] {
  const { orderId, paymentKey, customer, discrepancyIds } = made
  const ofCustomer = { params: { customerId: customer.customerId } }
  return [
    { name: 'home', input: {} },
    ...[orderId, paymentKey, foreignKey].map((q) => ({ name: 'search' as const, input: { query: { q } } })),
    { name: 'orders', input: {} },
    { name: 'order', input: { params: { orderId } } },
    { name: 'settleOrder', input: { params: { orderId }, body } },
    { name: 'customers', input: {} },
    { name: 'customer', input: ofCustomer },
    { name: 'statement', input: ofCustomer },
    { name: 'orderReceipt', input: { params: { orderId } } },
    { name: 'use', input: ofCustomer },
    { name: 'statementReceipt', input: { ...ofCustomer, query: { from: '1', to: '1' } } },
    { name: 'transparencyLog', input: {} },
    { name: 'publications', input: {} },
    { name: 'holds', input: ofCustomer },
    { name: 'lots', input: ofCustomer },
    { name: 'adjustments', input: ofCustomer },
    { name: 'budgets', input: ofCustomer },
    { name: 'days', input: {} },
    { name: 'runs', input: {} },
    { name: 'payments', input: {} },
    { name: 'audits', input: {} },
    { name: 'discrepancies', input: {} },
    { name: 'discrepancies', input: { query: { state: 'resolved' } } },
    { name: 'eventEndpoints', input: {} },
    { name: 'eventEndpoint', input: { params: { endpointId: made.endpointId } } },
    { name: 'eventAttempts', input: { params: { endpointId: made.endpointId } } },
    { name: 'deadEvents', input: { params: { endpointId: made.endpointId } } },
    { name: 'services', input: {} },
    { name: 'serviceBudgets', input: {} },
    { name: 'actionLog', input: {} },
    ...discrepancyIds.map((discrepancyId) => ({ name: 'discrepancy' as const, input: { params: { discrepancyId } } })),
  ]
}

test('support cannot cancel for a customer: the console shows it neither an API key nor a payment key', async () => {
  const made = await orderWithTraces()
  const { customerId, keyId } = made.customer
  const seen: string[] = []
  const calls: Call[] = [
    { name: 'issueKey', input: { params: { customerId }, body } },
    { name: 'rotateKey', input: { params: { keyId }, body } },
    { name: 'createCustomer', input: { body: { ...body, name: 'a customer of support' } } },
    ...everyCall(made),
  ]
  for (const { name, input } of calls) seen.push((await operators.support.request(name, input)).text)
  const apiKeys = seen.flatMap((text) => text.match(/cpk_[0-9A-Za-z]{43}/g) ?? [])
  const isKeyRead = seen.some((text) => text.includes(made.paymentKey))
  assert.deepEqual({ apiKeys, isKeyRead }, { apiKeys: [], isKeyRead: false })
})

test('a payment key is shown in full to roles that may refund, and to no other role in any response', async () => {
  const made = await orderWithTraces()
  const secrets = [made.paymentKey, doubtedKey, foreignKey, quotedKey]
  for (const role of ['viewer', 'support'] as const) {
    for (const { name, input } of everyCall(made)) {
      if (role === 'viewer' && name === 'settleOrder') continue
      const { text } = await operators[role].request(name, input)
      for (const secret of secrets) {
        // The last characters are all that cannot be derived from the time of the payment.
        assert.ok(!text.includes(secret) && !text.includes(secret.slice(-4)), `${role} reads a payment key in ${name}`)
      }
    }
  }
  const params = { orderId: made.orderId }
  assert.equal((await operators.support.get('order', { params })).order.paymentKey, `${made.paymentKey.slice(0, 4)}…`)
  for (const role of ['finance', 'admin'] as const) {
    assert.equal((await operators[role].get('order', { params })).order.paymentKey, made.paymentKey)
    const { discrepancies } = await operators[role].get('discrepancies')
    assert.ok(discrepancies.some(({ subject }) => subject === foreignKey))
  }
})

for (const name of ['detail', 'reason', 'resolution', 'arguments', 'outcome', 'note']) {
  test(`a payment key within the text of ${name} is masked for a role that may not refund`, () => {
    const answer = { [name]: [`paid with ${quotedKey}.`] }
    assert.deepEqual(shownTo('support', answer), { [name]: ['paid with tviv….'] })
    assert.deepEqual(shownTo('finance', answer), answer)
  })
}

test('a payment key that begins like another one hides no less of the other, and one of up to eight characters is hidden whole', () => {
  const longer = `${quotedKey}Zz9`
  const answer = { paymentKeys: [quotedKey, longer], status: `of ${longer}` }
  assert.deepEqual(shownTo('support', answer), { paymentKeys: ['tviv…', 'tviv…'], status: 'of tviv…' })
  const short = { paymentKeys: ['pay_123', 'pay_1234', 'pay_12345'] }
  assert.deepEqual(shownTo('support', short), { paymentKeys: ['…', '…', 'pay_…'] })
})

test('these are all endpoints that every role may read, but for one run and one audit, which are listed', async () => {
  const called = everyCall(await orderWithTraces()).map(({ name }) => name)
  const readable = (Object.keys(contract) as EndpointName[]).filter((name) => contract[name].for === 'read')
  assert.deepEqual(
    readable.filter((name) => !called.includes(name)),
    ['run', 'audit'],
  )
})

test('support finds an order by the full payment key that a customer gives', async () => {
  const { orderId, paymentKey } = await orderWithTraces()
  const { results } = await operators.support.get('search', { query: { q: paymentKey } })
  assert.deepEqual(
    results.map((result) => [result.kind, result.orderId]),
    [['payment', orderId]],
  )
})

test('exports contain full payment keys: every role that may download them may refund', () => {
  assert.deepEqual(
    permissions.export.filter((role) => !(permissions.refund as readonly Role[]).includes(role)),
    [],
  )
})

test('a cancel with a key younger than a day is listed for finance and admin, with its customer, the key and its age', async () => {
  const customer = await service.newCustomer('Cancels Early')
  const [young, old, other] = [
    await customer.confirmedOrder(),
    await customer.confirmedOrder(),
    await customer.confirmedOrder(),
  ]
  for (const { paymentKey } of [young, old]) assertSuccess(await customer.cancel(paymentKey, 'not needed'), 200)
  await service.database.query(`update api_keys set created_at = now() - interval '25 hours' where key_id = $1`, [
    customer.keyId,
  ])
  await service.database.query(
    `update payment_operations set opened_at = now() - interval '23 hours' where kind = 'CANCEL' and order_id = $1`,
    [young.orderId],
  )
  await service.database.queryUnguarded(
    `update cancel_keys k set opened_at = p.opened_at from payment_operations p where p.operation_id = k.operation_id`,
  )
  await operators.finance.get('refundOrder', { params: { orderId: other.orderId }, body })
  const rows = await service.database.query<{ orderId: string; kind: string; keyId: string | null }>(
    `select order_id as "orderId", kind, key_id as "keyId"
     from payment_operations left join cancel_keys using (customer_id, operation_id)
     where customer_id = $1 and kind <> 'CONFIRM'`,
    [customer.customerId],
  )
  assert.deepEqual(
    new Set(rows.map(({ orderId, kind, keyId }) => `${orderId} ${kind} ${keyId}`)),
    new Set([
      `${young.orderId} CANCEL ${customer.keyId}`,
      `${old.orderId} CANCEL ${customer.keyId}`,
      `${other.orderId} REFUND null`,
    ]),
  )
  for (const role of ['finance', 'admin'] as const) {
    const { cancels } = await operators[role].get('newKeyCancels')
    const [found, ...more] = cancels.filter(({ customerId }) => customerId === customer.customerId)
    assert.deepEqual([found?.orderId, found?.amount, found?.state], [young.orderId, 20_000, 'APPROVED'])
    assert.deepEqual([found?.customerName, found?.lastFour], ['Cancels Early', customer.apiKey.slice(-4)])
    assert.ok(found && Math.abs(found.keyAgeSeconds - 7_200) < 60, `${found?.keyAgeSeconds}`)
    assert.deepEqual(more, [])
  }
  for (const role of ['viewer', 'support'] as const)
    assertRefused(await operators[role].request('newKeyCancels'), 'AUTH003')
})

test('a key is new for less than a day: a cancel exactly a day after it was issued is not listed', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  assertSuccess(await customer.cancel(paymentKey), 200)
  const isListed = async (age: string) => {
    const [issued] = await service.database.query<{ at: string }>(
      `select (opened_at - interval '${age}')::text as at from cancel_keys where key_id = $1`,
      [customer.keyId],
    )
    await service.database.query('update api_keys set created_at = $2::timestamptz where key_id = $1', [
      customer.keyId,
      issued?.at,
    ])
    const { cancels } = await operators.finance.get('newKeyCancels')
    return cancels.some((each) => each.orderId === orderId)
  }
  assert.deepEqual([await isListed('23:59:59.999999'), await isListed('24:00:00')], [true, false])
})

test('cancels with new keys are read page by page, newest first', async () => {
  const customer = await service.newCustomer()
  const orders = [await customer.confirmedOrder(), await customer.confirmedOrder(), await customer.confirmedOrder()]
  for (const { paymentKey } of orders) assertSuccess(await customer.cancel(paymentKey, 'one of three'), 200)
  const listed: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query: { limit: string; cursor?: string } = { limit: '1', ...(cursor && { cursor }) }
    const page: { cancels: { orderId: string }[]; nextCursor: string | null } = await operators.finance.get(
      'newKeyCancels',
      { query },
    )
    listed.push(...page.cancels.map(({ orderId }) => orderId))
    cursor = page.nextCursor
  }
  const all = await operators.finance.get('newKeyCancels')
  assert.deepEqual(
    listed,
    all.cancels.map(({ orderId }) => orderId),
  )
  assert.deepEqual(listed.slice(0, 3), orders.map(({ orderId }) => orderId).reverse())
})

test('no cancel is left out between one page and the next', async () => {
  const customer = await service.newCustomer()
  for (const { paymentKey } of [await customer.confirmedOrder(), await customer.confirmedOrder()]) {
    assertSuccess(await customer.cancel(paymentKey, 'one of two'), 200)
  }
  const { database } = service.payments
  const [atMicroseconds = '', operationId = ''] = newestCursor.split('~')
  const newest = { atMicroseconds, operationId }
  const all = await listNewKeyCancels(database, { after: newest, last: undefined }, 100)
  const [end] = all
  assert.ok(end)
  const last = { ...end, atMicroseconds: `${end.atMicroseconds}` }
  const pages = [
    await listNewKeyCancels(database, { after: newest, last }, 100),
    await listNewKeyCancels(database, { after: last, last: undefined }, 100),
  ]
  assert.deepEqual(pages.flat(), all)
})

test('an admin issues and activates keys; support creates customers without a key; support and finance suspend keys', async () => {
  const { admin, support, finance } = operators
  const made = await support.get('createCustomer', { body: { ...body, name: 'made by support' } })
  const { customerId } = made
  assert.deepEqual(Object.keys(made), ['customerId'])
  assert.deepEqual((await support.get('customer', { params: { customerId } })).keys, [])
  assertRefused(await support.request('issueKey', { params: { customerId }, body }), 'AUTH003')
  assertRefused(await support.request('createCustomerWithKey', { body: { ...body, name: 'with a key' } }), 'AUTH003')
  const { apiKey, keyId } = await admin.get('issueKey', { params: { customerId }, body })
  assertSuccess(await service.call('/public/v1/payments/credits', { key: apiKey }), 200)
  assert.equal((await support.get('suspendKey', { params: { keyId }, body })).status, 'SUSPENDED')
  for (const operator of [support, finance]) {
    assertRefused(await operator.request('activateKey', { params: { keyId }, body }), 'AUTH003')
  }
  assert.equal((await admin.get('activateKey', { params: { keyId }, body })).status, 'ACTIVE')
  assert.equal((await finance.get('suspendKey', { params: { keyId }, body })).status, 'SUSPENDED')
  assert.equal((await admin.get('activateKey', { params: { keyId }, body })).status, 'ACTIVE')
  assertRefused(await support.request('rotateKey', { params: { keyId }, body }), 'AUTH003')
})

test('support and finance suspend a customer, and only an admin ends the suspension', async () => {
  const { customerId } = await service.newCustomer()
  const input = { params: { customerId }, body }
  for (const role of ['support', 'finance'] as const) {
    assert.equal((await operators[role].get('suspendCustomer', input)).status, 'SUSPENDED', role)
    assertRefused(await operators[role].request('activateCustomer', input), 'AUTH003')
    assert.equal((await operators.admin.get('activateCustomer', input)).status, 'ACTIVE')
  }
})

test('an order shows its card and approval number to every role, and its receipt to those that may refund', async () => {
  const { orderId, paymentKey } = await (await service.newCustomer()).confirmedOrder()
  for (const role of ['viewer', 'support', 'finance', 'admin'] as const) {
    const { order } = await operators[role].get('order', { params: { orderId } })
    assert.match(`${order.cardNumber} ${order.approvalNumber}`, /^43301234\*{4}123\* \d{8}$/)
    const mayRefund = permissions.refund.some((each) => each === role)
    assert.equal(order.receiptUrl, mayRefund ? `${service.sandboxUrl}/receipt/${paymentKey}` : 'http…')
  }
})
