// Reverses spends and captured holds, set-wise and idempotent by the reversal's own reference within the customer. Only the
// service that spent can: by its name, because a token that replaces another has an id of its own.
import { type Database, statement } from '../../db/database.ts'
import { inputs } from '../../db/inputs.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { applyMovements, lockAccountsOf } from '../ledger.sql.ts'
import { movements } from '../movements.ts'
import type { ReferenceUse } from '../references.sql.ts'
import { recordAdjustments } from './adjustments.sql.ts'

export type ReversalInput = {
  customerId: string
  adjustmentId: string
  /** The reference of the spend or the hold. */
  reversedReference: string
  /** Null: all that is left. */
  credits: number | null
  /** The reference of the reversal. */
  reference: string
  serviceId: string
  reason: string
}

/**
 * `kind` is what the reference was used for, now or before; null when nothing moved. `reversedReference`, `credits` and
 * `available` are of that use. `left` is what could be reversed before this request; null when the service has no such spend
 * or hold, or when the reference was known. `isNew`: it was reversed now.
 */
export type ReversalOutput = {
  kind: ReferenceUse['kind'] | null
  reversedReference: string | null
  credits: number
  available: number
  left: number | null
  isNew: boolean
}

const reversals = inputs<ReversalInput>({
  customerId: 'uuid',
  adjustmentId: 'uuid',
  reversedReference: 'text',
  credits: 'bigint',
  reference: 'text',
  serviceId: 'text',
  reason: 'text',
})

// What is left is read under the lock of the account, by functions that do not use the snapshot of the statement. They get the
// customer from the locked row, so that they cannot be called before.
const reverseStatement = statement.ofCustomers(
  'credits.reverse',
  (replicated) => sql`with recursive input as (
    select * from unnest(${reversals.arrays}) with ordinality as i (${reversals.columns}, ordinal)
  ),
  known as (
    select i.ordinal, e.kind, e.delta as credits, e.balance_after - coalesce(e.held_after, 0) as available,
           r.reference as reversed_reference
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
    left join adjustments a on a.customer_id = e.customer_id and a.entry_number = e.entry_number
    left join ledger_entries r on r.customer_id = a.customer_id and r.entry_number = a.reversed_entry
  ),
  target as (
    select i.*, e.entry_number as reversed_entry, null::timestamptz as not_before
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reversed_reference limit 1
    ) e
    join service_tokens caller on caller.service_id = i.service_id
    join service_tokens spender on spender.service_id = e.service_id and spender.name = caller.name
    where e.kind in ('SPEND', 'HOLD') and i.ordinal not in (select ordinal from known)
  ),${lockAccountsOf('target')},
  measured as (
    select t.*, l.credits_left, coalesce(t.credits, l.credits_left) as wanted
    from account a
    join target t using (customer_id)
    cross join lateral (
      select greatest(0, least(credits_left_to_reverse(a.customer_id, t.reversed_entry),
                               used_credits_to_reverse(a.customer_id, t.reversed_entry))) as credits_left) l
  ),
  cause as (
    select customer_id, row_number() over (partition by customer_id order by ordinal) as turn, adjustment_id, wanted, reference,
           reversed_reference, reversed_entry, service_id, null::text as actor, null::text as approved_by, reason
    from measured
    where wanted between 1 and credits_left
  ),
  movement as (
    select customer_id, turn, '${movements.reversal.entry}' as kind, wanted as delta, 0 as held_delta, null::text as order_id, reference,
           null::uuid as hold_id, service_id, 1 as events, null::timestamptz as not_before
    from cause
  ),${applyMovements},${recordAdjustments(sql`cause`)},
  event as (
    select m.customer_id, m.first_event as event_number, '${movements.reversal.event}' as type,
           json_build_object('customerId', m.customer_id, 'reference', m.reference, 'reversedReference',
                             c.reversed_reference, 'credits', m.delta, 'balance', m.available) as data,
           m.moved_at
    from moved m
    join cause c using (customer_id, turn)
  ),${emitEvents}
  select i.ordinal,
         case when m.turn is not null then 'REVERSAL' else k.kind end as "kind",
         case when m.turn is not null then i.reversed_reference else k.reversed_reference end as "reversedReference",
         coalesce(m.delta, k.credits, 0) as "credits",
         coalesce(m.available, k.available, 0) as "available",
         j.credits_left as "left",
         m.turn is not null as "isNew"
  from input i
  left join known k using (ordinal)
  left join measured j using (ordinal)
  left join moved m on m.customer_id = i.customer_id and m.reference = i.reference
  where k.ordinal is null or ${replicated}
  order by i.ordinal`,
)

export function reverseAll(database: Database, all: ReversalInput[]): Promise<ReversalOutput[]> {
  return database.run<ReversalOutput>(reverseStatement, reversals.valuesOf(all))
}
