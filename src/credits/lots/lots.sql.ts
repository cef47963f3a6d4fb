// Lots: what is left of each order. A projection of the ledger, not a second bookkeeping. Credits are used first in, first out,
// so what is unspent lies in the newest lots, and the balance alone tells where: no entry is read. A lot has room for
//
//   CONFIRMED  all of its credits
//   CANCELLED  none: what was used of it has moved on to the lots after it
//   REFUNDED   its shortfall, the credits that were not taken back: most are used, those of a hold may be unspent
//
// and the unspent part of a lot is what the rooms of the newer lots leave of the balance, at most its own room.
import { type Database, statement } from '../../db/database.ts'
import { pricePerCredit } from './price.ts'

/** `credits` = `used` + `held` + `unused` + `takenBack`. */
export type Lot = {
  /** Of the entry that granted it: lots are used in this order. */
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
  /** KRW; null unless it is REFUNDED. */
  refundedAmount: number | null
}

/**
 * CTE `lot`, from a CTE `account` with the columns customer_id, entry_number, paid and moment: the lots of these customers as
 * they were after that entry, at that moment. `paid` is the part of the balance that comes from orders.
 */
export const lotsOfAccounts = `
  granted as (
    select o.customer_id, o.order_id, o.package_type, o.amount, o.credits, o.grant_entry, o.confirmed_at, o.refunded_amount,
           a.paid, past.status,
           case past.status when 'CONFIRMED' then o.credits when 'REFUNDED' then o.refund_shortfall else 0 end as room
    from account a
    join orders o on o.customer_id = a.customer_id and o.grant_entry <= a.entry_number
    cross join lateral (
      select case
        when o.rollback_entry <= a.entry_number then 'CANCELLED'
        when o.refund_entry <= a.entry_number then 'REFUNDED'
        when o.status = 'REFUNDED' and o.refund_entry is null and exists (
          select from payment_operations p
          where p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'REFUND' and p.state = 'APPROVED'
            and p.closed_at <= a.moment) then 'REFUNDED'
        else 'CONFIRMED' end as status) past
  ),
  placed as (
    select *, greatest(0, least(room, paid - coalesce(sum(room) over newer, 0)))::bigint as unspent
    from granted
    window newer as (partition by customer_id order by grant_entry desc rows between unbounded preceding and 1 preceding)
  ),
  lot as (
    select customer_id, order_id, package_type, amount, credits, grant_entry, confirmed_at, status, unspent,
           room_used as used, case status when 'CONFIRMED' then 0 when 'REFUNDED' then credits - room else credits end as taken_back,
           case status when 'CONFIRMED' then greatest(0, amount - room_used * ${pricePerCredit}) else 0 end as value,
           case status when 'REFUNDED' then coalesce(refunded_amount, amount) end as refunded_amount
    from placed
    cross join lateral (select room - unspent as room_used) u
  )`

// What a cancel or refund has put on hold is shown with its own order; holds of services take the lots that are used next.
const lotsNow = `
  account as (
    select customer_id, last_entry as entry_number, balance - adjusted as paid, balance, held, 'infinity'::timestamptz as moment
    from accounts
    where customer_id = $1
  ),${lotsOfAccounts},
  reserved as (
    select l.*, least(l.unspent, coalesce(p.credits_held, 0)) as reserved, p.operation_id is not null as is_closing
    from lot l
    left join payment_operations p
      on p.customer_id = l.customer_id and p.order_id = l.order_id and p.state = 'OPEN'
  ),
  shared as (
    select r.*, reserved + greatest(0, least(unspent - reserved, a.held - sum(reserved) over ()
             - coalesce(sum(unspent - reserved) over older, 0)))::bigint as held
    from reserved r
    cross join account a
    window older as (order by grant_entry rows between unbounded preceding and 1 preceding)
  )`

const lotColumns = `
  grant_entry as "entryNumber", order_id as "orderId", package_type as "packageType", status, confirmed_at as "grantedAt",
  amount, credits, used, held, unspent - held as "unused", taken_back as "takenBack", value,
  refunded_amount as "refundedAmount"`

const listLotsStatement = statement(
  'credits.listLots',
  `with ${lotsNow}
  select ${lotColumns}
  from shared
  where grant_entry < $2 and ($4::boolean is not true or unspent > 0)
  order by grant_entry desc
  limit $3`,
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
}

const findLotStatement = statement(
  'credits.findLot',
  `with ${lotsNow}
  select ${lotColumns}, (select entry_number from account) as "lastEntry",
    (select balance - held from account) as "available", is_closing as "isClosing"
  from shared
  where order_id = $2`,
)

/** Null when the order has granted nothing, or there is no such order of the customer. */
export async function findLot(database: Database, customerId: string, orderId: string): Promise<LotOfOrder | null> {
  const [row] = await database.run<LotOfOrder>(findLotStatement, [customerId, orderId])
  return row ?? null
}
