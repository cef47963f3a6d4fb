// A cancelled payment that the gateway restores on the same day: the last cancel is taken back, as if it had never been.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import { readMovements } from '../../sandbox/journal.ts'
import { koreanTime } from '../../sandbox/payments/payments.ts'
import { assertRefused, call, type Json, openSandboxes, type Shop, shop } from '../support/gateway/sandbox-shop.ts'
import { startReceiver } from '../support/gateway/webhook-receiver.ts'

const { directory, start } = openSandboxes()
const receiver = await startReceiver()

const hour = 3600_000
let started = 0
let name = ''
let url = ''
let toss: Shop
beforeEach(async () => {
  started += 1
  name = `restored-${started}`
  url = (await start({ name, webhookUrl: receiver.url })).url
  toss = shop(url)
  await startOfDay(toss)
})

/** So that no midnight is between the steps of a test. */
async function startOfDay(there: Shop) {
  const now = await there.now()
  await there.advance(24 * hour - ((now + 9 * hour) % (24 * hour)))
}

const restore = (paymentKey: string) => call(`${url}/sandbox/payments/${paymentKey}/restore`, 'POST')
const cancel = async (paymentKey: string, cancelAmount?: number) =>
  (await toss.cancel(paymentKey, { cancelReason: 'a mistake', cancelAmount })).body
async function listed(): Promise<unknown[]> {
  const at = (offset: number) => koreanTime(new Date(offset)).slice(0, 19)
  const now = await toss.now()
  const query = new URLSearchParams({ startDate: at(now - 24 * hour), endDate: at(now + 24 * hour) })
  const rows = JSON.parse((await call(`${url}/v1/transactions?${query}`, 'GET')).text) as Json[]
  return rows.map(({ status, amount }) => [status, amount])
}

test('a cancelled payment is DONE again, as it was, and its webhook says so', async () => {
  const { paymentKey } = await toss.paid(15_000)
  const paid = await toss.lookup(paymentKey)
  await cancel(paymentKey)
  await receiver.statusesOf(paymentKey, 2)
  const restored = await restore(paymentKey)
  assert.equal(restored.status, 200)
  assert.equal(restored.text, paid.text)
  assert.equal((await toss.lookup(paymentKey)).text, paid.text)
  assert.deepEqual((await receiver.statusesOf(paymentKey, 3)).at(-1), 'DONE')
  assert.deepEqual(await listed(), [['DONE', 15_000]])
  const [capture, ...others] = readMovements(join(directory, name, 'journal.jsonl'))
  assert.deepEqual([capture?.kind, others], ['capture', []])
})

test('only the last cancel is taken back, each time, and the payment can be cancelled again', async () => {
  const { paymentKey } = await toss.paid(15_000)
  await cancel(paymentKey, 5_000)
  const partly = await toss.lookup(paymentKey)
  await cancel(paymentKey, 7_000)
  assert.equal((await restore(paymentKey)).text, partly.text)
  assert.deepEqual(await listed(), [
    ['DONE', 15_000],
    ['PARTIAL_CANCELED', 5_000],
  ])
  const again = await cancel(paymentKey, 10_000)
  assert.partialDeepStrictEqual(again, { status: 'PARTIAL_CANCELED', balanceAmount: 0 })
  await restore(paymentKey)
  assert.partialDeepStrictEqual((await restore(paymentKey)).body, {
    status: 'DONE',
    balanceAmount: 15_000,
    cancels: null,
  })
  assert.partialDeepStrictEqual(await cancel(paymentKey), { status: 'CANCELED' })
  assert.deepEqual(await listed(), [
    ['DONE', 15_000],
    ['CANCELED', 15_000],
  ])
})

test('it is restored after a restart, too, and stays restored', async () => {
  const own = await start({ name: 'restart' })
  const there = shop(own.url)
  await startOfDay(there)
  const one = await there.paid(15_000)
  const two = await there.paid(16_000)
  for (const { paymentKey } of [one, two]) await there.cancel(paymentKey, { cancelReason: 'a mistake' })
  await call(`${own.url}/sandbox/payments/${one.paymentKey}/restore`, 'POST')
  await own.close()
  const next = await start({ name: 'restart' })
  assert.equal(await shop(next.url).statusOf(one.paymentKey), 'DONE')
  assert.equal((await call(`${next.url}/sandbox/payments/${two.paymentKey}/restore`, 'POST')).body.status, 'DONE')
  assert.deepEqual(
    readMovements(join(directory, 'restart', 'journal.jsonl')).map(({ kind, amount }) => [kind, amount]),
    [
      ['capture', 15_000],
      ['capture', 16_000],
    ],
  )
})

test('it is refused on another Korean day, without a cancel, and for an unknown payment; nothing changes then', async () => {
  const { paymentKey } = await toss.paid(15_000)
  const refused = async (message: RegExp) => {
    const reply = await restore(paymentKey)
    assertRefused(reply, 400, 'INVALID_REQUEST')
    assert.match(String(reply.body.message), message)
  }
  await refused(/^A payment that is DONE has no cancel to take back/)
  await cancel(paymentKey, 5_000)
  await toss.advance(23 * hour)
  await cancel(paymentKey)
  await toss.advance(hour)
  await refused(/^The last cancel was on \d{4}-\d\d-\d\d: it can be taken back on the same Korean day only/)
  assert.partialDeepStrictEqual((await toss.lookup(paymentKey)).body, { status: 'PARTIAL_CANCELED', balanceAmount: 0 })
  assertRefused(await restore('nobody_knows_it'), 404, 'NOT_FOUND_PAYMENT')
})
