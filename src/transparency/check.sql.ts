// Reads the log for the audit, beside the ledger: runs with their place in the tree, entries whose leaf is not the one that was
// logged, and customers with entries that are missing from the log.
import { type Database, statement } from '../db/database.ts'
import { inputs } from '../db/inputs.ts'
import { sql } from '../db/sql.ts'
import { quotedLeafHashes } from './log.sql.ts'

/** A run, or the part of it within the leaves that were asked for. */
export type RunPart = {
  customerId: string
  firstEntry: number
  lastEntry: number
  firstLeaf: number
  /** Its entries follow those of the customer's run before it. */
  isNext: boolean
}

const listRunsStatement = statement.global(
  'transparency.listLoggedRuns',
  `select r.customer_id as "customerId", greatest(r.first_leaf, $1) as "firstLeaf",
    r.first_entry + greatest($1 - r.first_leaf, 0) as "firstEntry",
    least(r.last_entry, r.first_entry + $2 - r.first_leaf - 1) as "lastEntry",
    r.first_entry = 1 + coalesce((select b.last_entry from log_runs b
                                  where b.customer_id = r.customer_id and b.first_entry < r.first_entry
                                  order by b.first_entry desc limit 1), 0) as "isNext"
  from log_runs r
  where r.first_leaf >= coalesce((select b.first_leaf from log_runs b where b.first_leaf <= $1::bigint
                                  order by b.first_leaf desc limit 1), 0)
    and r.first_leaf < $2::bigint
  order by r.first_leaf`,
)

/** In the order of the tree, from one leaf on and before another. */
export function listLoggedRuns(database: Database, fromLeaf: number, toLeaf: number): Promise<RunPart[]> {
  return database.run(listRunsStatement, [fromLeaf, toLeaf])
}

export type LoggedRun = Omit<RunPart, 'firstLeaf' | 'isNext'> & { hashes: Buffer }

const loggedRuns = inputs<LoggedRun>({
  customerId: 'uuid',
  firstEntry: 'bigint',
  lastEntry: 'bigint',
  hashes: ['bytea', 'logged_hashes'],
})

const listChangedRunsStatement = statement.ofCustomers(
  'transparency.listChangedRuns',
  sql`select u.customer_id as "customerId", u.first_entry as "firstEntry"
  from unnest(${loggedRuns.arrays}) as u (${loggedRuns.columns})
  cross join lateral (
    select ${quotedLeafHashes} as hashes
    from ledger_entries e
    where e.customer_id = u.customer_id and e.entry_number between u.first_entry and u.last_entry
  ) l
  where l.hashes is distinct from u.logged_hashes`,
)

/** Runs with entries that are missing from the ledger or differ there. */
export function listChangedRuns(
  database: Database,
  runs: LoggedRun[],
): Promise<{ customerId: string; firstEntry: number }[]> {
  return database.run(listChangedRunsStatement, loggedRuns.valuesOf(runs))
}

/** A page of customers: for each the last entry up to the mark, and the last one that is due. The arrays are texts. */
export type PassedEntries = { last: string | null; customers: string; passed: string; due: string }

const listPassedStatement = statement.ofEachGroup(
  'transparency.listPassed',
  `with page as (
    select a.customer_id from accounts a where a.customer_id > $1::uuid order by a.customer_id limit $2::int
  )
  select (select customer_id from page order by customer_id desc limit 1) as "last",
    coalesce(array_agg(p.customer_id), '{}')::text as "customers", coalesce(array_agg(p.passed), '{}')::text as "passed",
    coalesce(array_agg(p.due), '{}')::text as "due"
  from (
    select page.customer_id, coalesce(passed.entry_number, 0) as passed, coalesce(due.entry_number, 0) as due
    from page
    left join lateral (
      select e.entry_number from ledger_entries e
      where e.customer_id = page.customer_id and e.created_at <= $3::text::timestamptz
      order by e.entry_number desc limit 1) passed on true
    left join lateral (
      select e.entry_number from ledger_entries e
      where e.customer_id = page.customer_id and e.created_at < now() - $4::int * interval '1 ms'
      order by e.entry_number desc limit 1) due on true
  ) p`,
)

export type PassedPage = { after: string; limit: number; mark: string; dueMs: number }

/** The next customers of a group, in the order of their ids. */
export async function listPassed(group: Database, { after, limit, mark, dueMs }: PassedPage): Promise<PassedEntries> {
  const [page] = await group.run<PassedEntries>(listPassedStatement, [after, limit, mark, dueMs])
  return page as PassedEntries
}

/** A customer whose last logged entry is before one that should be in the log. */
export type LaggingCustomer = { customerId: string; entryNumber: number; isSkipped: boolean }

const listLaggingStatement = statement.global(
  'transparency.listLagging',
  `select p.customer_id as "customerId", logged.last_entry + 1 as "entryNumber", p.passed > logged.last_entry as "isSkipped"
  from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[]) as p (customer_id, passed, due)
  cross join lateral (
    select coalesce((select r.last_entry from log_runs r where r.customer_id = p.customer_id
                     order by r.first_entry desc limit 1), 0) as last_entry
  ) logged
  where greatest(p.passed, p.due) > logged.last_entry`,
)

export function listLagging(database: Database, { customers, passed, due }: PassedEntries): Promise<LaggingCustomer[]> {
  return database.run(listLaggingStatement, [customers, passed, due])
}
