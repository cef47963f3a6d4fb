// Faults of the sandbox that refuse without an outcome: which of them are bound to the idempotency key. Also which kinds
// are allowed for which operation, and the count of faults that were applied.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, before, test } from 'node:test'
import { readMovements } from '../../sandbox/journal.ts'
import { assertRefused, call, type Json, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { directory, start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})
afterEach(() => call(`${url}/sandbox/faults`, 'DELETE'))

const moved = (paymentKey: string) =>
  readMovements(join(directory, 'shared', 'journal.jsonl'))
    .filter((movement) => movement.paymentKey === paymentKey)
    .map(({ kind }) => kind)
const transactions = () => call(`${url}/v1/transactions?startDate=2000-01-01&endDate=2099-01-01`, 'GET')

const refusals = [
  { kind: 'in-progress', status: 409, code: 'IDEMPOTENT_REQUEST_PROCESSING', bound: false },
  { kind: 'too-many', status: 429, code: 'TOO_MANY_REQUESTS', bound: false },
  { kind: 'too-fast', status: 403, code: 'FORBIDDEN_CONSECUTIVE_REQUEST', bound: true },
  { kind: 'provider-error', status: 400, code: 'PROVIDER_ERROR', bound: true },
]

for (const { kind, status, code, bound } of refusals) {
  const then = bound ? 'it is bound to the key, and another key succeeds' : 'the same key then succeeds'
  test(`${kind} is ${status} ${code} and moves no money: ${then}`, async () => {
    const checkout = await toss.checkout(1000)
    const { paymentKey, orderId } = checkout
    const cancel = (key: string) => toss.cancel(paymentKey, { cancelReason: 'all of it' }, key)
    const key = bound ? `${orderId}-2` : orderId

    await toss.faults({ on: 'confirm', kind, times: 1 }, { on: 'cancel', kind, times: 1 })
    const refused = await toss.confirm(checkout, orderId)
    assertRefused(refused, status, code)
    assert.deepEqual([await toss.statusOf(paymentKey), moved(paymentKey)], ['IN_PROGRESS', []])
    if (bound) assert.equal((await toss.confirm(checkout, orderId)).text, refused.text)
    assert.equal((await toss.confirm(checkout, key)).body.status, 'DONE')

    assertRefused(await cancel(orderId), status, code)
    assert.deepEqual([await toss.statusOf(paymentKey), moved(paymentKey)], ['DONE', ['capture']])
    if (bound) assertRefused(await cancel(orderId), status, code)
    assert.equal((await cancel(key)).body.status, 'CANCELED')
    assert.deepEqual(moved(paymentKey), ['capture', 'cancel'])
  })
}

test('a refusal that is bound to its key survives a restart', async () => {
  const first = await start({ name: 'bound' })
  const checkout = await shop(first.url).checkout()
  await shop(first.url).faults({ on: 'confirm', kind: 'provider-error', times: 1 })
  assertRefused(await shop(first.url).confirm(checkout, 'key'), 400, 'PROVIDER_ERROR')
  await first.close()
  const second = shop((await start({ name: 'bound' })).url)
  assertRefused(await second.confirm(checkout, 'key'), 400, 'PROVIDER_ERROR')
  assert.equal((await second.confirm(checkout, 'another key')).status, 200)
})

test('a key with a stored answer gets it: in-progress, too-fast and provider-error wait for a request that does work', async () => {
  const checkout = await toss.checkout()
  const { text } = await toss.confirm(checkout, checkout.orderId)
  const spared = ['in-progress', 'too-fast', 'provider-error'].map((kind) => ({ on: 'confirm', kind, times: 1 }))
  await toss.faults(...spared, { on: 'confirm', kind: 'too-many', times: 1 })
  assertRefused(await toss.confirm(checkout, checkout.orderId), 429, 'TOO_MANY_REQUESTS')
  assert.equal((await toss.confirm(checkout, checkout.orderId)).text, text)
  assert.deepEqual(JSON.parse((await call(`${url}/sandbox/faults`, 'GET')).text), spared)
})

test('lookup and transactions are refused too, and answered at the next request', async () => {
  const { paymentKey } = await toss.paid()
  await toss.faults(
    { on: 'lookup', kind: 'too-fast', times: 1 },
    { on: 'lookup', kind: 'too-many', times: 1 },
    { on: 'transactions', kind: 'too-many', times: 1 },
  )
  assertRefused(await toss.lookup(paymentKey), 403, 'FORBIDDEN_CONSECUTIVE_REQUEST')
  assertRefused(await toss.lookup(paymentKey), 429, 'TOO_MANY_REQUESTS')
  assert.equal((await toss.lookup(paymentKey)).status, 200)
  assertRefused(await transactions(), 429, 'TOO_MANY_REQUESTS')
  assert.equal((await transactions()).status, 200)
})

test('a kind that is not allowed for an operation is 400, names the allowed ones, and replaces nothing', async () => {
  const good = { on: 'transactions', kind: 'too-many', times: 1 }
  await toss.faults(good)
  const pairs: Record<string, string[]> = {
    transactions: ['other-order-after', 'other-amount-after', 'not-done-after', 'too-fast'],
    lookup: ['in-progress', 'provider-error', 'duplicate'],
    confirm: ['reorder'],
    webhook: ['html-after', 'provider-error', 'delay-after'],
  }
  for (const [on, kinds] of Object.entries(pairs)) {
    for (const kind of kinds) {
      const reply = await toss.faults({ on, kind, times: 1, delayMs: 1 })
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), new RegExp(`^Fault 0: kind: expected one of .*, .* \\(on ${on}\\)\\.$`))
      assert.doesNotMatch(String(reply.body.message), new RegExp(`\\b${kind}\\b(?!-)`))
    }
  }
  assert.deepEqual(JSON.parse((await call(`${url}/sandbox/faults`, 'GET')).text), [good])
})

test('applied faults are counted from the start of the process, whatever happens to the list', async () => {
  const own = await start({ name: 'counted', webhookUrl: 'http://127.0.0.1:9/' })
  const there = shop(own.url)
  const fired = async () =>
    (await call(`${own.url}/sandbox/faults/fired`, 'GET', undefined, { authorization: '' })).body
  assert.deepEqual(await fired(), { fired: [] })
  await there.faults(
    { on: 'confirm', kind: 'error-before', times: 2 },
    { on: 'confirm', kind: 'other-amount-after', times: 5 },
    { on: 'webhook', kind: 'drop', times: 1 },
    { on: 'cancel', kind: 'hang-after', times: 1 },
  )
  const declined = await there.checkout(1000, 'decline')
  const checkout = await there.checkout()
  // Two errors, a refusal that cannot be corrupted and a payment that is.
  for (const body of [checkout, checkout, declined, checkout]) await there.confirm(body)
  const counts: Json = {
    fired: [
      { on: 'confirm', kind: 'error-before', times: 2 },
      { on: 'webhook', kind: 'drop', times: 1 },
      { on: 'confirm', kind: 'other-amount-after', times: 1 },
    ],
  }
  const sorted = ({ fired: list }: Json) => (list as Json[]).map((each) => JSON.stringify(each)).sort()
  assert.deepEqual(sorted(await fired()), sorted(counts))
  await call(`${own.url}/sandbox/faults`, 'DELETE')
  assert.deepEqual(sorted(await fired()), sorted(counts))

  await there.faults({ on: 'confirm', kind: 'error-before', times: 1 })
  await there.confirm(declined)
  assert.partialDeepStrictEqual(await fired(), { fired: [{ on: 'confirm', kind: 'error-before', times: 3 }] })
})
