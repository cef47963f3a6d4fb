// A capture, or a part, of a hold that another service opened, by a token with the scope manage-holds. It counts in the budgets of
// the service that captures, so a budget limits what a token can take whatever is held. The hold stays counted where it was
// counted when it was opened. One statement for one input, like the spends of restricted accounts: it locks the hold, its account
// and what has been used, checks, and only then moves and counts.
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { budgetLowEvents, checkServiceBudgets, countUsage, giveBackUsage, type Verdict } from '../budgets/usage.sql.ts'
import { applyMovements, lockAccountsOf } from '../ledger.sql.ts'
import { movements } from '../movements.ts'
import { type HoldKey, isOwnHold } from './holds.sql.ts'

export type ForeignCapture = HoldKey & {
  /** Null: all. */
  captured: number | null
  /** The reference of a part; null: the capture ends the hold. */
  reference: string | null
  serviceId: string
}

/**
 * `isFound`: there is such an active hold of another service, with that many credits, and the reference is not used. It was captured
 * unless the verdict does not allow it. `available` is what is available afterwards, or now.
 */
export type ForeignCaptured = Verdict & {
  isFound: boolean
  captured: number
  /** Before it, without earlier parts. */
  held: number
  capturedInParts: number
  available: number
}

const captures = inputs<ForeignCapture>({
  customerId: 'uuid',
  holdId: 'uuid',
  captured: 'bigint',
  reference: 'text',
  serviceId: 'text',
})

// A part that takes the last credits ends the hold, as captureParts has it. Only an end gives back what was not captured.
const captureForeignHoldStatement = statement.ofCustomers(
  'credits.captureForeignHold',
  sql`with recursive input as (
    select * from unnest(${captures.arrays}) as i (${captures.columns})
  ),
  locked_hold as (
    select i.customer_id, i.hold_id, i.service_id, i.reference, h.credits, h.captured_in_parts, h.part_entry,
           coalesce(i.captured, h.credits) as captured,
           i.reference is null or i.captured = h.credits as is_last,
           case when i.reference is null then h.charged end as charged
    from input i
    cross join lateral (
      select * from holds h where h.customer_id = i.customer_id and h.hold_id = i.hold_id limit 1 for no key update
    ) h
    where h.state = 'ACTIVE' and h.expires_at > now() and coalesce(i.captured <= h.credits, true) and not ${isOwnHold}
      and not exists (select from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference)
  ),
  wanted as (
    select customer_id, captured as credits, false as at_most, service_id, null::text as key_id, null::text as user_id,
           null::timestamptz as not_before
    from locked_hold
  ),${lockAccountsOf('wanted', 'checked')},${checkServiceBudgets},
  movement as (
    select l.customer_id, 1 as turn, '${movements.capture.entry}' as kind, -l.captured as delta,
           -case when l.is_last then l.credits else l.captured end as held_delta, null::text as order_id, l.reference,
           l.hold_id, l.service_id, a.low_budgets as events, null::timestamptz as not_before
    from allowed a
    join locked_hold l using (customer_id)
  ),${applyMovements},${countUsage},${giveBackUsage},
  event as (${budgetLowEvents}
  ),${emitEvents},
  captured_hold as (
    update holds h
    set credits = case when l.is_last then l.credits else l.credits - l.captured end,
        captured_in_parts = case when l.is_last then l.captured_in_parts else l.captured_in_parts + l.captured end,
        part_entry = case when l.is_last then l.part_entry else m.last_entry end,
        state = case when l.is_last then 'CAPTURED' else 'ACTIVE' end,
        captured = case when l.is_last then l.captured end,
        closing_entry = case when l.is_last then m.last_entry end
    from locked_hold l
    join moved m using (customer_id, hold_id)
    where h.customer_id = l.customer_id and h.hold_id = l.hold_id
  )
  select true as "isFound", l.captured, l.credits as "held", l.captured_in_parts as "capturedInParts",
         coalesce(m.available, a.available) as "available", false as "isSuspended",
         false as "hasTooManyLabels", v.exceeded, v.is_stale as "isStale"
  from locked_hold l
  join account a using (customer_id)
  join verdict v using (customer_id)
  left join moved m using (customer_id)`,
)

const notFound: ForeignCaptured = {
  isFound: false,
  captured: 0,
  held: 0,
  capturedInParts: 0,
  available: 0,
  isSuspended: false,
  hasTooManyLabels: false,
  exceeded: null,
  isStale: false,
}

export async function captureForeignHold(database: Database, input: ForeignCapture): Promise<ForeignCaptured> {
  const [row] = await database.run<ForeignCaptured>(captureForeignHoldStatement, captures.valuesOf([input]))
  return row ?? notFound
}
