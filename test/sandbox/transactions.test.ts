// GET /v1/transactions of the sandbox: rows, window, pages and refusals, also with a hundred thousand movements.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createBehaviour } from '../../sandbox/faults/behaviour.ts'
import { createMovements } from '../../sandbox/payments/movements.ts'
import { finishCheckout, koreanTime, type Payment } from '../../sandbox/payments/payments.ts'
import { listTransactions } from '../../sandbox/payments/transactions.ts'
import { assertRefused, call, type Json, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

const day = 24 * 3600_000
let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

const getTransactions = (query: Record<string, string>) =>
  call(`${url}/v1/transactions?${new URLSearchParams(query)}`, 'GET')
const local = (atMs: number) => koreanTime(new Date(atMs)).slice(0, 19)
const around = async () => {
  const nowMs = await toss.now()
  return { startDate: local(nowMs - 3600_000), endDate: local(nowMs + 3600_000) }
}
const list = async (query: Record<string, string>) => JSON.parse((await getTransactions(query)).text) as Json[]

test('has one row for the approval and one for each cancel, each with its transactionKey', async () => {
  await toss.advance(day)
  const { paymentKey, orderId } = await toss.paid(1000)
  const confirmed = (await toss.lookup(paymentKey)).body
  const first = (await toss.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 300 })).body
  const second = (await toss.cancel(paymentKey, { cancelReason: 'the rest' })).body
  await toss.confirm(await toss.checkout(1000, 'decline'))
  const rows = await list(await around())
  const [approval] = rows
  assert.deepEqual(approval, {
    mId: confirmed.mId,
    transactionKey: confirmed.lastTransactionKey,
    paymentKey,
    orderId,
    method: '카드',
    customerKey: null,
    useEscrow: false,
    receiptUrl: (confirmed.receipt as Json).url,
    status: 'DONE',
    transactionAt: confirmed.approvedAt,
    currency: 'KRW',
    amount: 1000,
  })
  assert.deepEqual(
    rows.slice(1).map(({ transactionKey, status, amount }) => [transactionKey, status, amount]),
    [
      [first.lastTransactionKey, 'PARTIAL_CANCELED', 300],
      [second.lastTransactionKey, 'PARTIAL_CANCELED', 700],
    ],
  )
})

test('cancelRowSign: the amount of a cancel is negative when set', async () => {
  await toss.advance(day)
  const { paymentKey } = await toss.paid(1000)
  await toss.cancel(paymentKey, { cancelReason: 'all of it' })
  await toss.behaviour({ cancelRowSign: 'negative' })
  const amounts = (await list(await around())).map(({ status, amount }) => [status, amount])
  assert.deepEqual(amounts, [
    ['DONE', 1000],
    ['CANCELED', -1000],
  ])
})

test('startDate and endDate are both included, in Korean time, and a date alone is its first second', async () => {
  await toss.advance(day)
  const { paymentKey } = await toss.paid(1000)
  const at = String((await toss.lookup(paymentKey)).body.approvedAt).slice(0, 19)
  const second = (offset: number) => local(Date.parse(`${at}+09:00`) + offset * 1000)
  assert.equal((await list({ startDate: at, endDate: at })).length, 1)
  assert.equal((await list({ startDate: second(1), endDate: second(60) })).length, 0)
  assert.equal((await list({ startDate: second(-60), endDate: second(-1) })).length, 0)
  assert.equal((await list({ startDate: at.slice(0, 10), endDate: `${at.slice(0, 10)}T23:59:59` })).length, 1)
  assert.equal((await list({ startDate: at.slice(0, 10), endDate: at.slice(0, 10) })).length, 0)
})

test('pages follow each other by the last transactionKey', async () => {
  await toss.advance(day)
  for (let count = 0; count < 5; count += 1) await toss.paid(1000 + count)
  const window = await around()
  const amounts: unknown[] = []
  for (let page = await list({ ...window, limit: '2' }); page.length > 0; ) {
    assert.ok(page.length <= 2)
    amounts.push(...page.map(({ amount }) => amount))
    page = await list({ ...window, limit: '2', startingAfter: String(page.at(-1)?.transactionKey) })
  }
  assert.deepEqual(amounts, [1000, 1001, 1002, 1003, 1004])
})

test('every wrong parameter has its code', async () => {
  const good = { startDate: '2026-01-01', endDate: '2026-01-02' }
  const bad: [Record<string, string>, string][] = [
    [{ endDate: '2026-01-02' }, 'INVALID_REQUEST'],
    [{ startDate: '2026-01-01' }, 'INVALID_REQUEST'],
    [{ ...good, startDate: '01/01/2026' }, 'INVALID_ISO_DATE_FORMAT'],
    [{ ...good, endDate: '2026-01-02T10:00:00+09:00' }, 'INVALID_ISO_DATE_FORMAT'],
    [{ ...good, startDate: '2026-02-30' }, 'INVALID_DATE'],
    [{ ...good, endDate: '2026-01-02T24:00:01' }, 'INVALID_DATE'],
    [{ ...good, endDate: '2025-12-31' }, 'INVALID_DATE'],
    [{ ...good, limit: '5001' }, 'EXCEED_MAX_QUERY_LIMIT'],
    [{ ...good, limit: '0' }, 'INVALID_REQUEST'],
    [{ ...good, limit: 'ten' }, 'INVALID_REQUEST'],
    [{ ...good, startingAfter: 'no-such-key' }, 'INVALID_TRANSACTION_KEY'],
  ]
  for (const [query, code] of bad) assertRefused(await getTransactions(query), 400, code)
  assertRefused(await call(`${url}/v1/transactions`, 'GET', undefined, { authorization: '' }), 401, 'UNAUTHORIZED_KEY')
})

test('a fault on transactions affects no other operation', async () => {
  await toss.faults({ on: 'transactions', kind: 'error-before', times: 1 })
  await toss.paid()
  const window = { startDate: '2026-01-01', endDate: '2026-01-02' }
  assertRefused(await getTransactions(window), 500, 'FAILED_INTERNAL_SYSTEM_PROCESSING')
  assert.equal((await getTransactions(window)).status, 200)
})

describe('with 100,000 movements', () => {
  const startMs = Date.parse('2026-03-01T00:00:00+09:00')
  const movements = createMovements()
  const begun = finishCheckout({ orderId: 'order-many', amount: 1000 }, new Date(startMs))
  const moved = (index: number, atMs: number): Payment => ({
    ...begun,
    status: 'DONE',
    approvedAt: koreanTime(new Date(atMs)),
    lastTransactionKey: `key-${index}`,
  })
  before(() => {
    for (let index = 0; index < 100_000; index += 1) movements.put(moved(index, startMs + index * 100))
  })

  function rows(query: Record<string, string>): { transactionKey: string }[] {
    const { answer } = listTransactions(movements, createBehaviour().values, query)
    assert.ok('rows' in answer, JSON.stringify(answer))
    return answer.rows as { transactionKey: string }[]
  }

  test('all are found, once and in order, on pages of the default size', () => {
    const window = { startDate: '2026-03-01', endDate: '2026-03-02' }
    const keys: string[] = []
    for (let page = rows(window); page.length > 0; ) {
      for (const { transactionKey } of page) keys.push(transactionKey)
      page = rows({ ...window, startingAfter: keys.at(-1) ?? '' })
    }
    assert.equal(keys.length, 100_000)
    assert.ok(keys.every((key, index) => key === `key-${index}`))
  })

  test('a window in the middle has its seconds only', () => {
    const found = rows({ startDate: '2026-03-01T01:00:00', endDate: '2026-03-01T01:00:01' })
    assert.deepEqual([found.length, found[0]?.transactionKey], [20, 'key-36000'])
  })

  test('a movement recorded when the clock was set back is in its place', () => {
    movements.put(moved(-1, startMs + 3600_000))
    const found = rows({ startDate: '2026-03-01T01:00:00', endDate: '2026-03-01T01:00:01' })
    assert.equal(
      found.findIndex(({ transactionKey }) => transactionKey === 'key--1'),
      10,
    )
  })
})
