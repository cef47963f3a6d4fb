// The rules of refunds as the service has stored them at its starts, and which of them is that of an order.
import { type Database, statement } from '../../db/database.ts'
import { groupsOf } from '../../db/groups.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { RefundRule } from './dated-rules.ts'

/** A subquery: the stored rule of an order, by the column or value with the time of its confirm. No row while none is stored. */
export const ruleOf = (confirmedAt: Sql) => sql`(
      select * from refund_rules
      where holds_from <= (${confirmedAt} at time zone 'Asia/Seoul')::date order by holds_from desc limit 1)`

/** A row of the table as a RefundRule. */
export const ruleJson = (row: Sql) => sql`json_build_object(
       'from', case when isfinite(${row}.holds_from) then ${row}.holds_from::text end, 'fullPriceDays', ${row}.full_price_days,
       'smallestAmount', ${row}.smallest_amount, 'sharePercent', ${row}.share_percent)`

const listRulesStatement = statement.global(
  'payments.listRefundRules',
  sql`select ${ruleJson(sql`r`)} as "rule", (now() at time zone 'Asia/Seoul')::date::text as "today"
  from (values (1)) one left join refund_rules r on true
  order by r.holds_from`,
)

/** Those that are stored, the first first, and the Korean day of the database. */
export async function listRules(database: Database): Promise<{ rules: RefundRule[]; today: string }> {
  const rows = await database.run<{ rule: RefundRule | { fullPriceDays: null }; today: string }>(listRulesStatement)
  const rules = rows.flatMap(({ rule }) => (rule.fullPriceDays === null ? [] : [rule]))
  return { rules, today: rows[0]?.today ?? '' }
}

const storeRuleStatement = statement.global(
  'payments.storeRefundRule',
  `insert into refund_rules (holds_from, full_price_days, smallest_amount, share_percent)
  values ($1::date, $2::int, $3::bigint, $4::int)
  on conflict (holds_from) do update
  set full_price_days = excluded.full_price_days, smallest_amount = excluded.smallest_amount,
      share_percent = excluded.share_percent
  where refund_rules.holds_from > $5::date`,
)

/** One that is stored for the same day stays, unless its day is after today. */
export async function storeRules(database: Database, rules: RefundRule[], today: string): Promise<void> {
  for (const { from, fullPriceDays, smallestAmount, sharePercent } of rules) {
    const values = [from ?? '-infinity', fullPriceDays, smallestAmount, sharePercent, today]
    await database.run(storeRuleStatement, values)
  }
}

// An order is confirmed when its confirm is closed: that time has an index.
const findConfirmStatement = statement.ofEachGroup(
  'payments.findConfirmSince',
  sql`select order_id as "orderId" from payment_operations
  where closed_at >= $1::date::timestamp at time zone 'Asia/Seoul' and kind = 'CONFIRM' and state = 'APPROVED'
  limit 1`,
)

/** Whether an order was confirmed on the Korean day or later. */
export async function isAnyConfirmedSince(database: Database, day: string): Promise<boolean> {
  for (const group of groupsOf(database)) if ((await group.run(findConfirmStatement, [day])).length > 0) return true
  return false
}
