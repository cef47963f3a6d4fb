// What a reference was used for. A statement that looks a reference up and then waits for the account can be overtaken by a
// request with the same reference that takes the last credits. The second must not be refused for lack of credits, because
// what it requests has happened. So the reference is looked up once more, after the wait, before a refusal is returned.
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, inputs } from '../db/inputs.ts'

/** `spent` is 0 for a hold and negative for a reversal; the hold's own columns are null for others. */
export type ReferenceUse = {
  kind: 'SPEND' | 'HOLD' | 'REVERSAL'
  spent: number
  available: number
  holdId: string | null
  credits: number | null
  expiresAt: Date | null
  /** What a reversal reverses. */
  reversedReference: string | null
}

type ReferenceKey = { customerId: string; reference: string }

const keys = inputs<ReferenceKey>({ customerId: 'uuid', reference: 'text' })

const findUsesStatement = statement(
  'credits.findUses',
  `select i.ordinal, e.kind, -e.delta as "spent", e.balance_after - coalesce(e.held_after, 0) as "available",
    h.hold_id as "holdId", h.credits, h.expires_at as "expiresAt",
    r.reference as "reversedReference"
  from unnest(${keys.arrays}) with ordinality as i (${keys.columns}, ordinal)
  join ledger_entries e using (customer_id, reference)
  left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id
  left join adjustments a on a.customer_id = e.customer_id and a.entry_number = e.entry_number
  left join ledger_entries r on r.customer_id = a.customer_id and r.entry_number = a.reversed_entry`,
)

async function findUses(database: Database, references: ReferenceKey[]): Promise<(ReferenceUse | null)[]> {
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
