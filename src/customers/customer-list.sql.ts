// Lists of customers, newest first, by name, or by a figure. A cursor is the id of a row, and the sort key of that row is read from
// the row, to the microsecond. A key that changes, such as a balance, is in the cursor instead.
import { type Database, statement } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { platformCustomer } from '../events/outbox.sql.ts'

export type ListedCustomer = {
  customerId: string
  name: string | null
  createdAt: Date
  balance: number
  held: number
  suspendedAt: Date | null
  /** KRW; with the orders and the last purchase as of the last slice of the figures, less than a minute ago. */
  netPaid: number
  orders: number
  lastPurchaseAt: Date | null
}

export const customerSorts = ['newest', 'netPaid', 'lastPurchase', 'balance'] as const
export type CustomerSort = (typeof customerSorts)[number]

/** It stands for the platform and is not listed. No id is larger. */
const quotedPlatform = `'${platformCustomer}'::uuid`

/** Columns of a customer `c`, their account `a` and figures `f`. */
export const customerColumns = `c.customer_id as "customerId", c.name, c.created_at as "createdAt", c.suspended_at as "suspendedAt",
    a.balance, a.held, coalesce(f.revenue, 0) as "netPaid", coalesce(f.orders, 0) as "orders",
    f.last_purchase_at as "lastPurchaseAt"`

/** In each group of customers, its own. */
const withFigures = `cross join lateral (select * from accounts a where a.customer_id = c.customer_id limit 1) a
  left join lateral (select * from customer_figures f where f.customer_id = c.customer_id limit 1) f on true`

/** A page of customers as `c`, after a place: a list of its columns, and the rows of `customers n` that follow it. */
const listAfter = (place: Sql, following: Sql) => sql`select ${customerColumns}, c.key
  from (
    select ${place}
  ) place
  cross join lateral (
    select n.*, ${following}
    limit $2
  ) c
  ${withFigures}`

// Each group has the same page, and of it the rows of its customers. The key of a time is in microseconds.
const listNewestStatement = statement.ofEachGroup(
  'customers.listNewestCustomers',
  listAfter(
    sql`case when $1::uuid is null then 'infinity'
                else (select created_at from customers where customer_id = $1) end as created_at`,
    sql`(extract(epoch from n.created_at) * 1000000)::bigint as key from customers n
    where (n.created_at, n.customer_id) < (place.created_at, coalesce($1, ${quotedPlatform}))
      and n.customer_id <> ${quotedPlatform}
    order by n.created_at desc, n.customer_id desc`,
  ),
)

// A prefix search on an index that compares code points, whatever the locale. The highest code point ends the range; no character
// of the input is a wildcard.
const listByNameStatement = statement.ofEachGroup(
  'customers.listCustomersByName',
  listAfter(
    sql`lower($3) as begins, case when $1::uuid is null then lower($3)
                                     else (select lower(name) from customers where customer_id = $1) end as reached`,
    sql`lower(n.name) as key from customers n
    where lower(n.name) ~>=~ place.reached and lower(n.name) ~<~ (place.begins || chr(1114111))
      and ($1 is null or lower(n.name) ~>~ place.reached or n.customer_id > $1)
    order by lower(n.name) using ~<~, n.customer_id`,
  ),
)

// Each group has its highest ones.
const listByNetPaidStatement = statement.ofEachGroup(
  'customers.listCustomersByNetPaid',
  `select ${customerColumns}, c.key
  from (
    select f.revenue as key, n.* from (
      select * from customer_figures
      where (revenue, customer_id) < ($1::bigint, $2::uuid)
      order by revenue desc, customer_id desc
      limit $3
    ) f
    join customers n using (customer_id)
  ) c
  ${withFigures}`,
)

const listByLastPurchaseStatement = statement.ofEachGroup(
  'customers.listCustomersByLastPurchase',
  `select ${customerColumns}, c.key
  from (
    select (extract(epoch from f.last_purchase_at) * 1000000)::bigint as key, n.* from (
      select * from customer_figures
      where (last_purchase_at, customer_id) < ('epoch'::timestamptz + $1::bigint * interval '1 microsecond', $2::uuid)
      order by last_purchase_at desc, customer_id desc
      limit $3
    ) f
    join customers n using (customer_id)
  ) c
  ${withFigures}`,
)

// An index on the balance would cost every spend a write: this reads all accounts.
const listByBalanceStatement = statement.ofEachGroup(
  'customers.listCustomersByBalance',
  `select ${customerColumns}, c.key
  from (
    select a.balance as key, n.* from (
      select customer_id, balance from accounts
      where (balance, customer_id) < ($1::bigint, $2::uuid) and customer_id <> ${quotedPlatform}
      order by balance desc, customer_id desc
      limit $3
    ) a
    join customers n using (customer_id)
  ) c
  ${withFigures}`,
)

const countAccountsStatement = statement.ofEachGroup(
  'customers.countAccounts',
  'select count(*) as "count" from (select from accounts limit $1) a',
)

/** With more customers they are not sorted by balance, nor searched for what has no index. */
export const maxCustomersRead = 200_000

export async function areTooManyToRead(database: Database): Promise<boolean> {
  const counts = await database.run<{ count: number }>(countAccountsStatement, [maxCustomersRead + 1])
  return counts.reduce((sum, { count }) => sum + count, 0) > maxCustomersRead
}

const sortedStatements = {
  netPaid: listByNetPaidStatement,
  lastPurchase: listByLastPurchaseStatement,
  balance: listByBalanceStatement,
}

export type CustomersFilter = {
  /** The beginning of a name; null: all customers, newest first. */
  name: string | null
  /** The customer to continue after. */
  cursor: string | null
  limit: number
}

/** A full page has one customer more than the limit. */
export async function listCustomers(
  database: Database,
  { name, cursor, limit }: CustomersFilter,
): Promise<ListedCustomer[]> {
  if (name === null) {
    const rows = await database.run<SortedCustomer>(listNewestStatement, [cursor, limit + 1])
    return rows.toSorted(byHighestKey).map(withoutKey)
  }
  const rows = await database.run<ListedCustomer & { key: string }>(listByNameStatement, [cursor, limit + 1, name])
  const place = ({ key, customerId }: (typeof rows)[number]) => Buffer.from(`${key}\0${customerId}`)
  return rows.toSorted((a, b) => Buffer.compare(place(a), place(b))).map(withoutKey)
}

export function withoutKey({ key: _key, ...customer }: ListedCustomer & { key: unknown }): ListedCustomer {
  return customer
}

export type SortedCustomer = ListedCustomer & { key: number }

const byHighestKey = (a: SortedCustomer, b: SortedCustomer) => b.key - a.key || (a.customerId < b.customerId ? 1 : -1)

/** The highest first, after the key and id of the cursor. By what was paid and last purchase: of those that have bought. */
export async function listSortedCustomers(
  database: Database,
  { sort, cursor, limit }: { sort: keyof typeof sortedStatements; cursor: string; limit: number },
): Promise<SortedCustomer[]> {
  const [key, customerId] = cursor.split('~')
  const rows = await database.run<SortedCustomer>(sortedStatements[sort], [key, customerId, limit + 1])
  return rows.toSorted(byHighestKey).slice(0, limit + 1)
}
