// The records of adjustments: credits that no payment stands behind. The movement is an entry of the ledger; the record has its
// reason, and the operator or the service that made it.

import { type Database, statement } from '../../db/database.ts'
import { listOf, quoted, type Sql, sql } from '../../db/sql.ts'

export const adjustmentKinds = ['GOODWILL', 'CORRECTION', 'REVERSAL'] as const
/** As SQL. */
export const adjustmentKindList = listOf(adjustmentKinds.map(quoted))
export type AdjustmentKind = (typeof adjustmentKinds)[number]

/**
 * CTE `adjustment`: a record for each movement of the statement, with its cause from `source`, which has the columns
 * customer_id, turn, adjustment_id, reversed_entry, actor, approved_by, reason.
 */
export function recordAdjustments(source: Sql): Sql {
  return sql`
  adjustment as (
    insert into adjustments
      (customer_id, adjustment_id, kind, credits, entry_number, reversed_entry, service_id, actor, approved_by, reason,
       created_at)
    select m.customer_id, c.adjustment_id, m.kind, m.delta, m.last_entry, c.reversed_entry, m.service_id, c.actor,
           c.approved_by, c.reason, m.moved_at
    from moved m
    join ${source} c on c.customer_id = m.customer_id and c.turn = m.turn
  )`
}

export type ListedAdjustment = {
  adjustmentId: string
  entryNumber: number
  kind: AdjustmentKind
  credits: number
  reason: string
  actor: string | null
  approvedBy: string | null
  service: string | null
  /** The reference of a reversal, and that of the spend or hold it reverses. */
  reference: string | null
  reversedReference: string | null
  createdAt: Date
}

const listAdjustmentsStatement = statement.ofCustomer(
  'credits.listAdjustments',
  `select a.adjustment_id as "adjustmentId", a.entry_number as "entryNumber", a.kind, a.credits, a.reason, a.actor,
    a.approved_by as "approvedBy", t.name as "service", e.reference, r.reference as "reversedReference",
    a.created_at as "createdAt"
  from adjustments a
  join ledger_entries e on e.customer_id = a.customer_id and e.entry_number = a.entry_number
  left join ledger_entries r on r.customer_id = a.customer_id and r.entry_number = a.reversed_entry
  left join service_tokens t on t.service_id = a.service_id
  where a.customer_id = $1 and ($2::bigint is null or a.entry_number < $2)
  order by a.entry_number desc
  limit $3`,
)

/** Newest first; those before an entry number, or all. */
export function listAdjustments(
  database: Database,
  customerId: string,
  { before, limit }: { before: number | null; limit: number },
): Promise<ListedAdjustment[]> {
  return database.run<ListedAdjustment>(listAdjustmentsStatement, [customerId, before, limit])
}
