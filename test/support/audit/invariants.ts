// Checks the books after every test file that moves money, with the service's own audit. The balances that the audit checks
// along the chain of entries are also computed here as plain sums.
import assert from 'node:assert/strict'
import { cardNumbersIn } from '../../../harness/card-numbers.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { audit } from '../../../src/payments/audit/audit.ts'
import type { TestDatabase } from '../database/database.ts'
import { recordPlayedActions } from './played-actions.ts'

const wrongSums = `
  select a.customer_id, a.balance, sum(e.delta), a.held, sum(e.held_delta) as held_sum
  from accounts a left join ledger_entries e using (customer_id)
  group by a.customer_id
  having a.balance <> coalesce(sum(e.delta), 0) or a.held <> coalesce(sum(e.held_delta), 0)`

/** The plain sums alone: for a moment between two steps of a test whose books are audited at its end. */
export async function assertSums(database: TestDatabase): Promise<void> {
  assert.deepEqual(await database.query(wrongSums), [])
}

export async function assertInvariants(database: TestDatabase): Promise<void> {
  await recordPlayedActions(database)
  const { violations } = await audit(createDatabase(database.pool, silentLog))
  assert.deepEqual({ violations, sums: await database.query(wrongSums) }, { violations: [], sums: [] })
}

/** No card number is accepted, so none is in any table, whatever the tests have sent. */
export async function assertNoCardNumbers(database: TestDatabase): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  )
  for (const { name } of tables) {
    // Candidates, which cardNumbersIn then checks.
    const rows = await database.query<{ text: string }>(
      `select each::text as text from ${name} each where each::text ~ '[0-9]{13}|[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}'`,
    )
    const found = rows.flatMap(({ text }) => cardNumbersIn(text))
    assert.deepEqual(found, [], `${name} has a text like a card number`)
  }
}

export type GatewayPayment = {
  paymentKey: string
  orderId: string
  status: string
  totalAmount: number
  balanceAmount: number
  cancels: unknown[] | null
}

/** To the won: the money that the gateway has captured and not returned is the price of our confirmed orders. */
export async function assertGatewayAgrees(database: TestDatabase, payments: GatewayPayment[]): Promise<void> {
  const rows = await database.query<{ orderId: string; amount: number }>(
    `select order_id as "orderId", amount from orders where status = 'CONFIRMED' order by order_id`,
  )
  const kept = payments.filter((payment) => payment.status === 'DONE' && payment.balanceAmount > 0)
  const ours = rows.map((row) => `${row.orderId} ${row.amount}`)
  assert.deepEqual(kept.map((payment) => `${payment.orderId} ${payment.balanceAmount}`).sort(), ours.sort())
}
