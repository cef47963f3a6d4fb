// Fetching a payment without an intent, and the gateway's list of transactions, as the adapter reads them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { FetchedPayment, Gateway } from '../../src/gateway/gateway.ts'
import { closeAll } from '../support/closing.ts'
import {
  answer,
  answerText,
  cancelled,
  cancelledInParts,
  hang,
  intent,
  type LoggedLine,
  openPort,
  partlyCancelled,
  paymentObject,
  refusal,
  resetAfterReading,
  type Script,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/gateway/scripted-gateway.ts'

let server: ScriptedGateway
let gateway: Gateway
let logged: LoggedLine[]
before(async () => {
  server = await startScriptedGateway()
  ;({ gateway, logged } = openPort(server.url, { listTimeoutMs: 300 }))
})
after(() => closeAll(gateway, server))

const nothing = { balanceAmount: 0, lastTransactionKey: null }
const snapshots: [members: Record<string, unknown>, money: string][] = [
  [{ status: 'READY', ...nothing }, 'none'],
  [{ status: 'IN_PROGRESS', ...nothing }, 'none'],
  [{ status: 'ABORTED', ...nothing }, 'none'],
  [{ status: 'EXPIRED', ...nothing }, 'none'],
  [{}, 'kept'],
  [partlyCancelled, 'partly returned'],
  [cancelledInParts, 'returned'],
  [cancelled, 'returned'],
]

for (const [members, money] of snapshots) {
  const { status, balanceAmount, lastTransactionKey } = paymentObject(members)
  test(`fetching a payment that is ${status} with a balance of ${balanceAmount}: money ${money}`, async () => {
    server.play(answer(200, paymentObject(members)))
    const { paymentKey, orderId, amount } = intent
    assert.deepEqual(await gateway.fetchPayment(paymentKey), {
      kind: 'payment',
      paymentKey,
      orderId,
      amount,
      currency: 'KRW',
      money,
      status,
      balance: balanceAmount,
      transactionKey: lastTransactionKey,
    })
    assert.deepEqual(
      server.requests.map(({ method, path }) => `${method} ${path}`),
      [`GET /v1/payments/${paymentKey}`],
    )
  })
}

const noPayment: [what: string, script: Script, fetched: FetchedPayment][] = [
  ['404 NOT_FOUND_PAYMENT', refusal(404, 'NOT_FOUND_PAYMENT'), { kind: 'absent' }],
  ['404 with HTML', answerText(404, '<html>no</html>'), { kind: 'unknown', code: 'HTTP_404' }],
  ['500', refusal(500, 'COMMON_ERROR'), { kind: 'unknown', code: 'COMMON_ERROR' }],
  ['401', refusal(401, 'UNAUTHORIZED_KEY'), { kind: 'unknown', code: 'UNAUTHORIZED_KEY' }],
  ['a reset', resetAfterReading, { kind: 'unknown', code: 'ECONNRESET' }],
]
for (const [what, script, fetched] of noPayment) {
  test(`fetching a payment that is answered with ${what} is ${fetched.kind}`, async () => {
    server.play(script)
    assert.deepEqual(await gateway.fetchPayment(intent.paymentKey), fetched)
  })
}

test('a status with no known meaning for the money is unknown, with the payment details for an operator', async () => {
  for (const status of ['WAITING_FOR_DEPOSIT', 'ON_HOLD']) {
    server.play(answer(200, paymentObject({ status })))
    const fetched = await gateway.fetchPayment(intent.paymentKey)
    assert.equal(fetched.kind === 'unknown' && fetched.code, `PAYMENT_${status}`)
    assert.equal(fetched.kind === 'unknown' && fetched.discrepancy?.status, status)
  }
})

const query = { from: new Date('2026-01-30T15:00:00Z'), to: new Date('2026-01-31T14:59:59.999Z'), after: null }
const row = (number: number, members: Record<string, unknown> = {}) => ({
  mId: 'mid',
  transactionKey: `tx_${number}`,
  paymentKey: `pay_${number}`,
  orderId: `ord_${number}`,
  method: '카드',
  status: 'DONE',
  transactionAt: '2026-01-31T10:00:00+09:00',
  currency: 'KRW',
  amount: 20_000,
  ...members,
})
const movement = (number: number, members: Record<string, unknown> = {}) => ({
  transactionKey: `tx_${number}`,
  paymentKey: `pay_${number}`,
  orderId: `ord_${number}`,
  direction: 'CAPTURE',
  amount: 20_000,
  movedAt: new Date('2026-01-31T01:00:00Z'),
  ...members,
})

test('the list is requested in Korean time, to the second, both ends included, and after the last transaction seen', async () => {
  server.play(answer(200, []), answer(200, []))
  assert.deepEqual(await gateway.listMovements(query), { kind: 'page', movements: [], next: null })
  await gateway.listMovements({ ...query, after: 'tx/1 &' })
  const requested = server.requests.map(({ path }) => new URL(path, server.url))
  const span = { startDate: '2026-01-31T00:00:00', endDate: '2026-01-31T23:59:59', limit: '1000' }
  assert.deepEqual(
    requested.map(({ pathname, searchParams }) => [pathname, Object.fromEntries(searchParams)]),
    [
      ['/v1/transactions', span],
      ['/v1/transactions', { ...span, startingAfter: 'tx/1 &' }],
    ],
  )
})

test('the status gives the direction of the money, whatever the sign of the amount', async () => {
  const rows = [
    row(1),
    row(2, { status: 'CANCELED' }),
    row(3, { status: 'CANCELED', amount: -20_000 }),
    row(4, { status: 'PARTIAL_CANCELED', amount: -5_000 }),
  ]
  server.play(answer(200, rows))
  const cancel = { direction: 'CANCEL' }
  assert.deepEqual(await gateway.listMovements(query), {
    kind: 'page',
    movements: [movement(1), movement(2, cancel), movement(3, cancel), movement(4, { ...cancel, amount: 5_000 })],
    next: null,
  })
})

test('a row that moves no money is omitted, and still counts for the page length', async () => {
  const waiting = { status: 'WAITING_FOR_DEPOSIT' }
  server.play(answer(200, [row(1), row(2, waiting)]))
  assert.deepEqual(await gateway.listMovements(query), { kind: 'page', movements: [movement(1)], next: null })
  const full = Array.from({ length: 1_000 }, (_, index) => row(index + 1, waiting))
  server.play(answer(200, full))
  assert.deepEqual(await gateway.listMovements(query), { kind: 'page', movements: [], next: 'tx_1000' })
})

test('a full page has a next one, a shorter one is the last', async () => {
  for (const [length, next] of [
    [999, null],
    [1_000, 'tx_1000'],
  ] as const) {
    server.play(
      answer(
        200,
        Array.from({ length }, (_, index) => row(index + 1)),
      ),
    )
    const page = await gateway.listMovements(query)
    assert.ok(page.kind === 'page')
    assert.deepEqual([page.movements.length, page.next], [length, next])
  }
})

const unreadable: [what: string, body: unknown][] = [
  ['no list', { rows: [] }],
  ['a row without an order', [row(1, { orderId: undefined })]],
  ['an invalid time', [row(1), row(2, { transactionAt: 'yesterday' })]],
  ['an amount that is not a whole number', [row(1, { amount: 0.5 })]],
  ['an amount above the largest safe integer', [row(1, { amount: 2 ** 53 })]],
  ['an amount as a string', [row(1, { amount: '20000' })]],
]
for (const [what, body] of unreadable) {
  test(`a list with ${what} is unknown as a whole: the rest of it is not used`, async () => {
    server.play(answer(200, body))
    assert.deepEqual(await gateway.listMovements(query), { kind: 'unknown', code: 'UNREADABLE_TRANSACTIONS' })
  })
}

test('a list that cannot be fetched is unknown, and refused credentials are logged as an error', async () => {
  const failures: [Script, string][] = [
    [refusal(500, 'COMMON_ERROR'), 'COMMON_ERROR'],
    [refusal(429, 'TOO_MANY_REQUESTS'), 'TOO_MANY_REQUESTS'],
    [answerText(502, '<html>'), 'HTTP_502'],
    [resetAfterReading, 'ECONNRESET'],
    [hang, 'TimeoutError'],
  ]
  for (const [script, code] of failures) {
    server.play(script)
    assert.deepEqual(await gateway.listMovements(query), { kind: 'unknown', code })
  }
  logged.length = 0
  server.play(refusal(401, 'UNAUTHORIZED_KEY'))
  assert.deepEqual(await gateway.listMovements(query), { kind: 'unknown', code: 'UNAUTHORIZED_KEY' })
  assert.deepEqual(
    logged.map(({ fields }) => fields),
    [{ code: 'UNAUTHORIZED_KEY' }],
  )
})
