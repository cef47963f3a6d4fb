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
import {
  type Change,
  type ConditionBooks,
  type Conditions,
  conditionsOf,
  conditionsOfActions,
} from '../support/audit/conditions.ts'
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

async function isBrokenBy(change: Change, check: (changed: Database) => Promise<boolean>): Promise<boolean> {
  await operator.query('begin; set local session_replication_role = replica')
  try {
    await operator.query(typeof change === 'string' ? change : change(books))
    return await check(createDatabase(operator, silentLog))
  } finally {
    await operator.query('rollback')
  }
}

function testConditions(rule: string, conditions: Conditions, check: (changed: Database) => Promise<boolean>): void {
  const { broken = {}, kept = {} } = conditions
  for (const [expected, changes] of Object.entries({ broken, kept })) {
    for (const [when, change] of Object.entries(changes)) {
      test(`${rule}: ${expected} when ${when}`, async () => {
        assert.equal(await isBrokenBy(change, check), expected === 'broken')
      })
    }
  }
}

for (const [text, conditions] of Object.entries(conditionsOf)) {
  const rule = rules.find((each) => each.rule === text) ?? assert.fail(text)
  testConditions(`${rule.invariant} ${text}`, conditions, async (changed) => {
    const { counts } = await checkChunk(changed, rule.scan, { from: null, rows: 10_000, listPerRule: 0 })
    return rules.indexOf(rule) in counts
  })
}

for (const [name, conditions] of Object.entries(conditionsOfActions)) {
  const rule: ActionRule = actionRules[name as keyof typeof actionRules]
  testConditions(`A-1 ${rule.rule}`, conditions, async (changed) => {
    const broken = new Set<ActionRule>()
    const found = (each: ActionRule) => broken.add(each)
    await checkActions(changed, { pageRows: 1_000, found, onPage: async () => undefined })
    return broken.has(rule)
  })
}
