// Checks that compare what was read at two moments, or what happened with its excuse: each notices what it is for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkReceipts } from '../../chaos/checks/log/receipts.ts'
import { checkBooks } from '../../chaos/checks/money/books.ts'
import { checkGateway } from '../../chaos/checks/money/gateway.ts'
import { partsOfOtherSize } from '../../chaos/checks/money/lots.ts'
import { createWatch, type EntryDigest } from '../../chaos/checks/money/watch.ts'
import { refusedGoodPayments } from '../../chaos/checks/reasons.ts'
import type { Outcome } from '../../chaos/history.ts'
import type { Books } from '../../chaos/world/postgres.ts'
import { logOrigin } from '../../chaos/world/settings.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import { createDatabase } from '../../src/db/database.ts'
import type { Violation } from '../../src/payments/audit/audit.ts'
import { logKeysOf, signCheckpoint } from '../../src/transparency/note.ts'
import { silentLog } from '../support/database/database.ts'
import { hashLeaf, inclusionOf, rootOf } from '../verify/reference-log.ts'

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

test('T-1: a receipt is noticed that does not verify, is of something else, or is contradicted by a later one or by the log', async () => {
  const peppers: Peppers = [{ version: 1, secret: 'pepper' }]
  const customerId = '00000000-0000-4000-8000-000000000001'
  const grant = (entry: number, order: string) =>
    `prepaid-credits/entry/v1\ncustomer ${customerId}\nentry ${entry}\ntime 2026-01-01T00:00:00.000000Z\nkind GRANT\ndelta 5\nbalance ${5 * entry}\norder ${order}`
  const leaves = [grant(1, 'one'), grant(2, 'two'), grant(3, 'one'), grant(1, 'one')]
  const hashes = leaves.map(hashLeaf)
  /** In a log of `size` leaves, under the checkpoint of the first `signed` ones. */
  const receipt = (indexes: number[], size: number, { order = 'one', signed = size } = {}): Outcome => {
    const logged = hashes.slice(0, size)
    const keys = logKeysOf(peppers, logOrigin)
    const checkpoint = { origin: logOrigin, size: signed, root: rootOf(hashes.slice(0, signed)) }
    const data = {
      format: 'prepaid-credits/receipt/v1',
      subject: { order },
      entries: indexes.map((index) => ({
        leaf: leaves[index],
        index: `${index}`,
        proof: inclusionOf(index, logged).map((hash) => hash.toString('base64')),
      })),
      checkpoint: signCheckpoint(keys, checkpoint),
      keys: keys.map(({ vkey }) => vkey),
    }
    return { kind: 'ok', status: 200, data, message: '' }
  }
  /** The log as it is now. */
  const databaseOf = (now: Buffer[]) => {
    const head = { size: now.length, root: rootOf(now), note: '' }
    const tile = { level: 0, tile: 0, hashes: Buffer.concat(now) }
    const query = async ({ text }: { text: string }) => ({ rows: text.includes('log_head') ? [head] : [tile] })
    return createDatabase({ query }, silentLog)
  }
  const found = async (outcomes: Outcome[], now = hashes) => {
    const calls = outcomes.map((outcome, place) => ({
      number: place + 1,
      request: { op: 'receipt', customer: 0, sibling: place, of: { orderId: 'one' } },
      invokedAtMs: place * 10,
      endedAtMs: place * 10 + 5,
      outcome,
    }))
    const shop = { customers: [{ customerId }], database: databaseOf(now) }
    const world = { peppers, runOutside: <Value>(work: () => Promise<Value>) => work() }
    return (await checkReceipts(world, { shop, callsOf: { receipt: calls } } as never)).violations.join()
  }
  const [unanswered, refused]: [Outcome, Outcome] = [
    { kind: 'info', cause: 'SVC001' },
    { kind: 'fail', status: 404, code: 'NOT000', message: '', metadata: null },
  ]
  assert.equal(await found([unanswered, receipt([0], 1), receipt([0, 2], 3)]), '')
  assert.match(await found([receipt([0], 2, { signed: 1 })]), /^call 1: VerifyError: entry 1 is not at index 0 of the/)
  assert.equal(
    await found([receipt([1], 2, { order: 'two' })]),
    `call 1: a receipt of {"order":"two"} of ${customerId}`,
  )
  assert.match(await found([receipt([0], 1), receipt([3], 4)]), /^call 2: entry \S+ is at 3 .* was at 0/s)
  assert.equal(await found([receipt([0, 2], 3), receipt([0], 3)]), 'call 2: has not all entries of call 1')
  assert.match(await found([receipt([0], 3)], hashes.toReversed()), /^call 1: the log of 3 entries had the root/)
  assert.equal(await found([refused]), 'call 1: a receipt was refused with NOT000')
  assert.equal(await found([receipt([0], 1), unanswered]), 'call 2: there is no receipt of {"orderId":"one"}')
})
