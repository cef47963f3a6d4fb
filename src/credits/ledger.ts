// The only way credits move. Every movement is a row of a CTE called `movement`; the fragments here lock its accounts in
// key order, change them, and write the ledger entry, all in the statement that has the reason for it. So an account and
// its ledger cannot disagree, and nothing that moves credits can leave out the entry. Entries are chained by a hash; the
// account carries the last one, so a chain continues without another look.
//
// `movement` has the columns customer_id, kind, delta, held_delta, order_id, reference, and at most one row a customer:
// an update reaches a row once. Whoever batches keeps customers apart; the constraints on orders and entries prove it.
import { type Batch, createBatch } from '../core/batch.ts'
import { type Database, isInputError, statement } from '../db/database.ts'
import { columns } from '../db/set-wise.ts'

/**
 * CTE `account`: the accounts of the customers in `source`, locked in key order, as they are after the wait.
 * Orders are locked before accounts, everywhere.
 */
export function lockAccountsOf(source: 'movement' | 'locked_order'): string {
  return `
  account as (
    select a.customer_id, a.balance, a.held, a.last_entry, a.last_hash, a.balance - a.held as available
    from accounts a
    join ${source} using (customer_id)
    order by a.customer_id
    for no key update of a
  )`
}

/**
 * CTEs `moved` and `entry`: what cannot be covered by the available credits is not moved and has no row in either. The
 * new values come from the locked row, never from `a`: an update begins with the version that its snapshot shows, and
 * judges conditions and check constraints by that before it turns to a row that has changed since.
 */
export const applyMovements = `
  moved as (
    update accounts a
    set balance = locked.balance + m.delta,
        held = locked.held + m.held_delta,
        last_entry = locked.last_entry + (m.delta <> 0)::int,
        last_hash = case when m.delta = 0 then locked.last_hash else ledger_entry_hash(
          locked.last_hash, m.customer_id, locked.last_entry + 1, m.kind, m.delta, locked.balance + m.delta, m.order_id,
          m.reference, now()) end
    from account locked
    join movement m using (customer_id)
    where a.customer_id = locked.customer_id
      and locked.available + m.delta - m.held_delta >= 0
    returning a.customer_id, m.kind, m.delta, m.order_id, m.reference, a.balance, a.last_entry,
              a.last_hash, a.balance - a.held as available
  ),
  entry as (
    insert into ledger_entries
      (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, entry_hash)
    select customer_id, last_entry, kind, delta, balance, order_id, reference, now(), last_hash
    from moved
    where delta <> 0
    returning customer_id, entry_number, kind, order_id
  )`

/** CTE `opened`: an account for each customer of the CTE `created`. An account exists before anything can move. */
export const openAccounts = `
  opened as (
    insert into accounts (customer_id)
    select customer_id from created
  )`

export type SpendInput = { customerId: string; credits: number; reference: string }
/**
 * `spent` is what the reference has spent, now or before: 0 means that the available credits did not cover it and
 * nothing moved.
 */
export type SpendOutput = { spent: number; available: number }

// A reference that is known already moves nothing and gives what it spent the first time. The look at it is as old as
// the statement: when a twin commits during the wait for the account, the unique index refuses, and the second run sees
// the twin.
const spend = statement(
  'credits.spend',
  `with input as (
    select * from unnest($1::uuid[], $2::bigint[], $3::text[]) with ordinality
      as i (customer_id, credits, reference, ordinal)
  ),
  known as (
    select i.ordinal, -e.delta as credits, a.balance - a.held as available
    from input i
    join ledger_entries e on e.customer_id = i.customer_id and e.reference = i.reference
    join accounts a on a.customer_id = i.customer_id
  ),
  movement as (
    select customer_id, 'SPEND' as kind, -credits as delta, 0 as held_delta, null::text as order_id, reference, ordinal
    from input
    where ordinal not in (select ordinal from known)
  ),${lockAccountsOf('movement')},${applyMovements}
  select i.ordinal,
         coalesce(k.credits, -m.delta, 0) as "spent",
         coalesce(m.available, k.available, a.available, 0) as "available"
  from input i
  left join known k using (ordinal)
  left join moved m on m.customer_id = i.customer_id
  left join account a on a.customer_id = i.customer_id
  order by i.ordinal`,
)

const readBalances = statement(
  'credits.readBalances',
  `select i.ordinal, coalesce(a.balance - a.held, 0) as "available"
  from unnest($1::uuid[]) with ordinality as i (customer_id, ordinal)
  left join accounts a using (customer_id)
  order by i.ordinal`,
)

export type Ledger = {
  /** What the customer can spend: section 4.4 `credits`. */
  readBalance: Batch<string, number>
  spend: Batch<SpendInput, SpendOutput>
}

export function createLedger(database: Database): Ledger {
  return {
    readBalance: createBatch({
      isInputError,
      run: async (customerIds) => {
        const rows = await database.run<{ available: number }>(readBalances, [customerIds])
        return rows.map((row) => row.available)
      },
    }),
    spend: createBatch({
      isInputError,
      conflictKey: (input) => input.customerId,
      run: async (inputs) => {
        const once = () => database.run<SpendOutput>(spend, columns(inputs, 'customerId', 'credits', 'reference'))
        return once().catch((error) => (inputs.length === 1 && isInputError(error) ? once() : Promise.reject(error)))
      },
    }),
  }
}
