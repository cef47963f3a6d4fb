// Errors that are our fault: INT001 for a bug, SVC001 while the database is unreachable. Section 7.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import { createPool } from '../../../src/db/database.ts'
import { closeAll } from '../../support/closing.ts'
import { wrapConnections } from '../../support/database/connections.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../../support/service/service.ts'
import { startInternal } from '../../support/spending/spending.ts'

let service: TestService
let faulty: TestService
let cut: TestService
/** Faults of the gateway and of the database connections, set by a test. */
let gatewayBug: (() => never) | undefined
let connectionFault: ((statementName: string) => Error | undefined) | undefined

before(async () => {
  service = await startTestService()
  const { database, sandboxUrl } = service
  faulty = await startTestService({
    beside: { database, sandboxUrl },
    wrapGateway: (gateway) => ({ ...gateway, confirm: async (intent) => gatewayBug?.() ?? gateway.confirm(intent) }),
  })
  const pool = wrapConnections(database.pool, async ({ name }, send) => {
    const fault = connectionFault?.(name)
    if (fault) throw fault
    return send()
  }) as never
  cut = await startTestService({ beside: { database: { ...database, pool }, sandboxUrl } })
})
after(() => closeAll(cut, faulty, service))
afterEach(() => {
  gatewayBug = undefined
  connectionFault = undefined
})

const base = '/public/v1/payments'
const requests = [
  { path: '/credits' },
  { path: '/ord_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789' },
  { path: '/purchase', body: { packageType: 'BASIC' } },
  { path: '/confirm', body: { orderId: 'ord_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789', paymentKey: 'key', amount: 1000 } },
  { path: '/cancel', body: { paymentKey: 'key', reason: 'reason' } },
]

const thrown = { 'an Error': new Error('the secret detail'), 'a string': 'the secret detail', 'nothing at all': null }
for (const [title, value] of Object.entries(thrown)) {
  test(`7: an unexpected error (${title} thrown) is 500 INT001 without any detail, and the process keeps running`, async () => {
    const customer = await faulty.newCustomer()
    const order = await customer.paidOrder('BASIC')
    gatewayBug = () => {
      throw value
    }
    const answer = await order.confirm()
    const { metadata, ...rest } = answer.body
    assert.deepEqual(rest, { success: false, data: null, message: 'Unexpected server error.', code: 'INT001' })
    // The log has the same request id.
    assert.deepEqual(Object.keys(metadata ?? {}), ['requestId'])
    assert.equal(answer.status, 500)
    assert.doesNotMatch(JSON.stringify([answer.text, ...answer.headers]), /secret/)
    assert.equal(await customer.status(order.orderId), 'PENDING')
    assert.equal(await customer.credits(), 0)
  })
}

test('7: while the database is unreachable every request that needs it is SVC001 with Retry-After', async () => {
  const connection = { ...service.database.connection, host: '127.0.0.1', port: 1 }
  const pool = createPool({ connection, maxConnections: 5, log: silentLog })
  const { sandboxUrl } = service
  const blind = await startTestService({ beside: { database: { ...service.database, pool }, sandboxUrl } })
  const { apiKey } = await service.newCustomer()
  try {
    const answers = await Promise.all(requests.map(({ path, body }) => blind.call(base + path, { key: apiKey, body })))
    for (const answer of answers) {
      assertRefused(answer, 'SVC001')
      assert.equal(answer.headers.get('retry-after'), '1')
      assert.doesNotMatch(answer.text, /ECONN|127\.0\.0\.1|postgres/i)
    }
    assertRefused(await blind.call(`${base}/credits`), 'INVALID_API_KEY')
    assertRefused(await blind.call(`${base}/credits`, { key: 'malformed' }), 'INVALID_API_KEY')
  } finally {
    await blind.close()
    await pool.end()
  }
})

test('7: losing the database after the key was read is SVC001 too, and every request works once it is back', async () => {
  const customer = await cut.newCustomer()
  const faults = {
    'connection refused': () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    'shutting down': () => Object.assign(new Error('terminating connection'), { code: '57P01' }),
    'too many connections': () => Object.assign(new Error('sorry, too many clients already'), { code: '53300' }),
    'read only': () => Object.assign(new Error('cannot execute INSERT'), { code: '25006' }),
    'statement time-out': () => Object.assign(new Error('canceling statement'), { code: '57014' }),
    'no connection free': () => new Error('timeout exceeded when trying to connect'),
  }
  for (const [title, fault] of Object.entries(faults)) {
    connectionFault = undefined
    assertSuccess(await customer.as('/credits'), 200)
    connectionFault = fault
    const answers = await Promise.all(requests.map(({ path, ...request }) => customer.as(path, request)))
    for (const answer of answers) {
      assert.deepEqual([answer.body.code, answer.headers.get('retry-after')], ['SVC001', '1'], title)
      assert.equal(answer.body.metadata, null)
    }
  }
  connectionFault = undefined
  assertSuccess(await customer.purchase('BASIC'), 201)
  assert.equal(
    (await service.database.query('select from orders where customer_id = $1', [customer.customerId])).length,
    1,
  )
})

test('a service whose writes are refused because the disk is full is not ready until there is space, with or without requests', async () => {
  const customer = await cut.newCustomer()
  const internal = await startInternal(cut.payments)
  const readiness = async () => {
    const answer = await fetch(`${internal.url}/readyz`)
    const { status, database, writes } = (await answer.json()) as Record<string, string>
    return [answer.status, status, database, writes]
  }
  const ready = [200, 'ready', 'answering', 'accepted']
  const notReady = [503, 'not ready', 'answering', 'the database refuses writes (SQLSTATE 53100)']
  try {
    assert.deepEqual(await readiness(), ready)
    connectionFault = (name) =>
      ['payments.insertOrders', 'db.probeRoom'].includes(name)
        ? Object.assign(new Error('could not extend file'), { code: '53100' })
        : undefined
    assert.deepEqual(await readiness(), ready, 'nothing was refused yet')
    assertRefused(await customer.purchase('BASIC'), 'SVC001')
    assertSuccess(await customer.as('/credits'), 200)
    for (const _ of [1, 2]) assert.deepEqual(await readiness(), notReady)
    connectionFault = undefined
    assert.deepEqual(await readiness(), ready)
  } finally {
    connectionFault = undefined
    await internal.close()
  }
})

test('7: a request succeeds although the database has dropped its connections', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  for (const step of [() => customer.as('/credits'), order.confirm, () => customer.cancel(order.paymentKey)]) {
    await service.database
      .query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()')
      .catch(() => undefined)
    assertSuccess(await step(), 200)
  }
  assert.equal(await customer.status(order.orderId), 'CANCELLED')
})
