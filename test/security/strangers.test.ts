// The answer about an order of another customer equals that about an unknown order: byte for byte, for any id, header or
// path, and in the same time.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { head, openSocket, parseAnswer, sendRaw } from '../../harness/raw-http.ts'
import { newOrderId } from '../../src/core/ids.ts'
import type { OrderStatus } from '../../src/payments/kinds.ts'
import { longOnly } from '../support/long.ts'
import { orderInState } from '../support/service/orders.ts'
import { startTestService, type TestService } from '../support/service/service.ts'
import { differenceInTime, differs } from '../support/statistics.ts'

type Customer = Awaited<ReturnType<TestService['newCustomer']>>
type Order = Awaited<ReturnType<Customer['paidOrder']>>

let service: TestService
let owner: Customer
let stranger: Customer
/** One order of the owner in each state. */
const orders = {} as Record<OrderStatus, Order>
const states = ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const satisfies OrderStatus[]
before(async () => {
  service = await startTestService()
  owner = await service.newCustomer()
  stranger = await service.newCustomer()
  for (const state of states) orders[state] = await orderInState(service, owner, state, 'BASIC')
})
after(() => service.close())

const unknownPaymentKey = () => `tviva${Math.trunc(performance.now() * 1e6)}`.padEnd(26, 'x')

function post(path: string, body: object, headers: Record<string, string> = {}): string {
  const text = JSON.stringify(body)
  const own = { 'service-api-key': stranger.apiKey, 'content-type': 'application/json' }
  const length = { 'content-length': Buffer.byteLength(text) }
  return head(`POST /public/v1/payments/${path}`, { ...own, ...length, ...headers }) + text
}

function get(path: string, headers: Record<string, string> = {}): string {
  return head(`GET /public/v1/payments/${path}`, { 'service-api-key': stranger.apiKey, ...headers })
}

/** The whole answer except the date. */
async function bytesOf(request: string): Promise<string> {
  const socket = await openSocket(service.port)
  socket.write(request)
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer])
    if (parseAnswer(received)) break
  }
  return received.toString('latin1').replace(/^date: .*$/im, 'date: …')
}

type Pair = { name: string; foreign(): string; unknown(): string }

const pairs: Pair[] = states.flatMap((state) => [
  {
    name: `status of an order that is ${state}`,
    foreign: () => get(orders[state].orderId),
    unknown: () => get(newOrderId()),
  },
  {
    name: `confirm of an order that is ${state} with its key and amount`,
    foreign: () => post('confirm', fieldsOf(orders[state])),
    unknown: () => post('confirm', { ...fieldsOf(orders[state]), orderId: newOrderId() }),
  },
  {
    name: `confirm of an order that is ${state} with another amount`,
    foreign: () => post('confirm', { ...fieldsOf(orders[state]), amount: 7 }),
    unknown: () => post('confirm', { ...fieldsOf(orders[state]), amount: 7, orderId: newOrderId() }),
  },
  {
    name: `cancel of an order that is ${state}`,
    foreign: () => post('cancel', { paymentKey: orders[state].paymentKey, reason: 'not mine' }),
    unknown: () => post('cancel', { paymentKey: unknownPaymentKey(), reason: 'not mine' }),
  },
])

function fieldsOf({ orderId, paymentKey, amount }: Order) {
  return { orderId, paymentKey, amount }
}

for (const { name, foreign, unknown } of pairs) {
  test(`${name}: foreign and unknown are the same bytes, NOT000, and nothing moves`, async () => {
    const calls = service.calls.confirm + service.calls.cancel
    const [one, other] = [await bytesOf(foreign()), await bytesOf(unknown())]
    assert.equal(one, other)
    assert.match(one, /^HTTP\/1\.1 404 .*"code":"NOT000"/s)
    assert.equal(service.calls.confirm + service.calls.cancel, calls, 'the gateway was not called')
    for (const state of states) assert.equal(await owner.status(orders[state].orderId), state)
  })
}

/** Headers that claim to be the owner. */
const headers: Record<string, () => string> = {
  'x-customer-id': () => owner.customerId,
  'customer-id': () => owner.customerId,
  'x-user-id': () => owner.customerId,
  'x-forwarded-user': () => owner.customerId,
  'x-api-key': () => owner.apiKey,
  authorization: () => `Bearer ${owner.apiKey}`,
  cookie: () => `service-api-key=${owner.apiKey}; customerId=${owner.customerId}`,
  'x-original-url': () => `/public/v1/payments/${orders.CONFIRMED.orderId}`,
  'x-rewrite-url': () => `/public/v1/payments/${orders.CONFIRMED.orderId}`,
  'x-http-method-override': () => 'POST',
  'x-forwarded-for': () => '127.0.0.1',
  forwarded: () => 'for=127.0.0.1;host=localhost',
}

/** Paths that a parser may read differently: ORDER, OWNER and KEY are replaced by their values. */
const paths = [
  'ORDER?customerId=OWNER',
  'ORDER?service-api-key=KEY',
  'ORDER%00',
  'ORDER%20',
  'ORDER;customerId=OWNER',
  'ORDER#',
  './ORDER',
  'x/../ORDER',
  '%2e/ORDER',
  'ORDER/',
  'ORDER/.',
  'OWNER/ORDER',
  'ord%5FREST',
  'LOWER',
  '********',
]

function filledIn(path: string): string {
  const { orderId } = orders.CONFIRMED
  return path
    .replace('ORDER', orderId)
    .replace('OWNER', owner.customerId)
    .replace('KEY', owner.apiKey)
    .replace('REST', orderId.slice(4))
    .replace('LOWER', orderId.toLowerCase())
}

const tricks: { name: string; request(): string }[] = [
  ...Object.entries(headers).map(([name, value]) => ({
    name: `the header ${name}`,
    request: () => get(orders.CONFIRMED.orderId, { [name]: value() }),
  })),
  ...paths.map((path) => ({ name: `the path ${path}`, request: () => get(filledIn(path)) })),
]

for (const { name, request } of tricks) {
  test(`an order of another customer is NOT000 with ${name}`, async () => {
    const { status, body } = await sendRaw(service.port, request())
    assert.deepEqual([status, body.code, body.data], [404, 'NOT000', null])
  })
}

/** Sends the two requests alternately on one connection. */
async function differenceOf(requests: [first: () => string, second: () => string]): Promise<number> {
  const socket = await openSocket(service.port)
  const act = (request: () => string) => () => {
    const text = request()
    return () => exchange(socket, text)
  }
  const t = await differenceInTime([act(requests[0]), act(requests[1])], 300)
  socket.destroy()
  return t
}

async function exchange(socket: Socket, request: string): Promise<void> {
  socket.write(request)
  let received = Buffer.alloc(0)
  do {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    received = Buffer.concat([received, chunk])
  } while (!parseAnswer(received))
}

/** The cases with most rows to find and most work to do. */
const timed = /(PENDING|CONFIRMED)( with its key and amount)?$/
for (const { name, foreign, unknown } of pairs.filter((pair) => timed.test(pair.name))) {
  test(`${name}: foreign and unknown take the same time`, { skip: longOnly }, async () => {
    const t = await differenceOf([foreign, unknown])
    assert.ok(t < differs, `t is ${t.toFixed(2)}`)
  })
}

test('a difference in time would be detected', { skip: longOnly }, async () => {
  assert.ok((await differenceOf([() => get(newOrderId()), () => get('no-order-of-ours')])) > differs)
})
