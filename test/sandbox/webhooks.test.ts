// The webhooks of the sandbox: which changes are notified, the request, which answers count as received, and the retries.
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { assertRefused, call, type Json, openSandboxes, type Shop, shop } from '../support/gateway/sandbox-shop.ts'
import { startReceiver } from '../support/gateway/webhook-receiver.ts'

const { start } = openSandboxes()

const minute = 60_000
const receiver = await startReceiver()
const { url } = await start({ webhookUrl: receiver.url, webhookTimeoutMs: 1_500 })
const toss = shop(url)

async function deliveriesOf(paymentKey: string, address = url): Promise<Json[]> {
  const { webhooks } = (await call(`${address}/sandbox/webhooks`, 'GET')).body
  return (webhooks as Json[]).filter((delivery) => delivery.paymentKey === paymentKey)
}

/** Waits until this many attempts of the only delivery of a payment have ended. */
async function attempted(paymentKey: string, count: number, address = url): Promise<Json & { attempts: Json[] }> {
  let delivery: Json | undefined
  await until(`${count} attempts`, async () => {
    delivery = (await deliveriesOf(paymentKey, address)).at(-1)
    return (delivery?.attempts as Json[] | undefined)?.length === count
  })
  return delivery as Json & { attempts: Json[] }
}

const header = (name: string) => `tosspayments-webhook-transmission-${name}`

beforeEach(() => receiver.answerWith(200))

describe('notified changes', () => {
  test('DONE, then every cancel; not IN_PROGRESS', async () => {
    const { paymentKey } = await toss.paid(1000)
    assert.deepEqual(await receiver.statusesOf(paymentKey, 1), ['DONE'])
    await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 300 })
    assert.deepEqual(await receiver.statusesOf(paymentKey, 2), ['DONE', 'PARTIAL_CANCELED'])
    await toss.cancel(paymentKey, { cancelReason: 'the rest' })
    assert.deepEqual(await receiver.statusesOf(paymentKey, 3), ['DONE', 'PARTIAL_CANCELED', 'PARTIAL_CANCELED'])
    const whole = await toss.paid(1000)
    await receiver.statusesOf(whole.paymentKey, 1)
    await toss.cancel(whole.paymentKey, { cancelReason: 'all of it' })
    assert.deepEqual(await receiver.statusesOf(whole.paymentKey, 2), ['DONE', 'CANCELED'])
  })

  test('ABORTED when the card company refuses, EXPIRED when the session ends', async () => {
    const declined = await toss.checkout(1000, 'decline')
    await toss.confirm(declined)
    assert.deepEqual(await receiver.statusesOf(declined.paymentKey, 1), ['ABORTED'])
    const late = await toss.checkout()
    await toss.advance(10 * minute)
    assert.deepEqual(await receiver.statusesOf(late.paymentKey, 1), ['EXPIRED'])
    const { paymentKey } = await toss.checkout(1000, 'expire')
    assert.deepEqual(await receiver.statusesOf(paymentKey, 1), ['EXPIRED'])
  })

  test('nothing for a replay or a refusal that changes nothing', async () => {
    const checkout = await toss.checkout()
    await toss.confirm(checkout, checkout.orderId)
    await toss.confirm(checkout, checkout.orderId)
    await toss.confirm(checkout)
    assert.equal((await attempted(checkout.paymentKey, 1)).state, 'delivered')
    assert.equal((await deliveriesOf(checkout.paymentKey)).length, 1)
  })

  test('partialCancelWebhook: only the first partial cancel when set', async () => {
    await toss.behaviour({ partialCancelWebhook: 'first' })
    const { paymentKey } = await toss.paid(1000)
    for (const cancelAmount of [100, 200]) await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount })
    await toss.behaviour({ partialCancelWebhook: 'every' })
    assert.deepEqual((await receiver.statusesOf(paymentKey, 2)).sort(), ['DONE', 'PARTIAL_CANCELED'])
    assert.equal((await deliveriesOf(paymentKey)).length, 2)
  })
})

test('the envelope has the whole Payment with its secret, the headers have the time, the retry count and the id', async () => {
  const { paymentKey } = await toss.paid(1000)
  await receiver.statusesOf(paymentKey, 1)
  const [webhook] = receiver.of(paymentKey)
  assert.deepEqual(Object.keys(webhook?.body ?? {}), ['eventType', 'createdAt', 'data'])
  assert.equal(webhook?.path, '/webhooks')
  assert.equal(webhook?.body.eventType, 'PAYMENT_STATUS_CHANGED')
  assert.match(webhook?.body.createdAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
  assert.ok(Math.abs(Date.parse(`${webhook?.body.createdAt.slice(0, 23)}+09:00`) - (await toss.now())) < 10_000)
  const looked = (await toss.lookup(paymentKey)).body
  assert.deepEqual(webhook?.body.data, looked)
  assert.match(String(webhook?.body.data.secret), /^ps_/)
  assert.match(webhook?.headers['content-type'] ?? '', /^application\/json/)
  assert.match(webhook?.headers[header('time')] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00$/)
  assert.equal(webhook?.headers[header('retried-count')], '0')
  assert.match(webhook?.headers[header('id')] ?? '', /^whtrans_[A-Za-z0-9]+$/)
})

describe('counted as received', () => {
  for (const [what, status] of [
    ['201', 201],
    ['204', 204],
    ['500', 500],
  ] as const) {
    test(`${what} is not`, async () => {
      receiver.answerWith(status)
      const { paymentKey } = await toss.paid()
      const { state, attempts } = await attempted(paymentKey, 1)
      assert.equal(state, 'pending')
      assert.partialDeepStrictEqual(attempts[0], { status, error: null, retriedCount: 0 })
    })
  }

  test('a redirect is not, nor is it followed', async () => {
    receiver.answerWith((response) => response.writeHead(302, { location: '/elsewhere' }).end())
    const { paymentKey } = await toss.paid()
    assert.partialDeepStrictEqual((await attempted(paymentKey, 1)).attempts[0], { status: 302 })
    assert.deepEqual(
      receiver.of(paymentKey).map(({ path }) => path),
      ['/webhooks'],
    )
  })

  test('no answer within the limit and a lost connection are not', async () => {
    receiver.answerWith(() => undefined)
    const silent = await toss.paid()
    assert.partialDeepStrictEqual((await attempted(silent.paymentKey, 1)).attempts[0], {
      status: null,
      error: 'TimeoutError',
    })
    receiver.answerWith((response) => response.socket?.destroy())
    const lost = await toss.paid()
    assert.partialDeepStrictEqual((await attempted(lost.paymentKey, 1)).attempts[0], {
      status: null,
      error: 'ECONNRESET',
    })
  })

  test('webhookReceived: 204 is when set', async () => {
    await toss.behaviour({ webhookReceived: '2xx' })
    receiver.answerWith(204)
    const { paymentKey } = await toss.paid()
    assert.equal((await attempted(paymentKey, 1)).state, 'delivered')
    await toss.behaviour({ webhookReceived: '200' })
  })
})

describe('retries', () => {
  async function retries(there: Shop, address: string, count: number, paymentKey: string) {
    for (let retry = 0; retry < count; retry += 1) {
      await attempted(paymentKey, retry + 1, address)
      await there.advance(4 ** retry * minute)
    }
    return attempted(paymentKey, count + 1, address)
  }

  test('are made after 1, 4, 16 ... 4096 minutes, seven of them, then the delivery has failed', async () => {
    const own = await start({ name: 'seven', webhookUrl: receiver.url })
    const there = shop(own.url)
    receiver.answerWith(500)
    const { paymentKey } = await there.paid()
    const { state, nextAttemptAt, attempts } = await retries(there, own.url, 7, paymentKey)
    assert.deepEqual([state, nextAttemptAt], ['failed', null])
    assert.deepEqual(
      attempts.map(({ retriedCount }) => retriedCount),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
    const times = attempts.map(({ at }) => Date.parse(String(at)))
    const waited = times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / minute))
    assert.deepEqual(waited, [1, 4, 16, 64, 256, 1024, 4096])
    const sent = receiver.of(paymentKey)
    assert.deepEqual(
      sent.map(({ headers }) => headers[header('retried-count')]),
      [...'01234567'],
    )
    assert.equal(new Set(sent.map(({ headers }) => headers[header('id')])).size, 1)
    assert.equal(new Set(sent.map(({ body }) => JSON.stringify(body))).size, 1)
    await there.advance(30 * 24 * 60 * minute)
    assert.equal((await deliveriesOf(paymentKey, own.url))[0]?.state, 'failed')
  })

  test('are not made early, and end with the first 200', async () => {
    receiver.answerWith(500)
    const { paymentKey } = await toss.paid()
    await attempted(paymentKey, 1)
    await toss.advance(1 * minute - 20_000)
    receiver.answerWith(200)
    assert.equal((await attempted(paymentKey, 1)).state, 'pending')
    await toss.advance(20_000)
    assert.equal((await attempted(paymentKey, 2)).state, 'delivered')
  })

  test('transmissionIdOnRetry: each has its own id when set', async () => {
    await toss.behaviour({ transmissionIdOnRetry: 'new' })
    receiver.answerWith(500)
    const { paymentKey } = await toss.paid()
    await retries(toss, url, 2, paymentKey)
    assert.equal(new Set(receiver.of(paymentKey).map(({ headers }) => headers[header('id')])).size, 3)
    await toss.behaviour({ transmissionIdOnRetry: 'same' })
  })

  test('pending webhooks survive a restart, delivered ones are not sent again', async () => {
    const first = await start({ name: 'again', webhookUrl: receiver.url })
    const delivered = await shop(first.url).paid()
    await attempted(delivered.paymentKey, 1, first.url)
    receiver.answerWith(500)
    const pending = await shop(first.url).paid()
    await attempted(pending.paymentKey, 1, first.url)
    await first.close()

    receiver.answerWith(200)
    const second = await start({ name: 'again', webhookUrl: receiver.url })
    assert.partialDeepStrictEqual((await deliveriesOf(pending.paymentKey, second.url))[0], { state: 'pending' })
    await shop(second.url).advance(1 * minute)
    assert.equal((await attempted(pending.paymentKey, 2, second.url)).state, 'delivered')
    assert.equal(receiver.of(delivered.paymentKey).length, 1)
  })
})

test('the list needs no authentication and has no payment without webhooks', async () => {
  const { paymentKey } = await toss.checkout()
  assert.deepEqual(await deliveriesOf(paymentKey), [])
  const reply = await call(`${url}/sandbox/webhooks`, 'GET', undefined, { authorization: '' })
  assert.equal(reply.status, 200)
  assertRefused(await call(`${url}/sandbox/webhooks`, 'DELETE'), 404, 'NOT_FOUND')
})
