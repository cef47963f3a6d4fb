// Checks that compare what was read at two moments, or what happened with its excuse: each notices what it is for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBooks } from '../../chaos/checks/money/books.ts'
import { checkGateway } from '../../chaos/checks/money/gateway.ts'
import { partsOfOtherSize } from '../../chaos/checks/money/lots.ts'
import { createWatch, type EntryDigest } from '../../chaos/checks/money/watch.ts'
import { refusedGoodPayments } from '../../chaos/checks/reasons.ts'
import type { Books } from '../../chaos/world/postgres.ts'
import { createDatabase } from '../../src/db/database.ts'
import type { Violation } from '../../src/payments/audit/audit.ts'
import { silentLog } from '../support/database/database.ts'

/** Books that answer every statement with these rows. */
function booksOf(rows: () => object[]): Books {
  const query = async <Row extends object>() => rows() as Row[]
  return { query, queryEach: () => query() }
}

test('I-15: a ledger entry that changes after it was read is noticed, the last of many too, and one that is gone', () => {
  const entries: EntryDigest[] = Array.from({ length: 1_000 }, (_, place) => ({ entry: `c/${place}`, digest: 'first' }))
  const watch = createWatch(
    booksOf(() => []),
    createDatabase({ query: async () => ({ rows: [] }) }, silentLog),
  )
  watch.noteEntries(entries)
  assert.deepEqual(watch.findChanged(entries), [])
  const changed = entries.with(999, { entry: 'c/999', digest: 'second' })
  watch.noteEntries(changed)
  assert.deepEqual(watch.findChanged(changed), ['c/999 has changed'])
  assert.deepEqual(watch.findChanged(entries.slice(1)), ['c/0 is gone'])
})

test('I-1…17: each rule of the audit that is broken is a failure of its own, however often another one is', async () => {
  const noRows = booksOf(() => [])
  const watch = createWatch(noRows, createDatabase({ query: async () => ({ rows: [] }) }, silentLog))
  const world = { books: noRows, runCommand: async () => ({ code: 0, stdout: '', stderr: '' }) } as never
  const found = async () =>
    (await checkBooks(world, watch)).flatMap(({ title, rule, violations }) =>
      title === 'the audit finds no rule broken' ? [[rule, violations.length]] : [],
    )
  assert.deepEqual(await found(), [[undefined, 0]])
  const broken = (rule: string) => ({ invariant: 'I-3', rule }) as Violation
  watch.noteRules([...Array.from({ length: 50 }, () => broken('one')), broken('two')])
  assert.deepEqual(await found(), [
    ['I-3 one', 20],
    ['I-3 two', 1],
  ])
})

test('C-17: a refusal of a good payment is excused by a lie about that payment only, or by a cancel a lease after the send', async () => {
  const rowOf = (name: string, code: string, isLeaseOver = true) => ({
    orderId: `order ${name}`,
    paymentKey: `payment ${name}`,
    code,
    isLeaseOver,
  })
  const rows = [
    rowOf('one', 'UNKNOWN'),
    rowOf('two', 'UNKNOWN'),
    rowOf('three', 'PAYMENT_OF_ANOTHER_ORDER'),
    rowOf('four', 'ABANDONED'),
  ]
  const world = { books: booksOf(() => rows) }
  const orders = new Map(
    rows.map(({ orderId, paymentKey }) => [orderId, { checkouts: [{ paymentKey, result: 'approve' }] }]),
  )
  const evidence = { reversals: [], shop: { orders } } as never
  const refused = (about: string[], isComplete = true) =>
    refusedGoodPayments(world, evidence, { about: new Set(about), isComplete })
  const [one, two, three] = [
    'order one: payment one was refused with UNKNOWN',
    'order two: payment two was refused with UNKNOWN',
    'order three: payment three was refused with PAYMENT_OF_ANOTHER_ORDER',
  ]
  assert.deepEqual(await refused(['payment of another', 'a fourth', 'a fifth']), [one, two, three])
  assert.deepEqual(await refused(['payment two', 'order three']), [one])
  // The sandbox was killed before its log was read.
  assert.deepEqual(await refused([], false), [one, two])
  rows.splice(0, rows.length, rowOf('four', 'ABANDONED', false))
  assert.deepEqual(await refused([]), ['order four: payment four was refused with ABANDONED'])
})

test('C-18: a grant is noticed whose confirm was approved by a payment that had been returned, also after a refund', () => {
  const payment = { orderId: 'order', paymentKey: 'payment' }
  const movements = [
    { ...payment, kind: 'capture', amount: 3_000, transactionKey: 'captured' },
    { ...payment, kind: 'cancel', amount: 1_000, transactionKey: 'part' },
    { ...payment, kind: 'cancel', amount: 2_000, transactionKey: 'all' },
  ]
  const found = (transactionKey: string | null) => {
    const order = { ...payment, status: 'REFUNDED', amount: 3_000, refundedAmount: 3_000, transactionKey }
    const evidence = { movements, orders: new Map([['order', order]]), reversals: [], discrepancies: [] } as never
    return checkGateway(evidence).flatMap(({ id, violations }) => violations.map(() => id))
  }
  assert.deepEqual(found('captured'), [])
  assert.deepEqual(found('part'), [])
  assert.deepEqual(found(null), [])
  assert.deepEqual(found('all'), ['C-18'])
})

test('L-3: a refund of the unused part that took credits which were spent when it began is noticed', async () => {
  const entries = [
    { entryNumber: 1, kind: 'GRANT', delta: 10, orderId: 'order' },
    { entryNumber: 2, kind: 'GRANT', delta: 10, orderId: 'another' },
    { entryNumber: 3, kind: 'SPEND', delta: -4, orderId: null },
    { entryNumber: 4, kind: 'HOLD', delta: 0, orderId: 'order' },
    { entryNumber: 5, kind: 'REFUND', delta: -6, orderId: 'order' },
  ]
  const found = (credits: number, entryNumber: number) => {
    const begun = [{ customerId: 'acme', orderId: 'order', credits, entryNumber }]
    const query = async <Row extends object>(text: string) =>
      (text.includes('payment_operations') ? begun : entries) as object[] as Row[]
    return partsOfOtherSize({ books: { query, queryEach: (text) => query(text) } })
  }
  assert.deepEqual(await found(6, 4), [])
  assert.deepEqual(await found(10, 3), [])
  assert.deepEqual(await found(10, 4), ['order: 10 credits taken, 6 were unspent'])
})
