// The figures of the platform by the hour: the statements that add them up once, and the one that reads them. What happened
// before `reached` is added up; the rest is counted by the reading statement, in the same snapshot, so a figure is complete
// whenever it is read. They are derived from orders, operations and the ledger, and can be derived again. The details, which
// came later, have a mark of their own: the orders that expired, and the figures of each customer.

import { type Database, statement } from '../../db/database.ts'
import { anchorOf, groupsOf } from '../../db/groups.ts'
import { listOf, quoted, sql } from '../../db/sql.ts'
import { codesOf } from '../failure-reasons.ts'

export const figureNames = [
  'orders made',
  'orders confirmed',
  'orders failed',
  'orders cancelled',
  'orders refunded',
  'orders refunded in part',
  'credits granted',
  'credits rolled back',
  'credits refunded',
  'credits spent',
  'credits adjusted',
  // Included in 'orders failed'.
  'orders expired',
] as const
export type FigureName = (typeof figureNames)[number]

// CTE `figure`: the figures from `span.from_time` on and before `span.to_time`, by the hour. Orders count in KRW, credits in
// credits. An order fails by a confirm that was refused or by its expiry. RETURN refunds a payment that was captured for a
// FAILED order: it was never counted as paid. A correction may be negative. Each table is read by its own index on time.
const figuresOfSpan = `
  happened as (
    select o.created_at as at, 'orders made' as figure, o.amount
    from orders o
    where o.created_at >= (select from_time from span) and o.created_at < (select to_time from span)
    union all
    select p.closed_at,
           case p.kind when 'CONFIRM' then case p.state when 'APPROVED' then 'orders confirmed' else 'orders failed' end
                       when 'CANCEL' then 'orders cancelled' when 'PART' then 'orders refunded in part'
                       else 'orders refunded' end,
           p.amount
    from payment_operations p
    where p.closed_at >= (select from_time from span) and p.closed_at < (select to_time from span)
      and (p.kind = 'CONFIRM' or p.kind in ('CANCEL', 'REFUND', 'PART') and p.state = 'APPROVED')
    union all
    select e.created_at,
           case e.kind when 'GRANT' then 'credits granted' when 'ROLLBACK' then 'credits rolled back'
                       when 'REFUND' then 'credits refunded'
                       when 'GOODWILL' then 'credits adjusted' when 'CORRECTION' then 'credits adjusted'
                       when 'REVERSAL' then 'credits adjusted' else 'credits spent' end,
           case e.kind when 'CORRECTION' then e.delta else abs(e.delta) end
    from ledger_entries e
    where e.created_at >= (select from_time from span) and e.created_at < (select to_time from span)
      and e.delta <> 0
  ),
  figure as (
    select date_bin('1 hour', at, 'epoch') as hour, figure, count(*) as count, sum(amount)::bigint as total
    from happened
    group by 1, 2
  )`

// A payment that was not made in time: the order expired, or its payment at the gateway.
const quotedExpiredCodes = listOf(codesOf('payment-expired').map(quoted))

// CTE `expired`: the figure of orders that expired, from `details_span.from_time` on and before `details_span.to_time`, by the
// hour.
const quotedExpired = sql`
  expired as (
    select date_bin('1 hour', p.closed_at, 'epoch') as hour, 'orders expired' as figure, count(*) as count,
           sum(p.amount)::bigint as total
    from payment_operations p
    where p.closed_at >= (select from_time from details_span) and p.closed_at < (select to_time from details_span)
      and p.kind = 'CONFIRM'
      and (p.state = 'EXPIRED' or p.state = 'REJECTED' and p.gateway_code in (${quotedExpiredCodes}))
    group by 1
  )`

const beginStatement = statement.ofCustomer(
  'payments.beginFigures',
  `insert into figures_reached (customer_id, reached, details_reached)
  select $1, first.at, first.at
  from (select date_trunc('milliseconds', coalesce(min(created_at), now())) as at from customers) first
  on conflict do nothing`,
)

// For a mark that a version without details has begun.
const beginDetailsStatement = statement.ofCustomer(
  'payments.beginDetails',
  `update figures_reached
  set details_reached = (select date_trunc('milliseconds', coalesce(min(created_at), now())) from customers)
  where customer_id = $1 and details_reached is null`,
)

export type FiguresMark = {
  reached: Date
  detailsReached: Date
  /** A statement that begins after this one sees everything that happened before it. */
  safeTo: Date
  now: Date
  /** Where to begin again, the beginning of yesterday: the clock of the database was set back. Null: it was not. */
  rewindTo: Date | null
}

// Rows have the time of their transaction, or a later one. Our statements have a time limit, so a row older than the lag is
// committed or never will be. The commit itself has no limit, when it waits for a disk or a standby: a transaction that has
// written and is not done is found in pg_stat_activity.
const findPlaceStatement = statement.ofCustomer(
  'payments.findPlaceOfFigures',
  `select f.reached, f.details_reached as "detailsReached", now() as "now",
    date_trunc('milliseconds', least(now() - $2::int * interval '1 ms', (
      select min(a.xact_start) from pg_stat_activity a
      where a.datname = current_database() and a.backend_xid is not null))) as "safeTo",
    case when f.reached > now() - $2::int * interval '1 ms'
      then (date_trunc('day', now() at time zone 'Asia/Seoul') - interval '1 day') at time zone 'Asia/Seoul'
    end as "rewindTo"
  from figures_reached f
  where f.customer_id = $1 and f.details_reached is not null`,
)

/** The place of a group. Null the first time; then the figures and details begin with the first customer. */
export async function findPlace(group: Database, lagMs: number): Promise<FiguresMark | null> {
  const [place] = await group.run<FiguresMark>(findPlaceStatement, [anchorOf(group), lagMs])
  if (place) return place
  await group.run(beginStatement, [anchorOf(group)])
  await group.run(beginDetailsStatement, [anchorOf(group)])
  return null
}

// The statement that moves `reached` on adds the slice. Another one with the same slice, or a repetition, waits for the row,
// finds `reached` moved and adds nothing. The hour -infinity is the sum of all others.
const addSliceStatement = statement.ofCustomer(
  'payments.addSliceToFigures',
  `with span as (
    update figures_reached set reached = $3::timestamptz
    where customer_id = $1::uuid and reached = $2::timestamptz
    returning $2::timestamptz as from_time, $3::timestamptz as to_time
  ),${figuresOfSpan}
  insert into hourly_figures as h (customer_id, hour, figure, count, total)
  select $1::uuid, hour, figure, count, total from figure
  union all
  select $1::uuid, '-infinity', figure, sum(count)::bigint, sum(total)::bigint from figure group by figure
  order by 2, 3
  on conflict (customer_id, hour, figure)
  do update set count = h.count + excluded.count, total = h.total + excluded.total`,
)

export async function addSlice(group: Database, from: Date, to: Date): Promise<void> {
  await group.run(addSliceStatement, [anchorOf(group), from, to])
}

const addDetailsStatement = statement.ofCustomer(
  'payments.addSliceToDetails',
  sql`with details_span as (
    update figures_reached set details_reached = $3::timestamptz
    where customer_id = $1::uuid and details_reached = $2::timestamptz
    returning $2::timestamptz as from_time, $3::timestamptz as to_time
  ),${quotedExpired},
  of_customers as (
    insert into customer_figures as c (customer_id, revenue, orders, last_purchase_at)
    select p.customer_id, sum(case p.kind when 'CONFIRM' then p.amount else -p.amount end)::bigint,
           count(*) filter (where p.kind = 'CONFIRM'), max(p.closed_at) filter (where p.kind = 'CONFIRM')
    from payment_operations p
    where p.closed_at >= (select from_time from details_span) and p.closed_at < (select to_time from details_span)
      and p.kind in ('CONFIRM', 'CANCEL', 'REFUND', 'PART') and p.state = 'APPROVED'
    group by p.customer_id
    order by p.customer_id
    on conflict (customer_id)
    do update set revenue = c.revenue + excluded.revenue, orders = c.orders + excluded.orders,
                  last_purchase_at = greatest(c.last_purchase_at, excluded.last_purchase_at)
  )
  insert into hourly_figures as h (customer_id, hour, figure, count, total)
  select $1::uuid, hour, figure, count, total from expired
  union all
  select $1::uuid, '-infinity', figure, sum(count)::bigint, sum(total)::bigint from expired group by figure
  order by 2, 3
  on conflict (customer_id, hour, figure)
  do update set count = h.count + excluded.count, total = h.total + excluded.total`,
)

/** The orders that expired, and the figures of customers. */
export async function addDetails(group: Database, from: Date, to: Date): Promise<void> {
  await group.run(addDetailsStatement, [anchorOf(group), from, to])
}

// Another process that has moved a mark since it was read has added rows that this snapshot does not see: then nothing is done.
const rewindStatement = statement.ofCustomer(
  'payments.rewindFigures',
  `with rewound as (
    update figures_reached set reached = least(reached, $4), details_reached = least(details_reached, $4)
    where customer_id = $1 and reached = $2 and details_reached = $3
    returning customer_id, details_reached
  ),
  removed as (
    delete from hourly_figures h using rewound r
    where h.customer_id = r.customer_id and h.hour >= $4
    returning h.figure, h.count, h.total
  ),
  ever as (
    update hourly_figures h set count = h.count - s.count, total = h.total - s.total
    from (select figure, sum(count)::bigint as count, sum(total)::bigint as total from removed group by figure) s
    where h.customer_id = $1 and h.hour = '-infinity' and h.figure = s.figure
  ),
  affected as (
    select distinct p.customer_id
    from rewound r
    join payment_operations p on p.closed_at >= r.details_reached and p.state = 'APPROVED'
  )
  update customer_figures f
  set (revenue, orders, last_purchase_at) = (
    select coalesce(sum(case p.kind when 'CONFIRM' then p.amount else -p.amount end), 0)::bigint,
           count(*) filter (where p.kind = 'CONFIRM'), max(p.closed_at) filter (where p.kind = 'CONFIRM')
    from rewound r
    join payment_operations p on p.closed_at < r.details_reached
    where p.customer_id = f.customer_id and p.kind in ('CONFIRM', 'CANCEL', 'REFUND', 'PART') and p.state = 'APPROVED')
  from affected a
  where f.customer_id = a.customer_id`,
)

/**
 * Rows that were written since the clock was set back have times before the marks: what is added up from `to` on, a full hour, is
 * added up again.
 */
export async function rewindFigures(
  group: Database,
  { reached, detailsReached }: FiguresMark,
  to: Date,
): Promise<void> {
  await group.run(rewindStatement, [anchorOf(group), reached, detailsReached, to])
}

/** `day`: a Korean day; null: all time. */
export type FigureRow = { day: string | null; figure: FigureName; count: number; total: number }
export type Figures = {
  asOf: Date
  /** What happened before is added up, and of the orders that expired. */
  reached: Date
  detailsReached: Date
  /** The figures end here; null: they are complete. */
  upTo: Date | null
  /** The figure of orders that expired ends here. */
  detailsUpTo: Date | null
  rows: FigureRow[]
}

// CTE `place`: how far a group is added up. $1 is its anchor, $2 how far behind it may be.
const quotedPlace = `
  place as (
    select now() as as_of, r.reached, r.reached < r.kept_from as is_behind, r.details_reached,
           r.details_reached < r.kept_from as are_details_behind
    from (select coalesce(f.reached, first.at) as reached, coalesce(f.details_reached, first.at) as details_reached,
                 now() - $2::int * interval '1 ms' as kept_from
          from (select coalesce(min(created_at), now()) as at from customers) first
          left join figures_reached f on f.customer_id = $1) r
  )`

// While the first adding up is far behind, the rest would be most of the books: then the figures end at `reached`, and the orders
// that expired at the mark of the details.
const readStatement = statement.ofCustomer(
  'payments.readFigures',
  sql`with ${quotedPlace},
  span as (
    select reached as from_time, case when is_behind then reached else 'infinity' end as to_time from place
  ),
  details_span as (
    select details_reached as from_time, case when are_details_behind then details_reached else 'infinity' end as to_time
    from place
  ),${figuresOfSpan},${quotedExpired},
  by_time as (
    select hour, figure, count, total from hourly_figures where customer_id = $1 and hour >= $3::timestamptz
    union all
    select hour, figure, count, total from figure
    union all
    select hour, figure, count, total from expired
  ),
  by_day as (
    select date_trunc('day', hour at time zone 'Asia/Seoul') as day, figure, sum(count)::bigint as count,
           sum(total)::bigint as total
    from by_time
    group by 1, 2
    union all
    select null, figure, sum(count)::bigint, sum(total)::bigint
    from (select figure, count, total from hourly_figures where customer_id = $1 and hour = '-infinity'
          union all
          select figure, count, total from figure
          union all
          select figure, count, total from expired) ever
    group by figure
  )
  select p.as_of as "asOf", p.reached, p.details_reached as "detailsReached",
    case when p.is_behind then p.reached end as "upTo",
    case when p.are_details_behind then p.details_reached end as "detailsUpTo",
    to_char(d.day, 'YYYY-MM-DD') as "day", d.figure, d.count, d.total
  from place p
  left join by_day d on true`,
)

/** By the day, from the beginning of a day on, and of all time. */
export async function readFigures(database: Database, from: Date, mostBehindMs: number): Promise<Figures> {
  const ofGroups = await Promise.all(groupsOf(database).map((group) => readGroupFigures(group, from, mostBehindMs)))
  return ofGroups.reduce(sumOf)
}

async function readGroupFigures(group: Database, from: Date, mostBehindMs: number): Promise<Figures> {
  type Row = FigureRow & Omit<Figures, 'rows'>
  const rows = await group.run<Row>(readStatement, [anchorOf(group), mostBehindMs, from])
  const [{ asOf, reached, detailsReached, upTo, detailsUpTo }] = rows as [Row, ...Row[]]
  return { asOf, reached, detailsReached, upTo, detailsUpTo, rows: rows.filter(({ figure }) => figure !== null) }
}

/** As old, and as far behind, as the one that is older or further behind. */
function sumOf(one: Figures, other: Figures): Figures {
  const byFigure = Map.groupBy([...one.rows, ...other.rows], ({ day, figure }) => `${day} ${figure}`)
  const rows = [...byFigure.values()].map(([first, second]) => ({
    ...(first as FigureRow),
    count: (first?.count ?? 0) + (second?.count ?? 0),
    total: (first?.total ?? 0) + (second?.total ?? 0),
  }))
  return {
    asOf: earliest([one.asOf, other.asOf]),
    reached: earliest([one.reached, other.reached]),
    detailsReached: earliest([one.detailsReached, other.detailsReached]),
    upTo: earliestEnd([one.upTo, other.upTo]),
    detailsUpTo: earliestEnd([one.detailsUpTo, other.detailsUpTo]),
    rows,
  }
}

/** Null: none ends. */
function earliestEnd(ends: (Date | null)[]): Date | null {
  const set = ends.filter((end) => end !== null)
  return set.length > 0 ? earliest(set) : null
}

function earliest(times: Date[]): Date {
  return new Date(Math.min(...times.map((time) => time.getTime())))
}

const findDetailsEndStatement = statement.ofCustomer(
  'payments.findEndOfDetails',
  `with ${quotedPlace}
  select details_reached as "end" from place where are_details_behind`,
)

/** Where the figures of customers end, in the group that is furthest behind; null: none is more than so far behind. */
export async function findDetailsEnd(database: Database, mostBehindMs: number): Promise<Date | null> {
  const ofGroups = await Promise.all(
    groupsOf(database).map((group) =>
      group.run<{ end: Date }>(findDetailsEndStatement, [anchorOf(group), mostBehindMs]),
    ),
  )
  return earliestEnd(ofGroups.flat().map(({ end }) => end))
}

/** Whole hours that are added up. */
export type HoursOfFigures = { name: string; from: Date; to: Date }
export type SpanFigureRow = Omit<FigureRow, 'day'> & { name: string }

const readHoursStatement = statement.ofCustomer(
  'payments.readFiguresBetween',
  `select s.name, h.figure, sum(h.count)::bigint as "count", sum(h.total)::bigint as "total"
  from unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) as s (name, from_time, to_time)
  join hourly_figures h on h.customer_id = $1 and h.hour >= s.from_time and h.hour < s.to_time
  group by 1, 2`,
)

/** Reads several spans. */
export async function readFiguresBetween(database: Database, spans: HoursOfFigures[]): Promise<SpanFigureRow[]> {
  const inputs = [spans.map(({ name }) => name), spans.map(({ from }) => from), spans.map(({ to }) => to)]
  const ofGroups = await Promise.all(
    groupsOf(database).map((group) => group.run<SpanFigureRow>(readHoursStatement, [anchorOf(group), ...inputs])),
  )
  return ofGroups.flat()
}

/** An hour whose figure is not that of the books; null: the sum of all hours, or what is counted for a customer. */
export type WrongFigure = { hour: string | null; figure: string; counted: number | null; total: number | null }

const findAddedUpStatement = statement.ofCustomer(
  'payments.findAddedUpFigures',
  `select date_bin('1 hour', least(reached, details_reached), 'epoch') as "to",
    date_bin('1 hour', (select min(created_at) from customers), 'epoch') as "from"
  from figures_reached where customer_id = $1 and details_reached is not null`,
)

/** The full hours that are added up; null: none. */
export async function findAddedUp(group: Database): Promise<{ from: Date; to: Date } | null> {
  const [span] = await group.run<{ from: Date; to: Date }>(findAddedUpStatement, [anchorOf(group)])
  return span ?? null
}

// A mark that has moved back since it was read leaves out the hours after it.
const compareStatement = statement.ofCustomer(
  'payments.compareFigures',
  sql`with span as (
    select $2::timestamptz as from_time,
      least($3::timestamptz, date_bin('1 hour', least(reached, details_reached), 'epoch')) as to_time
    from figures_reached where customer_id = $1
  ),
  details_span as (select * from span),${figuresOfSpan},${quotedExpired},
  books as (
    select * from figure
    union all
    select * from expired
  ),
  counted as (
    select hour, figure, count, total from hourly_figures
    where customer_id = $1 and hour >= (select from_time from span) and hour < (select to_time from span)
      and (count <> 0 or total <> 0)
  )
  select to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "hour", figure, c.count as "counted", c.total
  from books b full join counted c using (hour, figure)
  where (b.count, b.total) is distinct from (c.count, c.total)
  order by 1, 2`,
)

/** Hours from a full hour on and before another, whose figures are not those of the books. */
export function compareFigures(group: Database, from: Date, to: Date): Promise<WrongFigure[]> {
  return group.run<WrongFigure>(compareStatement, [anchorOf(group), from, to])
}

const compareSumsStatement = statement.ofCustomer(
  'payments.compareSumsOfFigures',
  `select null as "hour", figure, e.count as "counted", e.total
  from (select figure, sum(count)::bigint as count, sum(total)::bigint as total from hourly_figures
        where customer_id = $1 and hour > '-infinity' group by figure) h
  full join (select figure, count, total from hourly_figures where customer_id = $1 and hour = '-infinity') e using (figure)
  where (h.count, h.total) is distinct from (e.count, e.total)`,
)

/** Figures of all time that are not the sum of their hours. */
export function compareSums(group: Database): Promise<WrongFigure[]> {
  return group.run<WrongFigure>(compareSumsStatement, [anchorOf(group)])
}

const compareCustomersStatement = statement.ofCustomer(
  'payments.compareFiguresOfCustomers',
  `with page as (
    select f.* from customer_figures f where f.customer_id > $2 order by f.customer_id limit $3
  )
  select (select count(*) from page) as "read", (select max(customer_id::text) from page) as "last",
    (select coalesce(jsonb_agg(jsonb_build_object('customerId', p.customer_id, 'counted', p.orders, 'total', p.revenue)), '[]')
     from page p
     cross join lateral (
       select coalesce(sum(case o.kind when 'CONFIRM' then o.amount else -o.amount end), 0)::bigint as revenue,
              count(*) filter (where o.kind = 'CONFIRM') as orders,
              max(o.closed_at) filter (where o.kind = 'CONFIRM') as last_purchase_at
       from payment_operations o
       where o.customer_id = p.customer_id and o.kind in ('CONFIRM', 'CANCEL', 'REFUND', 'PART') and o.state = 'APPROVED'
         and o.closed_at < (select details_reached from figures_reached where customer_id = $1)
     ) b
     where (b.revenue, b.orders, b.last_purchase_at) is distinct from (p.revenue, p.orders, p.last_purchase_at)) as "wrong"`,
)

export type CustomerFiguresPage = {
  read: number
  last: string | null
  wrong: { customerId: string; counted: number; total: number }[]
}

/** Customers after an id whose figures are not those of the books. */
export async function compareCustomers(group: Database, after: string, limit: number): Promise<CustomerFiguresPage> {
  const [page] = await group.run<CustomerFiguresPage>(compareCustomersStatement, [anchorOf(group), after, limit])
  return page ?? { read: 0, last: null, wrong: [] }
}
