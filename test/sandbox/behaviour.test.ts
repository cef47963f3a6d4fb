// Undocumented behaviour of Toss that can be switched at the sandbox: the list of switches, and the effect of each. Those
// about webhooks are tested with the webhooks.
import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import { assertRefused, call, type Json, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

const defaults = {
  amountMismatch: 'INVALID_REQUEST',
  unconfirmedLookup: 'found',
  cancelRowSign: 'positive',
  replayServerErrors: false,
  transmissionIdOnRetry: 'same',
  webhookReceived: '200',
  partialCancelWebhook: 'every',
  easyPayParts: 'add up',
  cancelWindowDays: 365,
}

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})
afterEach(() => toss.behaviour(defaults))

const shown = async () => (await call(`${url}/sandbox/behaviour`, 'GET', undefined, { authorization: '' })).body

test('the defaults are shown, and a partial object changes only what it names', async () => {
  assert.deepEqual(await shown(), defaults)
  const reply = await toss.behaviour({ amountMismatch: 'FORBIDDEN_REQUEST' })
  assert.deepEqual(reply.body, { ...defaults, amountMismatch: 'FORBIDDEN_REQUEST' })
  await toss.behaviour({ replayServerErrors: true })
  assert.deepEqual(await shown(), { ...defaults, amountMismatch: 'FORBIDDEN_REQUEST', replayServerErrors: true })
})

test('an unknown name or value is 400, names the allowed ones, and changes nothing', async () => {
  const bad: [unknown, RegExp][] = [
    [{ weather: 'good' }, /^weather: expected one of amountMismatch, unconfirmedLookup/],
    [{ toString: 'x' }, /^toString: expected one of/],
    [
      { unconfirmedLookup: 'not-found', amountMismatch: 'NO' },
      /^amountMismatch: expected one of INVALID_REQUEST, FORB/,
    ],
    [{ replayServerErrors: 'true' }, /^replayServerErrors: expected one of false, true/],
    [[], /^The body: expected a JSON object/],
  ]
  for (const [body, message] of bad) {
    const reply = await toss.behaviour(body as Json)
    assertRefused(reply, 400, 'INVALID_REQUEST')
    assert.match(String(reply.body.message), message)
  }
  assert.deepEqual(await shown(), defaults)
})

test('amountMismatch: another amount at confirm is 403 FORBIDDEN_REQUEST when set', async () => {
  const checkout = await toss.checkout()
  await toss.behaviour({ amountMismatch: 'FORBIDDEN_REQUEST' })
  assertRefused(await toss.confirm({ ...checkout, amount: 1 }), 403, 'FORBIDDEN_REQUEST')
  assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
})

test('unconfirmedLookup: an unconfirmed payment is not found when set, a decided one always is', async () => {
  const checkout = await toss.checkout()
  await toss.behaviour({ unconfirmedLookup: 'not-found' })
  assertRefused(await toss.lookup(checkout.paymentKey), 404, 'NOT_FOUND_PAYMENT')
  assertRefused(await toss.lookupOrder(checkout.orderId), 404, 'NOT_FOUND_PAYMENT')
  assert.equal((await toss.confirm(checkout)).status, 200)
  assert.equal((await toss.lookupOrder(checkout.orderId)).body.status, 'DONE')
})

for (const kind of ['error-before', 'error-after']) {
  test(`replayServerErrors: the 500 of ${kind} stays bound to its key when set`, async () => {
    const checkout = await toss.checkout()
    await toss.behaviour({ replayServerErrors: true })
    await toss.faults({ on: 'confirm', kind, times: 1 })
    const failed = await toss.confirm(checkout, checkout.orderId)
    assertRefused(failed, 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
    assert.equal((await toss.confirm(checkout, checkout.orderId)).text, failed.text)
    assert.equal(await toss.statusOf(checkout.paymentKey), kind === 'error-after' ? 'DONE' : 'IN_PROGRESS')
    const withNewKey = await toss.confirm(checkout, `other-${checkout.orderId}`)
    assert.equal(withNewKey.status, kind === 'error-after' ? 400 : 200)
  })
}
