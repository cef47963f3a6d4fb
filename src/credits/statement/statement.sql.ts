// The statement of a customer: every movement of credits with its cause, read by entry number. A time is found by bisecting
// the numbers, because entries are in the order of time: this needs no index by time.
import { assert } from '../../core/assert.ts'
import type { PaidWith } from '../../core/paid-with.ts'
import { type Database, statement } from '../../db/database.ts'
import { iso, sql } from '../../db/sql.ts'
import { paidWithJson } from '../lots/lots.sql.ts'
import type { EntryKind } from '../movements.ts'
import { joinDetails } from '../use/details.sql.ts'

/**
 * `delta` is the change of the balance, `heldDelta` the change of the held part of it. `availableAfter` is the balance less
 * the held credits. Both held columns are null in entries from before holds had entries. `keyId`, `userId` and `label` are of the
 * spend or hold that the entry belongs to; `units` only of the entry that has them, so that they can be added up.
 */
export type StatementEntry = {
  entryNumber: number
  kind: EntryKind
  delta: number
  heldDelta: number | null
  balanceAfter: number
  heldAfter: number | null
  availableAfter: number | null
  orderId: string | null
  reference: string | null
  holdId: string | null
  service: string | null
  keyId: string | null
  userId: string | null
  label: string | null
  units: number | null
  /** Only of a GRANT. */
  paidWith: PaidWith | null
  createdAt: Date
}

export type EntryRange = {
  customerId: string
  /** Entry numbers above this one, up to and including `upTo`. */
  above: number
  upTo: number
  kinds: EntryKind[] | null
  limit: number
}

const entryColumns = sql`e.entry_number as "entryNumber", e.kind, e.delta, e.held_delta as "heldDelta",
    e.balance_after as "balanceAfter", e.held_after as "heldAfter", e.balance_after - e.held_after as "availableAfter",
    e.order_id as "orderId", coalesce(e.reference, opening.reference) as "reference", e.hold_id as "holdId",
    t.name as "service", d.key_id as "keyId", d.user_id as "userId", d.label,
    case when d.entry_number = e.entry_number then d.units end as "units",
    case e.kind when 'GRANT' then (
      select ${paidWithJson(sql`p`)} from payment_operations p
      where p.customer_id = e.customer_id and p.order_id = e.order_id and p.kind = 'CONFIRM' and p.state = 'APPROVED'
    ) end as "paidWith", e.created_at as "createdAt"
  from ledger_entries e${joinDetails}
  left join service_tokens t on t.service_id = e.service_id
  where e.customer_id = $1 and e.entry_number > $2 and e.entry_number <= $3 and ($4::text[] is null or e.kind = any ($4))`

const listNewestStatement = statement.ofCustomer(
  'credits.listNewestEntries',
  sql`select ${entryColumns} order by e.entry_number desc limit $5`,
)
const listOldestStatement = statement.ofCustomer(
  'credits.listOldestEntries',
  sql`select ${entryColumns} order by e.entry_number limit $5`,
)

export function listEntries(
  database: Database,
  { customerId, above, upTo, kinds, limit }: EntryRange,
  first: 'newest' | 'oldest',
): Promise<StatementEntry[]> {
  const text = first === 'newest' ? listNewestStatement : listOldestStatement
  return database.run<StatementEntry>(text, [customerId, above, upTo, kinds, limit])
}

// The number of the last entry before a time, or at it too; 0 when there is none. A million entries take twenty steps. Answers
// have milliseconds, so times are compared in milliseconds.
const findEntryAtStatement = statement.ofCustomer(
  'credits.findEntryAt',
  `with recursive search (low, high) as (
    select 0::bigint, a.last_entry from accounts a where a.customer_id = $1
    union all
    select case when is_before then middle else low end, case when is_before then high else middle - 1 end
    from (
      select s.low, s.high, s.middle, t.time < $2 or ($3 and t.time = $2) as is_before
      from (select low, high, (low + high + 1) / 2 as middle from search where low < high) s
      join ledger_entries e on e.customer_id = $1 and e.entry_number = s.middle
      cross join lateral (select date_trunc('milliseconds', e.created_at) as time) t
    ) looked
  )
  select low as "entryNumber" from search where low >= high`,
)

/** The customer must exist. */
export async function findEntryAt(
  database: Database,
  customerId: string,
  time: Date,
  which: 'before' | 'before or at',
): Promise<number> {
  const values = [customerId, time, which === 'before or at']
  const [row] = await database.run<{ entryNumber: number }>(findEntryAtStatement, values)
  assert(row !== undefined, `the ledger of ${customerId} has a gap`)
  return row.entryNumber
}

/** An account at some time; `held` and `available` are null where the ledger of that time does not have them. */
export type Balances = { balance: number; held: number | null; available: number | null }

const findBalancesStatement = statement.ofCustomer(
  'credits.findBalances',
  `select balance_after as "balance", held_after as "held", balance_after - held_after as "available"
  from ledger_entries where customer_id = $1 and entry_number = $2`,
)

/** After an entry; zero before the first. */
export async function findBalances(database: Database, customerId: string, entryNumber: number): Promise<Balances> {
  const [row] = await database.run<Balances>(findBalancesStatement, [customerId, entryNumber])
  return row ?? { balance: 0, held: 0, available: 0 }
}

export type HeldCredits = {
  /** A hold of a service, or a cancellation or refund whose outcome is not known yet. */
  by: 'HOLD' | 'CANCEL' | 'REFUND'
  holdId: string
  credits: number
  reference: string | null
  orderId: string | null
  service: string | null
  expiresAt: string | null
}

export type AccountNow = {
  balance: number
  held: number
  /** The part of the balance that comes from adjustments. */
  adjusted: number
  lastEntry: number
  setAside: HeldCredits[]
}

const heldLimit = 100

const readAccountStatement = statement.ofCustomer(
  'credits.readAccount',
  sql`select a.balance, a.held, a.adjusted, a.last_entry as "lastEntry", (
    select coalesce(json_agg(s order by s."expiresAt"), '[]')
    from (
      (select 'HOLD' as "by", h.hold_id as "holdId", h.credits, e.reference, null as "orderId", t.name as "service",
              ${iso(sql`h.expires_at`)} as "expiresAt"
       from (select * from holds
             where customer_id = a.customer_id and state = 'ACTIVE'
             order by expires_at
             limit $2) h
       join ledger_entries e on e.customer_id = h.customer_id and e.entry_number = h.opening_entry
       left join service_tokens t on t.service_id = h.service_id)
      union all
      (select p.kind, p.operation_id, p.credits_held, null, p.order_id, null, null
       from payment_operations p
       where p.customer_id = a.customer_id and p.state = 'OPEN' and p.credits_held > 0
       order by p.opened_at
       limit $2)
    ) s) as "setAside"
  from accounts a
  where a.customer_id = $1`,
)

/** Null when there is no such customer. Lists up to 100 holds and up to 100 open cancellations and refunds. */
export async function readAccount(database: Database, customerId: string): Promise<AccountNow | null> {
  const [row] = await database.run<AccountNow>(readAccountStatement, [customerId, heldLimit])
  return row ?? null
}
