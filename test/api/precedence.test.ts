// Row 4 of the decisions: when a request has several faults, the first in a fixed order is reported. Each list below is
// that order for one endpoint. Every pair of its faults is sent, and every tail of the list at once.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { head, sendRaw } from '../../harness/raw-http.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { updateKeyStatus } from '../../src/customers/customers.sql.ts'
import { spend } from '../support/service/orders.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

let service: TestService
let customer: TestCustomer
let suspendedKey: string
before(async () => {
  service = await startTestService()
  customer = await service.newCustomer()
  const suspended = await service.newCustomer()
  suspendedKey = suspended.apiKey
  await updateKeyStatus(service.payments.database, suspended.keyId, 'SUSPENDED')
})
after(() => service.close())
afterEach(() => service.sandbox.clearFaults())

/** A request before it is sent. Faults change it. */
type Draft = {
  method: string
  path: string
  key: string | null
  headers: Record<string, string>
  fields: Record<string, unknown>
  /** Text after the JSON of the fields in the body. */
  bodyEnd: string
}
type Fault = {
  name: string
  code: ErrorCode
  change: (draft: Draft) => Partial<Draft>
  /** Faults of the same kind cannot be combined. */
  kind?: string
}

type Start = Pick<Draft, 'path' | 'fields'>

const unknownKey = `cpk_${'z'.repeat(43)}`

/** Faults that any request can have, in order of precedence. */
const common: Fault[] = [
  { name: 'no key', code: 'INVALID_API_KEY', kind: 'key', change: () => ({ key: null }) },
  { name: 'a malformed key', code: 'INVALID_API_KEY', kind: 'key', change: () => ({ key: 'cpk_x' }) },
  { name: 'an unknown key', code: 'AUTH001', kind: 'key', change: () => ({ key: unknownKey }) },
  { name: 'a suspended key', code: 'AUTH003', kind: 'key', change: () => ({ key: suspendedKey }) },
  { name: 'an unknown route', code: 'NOT000', kind: 'route', change: ({ path }) => ({ path: `${path}/more` }) },
  { name: 'another method', code: 'NOT000', kind: 'route', change: () => ({ method: 'PUT' }) },
  { name: 'an unreadable path', code: 'NOT000', kind: 'route', change: ({ path }) => ({ path: `${path}/%zz` }) },
  { name: 'too large a body', code: 'VAL004', change: ({ bodyEnd }) => ({ bodyEnd: bodyEnd + ' '.repeat(20_000) }) },
  { name: 'a broken body', code: 'VAL001', kind: 'body', change: ({ bodyEnd }) => ({ bodyEnd: `${bodyEnd}}` }) },
  { name: 'another content type', code: 'VAL001', kind: 'body', change: header('content-type', 'text/plain') },
]

function header(name: string, value: string): Fault['change'] {
  return ({ headers }) => ({ headers: { ...headers, [name]: value } })
}

function field(name: string, code: ErrorCode, faulty: Record<string, unknown>): Fault {
  return { name, code, change: ({ fields }) => ({ fields: { ...fields, ...faulty } }) }
}

const failingGateway: Fault = { name: 'a gateway that fails', code: 'SVC001', change: () => ({}) }

/** Faults are applied from last to first, so that the earlier fault wins where both change the same thing. */
async function send(start: Start, faults: Fault[]): Promise<string> {
  const draft: Draft = { method: 'POST', key: customer.apiKey, headers: {}, bodyEnd: '', ...start }
  for (const { change } of faults.toReversed()) Object.assign(draft, change(draft))
  const { method, path, key, headers } = draft
  const raw = JSON.stringify(draft.fields) + draft.bodyEnd
  return (await service.call(`/public/v1/payments${path}`, { method, key, headers, raw })).body.code
}

function* combinations(faults: Fault[]): Generator<Fault[]> {
  for (const [index, first] of faults.entries()) {
    yield [first]
    for (const second of faults.slice(index + 1)) {
      if (first.kind === undefined || first.kind !== second.kind) yield [first, second]
    }
    const tail = faults.slice(index)
    yield tail.filter((fault, place) => !fault.kind || tail.findIndex((each) => each.kind === fault.kind) === place)
  }
}

async function assertPrecedence(start: Start, faults: Fault[]): Promise<void> {
  const wrong: string[] = []
  for (const combination of combinations(faults)) {
    const code = await send(start, combination)
    const expected = combination[0]?.code
    if (code !== expected) {
      wrong.push(`${combination.map((fault) => fault.name).join(' + ')}: ${code} instead of ${expected}`)
    }
  }
  assert.deepEqual(wrong, [])
}

test('7: purchase reports the first fault in order of precedence', async () => {
  const fields = { packageType: 'BASIC' }
  await assertPrecedence({ path: '/purchase', fields }, [
    ...common,
    field('no packageType', 'VAL002', { packageType: null }),
    field('an unsupported packageType', 'VAL003', { packageType: 'NONE' }),
    field('an unsupported paymentMethod', 'VAL003', { paymentMethod: 'CASH' }),
    { name: 'a malformed X-Idempotency-Key', code: 'VAL003', change: header('x-idempotency-key', 'two words') },
  ])
  assert.deepEqual(await service.database.query('select from orders'), [])
})

test('7: confirm reports the first fault in order of precedence, and calls the gateway only when there is none', async () => {
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  const foreign = (await (await service.newCustomer()).purchase()).body.data.orderId
  const calls = service.calls.confirm
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-before', times: 1_000 }])
  await assertPrecedence({ path: '/confirm', fields: { orderId, paymentKey, amount } }, [
    ...common,
    field('no amount', 'VAL002', { amount: null }),
    field('a paymentKey with a space', 'VAL003', { paymentKey: 'two words' }),
    field('an amount in quotes', 'VAL003', { amount: `${amount}` }),
    field('a foreign order', 'NOT000', { orderId: foreign }),
    field('another amount', 'VAL003', { amount: amount + 1 }),
    failingGateway,
  ])
  // The gateway failure is last in the list: alone, and as its own tail.
  assert.equal(service.calls.confirm, calls + 2)
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('7: cancel reports the first fault in order of precedence, and calls the gateway only when there is none', async () => {
  const healthy = await customer.confirmedOrder('BASIC')
  const large = await customer.confirmedOrder('PRO')
  assert.equal(await spend(service, customer.customerId, 50), true)
  const foreign = await (await service.newCustomer()).confirmedOrder()
  const calls = service.calls.cancel
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'error-before', times: 1_000 }])
  await assertPrecedence({ path: '/cancel', fields: { paymentKey: healthy.paymentKey, reason: 'a reason' } }, [
    ...common,
    field('no reason', 'VAL002', { reason: null }),
    field('a blank reason', 'VAL003', { reason: ' ' }),
    field('a foreign payment', 'NOT000', { paymentKey: foreign.paymentKey }),
    field('spent credits', 'PAYMENT_CANCEL_FAILED', { paymentKey: large.paymentKey }),
    failingGateway,
  ])
  assert.equal(service.calls.cancel, calls + 2)
  assert.equal(await customer.status(healthy.orderId), 'CONFIRMED')
})

test('7: unreadable HTTP and oversized headers are reported before authentication', async () => {
  const path = 'GET /public/v1/payments/credits'
  const long = 'x'.repeat(20_000)
  const rows: [string, string, string][] = [
    ['too long a header, no key', head(path, { 'x-long': long }), 'VAL004'],
    ['too long a header, unknown route', head('GET /nowhere', { 'x-long': long }), 'VAL004'],
    ['no HTTP, no key', 'hello\r\n\r\n', 'VAL001'],
    ['no Host, no key', `${path} HTTP/1.1\r\n\r\n`, 'VAL001'],
    ['no Host, unknown route', 'GET /nowhere HTTP/1.1\r\n\r\n', 'VAL001'],
    ['no Host, a suspended key', `${path} HTTP/1.1\r\nservice-api-key: ${suspendedKey}\r\n\r\n`, 'VAL001'],
    ['Expect: foo, no key', head(path, { expect: 'foo' }), 'VAL001'],
  ]
  for (const [title, request, code] of rows) {
    assert.equal((await sendRaw(service.port, request)).body.code, code, title)
  }
})
