// Idempotency-Key at the sandbox: which answers are replayed, for how long, and the form of a replay.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertRefused, call, openSandboxes, type Reply, shop } from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

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

test('a replay carries its own trace id and that of the first answer, and echoes the key', async () => {
  const checkout = await toss.checkout()
  const first = await toss.confirm(checkout, checkout.orderId)
  const replays = [await toss.confirm(checkout, checkout.orderId), await toss.confirm(checkout, checkout.orderId)]
  for (const replay of replays) {
    const [own, original] = replay.traceId.split(', ')
    assert.match(own ?? '', /^[0-9a-f]{32}$/)
    assert.notEqual(own, first.traceId)
    assert.equal(original, first.traceId)
    assert.equal(replay.headers.get('idempotency-key'), checkout.orderId)
  }
})

test('an answer is bound to its key for 15 days, then the key is new', async () => {
  const { paymentKey } = await toss.paid(1000)
  const cancelOnce = () => toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 100 }, `old-${paymentKey}`)
  const days = 24 * 3600_000
  assert.equal((await cancelOnce()).body.balanceAmount, 900)
  await toss.advance(15 * days - 60_000)
  assert.equal((await cancelOnce()).body.balanceAmount, 900)
  await toss.advance(60_000)
  assert.equal((await cancelOnce()).body.balanceAmount, 800)
})
