// The audit: correct books pass, and each rule reports the rows that break it. Every case does its damage in a transaction
// that is rolled back, and audits on the same connection.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { refuse } from '../../src/core/errors.ts'
import { entryKinds } from '../../src/credits/movements.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import type { BrokenGuard } from '../../src/db/guards.ts'
import { selfCheck } from '../../src/db/self-check.ts'
import { type AuditOptions, type AuditResult, audit, recordedAudit } from '../../src/payments/audit/audit.ts'
import { actionRules } from '../../src/payments/audit/check-actions.ts'
import { figureRules } from '../../src/payments/audit/check-figures.ts'
import type { AuditFinding } from '../../src/payments/audit/record.sql.ts'
import { rules } from '../../src/payments/audit/rules.ts'
import { logRules } from '../../src/transparency/check.ts'
import { brokenRules } from '../support/audit/cases.ts'
import { rewritten } from '../support/audit/damage.ts'
import { brokenGuards } from '../support/audit/guard-cases.ts'
import { writeRecords } from '../support/audit/journal-cases.ts'
import { createChainHash, rewriteLedgers } from '../support/audit/rewrite-ledgers.ts'
import { type Books, bookkeeper, writeAdjustments, writeBooks } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

let database: OwnTestDatabase
let books: Books
let adjusted: string
let operator: pg.PoolClient
let underOperator: Database
let checkedOrders: number

before(async () => {
  database = await createTestDatabase()
  books = await writeBooks(bookkeeper(database.pool))
  adjusted = await writeAdjustments(bookkeeper(database.pool))
  const service = createDatabase(database.pool, silentLog)
  await writeRecords(service, (await issueKey(service, testPeppers, 'whose key leaked')).keyId)
  await database.query(createChainHash)
  const [orders] = await database.query<{ count: number }>('select count(*) as count from orders')
  checkedOrders = orders?.count ?? 0
  operator = await database.ownerPool.connect()
  underOperator = createDatabase(operator, silentLog)
})

after(async () => {
  operator.release()
  await database.drop()
})

/** Audits books that a superuser has changed without triggers. */
async function auditAfter(damage: string, options: AuditOptions = {}): Promise<AuditResult> {
  await operator.query('begin; set local session_replication_role = replica')
  try {
    await operator.query(damage)
    await operator.query('set local session_replication_role = origin')
    return await audit(underOperator, options)
  } finally {
    await operator.query('rollback')
  }
}

/** Rule and subject of each violation. */
function named({ violations }: AuditResult): string[] {
  return violations
    .map(({ invariant, rule, customerId: _, detail: __, ...subject }) =>
      `${invariant} ${rule}: ${Object.values(subject).filter(Boolean).join(' ')}`.trim(),
    )
    .sort()
}

test('books with orders, holds, entries and events of every kind pass, with chunks of any size', async () => {
  const [kinds] = await database.query(
    `select array(select distinct status from orders order by 1) as orders,
            array(select distinct state from holds order by 1) as holds,
            array(select distinct kind from ledger_entries order by 1) as entries,
            array(select distinct type from events order by 1) as events`,
  )
  assert.deepEqual(kinds, {
    orders: ['CANCELLED', 'CONFIRMED', 'FAILED', 'PENDING', 'REFUNDED'],
    holds: ['ACTIVE', 'CAPTURED', 'EXPIRED', 'RELEASED'],
    entries: [...entryKinds].sort(),
    events: [
      'budget.low',
      'credits.adjusted',
      'credits.empty',
      'credits.low',
      'credits.reversed',
      'order.cancelled',
      'order.confirmed',
      'order.failed',
      'order.refunded',
    ],
  })
  const [counts] = await database.query<AuditResult['checked']>(
    `select (select count(*) from accounts) as accounts, (select count(*) from ledger_entries) as entries,
            (select count(*) from holds) as holds,
            (select count(*) from adjustments) as adjustments, (select count(*) from orders) as orders,
            (select count(*) from payment_operations) as operations, (select count(*) from events) as events,
            (select count(*) from customers) as customers, (select count(*) from api_keys) as "apiKeys",
            (select count(*) from service_tokens) as "serviceTokens", (select count(*) from operators) as operators,
            (select count(*) from operator_actions) as "operatorActions",
            (select count(*) from discrepancies) as discrepancies, (select count(*) from audits) as audits,
            (select count(*) from budgets) as budgets, (select count(*) from budget_usage) as usage,
            (select count(*) from event_endpoints) as "eventEndpoints",
            (select count(*) from log_checkpoints) as "logCheckpoints",
            (select count(*) from record_journal) as "journalEntries", 0 as "loggedEntries",
            0 as "publishedCheckpoints"`,
  )
  for (const chunkRows of [1, 2, 3, 7, 10_000]) {
    const { tookMs, openDiscrepancies, oldestDiscrepancySeconds, ...result } = await audit(
      createDatabase(database.pool, silentLog),
      { chunkRows },
    )
    assert.deepEqual(result, {
      ok: true,
      checked: counts,
      violations: [],
      violationCount: 0,
      stranded: 0,
      unknownSigners: null,
    })
    assert.deepEqual([openDiscrepancies, typeof oldestDiscrepancySeconds], [2, 'number'])
    assert.ok(tookMs >= 0)
  }
})

test('each payment that was captured for a FAILED order is returned, and the second return may still be open', async () => {
  const rows = await database.query<{ operations: string }>(
    `select string_agg(kind || ' ' || state, ', ' order by opened_at) as operations
    from payment_operations where order_id in ($1, $2) group by order_id order by 1`,
    [books.returnedTwice, books.returning],
  )
  assert.deepEqual(
    rows.map(({ operations }) => operations),
    ['CONFIRM REJECTED, RETURN APPROVED, RETURN APPROVED', 'CONFIRM REJECTED, RETURN APPROVED, RETURN OPEN'],
  )
  assert.equal((await audit(createDatabase(database.pool, silentLog))).ok, true)
})

test('every rule has a case that breaks it', () => {
  const tried = new Set(brokenRules.map(({ invariant, rule }) => `${invariant} ${rule}`))
  assert.deepEqual(
    rules.map(({ invariant, rule }) => `${invariant} ${rule}`).filter((each) => !tried.has(each)),
    [],
  )
})

for (const { invariant, rule, when, damage, also = [] } of brokenRules) {
  test(`${invariant} ${rule}: reported when ${when}`, async () => {
    const result = await auditAfter(damage(books))
    assert.equal(result.ok, false)
    const broken = new Set(result.violations.map((each) => `${each.invariant} ${each.rule}`))
    assert.deepEqual([...broken].sort(), [`${invariant} ${rule}`, ...also].sort())
    const found = result.violations.find((each) => each.invariant === invariant && each.rule === rule)
    assert.ok(
      found?.record ||
        [books.customer, books.spender, books.visitor, books.limited, books.partCustomer, adjusted].includes(
          found?.customerId ?? '',
        ),
    )
    assert.equal(result.violationCount, result.violations.length)
  })
}

for (const { when, damage, found } of brokenGuards) {
  test(`the schema's guards are in place: reported by the audit and refused by the start when ${when}`, async () => {
    const { user } = database.connection
    await operator.query('begin')
    try {
      await operator.query(damage.replaceAll('SERVING', user))
      await operator.query(`set local role ${user}`)
      const { violations } = await audit(underOperator)
      const broken = violations.filter(({ rule }) => rule === `the schema's guards are in place`)
      assert.deepEqual(
        broken.map(({ detail }) => Object.values(detail as BrokenGuard)),
        found,
      )
      const refused = await selfCheck(underOperator, { log: silentLog }).then(
        () => '',
        (error: Error) => error.message,
      )
      const lines = refused.split('\n')
      assert.equal(lines.length, found.length, refused)
      for (const [index, [, table, name, fault]] of found.entries()) {
        for (const part of [table, name, fault]) assert.ok(lines[index]?.includes(part), `${lines[index]}: ${part}`)
      }
    } finally {
      await operator.query('rollback')
    }
  })
}

test('a break in the chain is reported at its entry, wherever a chunk ends', async () => {
  const [{ last = 0 } = {}] = await database.query<{ last: number }>(
    'select last_entry as last from accounts where customer_id = $1',
    [books.customer],
  )
  assert.ok(last >= 8)
  const of = (place: number) => `where customer_id = '${books.customer}' and entry_number = ${place}`
  // All places of a chunk of any of these sizes, and the end.
  for (const place of [1, 2, 3, 4, 5, 6, last - 1, last]) {
    const removed = await auditAfter(`delete from ledger_entries ${of(place)}`)
    const changed = await auditAfter(
      `update ledger_entries set created_at = created_at + interval '1 hour' ${of(place)}`,
    )
    const chain = removed.violations.filter(({ invariant }) => invariant === 'I-3')
    const hashes = changed.violations.filter(({ invariant }) => invariant === 'I-15')
    // Only the account shows that the last entry is missing.
    assert.deepEqual(
      chain.map(({ entryNumber }) => entryNumber),
      [place === last ? null : place + 1],
    )
    assert.deepEqual(
      hashes.map(({ entryNumber }) => entryNumber),
      [place],
    )
    for (const chunkRows of [2, 3]) {
      assert.deepEqual(
        named(await auditAfter(`delete from ledger_entries ${of(place)}`, { chunkRows })),
        named(removed),
      )
    }
  }
})

test('a ledger rewritten from one entry on is detected by the hash of the account, by later events and by confirms', async () => {
  const damage = `update ledger_entries set delta = delta + 1 where reference = 'first';
    create temporary table hashes on commit drop as select customer_id, last_hash from accounts;
    ${rewriteLedgers};
    update accounts a set last_hash = h.last_hash from hashes h where h.customer_id = a.customer_id`
  const { violations } = await auditAfter(damage)
  assert.deepEqual(
    [...new Set(violations.map(({ invariant, rule }) => `${invariant} ${rule}`))].sort(),
    ['I-15 the account knows the hash of its last entry', ...rewritten].sort(),
  )
})

test('violations are counted beyond the list, and a rule that many rows break does not displace the others', async () => {
  const damage = `update accounts set last_hash = sha256('');
    update ledger_entries set reference = reference || ' changed' where kind = 'SPEND'`
  const all = await auditAfter(damage)
  const some = await auditAfter(damage, { maxListedPerRule: 1, chunkRows: 2 })
  assert.equal(some.violationCount, all.violationCount)
  assert.equal(all.violations.length, all.violationCount)
  assert.deepEqual(
    some.violations.map(({ rule }) => rule),
    [...new Set(all.violations.map(({ rule }) => rule))],
  )
  assert.equal((await auditAfter(damage, { maxListed: 1 })).violations.length, 1)
})

test('open discrepancies are counted and are no violations', async () => {
  // There are two already.
  const { ok, openDiscrepancies, oldestDiscrepancySeconds } = await auditAfter(
    `set local session_replication_role = origin;
    insert into discrepancies (subject, kind, detail, found_at)
     values ('a', 'A', '{}', now() - interval '1 hour'), ('b', 'A', '{}', now())`,
  )
  assert.deepEqual(
    { ok, openDiscrepancies, oldestDiscrepancySeconds },
    { ok: true, openDiscrepancies: 4, oldestDiscrepancySeconds: 3_600 },
  )
})

test('an audit stores a row: cause, times, number of checked rows, and for each broken rule the count and the first subjects', async () => {
  await operator.query('begin; set local session_replication_role = replica')
  try {
    await operator.query(`
      alter table orders drop constraint orders_rules; drop trigger orders_sold_by_the_catalogue on orders;
      update orders set amount = amount + 1;
      set local session_replication_role = origin`)
    const onUnwritten = assert.fail
    const { checked, violationCount, tookMs } = await recordedAudit(underOperator, 'COMMAND', {
      onUnwritten,
      maxListed: 0,
    })
    const [row] = (
      await operator.query(
        `select cause, rules, checked, violation_count, findings, ended_at, begun_at from audits
        order by ended_at desc limit 1`,
      )
    ).rows
    assert.deepEqual(
      [row.cause, row.rules, row.checked, row.violation_count],
      [
        'COMMAND',
        [rules, actionRules, figureRules, logRules].flatMap(Object.values).length - 3 + 3,
        checked,
        violationCount,
      ],
    )
    assert.equal(row.ended_at - row.begun_at, tookMs)
    const [schema, ...others] = row.findings as AuditFinding[]
    assert.deepEqual(
      [schema?.rule, schema?.count, schema?.subjects[0]?.name],
      [`the schema's guards are in place`, 2, 'orders_rules'],
    )
    const catalogue = others.find(({ invariant }) => invariant === 'I-9')
    assert.equal(catalogue?.count, checked.orders)
    // Five subjects, and only their ids.
    assert.deepEqual(
      catalogue?.subjects.map((subject) => Object.keys(subject).toSorted()),
      Array.from({ length: 5 }, () => ['customerId', 'orderId']),
    )
  } finally {
    await operator.query('rollback')
  }
})

/** An audit that has counted the current rows. */
const counted = `set local session_replication_role = origin;
  insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
  values (gen_random_uuid(), 'DAILY', now(), 1, jsonb_build_object('orders', (select count(*) from orders), 'events', 'many'),
          0, '[]');
  set local session_replication_role = replica`

test('no table has fewer rows than an earlier audit counted: the removal of a PENDING order is reported', async () => {
  assert.equal((await auditAfter(counted)).ok, true)
  const { violations } = await auditAfter(`${counted}; delete from orders where order_id = '${books.pending}'`)
  assert.deepEqual(
    violations.map(({ invariant, rule, customerId, detail }) => ({ invariant, rule, customerId, detail })),
    [
      {
        invariant: 'J-3',
        rule: 'no table has fewer rows than an earlier audit counted',
        customerId: null,
        detail: { scan: 'orders', rows: checkedOrders - 1, counted: checkedOrders },
      },
    ],
  )
})

test('the progress increases to the number of rows', async () => {
  const seen: number[] = []
  const onProgress = (done: number, total: number) => {
    assert.ok(done <= total)
    seen.push(done)
  }
  const { checked } = await audit(createDatabase(database.pool, silentLog), { onProgress, chunkRows: 5 })
  assert.deepEqual(
    seen,
    seen.toSorted((one, other) => one - other),
  )
  assert.equal(
    seen.at(-1),
    Object.values(checked).reduce((sum, rows) => sum + rows, 0),
  )
})

/** A database on which chunks of more rows than the limit take too long. */
function slowDatabase(limit: number, real = createDatabase(database.pool, silentLog)): Database {
  return {
    run(statement, values = []) {
      const isSlow = /^payments\.audit/.test(statement.name) && (values[0] as number) > limit
      return isSlow
        ? Promise.reject(Object.assign(refuse('SVC001'), { cause: { code: '57014' } }))
        : real.run(statement, values)
    },
  }
}

test('a chunk that takes too long is retried with fewer rows, and reported when even the fewest take too long', async () => {
  const { checked } = await audit(createDatabase(database.pool, silentLog))
  const slow = await audit(slowDatabase(200))
  assert.deepEqual([slow.ok, slow.checked], [true, checked])
  const { ok, violations } = await audit(slowDatabase(0))
  assert.equal(ok, false)
  assert.deepEqual(
    violations.map(({ rule }) => rule),
    Object.keys(checked)
      .filter((name) => !['loggedEntries', 'publishedCheckpoints'].includes(name))
      .map(() => 'the rows can be read in the time a statement has'),
  )
})

test('an audit can be aborted, and ends with an error', async () => {
  const signal = AbortSignal.abort(new Error('the service stops'))
  await assert.rejects(audit(createDatabase(database.pool, silentLog), { signal }), { message: 'the service stops' })
})

test('events that were deleted after every endpoint had them count as rows that an earlier audit counted', async () => {
  const countedEvents = `set local session_replication_role = origin;
    insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
    values (gen_random_uuid(), 'DAILY', now(), 1, jsonb_build_object('events', (select count(*) from events)), 0, '[]');
    set local session_replication_role = replica`
  const deleted = `delete from events where customer_id = '${books.customer}' and event_number = 1`
  const noted = `update accounts set deleted_events = 1 where customer_id = '${books.customer}'`
  assert.deepEqual(named(await auditAfter(`${countedEvents}; ${deleted}; ${noted}`)), [])
  assert.ok(
    named(await auditAfter(`${countedEvents}; ${deleted}`)).some((each) => each.startsWith('J-3 no table has fewer')),
  )
})

test('a table that could not be read as a whole has not lost rows that an earlier audit counted', async () => {
  await operator.query(`begin; ${counted}; set local session_replication_role = origin`)
  try {
    const { violations } = await audit(slowDatabase(0, underOperator))
    assert.deepEqual(
      [...new Set(violations.map(({ rule }) => rule))],
      ['the rows can be read in the time a statement has'],
    )
  } finally {
    await operator.query('rollback')
  }
})

test('a liveness rule is counted as stranded, and is a violation only where it is checked', async () => {
  const overdue = `update holds set expires_at = now() - interval '11 minutes' where hold_id = '${books.held}'`
  for (const [liveness, violationCount] of [
    ['counted', 0],
    ['checked', 1],
    [undefined, 1],
  ] as const) {
    const result = await auditAfter(overdue, liveness && { liveness })
    assert.deepEqual([result.stranded, result.violationCount, result.ok], [1, violationCount, violationCount === 0])
  }
})

test('the guards of a later schema are not checked by this version, but one that is switched off is', async () => {
  const ofLater = `insert into schema_migrations select (jsonb_populate_record(m, '{"version": 9999}')).*
    from schema_migrations m where version = 1; alter table orders drop constraint orders_rules`
  assert.deepEqual(named(await auditAfter(ofLater)), [])
  const off = 'alter table orders disable trigger orders_sold_by_the_catalogue'
  assert.deepEqual(
    (await auditAfter(`${ofLater}; ${off}`)).violations.map(({ rule, detail }) => [
      rule,
      (detail as BrokenGuard).fault,
    ]),
    [[`the schema's guards are in place`, 'is disabled']],
  )
})
