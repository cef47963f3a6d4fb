// Checks that compare what was read at two moments, or what happened with its excuse: each notices what it is for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { checkActionLog } from '../../proof/model/checks/action-log.ts'
import { checkBooks } from '../../proof/model/checks/money/books.ts'
import { checkGateway } from '../../proof/model/checks/money/gateway.ts'
import { creditsTakenTwice } from '../../proof/model/checks/money/lots.ts'
import { createWatch, type EntryDigest } from '../../proof/model/checks/money/watch.ts'
import { refusedGoodPayments } from '../../proof/model/checks/reasons.ts'
import { checkReceipts } from '../../proof/model/checks/receipts.ts'
import type { Outcome } from '../../proof/model/history.ts'
import type { Books } from '../../proof/world/postgres.ts'
import { logOrigin } from '../../proof/world/settings.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import { createDatabase } from '../../src/db/database.ts'
import { type Action, recordAction } from '../../src/operators/action-log.ts'
import type { Violation } from '../../src/payments/audit/audit.ts'
import { logKeysOf, signCheckpoint } from '../../src/transparency/note.ts'
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
    const order = {
      ...payment,
      status: 'REFUNDED',
      amount: 3_000,
      refundedAmount: 3_000,
      paidWith: null,
      partsAmount: 0,
      transactionKey,
    }
    const evidence = { movements, orders: new Map([['order', order]]), reversals: [], discrepancies: [] } as never
    return checkGateway(evidence).flatMap(({ id, violations }) => violations.map(() => id))
  }
  assert.deepEqual(found('captured'), [])
  assert.deepEqual(found('part'), [])
  assert.deepEqual(found(null), [])
  assert.deepEqual(found('all'), ['C-18'])
})

test('L-3: a cancel or a refund of the unused part is noticed that took credits which were spent, or taken, when it began', async () => {
  type Taking = { id: string; kind: 'CANCEL' | 'REFUND'; credits: number }
  const entry = (kind: string, delta: number, orderId: string | null = null, taking?: Taking) => ({
    customerId: 'acme',
    kind,
    delta,
    orderId,
    operationId: taking?.id ?? null,
    operationKind: taking?.kind ?? null,
    taken: taking?.credits ?? 0,
    isPart: taking?.kind === 'REFUND',
  })
  const found = (...entries: ReturnType<typeof entry>[]) => {
    const bought = [entry('GRANT', 10, 'one'), entry('GRANT', 10, 'two'), entry('SPEND', -4), entry('GOODWILL', 4)]
    const query = async <Row extends object>() => [...bought, ...entries] as object[] as Row[]
    return creditsTakenTwice({ books: { query, queryEach: () => query() } })
  }
  const part = (credits: number) => entry('HOLD', 0, 'one', { id: 'p', kind: 'REFUND', credits })
  assert.deepEqual(await found(part(6)), [])
  assert.deepEqual(await found(part(10)), ['one: a refund took 10 credits, 6 were unspent'])

  const [first, second] = (['one', 'two'] as const).map((id) => ({ id, kind: 'CANCEL' as const, credits: 10 }))
  const [begun, other] = [entry('HOLD', 0, 'one', first), entry('HOLD', 0, 'two', second)]
  const twice = ['two: a cancel took 10 credits, 6 were paid for and unspent']
  assert.deepEqual(await found(begun), [])
  assert.deepEqual(await found(begun, entry('RELEASE', 0, 'one', first), other), [])
  assert.deepEqual(await found(begun, other), twice)
  assert.deepEqual(await found(begun, entry('ROLLBACK', -10, 'one', first), other), twice)
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

test('O-1, O-2: an answered action with an unknown outcome is noticed, unless its service has logged that it could not write it', async () => {
  const reason = 'as call 1 of kim'
  const action: Action = {
    actor: 'kim in the console from 127.0.0.1',
    command: 'orders settle',
    arguments: ['order'],
    subject: 'order',
    reason,
  }
  const [ids, lines]: [string[], string[]] = [[], []]
  const database = createDatabase(
    {
      query: async ({ values = [] }: { values?: unknown[] }) => {
        if (ids.length > 0) throw new Error('the disk is full')
        ids.push(String(values[0]))
        return { rows: [] }
      },
    },
    silentLog,
  )
  await recordAction({ database, onUnwritten: ({ text }) => void lines.push(text) }, action, async () => ({}))
  assert.equal(lines.length, 1)

  const row = { ...action, actionId: ids[0], outcome: 'unknown', about: {}, begunAt: 0, runFinishedAt: null }
  const call = {
    number: 1,
    service: 'a',
    operator: 'kim',
    role: 'admin',
    endpoint: 'settleOrder',
    params: { orderId: 'order' },
    body: { reason },
    reason,
    flaw: null,
    invokedAtMs: 0,
    outcome: { kind: 'ok', data: {} },
  }
  const found = async (log: string[]) => {
    const service = { name: 'a', readLog: () => log.map((msg) => JSON.stringify({ msg })).join('\n'), killsMs: [] }
    const world = { books: booksOf(() => [row]), services: [service] } as never
    const checks = await checkActionLog(world, { consoleCalls: [call], shop: { customers: [] } } as never)
    return checks.flatMap(({ id, violations }) => violations.map(() => id))
  }
  assert.deepEqual(await found(lines), [])
  assert.deepEqual(await found([]), ['O-1', 'O-2'])
})
