// The use in a part of a ledger, by day and by what it was for.
import { type Database, statement } from '../../db/database.ts'
import { joinDetails } from './details.sql.ts'

export const useDimensions = ['service', 'key', 'user', 'label'] as const
export type UseDimension = (typeof useDimensions)[number]

/**
 * `credits`: spent and captured, less what was given back. `count`: spends, and holds of which something was captured. `units`: of
 * those. A hold counts with its first capture, so that no day changes when it is over; what is given back changes neither.
 */
export type UseSums = { credits: number; units: number; count: number }

/** A day in Korea. `value` is null for what has none. */
export type UseOfDay = UseSums & { day: string; value: string | null }

export type UseRange = { customerId: string; above: number; upTo: number; by: UseDimension }

const addUpUseStatement = statement.ofCustomer(
  'credits.addUpUse',
  `select to_char(e.created_at at time zone 'Asia/Seoul', 'YYYY-MM-DD') as "day",
    case $4 when 'service' then t.name when 'key' then d.key_id when 'user' then d.user_id else d.label end as "value",
    (-sum(e.delta))::float8 as "credits",
    coalesce(sum(d.units) filter (where begun.is_first), 0)::float8 as "units",
    count(*) filter (where begun.is_first) as "count"
  from ledger_entries e${joinDetails}
  left join service_tokens t on t.service_id = e.service_id
  cross join lateral (
    select e.kind = 'SPEND' or e.kind = 'CAPTURE' and not exists (
      select from ledger_entries before
      where before.customer_id = e.customer_id and before.hold_id = e.hold_id and before.kind = 'CAPTURE'
        and before.entry_number < e.entry_number) as is_first
  ) begun
  where e.customer_id = $1 and e.entry_number > $2 and e.entry_number <= $3 and e.kind in ('SPEND', 'CAPTURE', 'REVERSAL')
  group by 1, 2
  order by 1, min(e.entry_number)`,
)

/** Entries above a number, up to and including another one: in the order of the days, and of the first use of a value. */
export function addUpUse(database: Database, { customerId, above, upTo, by }: UseRange): Promise<UseOfDay[]> {
  return database.run<UseOfDay>(addUpUseStatement, [customerId, above, upTo, by])
}
