// Spends credits, set-wise and idempotent by the reference within the customer.
import { type Database, statement } from '../db/database.ts'
import { inputs } from '../db/inputs.ts'
import { sql } from '../db/sql.ts'
import { emitEvents } from '../events/outbox.sql.ts'
import { hasServiceBudget, servicesWithBudget, type Verdict } from './budgets/usage.sql.ts'
import { applyMovements, lockAccountsOf, lowCreditsEvents } from './ledger.sql.ts'
import { movements } from './movements.ts'
import type { ReferenceKind } from './references.sql.ts'
import { detailColumns, hasNewLabel, storeDetails, type UseDetails } from './use/details.sql.ts'

export type SpendInput = {
  customerId: string
  credits: number
  reference: string
  serviceId: string
} & UseDetails

/**
 * `spent` is what the reference has spent, now or before; 0 when the available credits did not cover it and nothing
 * moved. `available` is what was left after the spend, or what there is now; null when there is no such customer.
 * `usedFor`: the reference belongs to something else, and nothing moved. `isNew`: it was spent now. `isRestricted`: nothing
 * moved, budgets, suspension or a new label have to be checked (budgets/restricted.sql.ts); then the output has that verdict.
 */
export type SpendOutput = {
  spent: number
  available: number | null
  usedFor: Exclude<ReferenceKind, 'SPEND'> | null
  isNew: boolean
  isRestricted: boolean
} & Partial<Verdict>

export const spends = inputs<SpendInput>({
  customerId: 'uuid',
  credits: 'bigint',
  reference: 'text',
  serviceId: 'text',
  ...detailColumns,
})

// A reference that is known already moves nothing and returns what it spent the first time. It is looked up in the snapshot
// of the statement. If a request with the same reference commits while this one waits for the account, the unique index
// refuses the entry and the second run finds it; or too little is left, and withResultOfUsedReferences finds it.
const spendStatement = statement.ofCustomers(
  'credits.spend',
  (replicated) => sql`with recursive input as (
    select i.*,${hasServiceBudget} or ${hasNewLabel} as runs_alone
    from unnest(${spends.arrays}) with ordinality as i (${spends.columns}, ordinal)${servicesWithBudget}
  ),
  known as (
    select i.ordinal, -e.delta as credits, e.balance_after - coalesce(e.held_after, 0) as available, e.kind
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by ordinal) as turn, '${movements.spend.entry}' as kind,
           -credits as delta, 0 as held_delta, null::text as order_id, reference, null::uuid as hold_id, service_id,
           0 as events, null::timestamptz as not_before
    from input
    where ordinal not in (select ordinal from known) and not runs_alone
  ),${lockAccountsOf('movement')},${applyMovements},${storeDetails},
  event as (${lowCreditsEvents}
  ),${emitEvents}
  select i.ordinal,
         case when k.ordinal is not null then k.credits when s.is_moved then -s.delta else 0 end as "spent",
         coalesce(k.available, s.balance - s.held) as "available",
         nullif(k.kind, 'SPEND') as "usedFor",
         k.ordinal is null and coalesce(s.is_moved, false) as "isNew",
         k.ordinal is null and (i.runs_alone or coalesce(s.is_restricted, false)) as "isRestricted"
  from input i
  left join known k using (ordinal)
  left join step s on s.customer_id = i.customer_id and s.reference = i.reference
  where k.ordinal is null or ${replicated}
  order by i.ordinal`,
)

export function spendAll(database: Database, all: SpendInput[]): Promise<SpendOutput[]> {
  return database.run<SpendOutput>(spendStatement, spends.valuesOf(all))
}
