// What a spend or a hold would do now, without doing it: the answer and the refusals of the real request, and no row is
// written. Another request may change it a moment later.
import type { Database } from '../db/database.ts'
import { findAvailable } from './accounts.sql.ts'
import { openedByUse } from './holds/holds.sql.ts'
import { type HoldRequest, heldBy } from './holds/holds.ts'
import { findUses, type ReferenceUse } from './references.sql.ts'
import { outputOfUse, type SpendAnswer, spendAnswerOf } from './spend.ts'

type Request = Pick<HoldRequest, 'customerId' | 'credits' | 'reference' | 'atMost'>

/**
 * `use`: the reference was used before, and nothing would be taken. `taken` is 0 when the available credits do not cover it.
 * `available` is what would be left; null when there is no such customer.
 */
type Judgement = { use: ReferenceUse | null; taken: number; available: number | null }

/** The balance is read before the reference: a request that commits in between is found by its reference. */
async function judge(database: Database, { customerId, credits, reference, atMost }: Request): Promise<Judgement> {
  const available = await findAvailable(database, customerId)
  const [use = null] = await findUses(database, [{ customerId, reference }])
  if (use || available === null) return { use, taken: 0, available }
  const wanted = atMost ? Math.min(credits, available) : credits
  const taken = wanted <= available ? wanted : 0
  return { use: null, taken, available: available - taken }
}

export async function dryRunSpend(database: Database, request: Request): Promise<SpendAnswer> {
  const { use, taken, available } = await judge(database, request)
  const output = use ? outputOfUse(use) : { spent: taken, available, usedFor: null, isNew: false }
  return spendAnswerOf(request, output)
}

/** A hold that is there already has its id and its expiry; a new one would get them. */
export type DryHoldAnswer = { holdId: string | null; credits: number; expiresAt: string | null; balance: number }

export async function dryRunHold(database: Database, request: Request): Promise<DryHoldAnswer> {
  const { use, taken, available } = await judge(database, request)
  if (use) {
    const opened = openedByUse(use)
    return { holdId: opened.holdId, expiresAt: opened.expiresAt?.toISOString() ?? null, ...heldBy(request, opened) }
  }
  const credits = taken > 0 ? taken : null
  const requested = request.atMost ? request.credits : null
  return { holdId: null, expiresAt: null, ...heldBy(request, { credits, requested, available, usedFor: null }) }
}
