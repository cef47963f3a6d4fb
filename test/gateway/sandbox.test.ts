// The sandbox over real HTTP: each rule of the Toss protocol it claims to keep, each fault, and its memory across
// restarts and kill -9. One strict server serves most tests (every test makes its own payments); tests that restart
// or relax it start their own.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { type RunningSandbox, startSandbox } from '../../sandbox/server.ts'

type Json = Record<string, unknown>
type Reply = { status: number; text: string; body: Json; traceId: string | null }

const secretKey = 'test_sk_sandboxtests'
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`
const directory = mkdtempSync(join(tmpdir(), 'sandbox-test-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const paymentMembers =
  'version paymentKey type orderId orderName mId currency method totalAmount balanceAmount status requestedAt ' +
  'approvedAt useEscrow lastTransactionKey suppliedAmount vat cultureExpense taxFreeAmount taxExemptionAmount cancels ' +
  'isPartialCancelable card virtualAccount secret mobilePhone giftCertificate transfer metadata receipt checkout ' +
  'easyPay country failure cashReceipt cashReceipts discount'

function start({ name = 'shared', strict = true } = {}): Promise<RunningSandbox> {
  const dataDir = join(directory, name)
  return startSandbox({ host: '127.0.0.1', port: 0, clientKey: 'test_ck_sandboxtests', secretKey, dataDir, strict })
}

async function call(url: string, method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: basic(`${secretKey}:`),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const traceId = response.headers.get('x-tosspayments-trace-id')
  return { status: response.status, text, body: JSON.parse(text), traceId }
}

function assertRefused(reply: Reply, status: number, code: string): void {
  assert.deepEqual({ status: reply.status, code: reply.body.code }, { status, code })
  assert.deepEqual(Object.keys(reply.body), ['code', 'message'])
}

let orders = 0
const newOrderId = () => `order-${process.pid}-${++orders}`

/** The calls of a shop on one sandbox. */
function shop(url: string) {
  const calls = {
    async checkout(amount = 15000, result = 'approve', orderId = newOrderId()) {
      const reply = await call(`${url}/sandbox/payments`, 'POST', { orderId, amount, result })
      assert.equal(reply.status, 201)
      return { paymentKey: String(reply.body.paymentKey), orderId, amount }
    },
    confirm: (body: unknown, key?: string) =>
      call(`${url}/v1/payments/confirm`, 'POST', body, key === undefined ? {} : { 'idempotency-key': key }),
    cancel: (paymentKey: string, body: unknown, key?: string) =>
      call(
        `${url}/v1/payments/${paymentKey}/cancel`,
        'POST',
        body,
        key === undefined ? {} : { 'idempotency-key': key },
      ),
    lookup: (paymentKey: string) => call(`${url}/v1/payments/${paymentKey}`, 'GET'),
    lookupOrder: (orderId: string) => call(`${url}/v1/payments/orders/${orderId}`, 'GET'),
    async paid(amount = 15000) {
      const checkout = await calls.checkout(amount)
      assert.equal((await calls.confirm(checkout)).status, 200)
      return checkout
    },
    faults: (...list: Json[]) => call(`${url}/sandbox/faults`, 'PUT', list),
    statusOf: async (paymentKey: string) => (await calls.lookup(paymentKey)).body.status,
  }
  return calls
}

let sandbox: RunningSandbox
let url = ''
let toss = shop('')
before(async () => {
  sandbox = await start()
  url = sandbox.url
  toss = shop(url)
})
after(() => sandbox.close())

describe('authentication and addresses', () => {
  test('a missing or foreign key is 401 UNAUTHORIZED_KEY', async () => {
    for (const authorization of ['', 'Bearer x', basic('test_sk_somebodyelse:')]) {
      for (const address of ['/v1/payments/any', '/%761/payments/any', '/v1/nowhere']) {
        assertRefused(await call(url + address, 'GET', undefined, { authorization }), 401, 'UNAUTHORIZED_KEY')
      }
    }
  })

  test('a key without its colon is 403 INCORRECT_BASIC_AUTH_FORMAT', async () => {
    const reply = await call(`${url}/v1/payments/confirm`, 'POST', {}, { authorization: basic(secretKey) })
    assertRefused(reply, 403, 'INCORRECT_BASIC_AUTH_FORMAT')
  })

  test('every answer carries a trace id of its own', async () => {
    const answers = [
      await toss.lookup((await toss.paid()).paymentKey),
      await call(`${url}/v1/payments/any`, 'GET', undefined, { authorization: '' }),
      await call(`${url}/nowhere`, 'GET'),
      await call(`${url}/v1/payments/%zz`, 'GET'),
      await toss.confirm('{'),
    ]
    for (const answer of answers) assert.match(answer.traceId ?? '', /^[0-9a-f]{32}$/)
    assert.equal(new Set(answers.map((answer) => answer.traceId)).size, answers.length)
  })

  test('an unknown address is 404 NOT_FOUND', async () => {
    assertRefused(await call(`${url}/nowhere`, 'GET'), 404, 'NOT_FOUND')
    assertRefused(await call(`${url}/v1/nowhere`, 'POST', {}), 404, 'NOT_FOUND')
  })

  test('a body that is no JSON, no object or above 64 KiB is 400 INVALID_REQUEST', async () => {
    for (const body of ['{"paymentKey":', '', '[]', 'null', JSON.stringify({ orderId: 'x'.repeat(65 * 1024) })]) {
      assertRefused(await toss.confirm(body), 400, 'INVALID_REQUEST')
    }
  })
})

describe('checkout', () => {
  test('an issued paymentKey has the form of Toss and is long enough not to be guessed', async () => {
    const { paymentKey } = await toss.checkout()
    assert.match(paymentKey, /^[a-z]{5}\d{14}[A-Za-z0-9]{20}$/)
  })

  test('bad input is 400 and names the field and what is expected', async () => {
    const bad: [Json, RegExp][] = [
      [{ amount: 1000 }, /^orderId: expected 6 to 64/],
      [{ orderId: 'short', amount: 1000 }, /^orderId: expected 6 to 64/],
      [{ orderId: 'order-1', amount: 99 }, /^amount: expected an integer of at least 100/],
      [{ orderId: 'order-1', amount: '1000' }, /^amount:/],
      [
        { orderId: 'order-1', amount: 1000, result: 'no' },
        /^result: expected one of approve, decline, insufficient, expire/,
      ],
    ]
    for (const [body, message] of bad) {
      const reply = await call(`${url}/sandbox/payments`, 'POST', body, { authorization: '' })
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), message)
    }
  })

  test('all payments are listed without authentication', async () => {
    const { paymentKey } = await toss.checkout()
    const reply = await call(`${url}/sandbox/payments`, 'GET', undefined, { authorization: '' })
    const listed = (reply.body.payments as Json[]).find((payment) => payment.paymentKey === paymentKey)
    assert.equal(listed?.status, 'IN_PROGRESS')
  })
})

describe('confirm', () => {
  test('a finished checkout becomes DONE, answered with the whole Payment', async () => {
    const checkout = await toss.checkout(15000)
    const reply = await toss.confirm(checkout)
    assert.equal(reply.status, 200)
    assert.partialDeepStrictEqual(reply.body, {
      paymentKey: checkout.paymentKey,
      orderId: checkout.orderId,
      status: 'DONE',
      method: '카드',
      currency: 'KRW',
      totalAmount: 15000,
      balanceAmount: 15000,
      suppliedAmount: 13636,
      vat: 1364,
      cancels: null,
      failure: null,
      virtualAccount: null,
      card: { amount: 15000, cardType: '신용', ownerType: '개인' },
    })
    assert.match(String(reply.body.approvedAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00$/)
    assert.match(String(reply.body.lastTransactionKey), /^[0-9A-F]{32}$/)
    assert.match(String(reply.body.secret), /^ps_[A-Za-z0-9]{28}$/)
    assert.ok(String(reply.body.mId).length <= 14)
    assert.deepEqual(Object.keys(reply.body).sort(), paymentMembers.split(' ').sort())
  })

  test('approvedAt is the present Korean time', async () => {
    const { body } = await toss.confirm(await toss.checkout())
    assert.ok(Math.abs(Date.parse(String(body.approvedAt)) - Date.now()) < 5000)
  })

  test('an amount as a numeric string is accepted, as the official sample sends it', async () => {
    const checkout = await toss.checkout(15000)
    assert.equal((await toss.confirm({ ...checkout, amount: '15000' })).status, 200)
  })

  test('a missing field is 400 INVALID_REQUEST', async () => {
    const checkout = await toss.checkout()
    for (const field of ['paymentKey', 'orderId', 'amount']) {
      assertRefused(await toss.confirm({ ...checkout, [field]: undefined }), 400, 'INVALID_REQUEST')
    }
  })

  test('an unknown paymentKey is 404 NOT_FOUND_PAYMENT_SESSION, whatever the orderId looks like', async () => {
    const reply = await toss.confirm({ paymentKey: 'nobody_knows_it', orderId: 'x', amount: 1000 })
    assertRefused(reply, 404, 'NOT_FOUND_PAYMENT_SESSION')
  })

  test('another orderId is 403 FORBIDDEN_REQUEST, another amount 400 INVALID_REQUEST, and neither changes anything', async () => {
    const checkout = await toss.checkout()
    assertRefused(await toss.confirm({ ...checkout, orderId: 'order-of-another' }), 403, 'FORBIDDEN_REQUEST')
    assertRefused(await toss.confirm({ ...checkout, amount: 14999 }), 400, 'INVALID_REQUEST')
    assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
  })

  test('a second confirm is 400 ALREADY_PROCESSED_PAYMENT, after a cancel too', async () => {
    const checkout = await toss.paid()
    assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
    await toss.cancel(checkout.paymentKey, { cancelReason: 'changed my mind' })
    assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
  })

  for (const [result, code] of [
    ['decline', 'REJECT_CARD_COMPANY'],
    ['insufficient', 'REJECT_CARD_PAYMENT'],
  ] as const) {
    test(`result ${result} is refused with 403 ${code}, every time, and leaves the payment ABORTED`, async () => {
      const checkout = await toss.checkout(1000, result)
      assertRefused(await toss.confirm(checkout), 403, code)
      assertRefused(await toss.confirm(checkout), 403, code)
      const { body } = await toss.lookup(checkout.paymentKey)
      assert.partialDeepStrictEqual(body, { status: 'ABORTED', approvedAt: null, card: null, failure: { code } })
    })
  }

  test('result expire is an EXPIRED payment, 404 NOT_FOUND_PAYMENT_SESSION at confirm', async () => {
    const checkout = await toss.checkout(1000, 'expire')
    assertRefused(await toss.confirm(checkout), 404, 'NOT_FOUND_PAYMENT_SESSION')
    const { body } = await toss.lookup(checkout.paymentKey)
    assert.partialDeepStrictEqual(body, { status: 'EXPIRED', failure: { code: 'EXPIRED_PAYMENT' } })
  })
})

describe('cancel', () => {
  test('without an amount the whole balance goes back: CANCELED, then 400 ALREADY_CANCELED_PAYMENT', async () => {
    const { paymentKey } = await toss.paid(15000)
    const reply = await toss.cancel(paymentKey, { cancelReason: 'changed my mind' })
    assert.equal(reply.status, 200)
    const item = (reply.body.cancels as Json[])[0]
    assert.partialDeepStrictEqual(reply.body, { status: 'CANCELED', totalAmount: 15000, balanceAmount: 0, vat: 0 })
    assert.partialDeepStrictEqual(item, { cancelAmount: 15000, refundableAmount: 0, cancelStatus: 'DONE' })
    assert.equal(item?.transactionKey, reply.body.lastTransactionKey)
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'again' }), 400, 'ALREADY_CANCELED_PAYMENT')
  })

  test('the whole amount given as cancelAmount is a full cancel', async () => {
    const { paymentKey } = await toss.paid(15000)
    const { body } = await toss.cancel(paymentKey, { cancelReason: 'all of it', cancelAmount: 15000 })
    assert.equal(body.status, 'CANCELED')
  })

  test('partial cancels stay PARTIAL_CANCELED down to balance 0, then 403 NOT_CANCELABLE_AMOUNT', async () => {
    const { paymentKey } = await toss.paid(15000)
    const first = await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 5974 })
    assert.partialDeepStrictEqual(first.body, {
      status: 'PARTIAL_CANCELED',
      balanceAmount: 9026,
      suppliedAmount: 8205,
      vat: 821,
    })
    const rest = await toss.cancel(paymentKey, { cancelReason: 'the rest' })
    assert.partialDeepStrictEqual(rest.body, {
      status: 'PARTIAL_CANCELED',
      balanceAmount: 0,
      suppliedAmount: 0,
      vat: 0,
    })
    assert.equal((rest.body.cancels as Json[]).length, 2)
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'more' }), 403, 'NOT_CANCELABLE_AMOUNT')
  })

  test('more than the balance is 403 NOT_CANCELABLE_AMOUNT', async () => {
    const { paymentKey } = await toss.paid(1000)
    const reply = await toss.cancel(paymentKey, { cancelReason: 'too much', cancelAmount: 1001 })
    assertRefused(reply, 403, 'NOT_CANCELABLE_AMOUNT')
    assert.equal(await toss.statusOf(paymentKey), 'DONE')
  })

  test('a refundableAmount other than the balance is 400 NOT_MATCHES_REFUNDABLE_AMOUNT', async () => {
    const { paymentKey } = await toss.paid(1000)
    const reply = await toss.cancel(paymentKey, { cancelReason: 'guarded', refundableAmount: 999 })
    assertRefused(reply, 400, 'NOT_MATCHES_REFUNDABLE_AMOUNT')
  })

  test('a payment that was never approved is 403 NOT_CANCELABLE_PAYMENT, an unknown one 404 NOT_FOUND_PAYMENT', async () => {
    const { paymentKey } = await toss.checkout()
    assertRefused(await toss.cancel(paymentKey, { cancelReason: 'early' }), 403, 'NOT_CANCELABLE_PAYMENT')
    assertRefused(await toss.cancel('nobody_knows_it', { cancelReason: 'lost' }), 404, 'NOT_FOUND_PAYMENT')
  })

  test('the reason is required and has at most 200 characters, the amount is a positive integer', async () => {
    const { paymentKey } = await toss.paid()
    const reason = { cancelReason: 'fine' }
    const bad = [{}, { cancelReason: '' }, { cancelReason: 'x'.repeat(201) }, { ...reason, cancelAmount: 0 }]
    for (const body of [...bad, { ...reason, cancelAmount: 1.5 }]) {
      assertRefused(await toss.cancel(paymentKey, body), 400, 'INVALID_REQUEST')
    }
    assert.equal((await toss.cancel(paymentKey, { cancelReason: 'x'.repeat(200), cancelAmount: null })).status, 200)
  })
})

describe('lookup', () => {
  test('finds by paymentKey, and by orderId the latest attempt', async () => {
    const first = await toss.paid()
    const second = await toss.checkout(1000, 'approve', first.orderId)
    await toss.cancel(first.paymentKey, { cancelReason: 'does not make it the latest' })
    assert.equal((await toss.lookup(first.paymentKey)).body.paymentKey, first.paymentKey)
    assert.equal((await toss.lookupOrder(first.orderId)).body.paymentKey, second.paymentKey)
  })

  test('what does not exist is 404 NOT_FOUND_PAYMENT', async () => {
    assertRefused(await toss.lookup('x'.repeat(200)), 404, 'NOT_FOUND_PAYMENT')
    assertRefused(await toss.lookupOrder('no-such-order'), 404, 'NOT_FOUND_PAYMENT')
  })
})

describe('Idempotency-Key', () => {
  test('a success is replayed byte for byte, whatever the body, and nothing happens twice', async () => {
    const { paymentKey } = await toss.paid(15000)
    const key = `cancel-${paymentKey}`
    const first = await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 5000 }, key)
    await toss.cancel(paymentKey, { cancelReason: 'in between', cancelAmount: 1000 })
    const again = await toss.cancel(paymentKey, { cancelReason: 'other', cancelAmount: 1 }, key)
    assert.deepEqual([again.status, again.text], [200, first.text])
    assert.equal((await toss.lookup(paymentKey)).body.balanceAmount, 9000)
  })

  test('a 4xx is bound to the key as well', async () => {
    const { paymentKey } = await toss.paid(1000)
    const key = `bound-${paymentKey}`
    const first = await toss.cancel(paymentKey, { cancelAmount: 100 }, key)
    const corrected = await toss.cancel(paymentKey, { cancelReason: 'corrected', cancelAmount: 100 }, key)
    assertRefused(first, 400, 'INVALID_REQUEST')
    assert.equal(corrected.text, first.text)
    assert.equal(await toss.statusOf(paymentKey), 'DONE')
  })

  test('the same key on another path is another request', async () => {
    const [one, two] = [await toss.checkout(), await toss.checkout()]
    const key = `shared-${one.paymentKey}`
    assert.equal((await toss.confirm(one, key)).status, 200)
    assert.equal((await toss.confirm(two, key)).body.paymentKey, one.paymentKey)
    assert.equal((await toss.cancel(one.paymentKey, { cancelReason: 'other path' }, key)).body.status, 'CANCELED')
  })

  test('300 characters are allowed, 301 are 400 INVALID_IDEMPOTENCY_KEY and do nothing', async () => {
    const checkout = await toss.checkout()
    assertRefused(await toss.confirm(checkout, 'k'.repeat(301)), 400, 'INVALID_IDEMPOTENCY_KEY')
    assert.equal((await toss.confirm(checkout, 'k'.repeat(300))).status, 200)
  })

  test('it is ignored on GET', async () => {
    const checkout = await toss.checkout()
    const look = () => call(`${url}/v1/payments/${checkout.paymentKey}`, 'GET', undefined, { 'idempotency-key': 'get' })
    assert.equal((await look()).body.status, 'IN_PROGRESS')
    await toss.confirm(checkout)
    assert.equal((await look()).body.status, 'DONE')
  })

  test('while the first request runs, the same key is 409 IDEMPOTENT_REQUEST_PROCESSING', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'delay', times: 1, delayMs: 150 })
    const replies = await Promise.all([1, 2, 3].map(() => toss.confirm(checkout, `race-${checkout.paymentKey}`)))
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 409, 409])
    const refused = replies.find((reply) => reply.status === 409) as Reply
    assertRefused(refused, 409, 'IDEMPOTENT_REQUEST_PROCESSING')
    const done = replies.find((reply) => reply.status === 200)
    assert.equal((await toss.confirm(checkout, `race-${checkout.paymentKey}`)).text, done?.text)
  })
})

describe('faults', () => {
  afterEach(() => call(`${url}/sandbox/faults`, 'DELETE'))

  const listed = async () => JSON.parse((await call(`${url}/sandbox/faults`, 'GET')).text)
  const lost = { name: 'TypeError', message: 'fetch failed' }
  const connectionReset = (error: Error) => (error.cause as NodeJS.ErrnoException).code === 'ECONNRESET'

  test('the list shows what is left of times, is replaced as a whole and emptied by DELETE', async () => {
    await toss.faults(
      { on: 'cancel', kind: 'delay', times: 1, delayMs: 5 },
      { on: 'lookup', kind: 'error-before', times: 2 },
    )
    assertRefused(await toss.lookup('any'), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
    assert.deepEqual(await listed(), [
      { on: 'cancel', kind: 'delay', times: 1, delayMs: 5 },
      { on: 'lookup', kind: 'error-before', times: 1 },
    ])
    await toss.faults({ on: 'confirm', kind: 'hang-after', times: 3 })
    assert.deepEqual(await listed(), [{ on: 'confirm', kind: 'hang-after', times: 3 }])
    await call(`${url}/sandbox/faults`, 'DELETE')
    assert.deepEqual(await listed(), [])
  })

  test('a bad entry is 400, says what is accepted, and replaces nothing', async () => {
    const good = { on: 'lookup', kind: 'error-before', times: 1 }
    await toss.faults(good)
    const bad: [Json, RegExp][] = [
      [{ ...good, on: 'webhook' }, /^Fault 1: on: expected one of confirm, cancel, lookup/],
      [{ ...good, kind: 'explode' }, /^Fault 1: kind: expected one of error-before, error-after, reset-before/],
      [{ ...good, times: 0 }, /^Fault 1: times: expected an integer of at least 1/],
      [{ ...good, kind: 'delay' }, /^Fault 1: delayMs: expected an integer/],
    ]
    for (const [entry, message] of bad) {
      const reply = await toss.faults(good, entry)
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), message)
    }
    assertRefused(await call(`${url}/sandbox/faults`, 'PUT', good), 400, 'INVALID_REQUEST')
    assert.deepEqual(await listed(), [good])
  })

  test('error-before answers 500 and does nothing: the same key then does the work', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'error-before', times: 1 })
    assertRefused(await toss.confirm(checkout, checkout.orderId), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
    assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
    assert.equal((await toss.confirm(checkout, checkout.orderId)).status, 200)
  })

  test('reset-before resets the connection and does nothing', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'reset-before', times: 1 })
    await assert.rejects(toss.confirm(checkout, checkout.orderId), connectionReset)
    assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
    assert.equal((await toss.confirm(checkout, checkout.orderId)).status, 200)
  })

  test('error-after answers 500 after the money moved: the same key replays the success, no key is told so', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'error-after', times: 1 })
    assertRefused(await toss.confirm(checkout, checkout.orderId), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
    assert.equal(await toss.statusOf(checkout.paymentKey), 'DONE')
    assert.equal((await toss.confirm(checkout, checkout.orderId)).body.status, 'DONE')
    assertRefused(await toss.confirm(checkout), 400, 'ALREADY_PROCESSED_PAYMENT')
  })

  test('reset-after resets the connection after the money moved, as often as asked, replays included', async () => {
    const { paymentKey } = await toss.paid(1000)
    const cancelOnce = () => toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 400 }, `c-${paymentKey}`)
    await toss.faults({ on: 'cancel', kind: 'reset-after', times: 2 })
    await assert.rejects(cancelOnce(), connectionReset)
    await assert.rejects(cancelOnce(), connectionReset)
    assert.partialDeepStrictEqual((await cancelOnce()).body, { status: 'PARTIAL_CANCELED', balanceAmount: 600 })
  })

  test('hang-after moves the money and never answers; the same key replays the success', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'hang-after', times: 1 })
    const hanging = fetch(`${url}/v1/payments/confirm`, {
      method: 'POST',
      headers: {
        authorization: basic(`${secretKey}:`),
        'content-type': 'application/json',
        'idempotency-key': checkout.orderId,
      },
      body: JSON.stringify(checkout),
      signal: AbortSignal.timeout(200),
    })
    await assert.rejects(hanging, { name: 'TimeoutError' })
    assert.equal(await toss.statusOf(checkout.paymentKey), 'DONE')
    assert.equal((await toss.confirm(checkout, checkout.orderId)).body.status, 'DONE')
  })

  test('delay waits, then goes on normally', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'delay', times: 1, delayMs: 120 })
    const startedAt = performance.now()
    assert.equal((await toss.confirm(checkout)).status, 200)
    assert.ok(performance.now() - startedAt >= 110)
  })

  test('a fault strikes its own operation only', async () => {
    await toss.faults({ on: 'lookup', kind: 'reset-before', times: 1 })
    const { paymentKey } = await toss.paid()
    await assert.rejects(toss.lookup(paymentKey), connectionReset)
    assert.equal((await toss.lookup(paymentKey)).status, 200)
  })

  test('close ends hanging and delayed requests at once', async () => {
    const own = await start({ name: 'closing' })
    const there = shop(own.url)
    const [one, two] = [await there.checkout(), await there.checkout()]
    await there.faults(
      { on: 'confirm', kind: 'hang-after', times: 1 },
      { on: 'confirm', kind: 'delay', times: 1, delayMs: 60_000 },
    )
    const ended = [one, two].map((checkout) => assert.rejects(there.confirm(checkout), lost))
    while ((await call(`${own.url}/sandbox/faults`, 'GET')).text !== '[]');
    const startedAt = performance.now()
    await own.close()
    await Promise.all(ended)
    assert.ok(performance.now() - startedAt < 1000)
  })
})

describe('payment keys the sandbox did not issue', () => {
  let loose: RunningSandbox
  let there = shop('')
  before(async () => {
    loose = await start({ name: 'loose', strict: false })
    there = shop(loose.url)
  })
  after(() => loose.close())

  test('count as a finished checkout for the order and amount of the confirm, once', async () => {
    const request = { paymentKey: 'made_up_by_a_person', orderId: newOrderId(), amount: 1000 }
    assert.partialDeepStrictEqual((await there.confirm(request)).body, { status: 'DONE', totalAmount: 1000 })
    assertRefused(await there.confirm(request), 400, 'ALREADY_PROCESSED_PAYMENT')
    assertRefused(await there.confirm({ ...request, orderId: newOrderId() }), 403, 'FORBIDDEN_REQUEST')
    assert.equal((await there.lookupOrder(request.orderId)).body.paymentKey, request.paymentKey)
  })

  test('are in the journal as IN_PROGRESS, then DONE', async () => {
    await there.confirm({ paymentKey: 'made_up_journal', orderId: newOrderId(), amount: 1000 })
    const lines = readFileSync(join(directory, 'loose', 'journal.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
    const changed: Json[] = lines.flatMap((line) => JSON.parse(line).changed)
    const statuses = changed
      .filter((payment) => payment.paymentKey === 'made_up_journal')
      .map((payment) => payment.status)
    assert.deepEqual(statuses, ['IN_PROGRESS', 'DONE'])
  })

  test('beginning decline_ are refused by the card company', async () => {
    const reply = await there.confirm({ paymentKey: 'decline_1', orderId: newOrderId(), amount: 1000 })
    assertRefused(reply, 403, 'REJECT_CARD_COMPANY')
    assert.equal(await there.statusOf('decline_1'), 'ABORTED')
  })

  test('beginning missing_ are unknown', async () => {
    const reply = await there.confirm({ paymentKey: 'missing_1', orderId: newOrderId(), amount: 1000 })
    assertRefused(reply, 404, 'NOT_FOUND_PAYMENT_SESSION')
    assertRefused(await there.lookup('missing_1'), 404, 'NOT_FOUND_PAYMENT')
  })

  test('cannot stand for a checkout that could not have happened', async () => {
    const tooLittle = await there.confirm({ paymentKey: 'made_up_2', orderId: newOrderId(), amount: 99 })
    assertRefused(tooLittle, 400, 'INVALID_REQUEST')
    assertRefused(await there.confirm({ paymentKey: 'made_up_2', orderId: 'x', amount: 1000 }), 400, 'INVALID_REQUEST')
  })
})

describe('memory', () => {
  test('payments, cancels and idempotency records survive a restart', async () => {
    const first = await start({ name: 'restart' })
    const one = shop(first.url)
    const checkout = await one.checkout()
    const confirmed = await one.confirm(checkout, 'confirm-key')
    const refused = await one.cancel(checkout.paymentKey, { cancelAmount: 1 }, 'refused-key')
    const cancelled = await one.cancel(checkout.paymentKey, { cancelReason: 'a part', cancelAmount: 1000 })
    await first.close()

    const second = await start({ name: 'restart' })
    const two = shop(second.url)
    assert.equal((await two.lookup(checkout.paymentKey)).text, cancelled.text)
    assert.equal((await two.confirm(checkout, 'confirm-key')).text, confirmed.text)
    assert.equal((await two.cancel(checkout.paymentKey, { cancelReason: 'x' }, 'refused-key')).text, refused.text)
    await second.close()
  })

  test('a torn last line is cut, and writing goes on behind it', async () => {
    const first = await start({ name: 'torn' })
    const kept = await shop(first.url).paid()
    await first.close()
    appendFileSync(join(directory, 'torn', 'journal.jsonl'), '{"changed":[{"paymentKey":"torn')

    const second = await start({ name: 'torn' })
    const added = await shop(second.url).paid()
    await second.close()

    const third = await start({ name: 'torn' })
    for (const { paymentKey } of [kept, added]) assert.equal(await shop(third.url).statusOf(paymentKey), 'DONE')
    await third.close()
  })

  test('a damaged line in the middle stops the start with a sentence', async () => {
    const first = await start({ name: 'damaged' })
    await shop(first.url).paid()
    await first.close()
    appendFileSync(join(directory, 'damaged', 'journal.jsonl'), 'not json\n')
    await assert.rejects(start({ name: 'damaged' }), /journal is damaged: .*journal\.jsonl at byte \d+ is not JSON/)
  })

  test('what was answered before kill -9 is there afterwards', async () => {
    const options = {
      host: '127.0.0.1',
      port: 0,
      clientKey: '',
      secretKey,
      dataDir: join(directory, 'killed'),
      strict: true,
    }
    const script = `import { startSandbox } from ${JSON.stringify(new URL('../../sandbox/server.ts', import.meta.url).href)}
      process.stdout.write((await startSandbox(${JSON.stringify(options)})).url)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [address] = await once(child.stdout, 'data')
    const paid = await shop(String(address)).paid()
    child.kill('SIGKILL')
    await once(child, 'exit')

    const next = await start({ name: 'killed' })
    assert.equal(await shop(next.url).statusOf(paid.paymentKey), 'DONE')
    await next.close()
  })

  test('a taken port fails the start', async () => {
    const options = { host: '127.0.0.1', port: sandbox.port, clientKey: '', secretKey, strict: true }
    await assert.rejects(startSandbox({ ...options, dataDir: join(directory, 'taken') }), { code: 'EADDRINUSE' })
  })
})
