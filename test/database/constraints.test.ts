// What the schema forbids, whatever the code does: each constraint, unique index and trigger is violated once by handwritten
// SQL, and the refusal has its name.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { greatestUuid, leastUuid } from '../../src/core/ids.ts'
import { journalled } from '../../src/payments/audit/scans.sql.ts'
import { packages } from '../../src/payments/packages.ts'
import { creditCases, movedTo } from '../support/constraints/credit-cases.ts'
import { logCases } from '../support/constraints/log-cases.ts'
import { operatorCases } from '../support/constraints/operator-cases.ts'
import { paymentCases } from '../support/constraints/payment-cases.ts'
import { publicationCases, publicationRows, publicationTriggers } from '../support/constraints/publication-cases.ts'
import { addQueue, roleCases } from '../support/constraints/role-cases.ts'
import {
  action,
  actionEnd,
  auditRow,
  books,
  cancel,
  capture,
  closed,
  customer,
  discrepancy,
  entry,
  event,
  expiry,
  figure,
  gatewayAttempt,
  hold,
  movement,
  notification,
  operation,
  operator,
  order,
  orderHold,
  type Row,
  release,
  run,
  serviceHold,
  session,
  spend,
  stranger,
  token,
  uuid,
  wrongPasswords,
} from '../support/constraints/rows.ts'
import { type Books, bookkeeper, writeBooks } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'

const cases = { ...creditCases, ...paymentCases, ...operatorCases, ...publicationCases }
const allRows = [...books, ...publicationRows]

const appendOnly = (operation: string, table = 'ledger_entries') => `${table} is append-only: ${operation} is refused`
const keepsRows = (operation: string, table: string) =>
  `${table} keeps its rows: ${operation} is refused, suspend instead`
const unentered = `credits of ${customer} move without an entry`
const [ofTheLedger, ofAccounts] = ['ledger_entries_append_only', 'accounts_move_by_entry']

const triggers: [what: string, trigger: string, sql: string, message: string][] = [
  ['adjusted credits without an entry', ofAccounts, 'update accounts set adjusted = adjusted + 1', unentered],
  [
    'an update of an entry',
    ofTheLedger,
    'update ledger_entries set delta = 5 where entry_number = 1',
    appendOnly('UPDATE'),
  ],
  ['an update of no entry', ofTheLedger, 'update ledger_entries set delta = 5 where false', appendOnly('UPDATE')],
  ['a delete of an entry', ofTheLedger, 'delete from ledger_entries where entry_number = 4', appendOnly('DELETE')],
  ['a truncate of the ledger', ofTheLedger, 'truncate ledger_entries cascade', appendOnly('TRUNCATE')],
  ['a truncate through the accounts', ofTheLedger, 'truncate accounts cascade', appendOnly('TRUNCATE')],
  ...['api_keys', 'service_tokens', 'operators', 'adjustment_requests', 'adjustment_days'].flatMap(
    (table): typeof triggers => [
      [`a delete from ${table}`, `${table}_never_deleted`, `delete from ${table}`, keepsRows('DELETE', table)],
      [`a truncate of ${table}`, `${table}_never_deleted`, `truncate ${table} cascade`, keepsRows('TRUNCATE', table)],
    ],
  ),
  ...Object.entries({
    UPDATE: `update operator_actions set actor = 'another'`,
    DELETE: 'delete from operator_actions',
    TRUNCATE: 'truncate operator_actions',
  }).map(([operation, sql]): (typeof triggers)[number] => {
    const what = `${operation.toLowerCase()} of the action log`
    return [what, 'operator_actions_append_only', sql, appendOnly(operation, 'operator_actions')]
  }),
  ...Object.entries({
    UPDATE: `update payment_attempts set gateway_code = 'ANOTHER'`,
    DELETE: 'delete from payment_attempts',
    TRUNCATE: 'truncate payment_attempts',
  }).map(([operation, sql]): (typeof triggers)[number] => {
    const what = `${operation.toLowerCase()} of the gateway attempts`
    return [what, 'payment_attempts_append_only', sql, appendOnly(operation, 'payment_attempts')]
  }),
  ...Object.entries({
    UPDATE: `update cancel_keys set key_id = 'another'`,
    DELETE: 'delete from cancel_keys',
    TRUNCATE: 'truncate cancel_keys',
  }).map(([operation, sql]): (typeof triggers)[number] => {
    const what = `${operation.toLowerCase()} of the cancel keys`
    return [what, 'cancel_keys_append_only', sql, appendOnly(operation, 'cancel_keys')]
  }),
  ...Object.entries({
    UPDATE: 'update adjustments set credits = 2',
    DELETE: 'delete from adjustments',
    TRUNCATE: 'truncate adjustments',
  }).map(([operation, sql]): (typeof triggers)[number] => {
    const what = `${operation.toLowerCase()} of the adjustments`
    return [what, 'adjustments_append_only', sql, appendOnly(operation, 'adjustments')]
  }),
  ...['use_labels', 'use_details'].flatMap((table): typeof triggers => [
    [`an update of ${table}`, `${table}_append_only`, `update ${table} set label = 'a'`, appendOnly('UPDATE', table)],
    [`a delete from ${table}`, `${table}_append_only`, `delete from ${table}`, appendOnly('DELETE', table)],
    [`a truncate of ${table}`, `${table}_append_only`, `truncate ${table} cascade`, appendOnly('TRUNCATE', table)],
  ]),
  [
    'details of a purchase',
    'use_details_of_a_use',
    `insert into use_details (customer_id, entry_number, units) values ('${customer}', 5, 1)`,
    'the entry 5 is no spend or hold of a service',
  ],
  [
    'details of the end of a hold',
    'use_details_of_a_use',
    `insert into use_details (customer_id, entry_number, units) values ('${customer}', 8, 1)`,
    'the entry 8 is no spend or hold of a service',
  ],
  ...Object.entries({
    UPDATE: 'update audits set violation_count = 0',
    DELETE: 'delete from audits',
    TRUNCATE: 'truncate audits cascade',
  }).map(([operation, sql]): (typeof triggers)[number] => {
    const what = `${operation.toLowerCase()} of the audits`
    return [what, 'audits_append_only', sql, appendOnly(operation, 'audits')]
  }),
  ...Object.entries({
    UPDATE: `update record_journal set row_key = 'another'`,
    DELETE: 'delete from record_journal',
    TRUNCATE: 'truncate record_journal',
  }).map(([operation, sql]): (typeof triggers)[number] => {
    const what = `${operation.toLowerCase()} of the journal of records`
    return [what, 'record_journal_append_only', sql, appendOnly(operation, 'record_journal')]
  }),
  ...Object.entries({
    'a customer whose id stands for all customers': `insert into customers (customer_id) values ('${leastUuid}')`,
    'a name of the platform': `insert into customers (customer_id, name) values ('${greatestUuid}', 'platform')`,
    'a key of the platform': `insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four)
      values ('key_9', '${greatestUuid}', 1, sha256('key'), 'last')`,
  }).map(([what, sql]): (typeof triggers)[number] => {
    const trigger = sql.startsWith('insert into customers')
      ? 'customers_have_ids_of_their_own'
      : 'api_keys_are_of_customers'
    return [what, trigger, sql, 'the id stands for all customers, or for the platform: INSERT is refused']
  }),
  [
    'removing the head of the journal',
    'record_journal_head_never_deleted',
    'delete from record_journal_head',
    keepsRows('DELETE', 'record_journal_head'),
  ],
  [
    'setting the head of the journal back',
    'record_journal_head_moves_on',
    'update record_journal_head set last_number = 1',
    'the journal of records does not go from 7 to 1',
  ],
  ...['delete from budgets', 'truncate budgets cascade'].map((sql): (typeof triggers)[number] => {
    const operation = sql.startsWith('delete') ? 'DELETE' : 'TRUNCATE'
    return [`"${sql}"`, 'budgets_never_deleted', sql, `a budget keeps its row: ${operation} is refused`]
  }),
  ...['delete from refund_rules', 'truncate refund_rules'].map((sql): (typeof triggers)[number] => {
    const operation = sql.startsWith('delete') ? 'DELETE' : 'TRUNCATE'
    return [`"${sql}"`, 'refund_rules_never_deleted', sql, appendOnly(operation, 'refund_rules')]
  }),
  ...Object.entries({
    'another share in a rule of refunds that holds': `set share_percent = 1 where holds_from = '-infinity'`,
    'another day of a rule of refunds': `set holds_from = '9000-01-02' where holds_from = '9000-01-01'`,
  }).map(([what, change]): (typeof triggers)[number] => [
    what,
    'refund_rules_stay',
    `update refund_rules ${change}`,
    'a rule of refunds stays from its day on: UPDATE is refused',
  ]),
  [
    'a rule of refunds of a day since which an order was confirmed',
    'refund_rules_of_later_orders',
    `insert into refund_rules (holds_from, full_price_days, smallest_amount, share_percent) values ('2000-01-01', 1, 1, 1)`,
    'orders were confirmed since 2000-01-01',
  ],
  ['holding credits without an entry', ofAccounts, 'update accounts set held = 1', unentered],
  ['taking credits without an entry', ofAccounts, 'update accounts set balance = 0', unentered],
  [
    'taking credits with the hash of another entry',
    ofAccounts,
    'update accounts set balance = 0, last_entry = last_entry + 1',
    unentered,
  ],
  ...publicationTriggers,
]

let database: OwnTestDatabase
let client: pg.PoolClient
/** Books written by the service, for the cases of the service role. */
let realBooks: OwnTestDatabase
let written: Books
before(async () => {
  database = await createTestDatabase()
  client = await database.ownerPool.connect()
  realBooks = await createTestDatabase()
  written = await writeBooks(bookkeeper(realBooks.pool))
  await realBooks.query(addQueue(written))
})
after(async () => {
  client.release()
  await database.drop()
  await realBooks.drop()
})

async function insert(table: string, row: Row): Promise<void> {
  const places = Object.keys(row).map((_, index) => `$${index + 1}`)
  await client.query(
    `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  )
}

const tables = [...new Set(allRows.map(([table]) => table))]
const setTriggers = (state: 'enable' | 'disable') =>
  client.query(tables.map((table) => `alter table ${table} ${state} trigger user`).join(';'))

/**
 * Runs the work on the handwritten books, and rolls everything back. The triggers would refuse these rows, so they are
 * disabled while the rows are inserted.
 */
async function onTheBooks(work: () => Promise<unknown>, { triggers = false } = {}): Promise<void> {
  await client.query('begin')
  try {
    await setTriggers('disable')
    for (const [table, row] of allRows) await insert(table, row)
    if (triggers) await setTriggers('enable')
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

for (const [what, trigger, sql, message] of triggers) {
  test(`${what} is refused by ${trigger}`, async () => {
    await onTheBooks(() => assert.rejects(client.query(sql), { code: '23001', message }), { triggers: true })
  })
}

for (const [what, refusedBy, sql] of roleCases) {
  test(`${what} is refused to the service role by ${refusedBy}`, async () => {
    const serving = await realBooks.pool.connect()
    await serving.query('begin')
    try {
      await assert.rejects(serving.query(sql(written)), (error: pg.DatabaseError) => {
        assert.equal(error.constraint, refusedBy, error.message)
        return true
      })
    } finally {
      await serving.query('rollback')
      serving.release()
    }
  })
}

test('the catalogue in the schema is that of section 2', async () => {
  const [row] = await database.query<{ definition: string }>(
    `select pg_get_triggerdef(oid, true) as definition from pg_trigger where tgname = 'orders_sold_by_the_catalogue'`,
  )
  const sold =
    row?.definition.matchAll(/new\.package_type = '(\w+)'::text AND new\.amount = (\d+) AND new\.credits = (\d+)/g) ??
    []
  assert.deepEqual(
    [...sold].map(([, packageType, price, credits]) => ({
      packageType,
      price: Number(price),
      credits: Number(credits),
    })),
    packages.map(({ packageType, price, credits }) => ({ packageType, price, credits })),
  )
})

test('rows that differ only in the subject of a constraint are accepted', async () => {
  await onTheBooks(async () => {
    await client.query(movedTo('balance = 9007199254740991, held = balance'))
    await insert('ledger_entries', entry({ order_id: 'pending' }))
    await insert('ledger_entries', spend({ entry_number: 10, reference: 'another' }))
    await insert('ledger_entries', orderHold({ entry_number: 11, order_id: 'confirmed' }))
    await insert('ledger_entries', release({ entry_number: 12, order_id: 'confirmed' }))
    await insert('ledger_entries', orderHold({ entry_number: 13, order_id: 'confirmed', hold_id: uuid(10) }))
    await insert('ledger_entries', capture({ entry_number: 14, hold_id: uuid(10), held_delta: -3 }))
    await insert('ledger_entries', serviceHold({ entry_number: 15, reference: 'r', hold_id: uuid(11) }))
    await insert('ledger_entries', release({ entry_number: 16, kind: 'EXPIRE', hold_id: uuid(11) }))
    await insert('holds', hold({}))
    await insert('holds', hold({ hold_id: uuid(10), state: 'CAPTURED', captured: 1, closing_entry: 14 }))
    await insert('holds', hold({ hold_id: uuid(11), state: 'EXPIRED', closing_entry: 16 }))
    await insert('service_tokens', token({}))
    await insert('events', event({}))
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
    await insert('operator_actions', action({}))
    await insert('operator_actions', actionEnd({}))
    await insert('operator_actions', action({ action_id: uuid(10), subject: 'ord_1', reason: 'asked for' }))
    await insert('operators', operator({}))
    await insert('operator_sessions', session({}))
    await insert('sign_in_failures', wrongPasswords({}))
    await insert('payment_attempts', gatewayAttempt({}))
    await insert('hourly_figures', figure({ hour: '2026-01-01T00:00:00Z', figure: 'another' }))
    await insert('audits', auditRow({ violation_count: 2, findings: '[{}]' }))
  })
})

const ofTheMoneyPath = ['accounts', 'ledger_entries', 'holds', 'orders', 'payment_operations', 'events']

test('uniqueness is per customer: another customer may have the same ids, keys and references', async () => {
  await onTheBooks(async () => {
    await insert('customers', { customer_id: stranger, name: 'stranger' })
    for (const [table, row] of books.filter(([table]) => ofTheMoneyPath.includes(table))) {
      await insert(table, { ...row, customer_id: stranger })
    }
  })
})

// orders_transitions has its 25 pairs in order-status.test.ts. Some triggers refuse nothing: recognise.test.ts has those
// that note a suspension, upgrade.test.ts the one that lowers adjusted credits, audit.test.ts and record-journal.test.ts
// those that write the journal, actions.test.ts the one that keeps the open actions, cluster.test.ts the one that opens the account. On one server the primary keys of the figures
// come before the unique indexes of groups. The log has its cases in transparency/constraints.test.ts.
test('every constraint, unique index and trigger of the schema has its case', async () => {
  const rows = await database.query<{ name: string }>(`
    select conname as name from pg_constraint
    where connamespace = 'public'::regnamespace and contype <> 'n' and conrelid <> 'schema_migrations'::regclass
      and conname not like '%\\_rules'
    union
    -- Three tables have all their rules in a function.
    select c.conrelid::regclass || '_' || rule[1]
    from pg_constraint c
    join pg_depend d on d.classid = 'pg_constraint'::regclass and d.objid = c.oid and d.refclassid = 'pg_proc'::regclass
    join pg_proc f on f.oid = d.refobjid
    cross join regexp_matches(f.prosrc, 'then ''([a-z_0-9]+)''', 'g') as rule
    where c.conname like '%\\_rules'
    union
    select indexrelid::regclass::text from pg_index where indisunique and indrelid in (
      select oid from pg_class where relnamespace = 'public'::regnamespace and relname <> 'schema_migrations')
    union
    select tgname from pg_trigger where not tgisinternal`)
  const broken = Object.entries(cases).flatMap(([table, each]) => each.map(([, name]) => `${table}_${name}`))
  const noting = ['api_keys_note_suspension', 'service_tokens_note_suspension', 'customers_mark_the_account']
  const ofGroups = ['customers_have_an_account', 'figures_reached_of_groups', 'hourly_figures_of_groups']
  const lowering = 'accounts_adjusted_within_balance'
  // In transparency/restored.test.ts.
  const ofRestores = ['append_only', 'id', 'numbers', 'pkey'].map((name) => `log_restores_${name}`)
  const changing = Object.values(journalled)
    .map(({ table }) => table)
    .filter((table) => !['operator_actions', 'audits'].includes(table))
  const journalling = [
    ...Object.values(journalled).map(({ table }) => `${table}_journalled`),
    ...changing.map((table) => `${table}_changes_journalled`),
  ]
  const covered = new Set([
    ...ofGroups,
    'orders_transitions',
    ...noting,
    lowering,
    ...ofRestores,
    'operator_actions_open',
    ...journalling,
    ...broken,
    ...triggers.map(([, name]) => name),
    ...roleCases.map(([, name]) => name),
    ...logCases.map(([, name]) => name),
  ])
  assert.deepEqual(new Set(rows.map((row) => row.name)), covered)
})
