// What a reference was used for. A statement that looks a reference up and then waits for the account can be overtaken by a
// request with the same reference that takes the last credits. The second must not be refused for lack of credits, because
// what it requests has happened. So the reference is looked up once more, after the wait, before a refusal is returned.
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, columns } from '../db/set-wise.ts'

/** `spent` is 0 for a hold; the hold's own columns are null for a spend. */
export type ReferenceUse = {
  kind: 'SPEND' | 'HOLD'
  spent: number
  available: number
  holdId: string | null
  credits: number | null
  expiresAt: Date | null
}

const findUsesStatement = statement(
  'credits.findUses',
  `select i.ordinal, e.kind, -e.delta as "spent", e.balance_after - coalesce(e.held_after, 0) as "available",
    h.hold_id as "holdId", h.credits, h.expires_at as "expiresAt"
  from unnest($1::uuid[], $2::text[]) with ordinality as i (customer_id, reference, ordinal)
  join ledger_entries e using (customer_id, reference)
  left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id`,
)

type ReferenceKey = { customerId: string; reference: string }

async function findUses(database: Database, inputs: ReferenceKey[]): Promise<(ReferenceUse | null)[]> {
  const values = columns(inputs, 'customerId', 'reference')
  return byOrdinal(inputs, await database.run<ReferenceUse & { ordinal: number }>(findUsesStatement, values))
}

/** The outputs; a refused one is replaced where its reference has been used meanwhile. */
export async function withResultOfUsedReferences<Output>(
  database: Database,
  inputs: ReferenceKey[],
  outputs: Output[],
  { isRefused, outputOf }: { isRefused: (output: Output) => boolean; outputOf: (use: ReferenceUse) => Output },
): Promise<Output[]> {
  const refused = inputs.flatMap((input, place) => (isRefused(outputs[place] as Output) ? [{ ...input, place }] : []))
  if (refused.length === 0) return outputs
  const uses = await findUses(database, refused)
  const corrected = [...outputs]
  for (const [index, { place }] of refused.entries()) {
    const use = uses[index]
    if (use) corrected[place] = outputOf(use)
  }
  return corrected
}
