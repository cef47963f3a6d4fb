// The statements of the page of a customer.
import { customerColumns, type ListedCustomer } from '../../customers/customer-list.sql.ts'
import type { KeyStatus } from '../../customers/customers.sql.ts'
import { type Database, statement } from '../../db/database.ts'
import { iso, sql } from '../../db/sql.ts'

export type CustomerKey = {
  keyId: string
  lastFour: string
  status: KeyStatus
  createdAt: string
  suspendedAt: string | null
}

export type CustomerPage = ListedCustomer & {
  lowCredits: number[]
  pendingOrders: number
  keys: CustomerKey[]
}

const findCustomerPageStatement = statement.ofCustomer(
  'console.findCustomerPage',
  sql`select ${customerColumns}, coalesce(
      (select json_agg(t.step order by t.step desc) from unnest(a.low_credits || a.low_steps) as t (step)
       where t.step <= a.low_credits), '[]') as "lowCredits",
    (select count(*) from (
       select from orders o where o.customer_id = c.customer_id and o.status = 'PENDING' limit $2) pending
    ) as "pendingOrders",
    (select coalesce(json_agg(json_build_object(
       'keyId', k.key_id, 'lastFour', k.last_four, 'status', k.status, 'createdAt', ${iso(sql`k.created_at`)},
       'suspendedAt', ${iso(sql`k.suspended_at`)}) order by k.created_at desc, k.key_id), '[]')
     from (select * from api_keys where customer_id = c.customer_id order by created_at desc, key_id limit $3) k
    ) as "keys"
  from customers c
  join accounts a using (customer_id)
  left join customer_figures f using (customer_id)
  where c.customer_id = $1`,
)

/** Not counted further. */
const maxPendingCounted = 10_000
const keysShown = 100

export async function findCustomerPage(database: Database, customerId: string): Promise<CustomerPage | null> {
  const [row] = await database.run<CustomerPage>(findCustomerPageStatement, [customerId, maxPendingCounted, keysShown])
  return row ?? null
}

export type ListedHold = {
  holdId: string
  /** Still held. */
  credits: number
  capturedInParts: number
  reference: string | null
  service: string | null
  expiresAt: Date
}

const listHoldsStatement = statement.ofCustomer(
  'console.listActiveHolds',
  `select h.hold_id as "holdId", h.credits, h.captured_in_parts as "capturedInParts", e.reference, t.name as "service",
    h.expires_at as "expiresAt"
  from (
    select case when $2::uuid is null then '-infinity'
                else (select expires_at from holds where customer_id = $1 and hold_id = $2) end as expires_at
  ) place
  cross join lateral (
    select * from holds n
    where n.customer_id = $1 and n.state = 'ACTIVE' and n.expires_at >= place.expires_at
      and ($2 is null or n.expires_at > place.expires_at or n.hold_id > $2)
    order by n.expires_at, n.hold_id
    limit $3
  ) h
  left join lateral (
    select reference from ledger_entries where customer_id = $1 and entry_number = h.opening_entry limit 1) e on true
  left join service_tokens t on t.service_id = h.service_id
  order by h.expires_at, h.hold_id`,
)

/** Active holds, the next to expire first. A full page has one more than the limit. */
export function listHolds(
  database: Database,
  customerId: string,
  { cursor, limit }: { cursor: string | null; limit: number },
): Promise<ListedHold[]> {
  return database.run<ListedHold>(listHoldsStatement, [customerId, cursor, limit + 1])
}
