// Faults of the sandbox that corrupt an answer in transit: the answer that the client gets, that the journal still has
// the movement, and that the same idempotency key returns the true answer.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, before, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { readMovements } from '../../sandbox/journal.ts'
import {
  assertRefused,
  basic,
  call,
  type Json,
  openSandboxes,
  secretKey,
  shop,
} from '../support/gateway/sandbox-shop.ts'

const { directory, start } = openSandboxes()

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})
afterEach(() => call(`${url}/sandbox/faults`, 'DELETE'))

type Seen = { status: number; type: string; length: number; text: string }

/** The answer as received, JSON or not. */
async function sendRequest(path: string, body?: object, key?: string, signal?: AbortSignal): Promise<Seen> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: basic(`${secretKey}:`),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  })
  const text = await response.text()
  const { headers } = response
  const length = Number(headers.get('content-length'))
  return { status: response.status, type: headers.get('content-type') ?? '', length, text }
}

const transactions = '/v1/transactions?startDate=2000-01-01&endDate=2099-01-01&limit=1'
const journal = () => readMovements(join(directory, 'shared', 'journal.jsonl'))
const moved = (paymentKey: string) =>
  journal()
    .filter((movement) => movement.paymentKey === paymentKey)
    .map(({ kind, amount }) => [kind, amount])

type Spoiled = { kind: string; what: string; see(seen: Seen, whole: Seen): void }

const spoiledBodies: Spoiled[] = [
  {
    kind: 'html-after',
    what: '200 with a page in HTML',
    see: ({ status, type, text }) => {
      assert.deepEqual([status, type], [200, 'text/html; charset=utf-8'])
      assert.match(text, /^<!doctype html>/)
    },
  },
  {
    kind: 'truncated-after',
    what: '200 with the first half of the JSON, and a connection that ends properly',
    see: ({ status, type, text, length }, whole) => {
      assert.deepEqual([status, type], [200, 'application/json; charset=utf-8'])
      assert.equal(Buffer.byteLength(text), length)
      assert.equal(text.length, Math.floor(whole.text.length / 2))
      assert.throws(() => JSON.parse(text), SyntaxError)
    },
  },
  {
    kind: 'empty-after',
    what: '200 with no body',
    see: ({ status, text, length }) => assert.deepEqual([status, text, length], [200, '', 0]),
  },
]

for (const { kind, what, see } of spoiledBodies) {
  test(`${kind} on confirm and cancel: ${what}, after the money moved; the same key returns the answer`, async () => {
    const checkout = await toss.checkout(1000)
    const { paymentKey, orderId } = checkout
    await toss.faults({ on: 'confirm', kind, times: 1 }, { on: 'cancel', kind, times: 1 })

    const confirmed = await sendRequest('/v1/payments/confirm', checkout, orderId)
    assert.deepEqual(moved(paymentKey), [['capture', 1000]])
    const confirmedAgain = await sendRequest('/v1/payments/confirm', checkout, orderId)
    see(confirmed, confirmedAgain)
    assert.partialDeepStrictEqual(JSON.parse(confirmedAgain.text), { status: 'DONE', orderId, totalAmount: 1000 })

    const cancel = () => sendRequest(`/v1/payments/${paymentKey}/cancel`, { cancelReason: 'all of it' }, orderId)
    const cancelled = await cancel()
    const cancelledAgain = await cancel()
    see(cancelled, cancelledAgain)
    assert.partialDeepStrictEqual(JSON.parse(cancelledAgain.text), { status: 'CANCELED', balanceAmount: 0 })
    assert.deepEqual(moved(paymentKey), [
      ['capture', 1000],
      ['cancel', 1000],
    ])
  })

  test(`${kind} on lookup and transactions: ${what}; the next request is answered`, async () => {
    const { paymentKey } = await toss.paid()
    await toss.faults({ on: 'lookup', kind, times: 1 }, { on: 'transactions', kind, times: 1 })
    for (const path of [`/v1/payments/${paymentKey}`, transactions]) {
      const [spoiled, whole] = [await sendRequest(path), await sendRequest(path)]
      see(spoiled, whole)
      assert.equal(typeof JSON.parse(whole.text), 'object')
    }
  })
}

const wrongAnswers: { kind: string; what: string; differs(whole: Json): Json }[] = [
  {
    kind: 'other-order-after',
    what: 'the whole payment with the orderId of another',
    differs: ({ orderId }) => ({ orderId: String(orderId).replace(/.$/, (last) => (last === '0' ? '1' : '0')) }),
  },
  {
    kind: 'other-amount-after',
    what: 'the whole payment with another totalAmount',
    differs: ({ totalAmount }) => ({ totalAmount: Number(totalAmount) + 1 }),
  },
  {
    kind: 'not-done-after',
    what: 'the payment READY, with nothing captured and nothing cancelled',
    differs: ({ totalAmount }) => ({
      status: 'READY',
      approvedAt: null,
      lastTransactionKey: null,
      cancels: null,
      balanceAmount: totalAmount,
    }),
  },
]

for (const { kind, what, differs } of wrongAnswers) {
  test(`${kind} on confirm, cancel and lookup: 200 and ${what}; the true payment is stored and returned by the next request`, async () => {
    const checkout = await toss.checkout(1000)
    const { paymentKey, orderId } = checkout
    const times = 1
    await toss.faults({ on: 'confirm', kind, times }, { on: 'cancel', kind, times }, { on: 'lookup', kind, times })
    const requests = [
      () => toss.confirm(checkout, orderId),
      () => toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 400 }, orderId),
      () => toss.lookup(paymentKey),
    ]
    for (const request of requests) {
      const wrongAnswer = await request()
      const truth = await request()
      assert.deepEqual([wrongAnswer.status, truth.status], [200, 200])
      assert.deepEqual(Object.keys(wrongAnswer.body), Object.keys(truth.body))
      assert.partialDeepStrictEqual(wrongAnswer.body, { paymentKey, ...differs(truth.body) })
      assert.notDeepEqual(wrongAnswer.body, truth.body)
      assert.partialDeepStrictEqual(truth.body, { orderId, totalAmount: 1000 })
    }
    assert.equal(await toss.statusOf(paymentKey), 'PARTIAL_CANCELED')
    assert.deepEqual(moved(paymentKey), [
      ['capture', 1000],
      ['cancel', 400],
    ])
  })

  test(`${kind}: an answer without a payment is sent unchanged, and the fault waits for one with a payment`, async () => {
    const declined = await toss.checkout(1000, 'decline')
    const fault = { on: 'confirm', kind, times: 1 }
    await toss.faults(fault)
    assertRefused(await toss.confirm(declined, declined.orderId), 403, 'REJECT_CARD_COMPANY')
    assert.deepEqual(JSON.parse((await sendRequest('/sandbox/faults')).text), [fault])
    const checkout = await toss.checkout(1000)
    assert.partialDeepStrictEqual((await toss.confirm(checkout)).body, {
      paymentKey: checkout.paymentKey,
      ...differs({ orderId: checkout.orderId, totalAmount: 1000 }),
    })
    assert.deepEqual(JSON.parse((await sendRequest('/sandbox/faults')).text), [])
  })
}

test('not-done-after: a payment that was never confirmed is returned unchanged', async () => {
  const checkout = await toss.checkout()
  await toss.faults({ on: 'lookup', kind: 'not-done-after', times: 1 })
  assert.equal(await toss.statusOf(checkout.paymentKey), 'IN_PROGRESS')
  await toss.confirm(checkout)
  assert.equal(await toss.statusOf(checkout.paymentKey), 'READY')
  assert.equal(await toss.statusOf(checkout.paymentKey), 'DONE')
})

test('a refusal can be lost in transit too: it stays bound to its key', async () => {
  const declined = await toss.checkout(1000, 'decline')
  await toss.faults({ on: 'confirm', kind: 'html-after', times: 1 }, { on: 'confirm', kind: 'empty-after', times: 1 })
  for (const type of ['text/html; charset=utf-8', 'application/json; charset=utf-8']) {
    const seen = await sendRequest('/v1/payments/confirm', declined, declined.orderId)
    assert.deepEqual([seen.status, seen.type], [200, type])
  }
  assertRefused(await toss.confirm(declined, declined.orderId), 403, 'REJECT_CARD_COMPANY')
  assert.deepEqual(moved(declined.paymentKey), [])
})

test('delay-after: the answer arrives long after the money has moved', async () => {
  const [soon, late] = [await toss.checkout(1000), await toss.checkout(1000)]
  await toss.faults({ on: 'confirm', kind: 'delay-after', times: 1, delayMs: 30 })
  assert.equal((await toss.confirm(soon, soon.orderId)).body.status, 'DONE')

  await toss.faults({ on: 'confirm', kind: 'delay-after', times: 1, delayMs: 60_000 })
  const controller = new AbortController()
  const waiting = assert.rejects(sendRequest('/v1/payments/confirm', late, late.orderId, controller.signal), {
    name: 'AbortError',
  })
  await until('the capture', () => moved(late.paymentKey).length > 0)
  controller.abort()
  await waiting
  assert.deepEqual(moved(late.paymentKey), [['capture', 1000]])
  assert.equal((await toss.confirm(late, late.orderId)).body.status, 'DONE')
})
