// The statements by which the worker appends entries to the log. Customers, numbers and hashes of a batch are one value each, and
// arrays pass from one statement to the next as the text that PostgreSQL gave them: a batch of thousands of entries is a few rows
// here.
import { type Database, statement } from '../db/database.ts'
import { anchorOf, groupsOf } from '../db/groups.ts'
import { quotedLeafHashes } from './log.sql.ts'
import { quotedRestoreId } from './restored/restores.sql.ts'
import type { TileGrowth } from './tree.ts'

/** By `markKeyOf` of each group of customers: entries up to this time, as text, are in the log. */
export type LogMarks = Record<string, string>

export type Tree = { size: number; root: Buffer }

export type LogHead = {
  size: number
  root: Buffer
  note: string
  marks: LogMarks
  /** A process has appended within the last seconds; a time that is still to come does not count. */
  isFresh: boolean
  /** The newest restore of a log with the name that was asked for; null: there was none. */
  restoreId: string | null
}

const findHeadStatement = statement.global(
  'transparency.findHead',
  `select size, root, note, marks, appended_at > now() - $1::int * interval '1 ms' and appended_at <= now() as "isFresh",
    ${quotedRestoreId} as "restoreId"
  from log_head
  cross join (select $2::text as origin) log_name`,
)

/** Null: no log has been begun. */
export async function findHead(database: Database, freshMs: number, origin = ''): Promise<LogHead | null> {
  return (await database.run<LogHead>(findHeadStatement, [freshMs, origin]))[0] ?? null
}

const beginLogStatement = statement.global(
  'transparency.beginLog',
  `insert into log_head (size, root, note, marks, appended_at) values (0, $1, $2, '{}', '-infinity') on conflict do nothing`,
)

export async function beginLog(database: Database, root: Buffer, note: string): Promise<void> {
  await database.run(beginLogStatement, [root, note])
}

const replaceNoteStatement = statement.global(
  'transparency.replaceNote',
  'update log_head set note = $4 where size = $1 and root = $2 and note = $3',
)

/** The same checkpoint with other signatures. */
export async function replaceNote(database: Database, tree: Tree, note: string, newNote: string): Promise<void> {
  await database.run(replaceNoteStatement, [tree.size, tree.root, note, newNote])
}

/** A statement that begins after the one that gave them sees every entry up to these times; of the first, almost always. */
export type SafeTimes = {
  almostSafe: string
  safe: string
  now: string
  /** Where the next sweep begins: at the mark, or before it when the clock was set back. */
  sweepFrom: string
  /** The clock was set back since it was last seen, by more than the reads of every second forgive. */
  isSetBack: boolean
}

// Entries have the time of their transaction, or a later one, and become visible with its commit. So entries after a time are
// read again until none can appear before it: the rule of src/payments/books/figures.sql.ts, with its lag. That would be half a
// minute of entries, every second. `almost_safe` leaves out the lag and looks at the transactions that run now: an entry whose
// process was stopped between its begin and its report of it is found by the next read from `safe`. A transaction that is open
// for longer does not widen what is read every second. Times are text: they have microseconds.
//
// After the server's clock was set back, entries get times that were read already: the sweep begins earlier by as much. It shows
// by a mark that is not safe now, and by `seen`: the time that the clock should have reached at least, by the clock of the process.
const findSafeTimesStatement = statement.ofEachGroup(
  'transparency.findSafeTimes',
  `select t.almost_safe::text as "almostSafe", t.safe::text as "safe", now()::text as "now",
    (case when isfinite(t.mark) then least(t.mark, t.safe) - greatest(t.mark - t.safe, t.seen - now(), interval '0')
      else '-infinity' end)::text as "sweepFrom",
    coalesce(t.seen - now() > interval '100 ms', false) as "isSetBack"
  from (
    select greatest(least(now() - interval '200 ms', r.began), now() - interval '10 s') - interval '1 microsecond'
        as almost_safe,
      least(now() - interval '30 s', r.wrote) - interval '1 microsecond' as safe,
      $1::text::timestamptz as mark, $2::text::timestamptz + $3::float8 * interval '1 ms' as seen
    from (
      select min(a.xact_start) as began, min(a.xact_start) filter (where a.backend_xid is not null) as wrote
      from pg_stat_activity a
      where a.datname = current_database() and a.backend_type = 'client backend'
    ) r
  ) t`,
)

/** The server's clock as it was seen before, and the milliseconds since then. */
export type SeenClock = { now: string; elapsedMs: number }

export async function findSafeTimes(group: Database, mark: string, seen: SeenClock | null): Promise<SafeTimes> {
  const [times] = await group.run<SafeTimes>(findSafeTimesStatement, [mark, seen?.now, seen?.elapsedMs])
  return times as SafeTimes
}

/** Entries that may be new, of one group of customers. */
export type MovedCustomers = {
  /** The customers, and the last entry of each, as texts of arrays; null: there are none. */
  customers: string | null
  lastEntries: string | null
  /** There are more after these. */
  isFull: boolean
  /** The time of the last one; null: there are none. */
  reached: string | null
  /** Entries up to this time are in the log, once these are. */
  mark: string
}

const findMovedStatement = statement.ofEachGroup(
  'transparency.findMoved',
  `with moved as (
    select r.customer_id, max(r.entry_number) as last_entry, count(*) as entries, max(r.created_at) as reached
    from (
      select e.customer_id, e.entry_number, e.created_at
      from ledger_entries e
      where e.created_at > $1::text::timestamptz
      order by e.created_at
      fetch first ($2::int) rows with ties
    ) r
    group by r.customer_id
  )
  select a.customers, a.last_entries as "lastEntries", a.is_full as "isFull", a.reached::text as "reached",
    (case when a.is_full then least(a.reached, $3::text::timestamptz) else $3::text::timestamptz end)::text as "mark"
  from (
    select array_agg(m.customer_id)::text as customers, array_agg(m.last_entry)::text as last_entries,
           coalesce(sum(m.entries), 0) >= $2::int as is_full, max(m.reached) as reached
    from moved m
  ) a`,
)

/** The customers with entries after a time, at most about `limit` entries. `bound` was safe before. */
export async function findMoved(
  group: Database,
  { after, limit, bound }: { after: string; limit: number; bound: string },
): Promise<MovedCustomers> {
  const [found] = await group.run<MovedCustomers>(findMovedStatement, [after, limit, bound])
  return found as MovedCustomers
}

/** Entries to append, of customers one by one, as texts of arrays. */
export type Unlogged = { customers: string; firstEntries: string; lastEntries: string }

// `offset 0`: otherwise the last run of a customer would be looked up twice.
const findUnloggedStatement = statement.global(
  'transparency.findUnlogged',
  `select h.size, h.root, u.customers, u.first_entries as "firstEntries", u.last_entries as "lastEntries", u.count
  from (
    select array_agg(m.customer_id)::text as customers, array_agg(logged.last_entry + 1)::text as first_entries,
           array_agg(m.last_entry)::text as last_entries,
           coalesce(sum(m.last_entry - logged.last_entry), 0)::bigint as count
    from unnest($1::text::uuid[], $2::text::bigint[]) as m (customer_id, last_entry)
    cross join lateral (
      select coalesce((select r.last_entry from log_runs r where r.customer_id = m.customer_id
                       order by r.first_entry desc limit 1), 0) as last_entry
      offset 0
    ) logged
    where logged.last_entry < m.last_entry
  ) u
  left join log_head h on true`,
)

/** What of these is not in the log, which has this tree; null: no log has been begun. */
export async function findUnlogged(
  database: Database,
  customers: string,
  lastEntries: string,
): Promise<{ tree: Tree | null; unlogged: Unlogged | null; count: number }> {
  type Row = { [Name in keyof (Tree & Unlogged)]: (Tree & Unlogged)[Name] | null } & { count: number }
  const [row] = await database.run<Row>(findUnloggedStatement, [customers, lastEntries])
  const { size, root, count, ...unlogged } = row as Row
  return {
    tree: size === null || root === null ? null : { size, root },
    unlogged: unlogged.customers === null ? null : (unlogged as Unlogged),
    count,
  }
}

/** Whole runs of entries, with the hashes of all their leaves one after the other. */
export type Runs = Unlogged & { hashes: Buffer }

// An entry that is missing in the middle is left to the audit: nothing after it is logged.
const readRunsStatement = statement.ofEachGroup(
  'transparency.readRuns',
  `select array_agg(r.customer_id order by r.place)::text as "customers",
    array_agg(r.first_entry order by r.place)::text as "firstEntries",
    array_agg(r.last_entry order by r.place)::text as "lastEntries",
    string_agg(r.hashes, ''::bytea order by r.place) as "hashes"
  from (
    select u.place, u.customer_id, u.first_entry, u.last_entry, l.hashes
    from unnest($1::text::uuid[], $2::text::bigint[], $3::text::bigint[]) with ordinality
      as u (customer_id, first_entry, last_entry, place)
    cross join lateral (
      select count(*) as entries, ${quotedLeafHashes} as hashes
      from ledger_entries e
      where e.customer_id = u.customer_id and e.entry_number between u.first_entry and u.last_entry
    ) l
    where l.entries = u.last_entry - u.first_entry + 1
  ) r`,
)

export async function readRuns(group: Database, unlogged: Unlogged): Promise<Runs | null> {
  const { customers, firstEntries, lastEntries } = unlogged
  const [runs] = await group.run<Runs>(readRunsStatement, [customers, firstEntries, lastEntries])
  return runs?.hashes ? runs : null
}

// The head is moved first, if the log still has the tree that the leaves were read for. Another process that appends at the same
// time waits for its row and then finds another tree, and so does a repeat: then nothing of this is written.
const appendStatement = statement.global(
  'transparency.append',
  `with head as (
    update log_head
    set size = $3::bigint, root = $4::bytea, note = $5::text, marks = marks || $6::jsonb, appended_at = now()
    where size = $1::bigint and root = $2::bytea
    returning size
  ),
  run as (
    insert into log_runs (customer_id, first_entry, last_entry, first_leaf)
    select r.customer_id, r.first_entry, r.last_entry,
           ($1::bigint + sum(r.last_entry - r.first_entry + 1) over (order by g.place, r.place)
            - (r.last_entry - r.first_entry + 1))::bigint
    from head
    cross join unnest($7::text[], $8::text[], $9::text[]) with ordinality
      as g (customers, first_entries, last_entries, place)
    cross join unnest(g.customers::uuid[], g.first_entries::bigint[], g.last_entries::bigint[]) with ordinality
      as r (customer_id, first_entry, last_entry, place)
  ),
  growth as (
    select g.* from head cross join unnest($10::int[], $11::bigint[], $12::boolean[], $13::bytea[])
      as g (level, tile, is_new, hashes)
  ),
  new_tile as (
    insert into log_tiles (level, tile, hashes) select level, tile, hashes from growth where is_new
  ),
  grown_tile as (
    update log_tiles t set hashes = t.hashes || g.hashes
    from growth g
    where not g.is_new and t.level = g.level and t.tile = g.tile
  )
  select size from head`,
)

export type Append = {
  from: Tree
  to: Tree
  note: string
  marks: LogMarks
  /** For each group. */
  runs: Unlogged[]
  growth: TileGrowth[]
}

/** False: the log has another tree by now, and nothing was written. */
export async function append(database: Database, { from, to, note, marks, runs, growth }: Append) {
  const rows = await database.run(appendStatement, [
    from.size,
    from.root,
    to.size,
    to.root,
    note,
    JSON.stringify(marks),
    runs.map(({ customers }) => customers),
    runs.map(({ firstEntries }) => firstEntries),
    runs.map(({ lastEntries }) => lastEntries),
    growth.map(({ level }) => level),
    growth.map(({ tile }) => tile),
    growth.map(({ isNew }) => isNew),
    growth.map(({ added }) => added),
  ])
  return rows.length > 0
}

const moveMarksStatement = statement.global(
  'transparency.moveMarks',
  'update log_head set marks = marks || $1::jsonb where not marks @> $1::jsonb',
)

export async function moveMarks(database: Database, marks: LogMarks): Promise<void> {
  await database.run(moveMarksStatement, [JSON.stringify(marks)])
}

/**
 * By the number of groups: a copy of the database may be divided into others, where the time up to which the entries of a group
 * are in the log would be that of other customers.
 */
export function markKeyOf(database: Database, group: Database): string {
  const groups = groupsOf(database).length
  return groups === 1 ? anchorOf(group) : `${anchorOf(group)}/${groups}`
}

export const markOf = (marks: LogMarks, database: Database, group: Database): string =>
  marks[markKeyOf(database, group)] ?? '-infinity'
