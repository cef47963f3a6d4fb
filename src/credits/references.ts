// What became of a reference. Whoever looks for it and then waits for the account can be overtaken by a twin that takes
// the last credits: what is left then does not cover the second, and yet it is not to be refused, because what it asks
// for has happened. So a refusal is not given before another look, which is younger than the wait.
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, columns } from '../db/set-wise.ts'

/** `spent` is 0 for a hold; the hold's own columns are null for a spend. */
export type Use = {
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

type Key = { customerId: string; reference: string }

async function findUses(database: Database, inputs: Key[]): Promise<(Use | null)[]> {
  const values = columns(inputs, 'customerId', 'reference')
  return byOrdinal(inputs, await database.run<Use & { ordinal: number }>(findUsesStatement, values))
}

/** The outputs, those that were refused replaced where the reference has been used meanwhile. */
export async function unlessUsed<Output>(
  database: Database,
  inputs: Key[],
  outputs: Output[],
  { isRefused, outputOf }: { isRefused: (output: Output) => boolean; outputOf: (use: Use) => Output },
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
