// What a reference was used for. A statement that looks a reference up and then waits for the account can be overtaken by a
// request with the same reference that takes the last credits. The second must not be refused for lack of credits, because
// what it requests has happened. So the reference is looked up once more, after the wait, before a refusal is returned.
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, inputs } from '../db/inputs.ts'
import { sql } from '../db/sql.ts'

/** CAPTURE: a part of a hold. */
export type ReferenceKind = 'SPEND' | 'HOLD' | 'CAPTURE' | 'REVERSAL'

/** What a reference of a customer has spent, held, captured or reversed. */
export type ReferenceUse = {
  kind: ReferenceKind
  credits: number
  /** After it. */
  available: number
  /** Null for a spend and a reversal, and so are the other columns of the hold. */
  holdId: string | null
  /** What a hold of at most that many was requested with. */
  requested: number | null
  expiresAt: Date | null
  /** For a part: what was held after it. */
  remaining: number | null
  /** What a reversal reverses. */
  reversedReference: string | null
}

export type ReferenceKey = { customerId: string; reference: string }

const keys = inputs<ReferenceKey>({ customerId: 'uuid', reference: 'text' })

const findUsesStatement = statement.ofCustomers(
  'credits.findUses',
  (
    replicated,
  ) => sql`select i.ordinal, e.kind, case e.kind when 'HOLD' then e.held_delta else abs(e.delta) end as "credits",
    e.balance_after - coalesce(e.held_after, 0) as "available", h.hold_id as "holdId", h.requested,
    h.expires_at as "expiresAt",
    case e.kind when 'CAPTURE' then (
      select sum(p.held_delta)::bigint from ledger_entries p
      where p.customer_id = e.customer_id and p.hold_id = e.hold_id and p.entry_number <= e.entry_number
    ) end as "remaining", r.reference as "reversedReference"
  from unnest(${keys.arrays}) with ordinality as i (${keys.columns}, ordinal)
  join ledger_entries e using (customer_id, reference)
  left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id
  left join adjustments a on a.customer_id = e.customer_id and a.entry_number = e.entry_number
  left join ledger_entries r on r.customer_id = a.customer_id and r.entry_number = a.reversed_entry
  where ${replicated}`,
)

export async function findUses(database: Database, references: ReferenceKey[]): Promise<(ReferenceUse | null)[]> {
  const rows = await database.run<ReferenceUse & { ordinal: number }>(findUsesStatement, keys.valuesOf(references))
  return byOrdinal(references, rows)
}

/** The outputs; a refused one is replaced where its reference has been used meanwhile. */
export async function withResultOfUsedReferences<Output>(
  database: Database,
  references: ReferenceKey[],
  outputs: Output[],
  { isRefused, outputOf }: { isRefused: (output: Output) => boolean; outputOf: (use: ReferenceUse) => Output },
): Promise<Output[]> {
  const refused = references.flatMap((key, place) => (isRefused(outputs[place] as Output) ? [{ ...key, place }] : []))
  if (refused.length === 0) return outputs
  const uses = await findUses(database, refused)
  const corrected = [...outputs]
  for (const [index, { place }] of refused.entries()) {
    const use = uses[index]
    if (use) corrected[place] = outputOf(use)
  }
  return corrected
}
