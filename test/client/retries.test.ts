// The requests that the client retries and those it does not, against a scripted faulty server: the number of attempts,
// the idempotency key, the pauses, and the outcome reported to the caller.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type CreditsClient, createCreditsClient, type OperationId } from '../../client/src/index.ts'
import { catalogue, type ErrorCode } from '../../src/core/errors.ts'
import { everyMethod, failureOf, isRead, type Methods } from './every-method.ts'
import {
  cut,
  endless,
  type Line,
  raw,
  refusal,
  reset,
  silence,
  startScriptedServer,
  success,
} from './scripted-server.ts'

let server: Awaited<ReturnType<typeof startScriptedServer>>
let methods: Methods
let credits: CreditsClient
before(async () => {
  server = await startScriptedServer()
  methods = everyMethod(server.url)
  credits = createCreditsClient({ baseUrl: server.url, firstPauseMs: 1, longestPauseMs: 2 })
})
after(() => server.close())

const json = { 'content-type': 'application/json' }

const operations = () => Object.entries(methods) as [OperationId, Methods[OperationId]][]

/** Compares the request line, headers and body of all attempts. */
function assertSameRequests(attempts: number): void {
  assert.equal(server.received.length, attempts)
  const [first, ...others] = server.received.map(({ line, headers, body }) => {
    const { connection, ...rest } = headers
    return { line, headers: rest, body }
  })
  for (const other of others) assert.deepEqual(other, first)
}

describe('retried, the same to the last byte, until there is an answer', () => {
  const faults: Record<string, Line> = {
    'a reset before the answer': reset,
    'an answer cut off in the middle': cut,
    'an error page of a proxy that cannot reach the service': raw(
      502,
      { 'content-type': 'text/html' },
      '<h1>Bad Gateway</h1>',
    ),
    'a page of a proxy that has waited too long': raw(504, { 'content-type': 'text/html' }, '<h1>Timeout</h1>'),
    SVC001: refusal('SVC001'),
  }
  for (const [fault, line] of Object.entries(faults)) {
    test(`${fault}: by every method`, async () => {
      for (const [operation, call] of operations()) {
        server.play([line, line])
        await call()
        assertSameRequests(3)
        const key = server.received[0]?.headers['x-idempotency-key']
        assert.equal(key !== undefined, operation === 'purchaseCredits', operation)
      }
    })
  }

  test('silence, after the timeout of an attempt', async () => {
    for (const line of [silence, endless]) {
      server.play([line])
      await credits.confirmPayment({ orderId: 'ord_1', paymentKey: 'pay_1', amount: 1_000 }, { timeoutMs: 400 })
      assertSameRequests(2)
    }
  })

  test('the idempotency key of the caller is sent with all attempts; without one each purchase has its own', async () => {
    server.play([reset, refusal('SVC001')])
    await credits.purchaseCredits({ packageType: 'PRO' }, { idempotencyKey: 'order 66'.replace(' ', '-') })
    assert.deepEqual(
      server.received.map(({ headers }) => headers['x-idempotency-key']),
      ['order-66', 'order-66', 'order-66'],
    )
    server.play([])
    await methods.purchaseCredits()
    await methods.purchaseCredits()
    const [one, other] = server.received.map(({ headers }) => headers['x-idempotency-key'])
    assert.match(String(one), /^[\x21-\x7e]{32,255}$/)
    assert.notEqual(one, other)
  })
})

describe('not retried', () => {
  const definite = (Object.keys(catalogue) as ErrorCode[]).filter((code) => code !== 'SVC001')
  test('any other code, INT001 included', async () => {
    for (const [operation, call] of operations()) {
      for (const code of definite) {
        server.play([], refusal(code))
        const error = await failureOf(call())
        assert.deepEqual([error.code, error.status, error.attempts], [code, catalogue[code].status, 1])
        assert.equal(server.received.length, 1, `${operation} ${code}`)
        assert.equal(error.outcome, code === 'INT001' && !isRead(operation) ? 'unknown' : 'not-done')
      }
    }
  })

  const notAnswers: Record<string, Line> = {
    'half a document': raw(200, { 'content-type': 'application/json' }, '{"success":true,"da'),
    'another content type': raw(200, { 'content-type': 'text/plain' }, '{}'),
    'a page': raw(200, { 'content-type': 'text/html' }, '<h1>Welcome</h1>'),
    nothing: raw(204, {}, ''),
    'another document': raw(200, { 'content-type': 'application/json' }, '{"ok":true}'),
    null: raw(200, { 'content-type': 'application/json' }, 'null'),
    'a success with the status of a failure': success({}, 500),
    'a success without data': success(null),
    'an error page that does not say that the service was not reached': raw(500, { 'content-type': 'text/html' }, 'no'),
    'a success that says it is none': raw(
      200,
      json,
      '{"success":false,"data":{},"message":null,"code":"SUCCESS","metadata":null}',
    ),
    'a refusal that says it is a success': raw(
      400,
      json,
      '{"success":true,"data":{},"message":null,"code":"VAL003","metadata":null}',
    ),
    'a refusal whose metadata is a text': raw(
      400,
      json,
      '{"success":false,"data":null,"message":null,"code":"VAL003","metadata":"a"}',
    ),
    'an unknown code': raw(
      400,
      { 'content-type': 'application/json' },
      '{"success":false,"data":null,"message":null,"code":"NEW001","metadata":null}',
    ),
    'a code that is an inherited property name': raw(
      400,
      { 'content-type': 'application/json' },
      '{"success":false,"data":null,"message":null,"code":"constructor","metadata":null}',
    ),
    'a code with the status of another': raw(
      200,
      { 'content-type': 'application/json' },
      '{"success":false,"data":null,"message":null,"code":"SVC001","metadata":null}',
    ),
    'a redirect, which is not followed either': raw(302, { location: '/elsewhere' }, ''),
  }
  test('an answer that is not from the service', async () => {
    for (const [what, line] of Object.entries(notAnswers)) {
      server.play([], line)
      const error = await failureOf(methods.confirmPayment())
      assert.deepEqual([error.code, error.kind, error.outcome], ['UNREADABLE_ANSWER', 'no-answer', 'unknown'], what)
      assert.equal(typeof error.status, 'number', what)
      assert.equal(server.received.length, 1, what)
      assert.equal((await failureOf(methods.getCreditBalance())).outcome, 'not-done', what)
    }
  })
})

describe('retrying ends', () => {
  test('after the maximum number of attempts, with the last failure', async () => {
    server.play([], reset)
    const lost = await failureOf(methods.spendCredits())
    assert.deepEqual(
      [lost.code, lost.attempts, lost.outcome, server.received.length],
      ['CONNECTION_LOST', 4, 'unknown', 4],
    )
    assert.ok(lost.cause instanceof Error)
    server.play([reset], refusal('SVC001', { 'retry-after': '0' }))
    const busy = await failureOf(methods.purchaseCredits({ maxAttempts: 2 }))
    assert.deepEqual([busy.code, busy.attempts, busy.retryAfterMs], ['SVC001', 2, 0])
    assert.equal(busy.idempotencyKey, server.received[1]?.headers['x-idempotency-key'])
  })

  test('when the port is closed', async () => {
    const client = createCreditsClient({ baseUrl: 'http://127.0.0.1:1', firstPauseMs: 1, maxAttempts: 2 })
    assert.deepEqual((await failureOf(client.getCreditBalance())).code, 'CONNECTION_LOST')
  })

  test('Retry-After delays the next attempt', async () => {
    server.play([refusal('SVC001', { 'retry-after': '1' })])
    await methods.getCreditBalance()
    const [first, second] = server.received.map(({ at }) => at)
    assert.ok(Number(second) - Number(first) > 980)
  })

  test('when Retry-After is beyond the deadline of the call, at once', async () => {
    for (const when of ['30', new Date(Date.now() + 3_600_000).toUTCString()]) {
      server.play([], refusal('SVC001', { 'retry-after': when }))
      const error = await failureOf(methods.confirmPayment({ deadlineMs: 5_000 }))
      assert.deepEqual([error.code, error.attempts], ['SVC001', 1])
      assert.ok(Number(error.retryAfterMs) > 5_000)
    }
  })

  test('the Retry-After of a proxy that cannot reach the service applies too', async () => {
    server.play([], raw(503, { 'content-type': 'text/html', 'retry-after': '30' }, '<h1>Later</h1>'))
    const error = await failureOf(methods.confirmPayment({ deadlineMs: 5_000 }))
    assert.deepEqual([error.code, error.attempts, error.retryAfterMs], ['UNREADABLE_ANSWER', 1, 30_000])
  })

  test('at the deadline of the call, for all attempts together', async () => {
    server.play([], silence)
    const many = await failureOf(methods.getStatement({ timeoutMs: 10, deadlineMs: 200, maxAttempts: 1_000 }))
    assert.equal(many.code, 'TIMED_OUT')
    assert.ok(many.attempts < 1_000)
    const one = await failureOf(methods.getStatement({ deadlineMs: 50 }))
    assert.deepEqual([one.code, one.attempts], ['TIMED_OUT', 1])
  })

  test('when the deadline has come during a pause: nothing more is sent', async (t) => {
    let [reads, sent] = [0, 0]
    const fetch = async () => {
      sent += 1
      throw new Error('lost')
    }
    const client = createCreditsClient({ baseUrl: server.url, fetch, firstPauseMs: 0 })
    // It is read for the deadline, before the attempt and before the pause; then the timer of the pause is late.
    t.mock.method(performance, 'now', () => (++reads > 3 ? 101 : 0))
    const error = await failureOf(client.purchaseCredits({ packageType: 'PRO' }, { deadlineMs: 100 }))
    assert.deepEqual([error.code, error.attempts, error.outcome, sent], ['CONNECTION_LOST', 1, 'unknown', 1])
  })

  test('at the timeout, even when fetch ignores its signal: that of confirm, cancel and refund is longer', async () => {
    const fetch = () => new Promise<never>(() => undefined)
    const waiting = everyMethod(server.url, { fetch, timeoutMs: 20, settleTimeoutMs: 40, maxAttempts: 1 })
    for (const [operation, call] of Object.entries(waiting)) {
      const limitMs = ['confirmPayment', 'cancelPayment', 'refundUnused'].includes(operation) ? 40 : 20
      const { code, message } = await failureOf(call())
      assert.deepEqual([code, message], ['TIMED_OUT', `No answer within ${limitMs} ms.`], operation)
      assert.equal((await failureOf(call({ timeoutMs: 5 }))).message, 'No answer within 5 ms.')
    }
  })
})
