// The statements of the naive twin: plain SQL for one request. Same tables, same constraints, same chain of hashes, same
// durability, prepared.

import type { SpendInput, SpendOutput } from '../../src/credits/spend.sql.ts'
import { type Database, statement } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { type NewOrder, type OrderKey, type OrderWithOutcome, orderColumns } from '../../src/payments/orders.sql.ts'
import { cardSlipColumns } from '../../src/payments/slip.sql.ts'

const insertOrderStatement = statement.global(
  'bench.insertOrder',
  `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, idempotency_key)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict do nothing
  returning order_id`,
)

/** Without the cap on open orders: a plain service has none. */
export async function insertOrder(database: Database, order: NewOrder): Promise<boolean> {
  const { customerId, orderId, packageType, paymentMethod, amount, credits, idempotencyKey } = order
  const values = [customerId, orderId, packageType, paymentMethod, amount, credits, idempotencyKey]
  return (await database.run(insertOrderStatement, values)).length === 1
}

const findOrderStatement = statement.global(
  'bench.findOrder',
  sql`select ${orderColumns}, ${cardSlipColumns(sql`p`)}
  from orders o
  left join payment_operations p
    on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'APPROVED'
  where o.customer_id = $1 and o.order_id = $2`,
)

export async function findOrder(
  database: Database,
  { customerId, orderId }: OrderKey,
): Promise<OrderWithOutcome | null> {
  const [order] = await database.run<OrderWithOutcome>(findOrderStatement, [customerId, orderId])
  return order ?? null
}

const readBalanceStatement = statement.global(
  'bench.readBalance',
  'select balance - held as "available" from accounts where customer_id = $1',
)

export async function readBalance(database: Database, customerId: string): Promise<number> {
  const [row] = await database.run<{ available: number }>(readBalanceStatement, [customerId])
  return row?.available ?? 0
}

/** The conditional update is the only lock. */
const spendStatement = statement.global(
  'bench.spend',
  `with moved as (
    update accounts a
    set balance = a.balance - $2, last_entry = a.last_entry + 1, moved_at = greatest(a.moved_at, now()),
        last_hash = ledger_entry_hash(a.last_hash, a.customer_id, a.last_entry + 1, 'SPEND', -$2, a.balance - $2, null,
                                      $3, greatest(a.moved_at, now()), 0, a.held, null, $4)
    where a.customer_id = $1 and a.balance - a.held >= $2
    returning a.*
  ),
  entry as (
    insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, reference, created_at, held_delta,
                                held_after, service_id, entry_hash)
    select customer_id, last_entry, 'SPEND', -$2, balance, $3, moved_at, 0, held, $4, last_hash from moved
  )
  select balance - held as "available" from moved`,
)

export async function spend(database: Database, input: SpendInput): Promise<SpendOutput> {
  const { customerId, credits, reference, serviceId } = input
  const values = [customerId, credits, reference, serviceId]
  const [row] = await database.run<{ available: number }>(spendStatement, values)
  const isNew = row !== undefined
  return { spent: isNew ? credits : 0, available: row?.available ?? 0, usedFor: null, isNew, isRestricted: false }
}
