// Spends credits now. Idempotent by the reference within the customer: a retry gets the first answer; a reference that was
// refused for lack of credits is not burnt, because it is kept by the entry alone.
import { type Batch, createBatch } from '../core/batch.ts'
import { batchSizesOf, type Tallies } from '../core/tallies.ts'
import { blame, type Database, statement } from '../db/database.ts'
import { columns } from '../db/set-wise.ts'
import { emitEvents } from '../events/outbox.ts'
import { applyMovements, lockAccountsOf, lowCreditsEvents } from './ledger.ts'
import { onceMore } from './once-more.ts'
import { unlessUsed } from './references.ts'
import { customerNotFound, insufficientCredits, referenceRefusals } from './refusals.ts'

export type SpendInput = { customerId: string; credits: number; reference: string; serviceId: string }

/**
 * `spent` is what the reference has spent, now or before; 0 when the available credits did not cover it and nothing
 * moved. `available` is what was left after it, or what there is; null when there is no such customer. `isHold`: the
 * reference is that of a hold, and nothing moved. `isNew`: it was spent now.
 */
export type SpendOutput = { spent: number; available: number | null; isHold: boolean; isNew: boolean }

// A reference that is known already moves nothing and gives what it spent the first time. The look at it is as old as
// the statement: when a twin commits during the wait for the account, the unique index refuses, and the second run sees
// the twin; or the twin has left too little, and another look sees it.
const spendStatement = statement(
  'credits.spend',
  `with recursive input as (
    select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) with ordinality
      as i (customer_id, credits, reference, service_id, ordinal)
  ),
  known as (
    select i.ordinal, -e.delta as credits, e.balance_after - coalesce(e.held_after, 0) as available, e.kind
    from input i
    cross join lateral (
      select * from ledger_entries e where e.customer_id = i.customer_id and e.reference = i.reference limit 1
    ) e
  ),
  movement as (
    select customer_id, row_number() over (partition by customer_id order by ordinal) as turn, 'SPEND' as kind,
           -credits as delta, 0 as held_delta, null::text as order_id, reference, null::uuid as hold_id, service_id,
           0 as events, null::timestamptz as not_before
    from input
    where ordinal not in (select ordinal from known)
  ),${lockAccountsOf('movement')},${applyMovements},
  event as (${lowCreditsEvents}
  ),${emitEvents}
  select i.ordinal,
         case when k.ordinal is not null then k.credits when s.is_moved then -s.delta else 0 end as "spent",
         coalesce(k.available, s.balance - s.held) as "available",
         coalesce(k.kind = 'HOLD', false) as "isHold",
         k.ordinal is null and coalesce(s.is_moved, false) as "isNew"
  from input i
  left join known k using (ordinal)
  left join step s on s.customer_id = i.customer_id and s.reference = i.reference
  order by i.ordinal`,
)

/** Spends of one customer share a statement, one after the other; twins do not: the second is to see the first. */
export function createSpend(database: Database, tallies: Tallies): Batch<SpendInput, SpendOutput> {
  return createBatch<SpendInput, SpendOutput>({
    blame,
    sizes: batchSizesOf(tallies, spendStatement.name),
    conflictKey: ({ customerId, reference }) => `${customerId}/${reference}`,
    rowKey: ({ customerId }) => customerId,
    run: async (inputs) => {
      const values = columns(inputs, 'customerId', 'credits', 'reference', 'serviceId')
      const outputs = await onceMore(() => database.run<SpendOutput>(spendStatement, values))
      for (const { isNew, spent } of outputs) if (isNew) tallies.credits.spent += spent
      return unlessUsed(database, inputs, outputs, {
        isRefused: ({ spent, available, isHold }) => spent === 0 && available !== null && !isHold,
        outputOf: ({ kind, spent, available }) => ({ spent, available, isHold: kind === 'HOLD', isNew: false }),
      })
    },
  })
}

export type SpendAnswer = { reference: string; credits: number; balance: number }

/** As a sibling service meets it. */
export async function spendCredits(spend: Batch<SpendInput, SpendOutput>, input: SpendInput): Promise<SpendAnswer> {
  const { reference, credits } = input
  const { spent, available, isHold } = await spend(input)
  if (available === null) throw customerNotFound()
  if (isHold) throw referenceRefusals.usedForHold()
  if (spent === 0) throw insufficientCredits(credits, available)
  if (spent !== credits) throw referenceRefusals.spentOtherCredits(spent)
  return { reference, credits, balance: available }
}
