// What the schema makes impossible, whatever the code does: each constraint, unique index and trigger is broken once, by
// SQL as somebody could type it, and refuses by its own name.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import {
  books,
  cancel,
  closed,
  confirmed,
  customer,
  discrepancy,
  entry,
  expiry,
  giveBack,
  key,
  movement,
  notification,
  operation,
  order,
  type Row,
  refund,
  refunded,
  run,
  spend,
  stranger,
  uuid,
} from '../support/rows.ts'

/** A row that cannot be inserted, or a statement that cannot be run, and the end of the name of what refuses it. */
type Case = [what: string, constraint: string, broken: Row | string]

const cases: Record<string, Case[]> = {
  customers: [
    ['a second customer with an id', 'pkey', { customer_id: customer }],
    ['a second customer with a name', 'name_key', { customer_id: stranger, name: 'customer' }],
  ],
  api_keys: [
    ['a second key with an id', 'pkey', key({ key_id: 'key_1' })],
    ['a second key with a hash', 'hash_once', key({ key_hash: Buffer.alloc(32, 1) })],
    ['a key hash that is no SHA-256', 'hash_is_sha256', key({ key_hash: Buffer.alloc(20) })],
    ['a key with a state of its own', 'status', key({ status: 'REVOKED' })],
    ['a key of nobody', 'customer_id_fkey', key({ customer_id: stranger })],
  ],
  accounts: [
    ['a second account', 'pkey', { customer_id: customer }],
    ['an account of nobody', 'customer_id_fkey', { customer_id: stranger }],
    ['a negative balance', 'held_is_covered', 'update accounts set balance = -1'],
    ['a negative balance with as much held', 'held_is_covered', 'update accounts set balance = -1, held = -1'],
    ['a negative hold', 'held_is_covered', 'update accounts set held = -1'],
    ['more held than there is', 'held_is_covered', 'update accounts set held = balance + 1'],
    ['a balance that JSON would round', 'balance_is_exact_in_json', 'update accounts set balance = 9007199254740992'],
  ],
  ledger_entries: [
    ['a second entry with a number', 'pkey', entry({ entry_number: 1 })],
    ['an entry without an account', 'customer_id_fkey', entry({ customer_id: stranger })],
    ['an entry before the first', 'number_from_one', entry({ entry_number: 0 })],
    ['a movement of another kind', 'kind', entry({ kind: 'GIFT', delta: -1 })],
    ['a grant that takes', 'sign', entry({ delta: -1 })],
    ['a grant of nothing', 'sign', entry({ delta: 0 })],
    ['a rollback that gives', 'sign', entry({ kind: 'ROLLBACK' })],
    ['a spend that gives', 'sign', spend({ delta: 1 })],
    ['a balance below zero after a spend', 'never_negative', spend({ balance_after: -1 })],
    ['a grant without its order', 'cause', entry({ order_id: null })],
    ['a grant with a reference', 'cause', entry({ reference: 'a' })],
    ['a spend without a reference', 'cause', spend({ reference: null })],
    ['a spend with an order', 'cause', spend({ order_id: 'pending' })],
    ['a second grant of an order', 'once_per_order', entry({ order_id: 'confirmed' })],
    ['a second rollback of an order', 'once_per_order', entry({ order_id: 'cancelled', kind: 'ROLLBACK', delta: -1 })],
    ['a second refund of an order', 'once_per_order', entry({ order_id: 'refunded', kind: 'REFUND', delta: -1 })],
    ['a refund that gives', 'sign', entry({ kind: 'REFUND' })],
    ['a hash that is no SHA-256', 'hash_is_sha256', entry({ entry_hash: Buffer.alloc(20) })],
    ['a second spend of a reference', 'once_per_reference', spend({ reference: 'spent' })],
  ],
  orders: [
    ['a second order with an id', 'pkey', order({ order_id: 'pending' })],
    ['an order without an account', 'customer_id_fkey', order({ customer_id: stranger })],
    ['a grant entry that does not exist', 'customer_id_grant_entry_fkey', confirmed({ grant_entry: 99 })],
    [
      'a rollback entry that does not exist',
      'customer_id_rollback_entry_fkey',
      confirmed({ status: 'CANCELLED', rollback_entry: 99 }),
    ],
    ['an order in a state of its own', 'status', order({ status: 'PAID' })],
    ['another package', 'package_type', order({ package_type: 'FREE' })],
    ['another payment method', 'payment_method', order({ payment_method: 'CASH' })],
    ['an amount of 0', 'sells_something', order({ amount: 0 })],
    ['a negative amount', 'sells_something', order({ amount: -1000 })],
    ['an order of no credits', 'sells_something', order({ credits: 0 })],
    ['a second order with an idempotency key', 'once_per_idempotency_key', order({ idempotency_key: 'used' })],
    [
      'CONFIRMED without a grant',
      'confirmed_means_granted',
      `update orders set status = 'CONFIRMED', confirmed_at = now() where order_id = 'pending'`,
    ],
    [
      'CONFIRMED without the time of it',
      'confirmed_means_granted',
      `update orders set status = 'CONFIRMED', grant_entry = 1 where order_id = 'pending'`,
    ],
    ['PENDING with a grant', 'confirmed_means_granted', confirmed({ status: 'PENDING' })],
    ['FAILED with a grant', 'confirmed_means_granted', confirmed({ status: 'FAILED' })],
    ['PENDING with a time of confirmation', 'confirmed_means_granted', order({ confirmed_at: 'now' })],
    [
      'REFUNDED without a grant',
      'confirmed_means_granted',
      `update orders set status = 'REFUNDED', grant_entry = null, confirmed_at = null where order_id = 'confirmed'`,
    ],
    [
      'CANCELLED without a rollback',
      'cancelled_means_rolled_back',
      `update orders set status = 'CANCELLED' where order_id = 'confirmed'`,
    ],
    [
      'REFUNDED without a word on what could not be taken back',
      'refunded_means_accounted_for',
      `update orders set status = 'REFUNDED' where order_id = 'confirmed'`,
    ],
    ['a shortfall of an order that is not REFUNDED', 'refunded_means_accounted_for', order({ refund_shortfall: 1 })],
    ['a shortfall below zero', 'refunded_means_accounted_for', refunded({ refund_shortfall: -1 })],
    ['a shortfall of more than was granted', 'refunded_means_accounted_for', refunded({ refund_shortfall: 2 })],
    ['an entry beside a whole shortfall', 'refunded_means_accounted_for', refunded({ refund_shortfall: 1 })],
    ['no entry without a shortfall', 'refunded_means_accounted_for', refunded({ refund_entry: null })],
    ['a refund entry that does not exist', 'customer_id_refund_entry_fkey', refunded({ refund_entry: 99 })],
    [
      'CONFIRMED with a rollback',
      'cancelled_means_rolled_back',
      `update orders set rollback_entry = 3 where order_id = 'confirmed'`,
    ],
  ],
  payment_operations: [
    ['a second operation with an id', 'pkey', cancel({ operation_id: uuid(1) })],
    ['an operation of no order', 'customer_id_order_id_fkey', operation({ order_id: 'missing' })],
    ['an operation of another kind', 'kind', giveBack({ kind: 'EXPIRE' })],
    ['an operation in a state of its own', 'state', operation({ order_id: 'failed', ...closed('LOST') })],
    ['an operation that is closed and open', 'open_is_not_closed', cancel(closed('OPEN'))],
    ['an operation that is closed at no time', 'open_is_not_closed', cancel({ state: 'APPROVED' })],
    ['an operation that is closed by nobody', 'open_is_not_closed', cancel({ ...closed('APPROVED'), closed_by: null })],
    ['a cancel that sets nothing aside', 'holds_by_kind', cancel({ credits_held: 0 })],
    ['a cancel without a reason', 'holds_by_kind', cancel({ reason: null })],
    ['a confirm that sets credits aside', 'holds_by_kind', operation({ order_id: 'failed', credits_held: 1 })],
    ['a confirm with a reason', 'holds_by_kind', operation({ order_id: 'failed', reason: 'none' })],
    ['a refund that sets less than nothing aside', 'holds_by_kind', refund({ credits_held: -1 })],
    ['a refund without a reason', 'holds_by_kind', refund({ reason: null })],
    ['a return that sets credits aside', 'holds_by_kind', giveBack({ credits_held: 1 })],
    ['a return without a reason', 'holds_by_kind', giveBack({ reason: null })],
    ['fewer attempts than none', 'attempts_counted', cancel({ attempts: -1 })],
    ['an expiry with a payment', 'expired_without_payment', expiry({ payment_key: 'pay_new' })],
    ['an operation without a payment', 'expired_without_payment', cancel({ payment_key: null })],
    ['an expiry that is no confirm', 'expired_without_payment', refund({ payment_key: null, ...closed('EXPIRED') })],
    ['an expiry of an order with a confirm', 'one_success', expiry({ order_id: 'confirmed' })],
    ['an expiry beside an open confirm', 'one_success', expiry({ order_id: 'pending' })],
    ['a second open operation of an order', 'one_open', cancel({ order_id: 'pending' })],
    [
      'a second confirm of an order that succeeds',
      'one_success',
      operation({ order_id: 'confirmed', ...closed('APPROVED') }),
    ],
    ['a payment key on a second order', 'payment_key', operation({ order_id: 'failed', payment_key: 'pay_done' })],
  ],
  discrepancies: [
    ['a second discrepancy with an id', 'pkey', discrepancy({ discrepancy_id: uuid(1), kind: 'OTHER' })],
    ['a discrepancy of no order', 'customer_id_order_id_fkey', discrepancy({ order_id: 'missing', kind: 'OTHER' })],
    ['a discrepancy that is open twice', 'open_once', discrepancy({})],
    ['a resolution at no time', 'resolved_means_explained', discrepancy({ resolution: 'by hand' })],
    ['a resolution without a word', 'resolved_means_explained', discrepancy({ resolved_at: 'now' })],
  ],
  webhook_notifications: [
    ['a transmission twice', 'pkey', notification({ transmission_id: 'first' })],
    ['processed without an outcome', 'processed_means_outcome', notification({ processed_at: 'now' })],
    ['an outcome at no time', 'processed_means_outcome', notification({ outcome: 'agrees' })],
  ],
  gateway_movements: [
    ['a movement twice', 'pkey', movement({ transaction_key: 'first' })],
    ['a movement in no direction', 'direction', movement({ direction: 'REFUND' })],
    ['a movement of less than nothing', 'amount', movement({ amount: -1 })],
  ],
  reconciliations: [
    ['a second run with an id', 'pkey', run({ reconciliation_id: uuid(1) })],
    ['a run for another cause', 'cause', run({ cause: 'WHIM' })],
    ['a span without a length', 'span', run({ to_time: '2026-01-02' })],
    ['finished without a result', 'finished_means_result', run({ finished_at: 'now' })],
    ['a result of a run that is not finished', 'finished_means_result', run({ result: {} })],
    ['a day twice', 'daily_once', run({ from_time: '2026-01-01', to_time: '2026-01-02' })],
  ],
}

const triggers: [what: string, trigger: string, sql: string, message: string][] = [
  ['an update', 'ledger_entries_append_only', 'update ledger_entries set delta = 5 where entry_number = 1', 'UPDATE'],
  ['an update of no row', 'ledger_entries_append_only', 'update ledger_entries set delta = 5 where false', 'UPDATE'],
  ['a delete', 'ledger_entries_append_only', 'delete from ledger_entries where entry_number = 4', 'DELETE'],
  ['a truncate', 'ledger_entries_append_only', 'truncate ledger_entries cascade', 'TRUNCATE'],
  ['a truncate through the customers', 'ledger_entries_append_only', 'truncate customers cascade', 'TRUNCATE'],
]

let database: TestDatabase
let client: pg.PoolClient
before(async () => {
  database = await createTestDatabase()
  client = await database.pool.connect()
})
after(async () => {
  client.release()
  await database.drop()
})

async function insert(table: string, row: Row): Promise<void> {
  const places = Object.keys(row).map((_, index) => `$${index + 1}`)
  await client.query(
    `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  )
}

/** With the books as they are above, and as if it had never happened. */
async function onTheBooks(work: () => Promise<unknown>): Promise<void> {
  await client.query('begin')
  try {
    for (const [table, row] of books) await insert(table, row)
    await work()
  } finally {
    await client.query('rollback')
  }
}

for (const [table, each] of Object.entries(cases)) {
  for (const [what, constraint, broken] of each) {
    test(`${what} is refused by ${table}_${constraint}`, async () => {
      await onTheBooks(() =>
        assert.rejects(
          typeof broken === 'string' ? client.query(broken) : insert(table, broken),
          (error: pg.DatabaseError) => {
            assert.equal(error.constraint, `${table}_${constraint}`, error.message)
            return true
          },
        ),
      )
    })
  }
}

for (const [what, trigger, sql, operationName] of triggers) {
  test(`${what} of the ledger is refused by ${trigger}`, async () => {
    const message = `ledger_entries is append-only: ${operationName} is refused`
    await onTheBooks(() => assert.rejects(client.query(sql), { code: '23001', message }))
  })
}

test('what differs in the one thing that a constraint is about is accepted', async () => {
  await onTheBooks(async () => {
    await client.query('update accounts set balance = 9007199254740991, held = balance')
    await insert('ledger_entries', entry({ order_id: 'pending' }))
    await insert('ledger_entries', spend({ entry_number: 10, reference: 'another' }))
    await insert('orders', order({ idempotency_key: 'another' }))
    await insert('orders', order({ order_id: 'newer' }))
    await insert('payment_operations', cancel({}))
    await insert('payment_operations', operation({ operation_id: uuid(10), order_id: 'failed', ...closed('REJECTED') }))
    await insert('payment_operations', operation({ operation_id: uuid(11), order_id: 'failed', ...closed('REJECTED') }))
    await insert('payment_operations', operation({ operation_id: uuid(12), order_id: 'failed' }))
    await insert('payment_operations', expiry({ operation_id: uuid(13) }))
    await insert('discrepancies', discrepancy({ resolved_at: 'now', resolution: 'by hand' }))
    await insert('discrepancies', discrepancy({ customer_id: null, order_id: null, subject: 'pay_of_nobody' }))
    await insert('webhook_notifications', notification({ processed_at: 'now', outcome: 'agrees' }))
    await insert('gateway_movements', movement({ direction: 'CANCEL' }))
    await insert('reconciliations', run({ cause: 'COMMAND', from_time: '2026-01-01', to_time: '2026-01-02' }))
    await insert('reconciliations', run({ reconciliation_id: uuid(10), finished_at: 'now', result: {} }))
  })
})

const ofTheMoneyPath = ['accounts', 'ledger_entries', 'orders', 'payment_operations']

test('what is unique is unique within a customer: another one may have the same ids, keys and references', async () => {
  await onTheBooks(async () => {
    await insert('customers', { customer_id: stranger, name: 'stranger' })
    for (const [table, row] of books.filter(([table]) => ofTheMoneyPath.includes(table))) {
      await insert(table, { ...row, customer_id: stranger })
    }
  })
})

// orders_transitions has its 25 pairs in order-status.test.ts.
test('every constraint, unique index and trigger of the schema has its case here', async () => {
  const rows = await database.query<{ name: string }>(`
    select conname as name from pg_constraint
    where connamespace = 'public'::regnamespace and contype <> 'n' and conrelid <> 'schema_migrations'::regclass
    union
    select indexrelid::regclass::text from pg_index where indisunique and indrelid in (
      select oid from pg_class where relnamespace = 'public'::regnamespace and relname <> 'schema_migrations')
    union
    select tgname from pg_trigger where not tgisinternal`)
  const broken = Object.entries(cases).flatMap(([table, each]) => each.map(([, name]) => `${table}_${name}`))
  const covered = new Set(['orders_transitions', ...broken, ...triggers.map(([, name]) => name)])
  assert.deepEqual(new Set(rows.map((row) => row.name)), covered)
})
