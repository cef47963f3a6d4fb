// How large the log is and how far behind the ledger, for the metrics. From the mark on, as the worker sweeps, so that a late
// commit or an entry that the log does not get past counts; where the sweep is long, from the last append on as well.
import { groupsOf } from '../db/cluster/groups.ts'
import { type Database, statement } from '../db/database.ts'
import { findMoved, findUnlogged, type LogMarks, markKeyOf, type Unlogged } from './append.sql.ts'

export type LogBacklog = {
  logSize: number
  /** Null: every entry is in the log. */
  oldestUnloggedSeconds: number | null
}

/** Entries that are read at once, of each group of customers. */
const readAtMost = 5_000

const findAppendedStatement = statement(
  'transparency.findAppended',
  `select size, marks, appended_at::text as "appendedAt",
    (select min(m.value::timestamptz)::text from jsonb_each_text(marks) m) as "leastMark"
  from log_head`,
)

// The first may be missing, which the log does not get past. And an entry may have a time that is still to come, where a clock
// was set back.
const findUnloggedAgeStatement = statement(
  'transparency.findUnloggedAge',
  `select greatest(extract(epoch from now() - min(e.created_at)), 0)::float8 as "seconds"
  from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[]) as u (customer_id, first_entry, last_entry)
  join ledger_entries e on e.customer_id = u.customer_id and e.entry_number between u.first_entry and u.last_entry
  having count(*) > 0`,
  'groups',
)

/** One after the other: the metrics have one connection, of a cluster to the coordinator alone. */
export async function readLogBacklog(database: Database): Promise<LogBacklog> {
  type Appended = { size: number; marks: LogMarks; leastMark: string | null; appendedAt: string }
  const [head] = await database.run<Appended>(findAppendedStatement)
  const ages: number[] = []
  for (const group of groupsOf(database)) {
    const mark = head?.marks[markKeyOf(database, group)] ?? head?.leastMark ?? '-infinity'
    const unlogged = await findFirstUnlogged(database, group, mark, head?.appendedAt ?? null)
    if (!unlogged) continue
    const { customers, firstEntries, lastEntries } = unlogged
    const rows = await group.run<{ seconds: number }>(findUnloggedAgeStatement, [customers, firstEntries, lastEntries])
    ages.push(...rows.map(({ seconds }) => seconds))
  }
  return { logSize: head?.size ?? 0, oldestUnloggedSeconds: ages.length > 0 ? Math.max(...ages) : null }
}

/** `appendedAt` null: no log has been begun. */
async function findFirstUnlogged(
  database: Database,
  group: Database,
  mark: string,
  appendedAt: string | null,
): Promise<Unlogged | null> {
  for (const after of new Set([mark, appendedAt ?? mark])) {
    const { customers, lastEntries, isFull } = await findMoved(group, { after, limit: readAtMost, bound: after })
    if (!customers || !lastEntries) return null
    if (appendedAt === null) return { customers, firstEntries: lastEntries.replaceAll(/\d+/g, '1'), lastEntries }
    const { unlogged } = await findUnlogged(database, customers, lastEntries)
    if (unlogged || !isFull) return unlogged
  }
  return null
}
