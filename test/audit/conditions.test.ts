// The conditions within the rules of the audit: each change of right books breaks its rule, or is allowed by it. Other rules that
// break with it are not compared; test/audit/audit.test.ts has the cases that break exactly one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { checkChunk } from '../../src/payments/audit/audit.sql.ts'
import { type ActionRule, actionRules, checkActions } from '../../src/payments/audit/check-actions.ts'
import { rules } from '../../src/payments/audit/rules.ts'
import { type Condition, type ConditionBooks, conditions, conditionsOfActions } from '../support/audit/conditions.ts'
import { writeRecords } from '../support/audit/journal-cases.ts'
import { bookkeeper, writeAdjustments, writeBooks } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

const withoutConstraints = `do $$ declare statement text; begin
  for statement in
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint
    where contype = 'c' and conrelid <> 0 and connamespace = 'public'::regnamespace
    union all
    select format('drop index %s', indexrelid::regclass) from pg_index
    where indisunique and not indisprimary and indrelid in ('ledger_entries'::regclass, 'payment_operations'::regclass,
      'orders'::regclass, 'budgets'::regclass)
      and not exists (select from pg_constraint where conindid = indexrelid)
  loop execute statement; end loop; end $$`

let database: OwnTestDatabase
let books: ConditionBooks
let operator: pg.PoolClient

before(async () => {
  database = await createTestDatabase()
  const context = bookkeeper(database.pool)
  books = { ...(await writeBooks(context)), adjusted: await writeAdjustments(context) }
  const service = createDatabase(database.pool, silentLog)
  await writeRecords(service, (await issueKey(service, testPeppers, 'whose key leaked')).keyId)
  operator = await database.ownerPool.connect()
  await operator.query(withoutConstraints)
})

after(async () => {
  operator.release()
  await database.drop()
})

function testCondition(rule: string, condition: Condition, check: (changed: Database) => Promise<boolean>): void {
  const { isBroken, when, change } = condition
  test(`${rule}: ${isBroken ? 'broken' : 'kept'} when ${when}`, async () => {
    await operator.query('begin; set local session_replication_role = replica')
    try {
      await operator.query(change(books))
      assert.equal(await check(createDatabase(operator, silentLog)), isBroken)
    } finally {
      await operator.query('rollback')
    }
  })
}

for (const condition of conditions) {
  const rule = rules.find((each) => each.rule === condition.rule) ?? assert.fail(condition.rule)
  testCondition(`${rule.invariant} ${rule.rule}`, condition, async (changed) => {
    const { counts } = await checkChunk(changed, rule.scan, { from: null, rows: 10_000, listPerRule: 0 })
    return rules.indexOf(rule) in counts
  })
}

for (const condition of conditionsOfActions) {
  const rule: ActionRule = actionRules[condition.rule] ?? assert.fail(condition.rule)
  testCondition(`A-1 ${rule.rule}`, condition, async (changed) => {
    const broken = new Set<ActionRule>()
    const found = (each: ActionRule) => broken.add(each)
    await checkActions(changed, { pageRows: 1_000, found, onPage: async () => undefined })
    return broken.has(rule)
  })
}
