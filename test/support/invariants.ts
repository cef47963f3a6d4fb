// What must be true of the books at any moment, as SQL that returns the rows that break it. Checked after every test file
// that moves money.
import assert from 'node:assert/strict'
import type { TestDatabase } from './database.ts'

export const invariants: Record<string, string> = {
  'the balance is the sum of the ledger': `
    select a.customer_id from accounts a left join ledger_entries e using (customer_id)
    group by a.customer_id having a.balance <> coalesce(sum(e.delta), 0)`,
  'nothing is negative and what is held is covered': `
    select customer_id from accounts where balance < 0 or held < 0 or held > balance`,
  'each entry continues the one before it, without a gap, from one': `
    select customer_id, entry_number from (
      select *, coalesce(lag(balance_after) over entries, 0) as before, row_number() over entries as place
      from ledger_entries window entries as (partition by customer_id order by entry_number)) e
    where balance_after <> before + delta or entry_number <> place`,
  'the account knows its last entry': `
    select a.customer_id from accounts a
    where a.last_entry <> (select coalesce(max(entry_number), 0) from ledger_entries e where e.customer_id = a.customer_id)`,
  'an order that was confirmed has one grant of its credits, any other has none': `
    select o.order_id from orders o
    left join ledger_entries e on e.customer_id = o.customer_id and e.order_id = o.order_id and e.kind = 'GRANT'
    where case when o.status in ('CONFIRMED', 'CANCELLED', 'REFUNDED')
      then e.entry_number is distinct from o.grant_entry or e.delta is distinct from o.credits
      else e.entry_number is not null end`,
  'a cancelled order has one rollback of its credits, any other has none': `
    select o.order_id from orders o
    left join ledger_entries e on e.customer_id = o.customer_id and e.order_id = o.order_id and e.kind = 'ROLLBACK'
    where case when o.status = 'CANCELLED'
      then e.entry_number is distinct from o.rollback_entry or e.delta is distinct from -o.credits
      else e.entry_number is not null end`,
  'amount and credits are those of the catalogue': `
    select order_id from orders
    where (package_type, amount, credits) not in (('BASIC', 1000, 1), ('STANDARD', 20000, 21), ('PRO', 100000, 110))`,
  'confirmed_at is set when and only when the order was confirmed, and not before it was created': `
    select order_id from orders
    where (confirmed_at is not null) <> (status in ('CONFIRMED', 'CANCELLED', 'REFUNDED')) or confirmed_at < created_at`,
  'what is held is what open cancellations hold': `
    select a.customer_id from accounts a
    where a.held <> (select coalesce(sum(p.credits_held), 0) from payment_operations p
                     where p.customer_id = a.customer_id and p.kind = 'CANCEL' and p.state = 'OPEN')`,
  'an approved confirm belongs to an order that was confirmed, and the other way round': `
    select o.order_id from orders o
    left join payment_operations p
      on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'APPROVED'
    where (p.operation_id is not null) <> (o.status in ('CONFIRMED', 'CANCELLED', 'REFUNDED'))`,
  'an approved cancel belongs to a cancelled order, and the other way round': `
    select o.order_id from orders o
    left join payment_operations p
      on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CANCEL' and p.state = 'APPROVED'
    where (p.operation_id is not null) <> (o.status = 'CANCELLED')`,
  'an open confirm belongs to a pending order, an open cancel to a confirmed one': `
    select o.order_id from orders o join payment_operations p using (customer_id, order_id)
    where p.state = 'OPEN' and o.status <> case p.kind when 'CONFIRM' then 'PENDING' else 'CONFIRMED' end`,
  'no payment key is on two orders of a customer': `
    select customer_id, payment_key from payment_operations where kind = 'CONFIRM' and state <> 'REJECTED'
    group by customer_id, payment_key having count(*) > 1`,
}

export async function findViolations(database: TestDatabase): Promise<string[]> {
  const violations: string[] = []
  for (const [name, text] of Object.entries(invariants)) {
    for (const row of await database.query(text)) violations.push(`${name}: ${JSON.stringify(row)}`)
  }
  return violations
}

export async function assertInvariants(database: TestDatabase): Promise<void> {
  assert.deepEqual(await findViolations(database), [])
}

export type GatewayPayment = {
  paymentKey: string
  orderId: string
  status: string
  totalAmount: number
  balanceAmount: number
  cancels: unknown[] | null
}

/** To the won: what the gateway has taken and not given back is what our confirmed orders cost. */
export async function assertGatewayAgrees(database: TestDatabase, payments: GatewayPayment[]): Promise<void> {
  const rows = await database.query<{ orderId: string; amount: number }>(
    `select order_id as "orderId", amount from orders where status = 'CONFIRMED' order by order_id`,
  )
  const kept = payments.filter((payment) => payment.status === 'DONE' && payment.balanceAmount > 0)
  const ours = rows.map((row) => `${row.orderId} ${row.amount}`)
  assert.deepEqual(kept.map((payment) => `${payment.orderId} ${payment.balanceAmount}`).sort(), ours.sort())
}
