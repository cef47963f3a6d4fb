// No request reads or changes another customer's rows: every statement is recorded while all kinds of requests run, and
// wherever its plan reads a table of the money path it has a condition on customer_id.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { callEverything, watchedDatabase } from '../support/written/every-call.ts'

let database: OwnTestDatabase
const recorded = new Map<string, string>()
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  Alias?: string
  Plans?: Plan[]
} & Partial<Record<Condition, string>>
type Condition = 'Index Cond' | 'Filter' | 'Join Filter' | 'Hash Cond' | 'Merge Cond'

const ofOneCustomer = [
  'orders',
  'payment_operations',
  'payment_attempts',
  'accounts',
  'ledger_entries',
  'holds',
  'events',
]

type Scan = { table: string; by: string; filtersByCustomer: boolean }

/** Every scan of a table of the money path in a plan. The condition on the customer may be in a join above the scan. */
function* scansIn(plan: Plan, joins: string[] = []): Generator<Scan> {
  const { 'Relation Name': table = '', 'Node Type': by, Alias: alias } = plan
  const own = [plan['Index Cond'], plan.Filter].some((condition) => /\bcustomer_id = /.test(condition ?? ''))
  if (ofOneCustomer.includes(table) && by !== 'ModifyTable') {
    const joined = new RegExp(`\\b${alias}\\.customer_id = | = ${alias}\\.customer_id\\b`)
    yield { table, by, filtersByCustomer: own || joins.some((condition) => joined.test(condition)) }
  }
  const conditions = [plan['Join Filter'], plan['Hash Cond'], plan['Merge Cond']].filter((each) => each !== undefined)
  for (const each of plan.Plans ?? []) yield* scansIn(each, [...joins, ...conditions])
}

/** The generic plan, which requests use. */
async function planOf(text: string): Promise<Plan> {
  const { rows } = await database.pool.query(`explain (generic_plan, format json) ${text}`)
  return rows[0]['QUERY PLAN'][0].Plan
}

test('every statement of the public requests filters by customer wherever it reads rows of a customer', async () => {
  const watched = watchedDatabase(database, ({ name, text }) => {
    recorded.set(name, text)
  })
  await callEverything(watched, { onStarted: () => recorded.clear() })
  const readTables = new Set<string>()
  for (const [name, text] of recorded) {
    for (const { table, by, filtersByCustomer } of scansIn(await planOf(text))) {
      readTables.add(table)
      assert.ok(filtersByCustomer, `${name} reads ${table} by ${by} and does not filter by customer`)
    }
  }
  assert.deepEqual([...readTables].sort(), ['accounts', 'orders', 'payment_attempts', 'payment_operations'])
})

test('all statements of requests on the money path were recorded', () => {
  const names = [...recorded.keys()].filter((name) => /^(payments|credits|events)\./.test(name))
  assert.deepEqual(names.sort(), [
    'credits.readBalances',
    'payments.claimAnswer',
    'payments.claimCancels',
    'payments.claimConfirms',
    'payments.claimLease',
    'payments.findCancelSubject',
    'payments.findConfirmSubjects',
    'payments.findFinishes',
    'payments.findOrderOfOperation',
    'payments.findOrders',
    'payments.findOrdersOfKeys',
    'payments.finishOperations',
    'payments.insertDiscrepancyOfOperation',
    'payments.insertOrders',
    'payments.releaseLease',
    'payments.renewLease',
    'payments.resolveDiscrepanciesOfOrder',
  ])
})

test('a statement that finds an order by its id alone is detected, with or without a join', async () => {
  const alone = 'select status from orders where order_id = $1'
  const joined = `select from orders o join payment_operations p using (order_id) where o.customer_id = $1`
  const scans = [...scansIn(await planOf(alone)), ...scansIn(await planOf(joined))]
  assert.deepEqual(scans.map(({ table, filtersByCustomer }) => `${table} ${filtersByCustomer}`).sort(), [
    'orders false',
    'orders true',
    'payment_operations false',
  ])
})
