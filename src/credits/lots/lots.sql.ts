// Lots: what is left of each order. A projection of the ledger, not a second bookkeeping. Credits are used first in, first out,
// so what is unspent lies in the newest lots, and the balance alone tells where: no entry is read. A lot has room for
//
//   CONFIRMED  all of its credits, less those of accepted parts
//   CANCELLED  none: what was used of it has moved on to the lots after it
//   REFUNDED   its shortfall, the credits that were not taken back: most are used, those of a hold may be unspent
//
// and the unspent part of a lot is what the rooms of the newer lots leave of the balance, at most its own room. What is left now
// is counted as if the cancels and refunds under way had ended: what they take is neither in the balance nor in the room of
// their orders. So no credit is counted for two of them, and a quote is what refundable_credits() of the schema allows.
import { type Database, statement } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { pricePerCredit } from './price.ts'

// Parts of an order's payment that were cancelled at the gateway and accepted are operations of the kind PART: the order has
// neither their amount nor their credits any more.

/** A subquery with one row: `amount` and `credits` of the parts of the order in a row, of those that match the condition. */
export const partsOf = (order: Sql, condition = sql`true`) => sql`(
      select coalesce(sum(part.amount), 0)::bigint as amount, coalesce(sum(part.credits_held), 0)::bigint as credits
      from payment_operations part
      where part.customer_id = ${order}.customer_id and part.order_id = ${order}.order_id and part.kind = 'PART'
        and ${condition})`

/** `credits` = `used` + `held` + `unused` + `takenBack`. */
export type Lot = {
  /** The entry that granted it: lots are used in this order. */
  entryNumber: number
  orderId: string
  packageType: string
  status: 'CONFIRMED' | 'CANCELLED' | 'REFUNDED'
  grantedAt: Date
  /** KRW. */
  amount: number
  credits: number
  used: number
  /** By holds and by cancels and refunds that are under way. */
  held: number
  unused: number
  takenBack: number
  /** KRW, of what is not used; 0 for a cancelled or refunded order. */
  value: number
  /** KRW, with that of accepted parts; null when nothing was refunded. */
  refundedAmount: number | null
}

/**
 * Rows of the orders that have granted credits to the customers of a CTE `account` (customer_id, entry_number, paid, moment), as
 * they were after that entry, at that moment. `paid` is the part of the balance that comes from orders. `closing` (order_id,
 * credits_held) are the orders that a cancel or refund under way is about, and what it takes, which is not part of `paid`.
 */
const grantedLots = grantedBy(sql`join orders o on o.customer_id = a.customer_id and o.grant_entry <= a.entry_number`)

function grantedBy(fromOrders: Sql): Sql {
  return sql`
    select o.customer_id, o.order_id, o.package_type, o.amount, o.credits, o.grant_entry, o.confirmed_at, o.refunded_amount,
           a.paid, past.status, own.reserved, parts.amount as parts_amount, parts.credits as parts_credits,
           case past.status when 'CONFIRMED' then o.credits - parts.credits - own.reserved
                            when 'REFUNDED' then o.refund_shortfall - parts.credits else 0 end as room
    from account a
    ${fromOrders}
    left join closing c on c.order_id = o.order_id
    cross join lateral (select coalesce(c.credits_held, 0) as reserved) own
    cross join lateral ${partsOf(sql`o`, sql`part.closed_at <= a.moment`)} parts
    cross join lateral (
      select case
        when o.rollback_entry <= a.entry_number then 'CANCELLED'
        when o.refund_entry <= a.entry_number then 'REFUNDED'
        when o.status = 'REFUNDED' and o.refund_entry is null and exists (
          select from payment_operations p
          where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'REFUND' and p.state = 'APPROVED'
            and p.closed_at <= a.moment) then 'REFUNDED'
        else 'CONFIRMED' end as status) past`
}

/** CTE `lot`, from a CTE `placed` of granted lots with what is unspent of their room. */
const lotsOfPlaced = `
  lot as (
    select customer_id, order_id, package_type, amount, credits, grant_entry, confirmed_at, status, reserved,
           unspent + reserved as unspent, room_used as used,
           case status when 'CONFIRMED' then parts_credits when 'REFUNDED' then credits - room else credits end as taken_back,
           case status when 'CONFIRMED' then greatest(0, amount - parts_amount - room_used * ${pricePerCredit}) else 0 end
             as value,
           case status when 'REFUNDED' then parts_amount + coalesce(refunded_amount, amount - parts_amount)
                       when 'CONFIRMED' then nullif(parts_amount, 0) end as refunded_amount
    from placed
    cross join lateral (select room - unspent as room_used) u
  )`

/** CTE `lot`: all lots of the customers of `account`. At an earlier moment nothing counts as taken before it was. */
export const lotsOfAccounts = sql`
  closing as (
    select null::text as order_id, 0::bigint as credits_held where false
  ),
  granted as (${grantedLots}
  ),
  placed as (
    select *, greatest(0, least(room, paid - coalesce(sum(room) over newer, 0)))::bigint as unspent
    from granted
    window newer as (partition by customer_id order by grant_entry desc rows between unbounded preceding and 1 preceding)
  ),${lotsOfPlaced}`

const fewLots = 100

const newestLotsAfter = (entry: Sql) =>
  grantedBy(sql`
    cross join lateral (
      select * from orders o
      where o.customer_id = a.customer_id and o.grant_entry <= a.entry_number and o.grant_entry > ${entry}
      order by o.grant_entry desc
      limit ${fewLots}) o`)

/** The room of the lots after an entry, or of the newest of them: where that is room for all that is paid, more changes nothing. */
const roomNewerThan = (entry: Sql) => sql`(
      select case when newest.room >= a.paid then newest.room
        else (select coalesce(sum(g.room), 0) from (${grantedLots} where o.grant_entry > ${entry}) g) end
      from account a
      cross join (select coalesce(sum(g.room), 0) as room from (${newestLotsAfter(entry)}) g) newest)`

/**
 * CTE `shared`: the lots of a CTE `page`, granted lots of one customer without a gap but for those without room. Only lots that
 * are newer than the page are read besides, and few of them: what the older ones have unspent is the rest of the balance.
 *
 * What a cancel or refund under way holds is shown with its own order; holds of services take the lots that are used next.
 */
const lotsOfPage = sql`
  above as (
    select p.*, ${roomNewerThan(sql`(select max(grant_entry) from page)`)} + coalesce(sum(room) over newer, 0) as newer_room
    from page p
    window newer as (order by grant_entry desc rows between unbounded preceding and 1 preceding)
  ),
  placed as (
    select *, greatest(0, least(room, paid - newer_room))::bigint as unspent from above
  ),${lotsOfPlaced},
  shared as (
    select l.*, l.order_id in (select order_id from closing) as is_closing,
           (l.reserved + greatest(0, least(p.unspent, a.held_by_services - greatest(0, a.paid - p.newer_room - p.unspent))))::bigint
             as held
    from lot l
    join placed p using (grant_entry)
    cross join account a
  )`

const accountWith = (condition: Sql) => sql`
  closing as (
    select order_id, credits_held from payment_operations
    where customer_id = $1 and state = 'OPEN' and kind <> 'CONFIRM' and ${condition}
  ),
  account as (
    select customer_id, last_entry as entry_number, balance - adjusted - taken.credits as paid, balance, held,
           held - taken.credits as held_by_services, 'infinity'::timestamptz as moment
    from accounts
    cross join (select coalesce(sum(credits_held), 0) as credits from closing) taken
    where customer_id = $1
  )`

const accountNow = accountWith(sql`true`)
const quotedAccount = accountWith(sql`($3::boolean or order_id = $2)`)

const lotColumns = `
  grant_entry as "entryNumber", order_id as "orderId", package_type as "packageType", status, confirmed_at as "grantedAt",
  amount, credits, used, held, unspent - held as "unused", taken_back as "takenBack", value,
  refunded_amount as "refundedAmount"`

/** Within the lateral subquery, so that the index gives them in this order and no more than these are read. */
const newestLots = grantedBy(sql`
    cross join lateral (
      select * from orders o
      where o.customer_id = a.customer_id and o.grant_entry <= a.entry_number and o.grant_entry < $2
        and ($4::boolean is not true or o.status = 'CONFIRMED' or o.refund_shortfall > 0)
      order by o.grant_entry desc
      limit $3) o`)

const listLotsStatement = statement.ofCustomer(
  'credits.listLots',
  sql`with ${accountNow},
  page as (${newestLots}
  ),${lotsOfPage}
  select ${lotColumns}
  from shared
  where $4::boolean is not true or unspent > 0
  order by grant_entry desc`,
)

export type LotPage = { below: number | null; limit: number; onlyUnspent?: boolean }

/** Newest first. */
export function listLots(database: Database, customerId: string, page: LotPage): Promise<Lot[]> {
  const values = [customerId, page.below ?? Number.MAX_SAFE_INTEGER, page.limit, page.onlyUnspent ?? false]
  return database.run<Lot>(listLotsStatement, values)
}

/** With the account in the same snapshot. */
export type LotOfOrder = Lot & {
  lastEntry: number
  available: number
  /** A cancel or refund of the order is under way. */
  isClosing: boolean
  /** A cancel or refund of another order is under way. */
  othersUnderWay: boolean
}

const findLotStatement = statement.ofCustomer(
  'credits.findLot',
  sql`with ${quotedAccount},
  page as (${grantedLots} where o.order_id = $2
  ),${lotsOfPage}
  select ${lotColumns}, (select entry_number from account) as "lastEntry",
    (select balance - held from account) as "available", is_closing as "isClosing",
    exists (select from closing where order_id <> $2) as "othersUnderWay"
  from shared`,
)

/**
 * Null when the order has granted nothing, or there is no such order of the customer. `others`: whether cancels and refunds of
 * other orders that are under way count as done.
 */
export async function findLot(
  database: Database,
  customerId: string,
  orderId: string,
  others: 'done' | 'not begun' = 'done',
): Promise<LotOfOrder | null> {
  const [row] = await database.run<LotOfOrder>(findLotStatement, [customerId, orderId, others === 'done'])
  return row ?? null
}

/**
 * Whether what is left of the order depends on how a cancel or refund of another one ends: what was used of that one would count
 * on this one.
 */
export async function isUndecided(database: Database, customerId: string, lot: LotOfOrder): Promise<boolean> {
  if (!lot.othersUnderWay) return false
  return (await findLot(database, customerId, lot.orderId, 'not begun'))?.used !== lot.used
}

/** How an order was paid, from its approved confirm; null where it is not known. */
export const paidWithJson = (confirm: Sql) => sql`
  case when ${confirm}.paid_method is not null then json_build_object(
    'method', ${confirm}.paid_method, 'provider', ${confirm}.paid_provider, 'cardAmount', ${confirm}.card_amount,
    'walletAmount', ${confirm}.wallet_amount, 'pointsAmount', ${confirm}.points_amount) end`
