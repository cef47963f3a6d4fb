// How large the log is and how far behind the ledger, for metrics and console. From the mark on, as the worker sweeps, so that a
// late commit or an entry that the log does not get past counts. The mark moves with a sweep alone: where more came since then
// than is read at once, and that is in the log, from the last append on as well.
import { type Database, statement } from '../db/database.ts'
import { groupsOf } from '../db/groups.ts'
import { findMoved, findUnlogged, type LogMarks, markKeyOf, type Unlogged } from './append.sql.ts'

export type LogBacklog = {
  logSize: number
  unloggedEntries: number
  /** There are more than were read, as after the upgrade from a version without the log. */
  hasMoreUnlogged: boolean
  /** Null: every entry is in the log. */
  oldestUnloggedSeconds: number | null
}

/** Entries that are read at once, of each group of customers: those of minutes on most ledgers. */
const readAtMost = 10_000

const findAppendedStatement = statement.global(
  'transparency.findAppended',
  `select size, marks, appended_at::text as "appendedAt",
    (select min(m.value::timestamptz)::text from jsonb_each_text(marks) m) as "leastMark"
  from log_head`,
)

// The first may be missing, which the log does not get past. And an entry may have a time that is still to come, where a clock
// was set back.
const findUnloggedAgeStatement = statement.ofEachGroup(
  'transparency.findUnloggedAge',
  `select greatest(extract(epoch from now() - min(e.created_at)), 0)::float8 as "seconds"
  from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[]) as u (customer_id, first_entry, last_entry)
  join ledger_entries e on e.customer_id = u.customer_id and e.entry_number between u.first_entry and u.last_entry
  having count(*) > 0`,
)

/** The connection of the metrics leads to the coordinator of a cluster alone, where the mark is the least of all groups. */
export async function readLogBacklog(database: Database, atMost = readAtMost): Promise<LogBacklog> {
  type Appended = { size: number; marks: LogMarks; leastMark: string | null; appendedAt: string }
  const [head] = await database.run<Appended>(findAppendedStatement)
  const groups = await Promise.all(
    groupsOf(database).map((group) => {
      const mark = head?.marks[markKeyOf(database, group)] ?? head?.leastMark ?? '-infinity'
      return readGroup(database, group, [mark, head?.appendedAt ?? mark], atMost)
    }),
  )
  const ages = groups.flatMap(({ seconds }) => seconds ?? [])
  return {
    logSize: head?.size ?? 0,
    unloggedEntries: groups.reduce((sum, { count }) => sum + count, 0),
    hasMoreUnlogged: groups.some(({ isMore }) => isMore),
    oldestUnloggedSeconds: ages.length > 0 ? Math.max(...ages) : null,
  }
}

type GroupBacklog = { count: number; isMore: boolean; seconds: number | null }

/** After the first of these times that leads to an entry which is not in the log. */
async function readGroup(database: Database, group: Database, times: string[], atMost: number): Promise<GroupBacklog> {
  for (const after of new Set(times)) {
    const { customers, lastEntries, isFull } = await findMoved(group, { after, limit: atMost, bound: after })
    if (!customers || !lastEntries) break
    const { unlogged, count } = await findUnlogged(database, customers, lastEntries)
    if (unlogged) return { count, isMore: isFull, seconds: await findAge(group, unlogged) }
    if (!isFull) break
  }
  return { count: 0, isMore: false, seconds: null }
}

/** The age of the oldest entry; null: the ledger has none of them. */
async function findAge(group: Database, { customers, firstEntries, lastEntries }: Unlogged): Promise<number | null> {
  const values = [customers, firstEntries, lastEntries]
  const [row] = await group.run<{ seconds: number }>(findUnloggedAgeStatement, values)
  return row?.seconds ?? null
}
