// What a spend or a hold would do now, without doing it: the answer and the refusals of the real request, and no row is
// written. Another request may change it a moment later.
import type { Database } from '../db/database.ts'
import { previewMovement } from './budgets/restricted.sql.ts'
import type { Verdict } from './budgets/usage.sql.ts'
import { type HoldOpening, openedByUse } from './holds/holds.sql.ts'
import { heldBy } from './holds/holds.ts'
import { findUses, type ReferenceUse } from './references.sql.ts'
import { outputOfUse, type SpendAnswer, spendAnswerOf } from './spend.ts'

type Request = Omit<HoldOpening, 'holdId' | 'expiresInSeconds'>

/**
 * `use`: the reference was used before, and nothing would be taken. `taken` is 0 when the available credits do not cover it, or
 * the verdict does not allow it. `available` is what would be left; null when there is no such customer.
 */
type Preview = { use: ReferenceUse | null; taken: number; available: number | null; verdict?: Verdict }

/** The balance is read before the reference: a request that commits in between is found by its reference. */
async function preview(database: Database, request: Request): Promise<Preview> {
  const movement = await previewMovement(database, request)
  const [use = null] = await findUses(database, [request])
  if (use || !movement) return { use, taken: 0, available: movement?.available ?? null }
  const { available, granted, ...verdict } = movement
  const { isSuspended, hasTooManyLabels, exceeded } = verdict
  const isAllowed = !isSuspended && !hasTooManyLabels && !exceeded && granted <= available
  const taken = isAllowed ? granted : 0
  return { use: null, taken, available: available - taken, verdict }
}

export async function dryRunSpend(database: Database, request: Omit<Request, 'atMost'>): Promise<SpendAnswer> {
  const { use, taken, available, verdict } = await preview(database, request)
  if (use) return spendAnswerOf(request, outputOfUse(use))
  return spendAnswerOf(request, {
    spent: taken,
    available,
    usedFor: null,
    isNew: false,
    isRestricted: false,
    ...verdict,
  })
}

/** A hold that is there already has its id and its expiry; a new one would get them. */
export type DryHoldAnswer = { holdId: string | null; credits: number; expiresAt: string | null; balance: number }

export async function dryRunHold(database: Database, request: Request): Promise<DryHoldAnswer> {
  const { use, taken, available, verdict } = await preview(database, request)
  if (use) {
    const opened = openedByUse(use)
    return { holdId: opened.holdId, expiresAt: opened.expiresAt?.toISOString() ?? null, ...heldBy(request, opened) }
  }
  const credits = taken > 0 ? taken : null
  const requested = request.atMost ? request.credits : null
  return {
    holdId: null,
    expiresAt: null,
    ...heldBy(request, { credits, requested, available, usedFor: null, ...verdict }),
  }
}
