// The pages of event endpoints and service tokens, and what operators do there.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { eventHandlers } from '../../src/console/events/events.ts'
import { serviceHandlers } from '../../src/console/tokens/service-tokens.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { type Consumer, startConsumer } from '../support/events/consumer.ts'
import { assertRefused, startTestService, type TestService, testPeppers } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator
let support: Operator
let admin: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
  support = await api.newOperator('support')
  admin = await api.newOperator('admin')
})
after(() => closeAll(api, service))

let consumer: Consumer
beforeEach(async () => {
  consumer = await startConsumer()
})
afterEach(() => consumer.close())

const body = { reason: 'requested by the platform team' }

/** With `path`, which only the platform may know. */
async function newEndpoint(path = '/hooks?key=of-the-platform') {
  const url = new URL(path, consumer.url).href
  const added = await admin.get('addEndpoint', {
    body: { ...body, url, types: ['order.confirmed', 'order.confirmed'] },
  })
  consumer.secrets.push(added.secret)
  return { ...added, params: { endpointId: added.endpointId } }
}

test('an endpoint is added with each type once, fails, and is shown with what waits for it alone and each answer; after a retry, but not one of another customer, it is delivered', async () => {
  const { params, endpointId, host } = await newEndpoint()
  await newEndpoint('/other')
  const customerName = 'Missed Events'
  const customer = await service.newCustomer(customerName)
  consumer.react = () => 500
  await customer.confirmedOrder()
  await api.deliver()
  const { endpoints, knownTypes } = await viewer.get('eventEndpoints')
  const {
    createdAt: _,
    failingSince,
    ...row
  } = endpoints.find((each) => each.endpointId === endpointId) ?? assert.fail()
  const counts = { waitingEvents: 1, waitingCustomers: 1, deadEvents: 0 }
  assert.deepEqual(row, { endpointId, host, types: ['order.confirmed'], status: 'ACTIVE', ...counts })
  assert.ok(failingSince !== null && knownTypes.includes('credits.low'))
  const { queues } = await viewer.get('eventEndpoint', { params })
  assert.deepEqual(
    queues.map(({ nextEvent: _, nextTryAt: __, ...each }) => each),
    [{ customerId: customer.customerId, customerName, events: 1, attempts: 1, error: 'HTTP 500' }],
  )

  consumer.react = () => 200
  for (const [customerId, customers] of [
    [(await service.newCustomer()).customerId, 0],
    [undefined, 1],
  ] as const) {
    const of = { ...body, ...(customerId && { customerId }) }
    assert.deepEqual(await support.get('retryEndpoint', { params, body: of }), { endpointId, customers })
  }
  await api.deliver()
  const { attempts, nextCursor } = await viewer.get('eventAttempts', { params, query: { limit: '1' } })
  const older = await viewer.get('eventAttempts', { params, query: { limit: '1', cursor: nextCursor ?? '' } })
  assert.deepEqual(
    [...attempts, ...older.attempts].map((each) => [each.customerName, each.type, each.status, each.error]),
    [
      [customerName, 'order.confirmed', 200, null],
      [customerName, 'order.confirmed', 500, 'HTTP 500'],
    ],
  )
  assert.equal(older.nextCursor, null)
  const { waitingEvents, waitingCustomers, queues: left } = await viewer.get('eventEndpoint', { params })
  assert.deepEqual([waitingEvents, waitingCustomers, left], [0, 0, []], 'what is delivered waits no longer')
  assertRefused(await viewer.request('eventAttempts', { params, query: { cursor: '7' } }), 'VAL003')
})

test('the queues of an endpoint are listed with the next one due first, and it fails since the first that failed', async () => {
  const { params, endpointId } = await newEndpoint()
  const customers = [await service.newCustomer(), await service.newCustomer(), await service.newCustomer()]
  for (const customer of customers) await customer.confirmedOrder('BASIC')
  const minutes = [3, 1, 2]
  for (const [place, { customerId }] of customers.entries()) {
    await service.database.query(
      `update event_queues set due_at = now() + $3 * interval '1 minute', first_failed = '2026-01-01'::timestamptz + $3 * interval '1 minute'
       where endpoint_id = $1 and customer_id = $2`,
      [endpointId, customerId, minutes[place]],
    )
  }
  const { queues, failingSince } = await viewer.get('eventEndpoint', { params })
  assert.deepEqual(
    queues.map(({ customerId }) => minutes[customers.findIndex((each) => each.customerId === customerId)]),
    [1, 2, 3],
  )
  const [{ first } = { first: null }] = await service.database.query<{ first: Date }>(
    'select min(first_failed) as first from event_queues where endpoint_id = $1',
    [endpointId],
  )
  assert.equal(failingSince, first?.toISOString())
  await admin.get('removeEndpoint', { params, body })
})

test('neither the secrets nor the path of an endpoint are in a list, the log or the action log', async () => {
  const { params, secret } = await newEndpoint()
  const { secret: rotated } = await admin.get('rotateEndpoint', { params, body })
  const shown = await Promise.all([
    admin.request('eventEndpoints'),
    admin.request('eventEndpoint', { params }),
    admin.request('actionLog'),
  ])
  const texts = [...shown.map(({ text }) => text), ...api.lines]
  for (const hidden of [secret, rotated, 'of-the-platform', '/hooks']) {
    assert.ok(!texts.some((text) => text.includes(hidden)), hidden)
  }
  const { actions } = await viewer.get('actionLog', { query: { subject: params.endpointId } })
  assert.deepEqual(
    actions.map(({ command, reason, outcome }) => [command, reason, outcome]),
    [['endpoints rotate', body.reason, 'ok']],
  )
})

test('a URL that is no endpoint, or to which no events may be sent, is refused, and the refusal does not repeat it', async () => {
  for (const url of ['https://kim:secret@platform.example/', 'https://platform.example/#here', 'https://']) {
    const answer = await admin.request('addEndpoint', { body: { ...body, url, types: [] } })
    assertRefused(answer, 'VAL003')
    assert.ok(!answer.text.includes('platform.example'))
  }
  const outbound = { faultOf: () => 'it is not a public address' }
  const { database } = service.payments
  const { addEndpoint } = eventHandlers({ database, peppers: testPeppers, deliveries: { outbound } } as never)
  const url = 'https://private.example/'
  await assert.rejects(addEndpoint({ body: { ...body, url, types: [] } } as never), { code: 'VAL003' })
  const { endpoints } = await viewer.get('eventEndpoints')
  assert.ok(!endpoints.some(({ host }) => host === 'private.example'))
})

test('a test event shows the answer and is in the action log with its outcome', async () => {
  const { params, endpointId } = await newEndpoint()
  assert.equal((await admin.get('testEndpoint', { params, body })).accepted, true)
  consumer.react = () => 503
  const { tookMs: _, ...refused } = await admin.get('testEndpoint', { params, body })
  assert.deepEqual(refused, { endpointId, accepted: false, status: 503, error: 'HTTP 503' })
  const { actions } = await viewer.get('actionLog', { query: { subject: endpointId } })
  assert.deepEqual(
    actions.map(({ command, outcome }) => [command, outcome]),
    [
      ['endpoints test', 'failed'],
      ['endpoints test', 'ok'],
    ],
  )
  assert.deepEqual((await viewer.get('eventAttempts', { params })).attempts, [])
})

test('dead events of an endpoint are listed without those of others, and sent again, all or one, which takes its customer beside its number; disabled, enabled, and removed with them', async () => {
  const { params, endpointId } = await newEndpoint()
  const other = await newEndpoint('/other')
  const customer = await service.newCustomer()
  const { customerId } = customer
  const { orderId } = await customer.confirmedOrder()
  for (let count = 0; count < 2; count += 1) await customer.confirmedOrder()
  await api.deliver()
  for (const each of [endpointId, other.endpointId]) {
    await service.database.query(
      `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
       select customer_id, $2, event_number, 80, $3 from events where customer_id = $1`,
      [customerId, each, each === endpointId ? 'HTTP 500' : 'of another'],
    )
  }
  const page = await viewer.get('deadEvents', { params, query: { limit: '2' } })
  const rest = await viewer.get('deadEvents', { params, query: { limit: '2', cursor: page.nextCursor ?? '' } })
  assert.deepEqual(
    [...page.dead, ...rest.dead].map(({ eventNumber, error }) => [eventNumber, error]),
    [1, 2, 3].map((eventNumber) => [eventNumber, 'HTTP 500']),
  )
  assert.deepEqual([page.dead[0]?.orderId, rest.nextCursor], [orderId, null])

  assert.deepEqual(await admin.get('disableEndpoint', { params, body }), { endpointId, status: 'DISABLED' })
  const disabled = await support.get('resendDead', { params, body })
  assert.deepEqual([disabled.resent, disabled.failed, disabled.left], [0, 1, 2])
  await admin.get('enableEndpoint', { params, body })
  const one = { ...body, customerId, eventNumber: 2 }
  assert.equal((await support.get('resendDead', { params, body: one })).resent, 1)
  assertRefused(await support.request('resendDead', { params, body: { ...body, eventNumber: 1 } }), 'VAL003')
  consumer.react = () => 500
  const failed = await support.get('resendDead', { params, body })
  const { errors, ...counts } = failed
  assert.deepEqual(counts, { endpointId, resent: 0, left: 1, failed: 1 })
  assert.deepEqual(errors, [{ customerId, eventNumber: 1, type: 'order.confirmed', error: 'HTTP 500' }])

  assert.equal((await viewer.get('eventEndpoint', { params })).deadEvents, 2)
  assert.deepEqual(await admin.get('removeEndpoint', { params, body }), { endpointId })
  for (const name of ['eventEndpoint', 'eventAttempts', 'deadEvents'] as const) {
    assertRefused(await viewer.request(name, { params }), 'NOT000')
  }
  for (const name of ['retryEndpoint', 'testEndpoint', 'resendDead', 'rotateEndpoint', 'enableEndpoint'] as const) {
    assertRefused(await admin.request(name, { params, body }), 'NOT000')
  }
})

test('a service token is issued with its scopes and its name without the blanks around it, listed without the token, suspended and activated', async () => {
  const wanted = { ...body, name: ' captions ' }
  const { serviceId, scopes, token } = await admin.get('issueToken', { body: { ...wanted, scopes: ['read', 'spend'] } })
  assert.match(token, /^cst_/)
  assert.deepEqual(scopes, ['spend', 'read'])
  for (const refused of [[], ['manage-holds'], ['everything']] as unknown as ['read'][]) {
    assertRefused(await admin.request('issueToken', { body: { ...wanted, scopes: refused } }), 'VAL003')
  }
  const listed = async () => (await viewer.get('services')).tokens.find((each) => each.serviceId === serviceId)
  const { createdAt: _, ...row } = (await listed()) ?? assert.fail()
  assert.deepEqual(row, { serviceId, name: 'captions', lastFour: token.slice(-4), status: 'ACTIVE', scopes })
  const params = { serviceId }
  assert.deepEqual(await admin.get('suspendToken', { params, body }), { serviceId, status: 'SUSPENDED' })
  assert.equal((await listed())?.status, 'SUSPENDED')
  await admin.get('activateToken', { params, body })
  assert.equal((await listed())?.status, 'ACTIVE')
  const unknown = { serviceId: `svc_${'x'.repeat(20)}` }
  assertRefused(await admin.request('suspendToken', { params: unknown, body }), 'NOT000')
  assert.ok(!(await admin.request('actionLog')).text.includes(token))
})

test('a service has a budget over all customers, named without the blanks around it, beside those of customers, none of which is removed as one of a service; on a cluster it is refused', async () => {
  const budget = { ...body, value: ' captions ', period: 'DAY', credits: 100 } as const
  const { budgetId, warnAt } = await admin.get('setServiceBudget', { body: budget })
  assert.equal(warnAt, 80)
  const budgets = async () => (await viewer.get('serviceBudgets')).budgets.map(({ scope, value }) => [scope, value])
  assert.deepEqual(await budgets(), [['SERVICE', 'captions']])
  assertRefused(await admin.request('setServiceBudget', { body: { ...budget, warnAt: 101 } }), 'VAL003')
  const customer = await service.newCustomer()
  const own = { ...body, scope: 'CUSTOMER', period: 'DAY', credits: 1 } as const
  const ofCustomer = await admin.get('setBudget', { params: { customerId: customer.customerId }, body: own })
  const notOfAService = { budgetId: ofCustomer.budgetId }
  assertRefused(await admin.request('removeServiceBudget', { params: notOfAService, body }), 'NOT000')
  await admin.get('removeServiceBudget', { params: { budgetId }, body })
  assert.deepEqual(await budgets(), [])
  const onCluster = serviceHandlers({ database: { ...service.payments.database, groups: [] } } as never)
  await assert.rejects(onCluster.setServiceBudget({ body: budget } as never), {
    metadata: { reason: 'needs one server' },
  })
})
