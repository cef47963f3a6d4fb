// Reads the books again and again during the run. Invariants have to hold in every snapshot: the rules of the audit,
// and the sums below, which follow another way. A ledger entry that was read once never changes.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../../src/db/database.ts'
import { audit, type Violation } from '../../../../src/payments/audit/audit.ts'
import type { Books } from '../../../world/postgres.ts'

const intervalMs = 2_000
/** The percentage of ledger entries in each snapshot of a campaign. */
const sampledPercent = 5
const keptViolations = 20

/** Each selects the rows that break it. Where the audit follows a chain, these add up. */
export const sums: Record<string, string> = {
  'the balance is the sum of the ledger': `
    select a.customer_id from accounts a left join ledger_entries e using (customer_id)
    group by a.customer_id, a.balance having a.balance <> coalesce(sum(e.delta), 0)`,
  'the held credits are the sum of the ledger': `
    select a.customer_id from accounts a left join ledger_entries e using (customer_id)
    group by a.customer_id, a.held having a.held <> coalesce(sum(e.held_delta), 0)`,
  'the held credits are those of open operations and active holds': `
    select a.customer_id from accounts a left join (
      select customer_id, credits_held as credits from payment_operations where state = 'OPEN'
      union all
      select customer_id, credits from holds where state = 'ACTIVE') holding using (customer_id)
    group by a.customer_id, a.held having a.held <> coalesce(sum(holding.credits), 0)`,
  'a customer has as many events as the account counts': `
    select a.customer_id from accounts a left join events v using (customer_id)
    group by a.customer_id, a.last_event having a.last_event <> count(v.event_number)`,
  'the ledger has for an order what its state requires': `
    select o.order_id from orders o left join ledger_entries e
      on e.customer_id = o.customer_id and e.order_id = o.order_id
    group by o.customer_id, o.order_id, o.status, o.credits, o.refund_shortfall
    having coalesce(sum(e.delta), 0) <>
      case o.status when 'CONFIRMED' then o.credits when 'REFUNDED' then o.refund_shortfall end
      - case when o.status in ('CONFIRMED', 'REFUNDED') then (
        select coalesce(sum(p.credits_held), 0) from payment_operations p
        where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'PART') end
      or o.status not in ('CONFIRMED', 'REFUNDED') and coalesce(sum(e.delta), 0) <> 0`,
  'the figures are the sums of what happened until then, by the hour and in total': `
    with happened as (
      select 'orders made' as figure, created_at as at, amount from orders
      union all
      select 'orders ' || case kind when 'CANCEL' then 'cancelled' when 'REFUND' then 'refunded' when 'PART' then 'refunded in part'
                                    else case state when 'APPROVED' then 'confirmed' else 'failed' end end,
        closed_at, amount
      from payment_operations
      where state <> 'OPEN' and (kind = 'CONFIRM' or kind <> 'RETURN' and state = 'APPROVED')
      union all
      select 'orders expired', closed_at, amount from payment_operations
      where kind = 'CONFIRM' and (state = 'EXPIRED' or state = 'REJECTED' and gateway_code in
        ('EXPIRED', 'NOT_FOUND_PAYMENT', 'NOT_FOUND_PAYMENT_SESSION'))
      union all
      select 'credits ' || case when kind = 'GRANT' then 'granted' when kind = 'ROLLBACK' then 'rolled back'
                                when kind = 'REFUND' then 'refunded'
                                when kind in ('GOODWILL', 'CORRECTION', 'REVERSAL') then 'adjusted' else 'spent' end,
        created_at, case kind when 'CORRECTION' then delta else abs(delta) end
      from ledger_entries where delta <> 0
    ),
    counted as (
      select figure, count(*) as count, sum(amount) as total
      from happened join figures_reached on at < case figure when 'orders expired' then details_reached else reached end
      group by figure
    ),
    added as (
      select figure, hour = '-infinity' as "isOfAll", sum(count) as count, sum(total) as total
      from hourly_figures group by 1, 2
    )
    select c.figure, c.count, c.total, a.count as added, a.total as "totalAdded", w."isOfAll"
    from counted c cross join (values (true), (false)) as w ("isOfAll")
    full join added a on a.figure = c.figure and a."isOfAll" = w."isOfAll"
    where c.count is distinct from a.count or c.total is distinct from a.total`,
}

export const appendOnlyCheck = 'I-15 no ledger entry has changed since it was first read'

export type EntryDigest = { entry: string; digest: string }

/** The digest of every ledger entry. */
export const entryDigestsText = `
  select customer_id || '/' || entry_number as entry, md5(e::text) as digest from ledger_entries e`

/** The digests of some percent of them, 300 at most: the watch of a campaign reads them every two seconds. */
const sampledText = (percent: number) => `${entryDigestsText} tablesample bernoulli (${percent}) limit 300`

export type Watch = ReturnType<typeof startWatch>

export type Watched = ReturnType<typeof createWatch>

/** `sampledPercent`: of the ledger entries that are read for the check that none changes; undefined: all of them. */
export function createWatch(books: Books, database: Database, sampledPercent?: number) {
  /** By sum; the first ones only. */
  const violations = new Map<string, string[]>(Object.keys(sums).map((name) => [name, []]))
  /** By rule of the audit; the first ones only. */
  const brokenRules = new Map<string, string[]>()
  const digests = new Map<string, string>()
  const counts = { snapshots: 0, missed: 0 }

  async function readSnapshot(): Promise<void> {
    const { violations: broken } = await audit(database)
    noteRules(broken)
    for (const [name, text] of Object.entries(sums)) note(violations, name, await books.queryEach(text))
    const text = sampledPercent === undefined ? entryDigestsText : sampledText(sampledPercent)
    noteEntries(await books.query<EntryDigest>(text))
    counts.snapshots += 1
  }

  /** Keeps the first digest of each entry. */
  function noteEntries(entries: EntryDigest[]): void {
    for (const { entry, digest } of entries) if (!digests.has(entry)) digests.set(entry, digest)
  }

  /** `entries`: all that there are. */
  function findChanged(entries: EntryDigest[]): string[] {
    const now = new Map(entries.map(({ entry, digest }) => [entry, digest]))
    const changed = [...digests].filter(([entry, digest]) => now.get(entry) !== digest)
    return changed.map(([entry]) => `${entry} ${now.has(entry) ? 'has changed' : 'is gone'}`)
  }

  function noteRules(broken: Violation[]): void {
    for (const [name, rows] of Map.groupBy(broken, ({ invariant, rule }) => `${invariant} ${rule}`))
      note(brokenRules, name, rows)
  }

  function note(where: Map<string, string[]>, name: string, rows: object[]): void {
    const known = where.get(name) ?? []
    where.set(name, known)
    const when = `${Math.round(performance.now() / 1_000)} s`
    for (const row of rows) if (known.length < keptViolations) known.push(`at ${when}: ${JSON.stringify(row)}`)
  }

  return { counts, violations, brokenRules, noteRules, noteEntries, findChanged, readSnapshot }
}

export function startWatch(books: Books, database: Database, stopped: AbortSignal) {
  const watch = createWatch(books, database, sampledPercent)
  const { counts, readSnapshot } = watch
  let over = false

  async function work(): Promise<void> {
    while (!over && !stopped.aborted) {
      await readSnapshot().catch(() => {
        // The database is down.
        counts.missed += 1
      })
      await sleep(intervalMs)
    }
  }

  const done = work()
  return {
    ...watch,
    /** With a last snapshot, which must not fail. */
    async finish(): Promise<void> {
      over = true
      await done
      await readSnapshot()
    },
  }
}
