// The version before adjustments serves beside this one: it moves credits of an account that has adjusted ones, and knows
// neither the column of the account nor that of the entry. The account stays right, the chain continues, and the audit passes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adjust } from '../../src/credits/adjustments/adjust.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { definite } from '../support/service/cluster.ts'
import { assertSuccess } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService()
})
after(() => service.close())

/** A spend as the version before writes it. */
async function spendOfBefore(customerId: string, credits: number): Promise<void> {
  await service.database.queryOf(
    customerId,
    `with account as (
      select *, greatest(moved_at, clock_timestamp()) as now_moved from accounts where customer_id = $1 for no key update
    ),
    step as (
      select customer_id, balance - $2::bigint as balance, held, last_entry + 1 as entry_number, now_moved,
             ledger_entry_hash(last_hash, customer_id, last_entry + 1, 'SPEND', -$2::bigint, balance - $2::bigint, null,
                               $3, now_moved, 0, held, null, $4) as hash
      from account
    ),
    changed as (
      update accounts a
      set balance = s.balance, held = s.held, last_entry = s.entry_number, last_hash = s.hash, moved_at = s.now_moved
      from step s where a.customer_id = s.customer_id
    )
    insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, reference, created_at, held_delta,
                                held_after, service_id, entry_hash)
    select customer_id, entry_number, 'SPEND', -$2::bigint, balance, $3, now_moved, 0, held, $4, hash from step`,
    [customerId, credits, crypto.randomUUID(), service.internal.issued.serviceId],
  )
}

test('spends of the version before take paid credits first, and the audit follows what they left', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  const { database } = service.payments
  await customer.confirmedOrder('STANDARD')
  const goodwill = (credits: number) => {
    const adjustment = { customerId, adjustmentId: crypto.randomUUID(), kind: 'GOODWILL' as const, credits }
    return adjust(
      database,
      { ...adjustment, reason: 'slow answers', actor: 'kim' },
      { perDay: 100, approvalAbove: 100 },
    )
  }
  const states: string[] = []
  async function note(step: Promise<unknown>): Promise<void> {
    await step
    const [row] = await service.database.query<{ balance: number; adjusted: number }>(
      'select balance, adjusted from accounts where customer_id = $1',
      [customerId],
    )
    states.push(`${row?.adjusted} of ${row?.balance}`)
    await recordPlayedActions(service.database)
    assert.deepEqual((await audit(database)).violations, [])
  }
  await note(goodwill(10))
  await note(spendOfBefore(customerId, 5))
  await note(spendOfBefore(customerId, 20))
  await note(customer.confirmedOrder('STANDARD'))
  await note(goodwill(2))
  await note(spendOfBefore(customerId, 29))
  await note(customer.confirmedOrder('BASIC'))
  await note(definite(() => service.internal.spend(customerId, 1, 'last')).then((answer) => assertSuccess(answer, 200)))
  assert.deepEqual(states, ['10 of 31', '10 of 26', '6 of 6', '6 of 27', '8 of 29', '0 of 0', '0 of 1', '0 of 0'])
})
