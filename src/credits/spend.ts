// Spends credits now. Idempotent by the reference within the customer: a retry gets the first answer. A reference that was
// refused for lack of credits can be used again, because only a ledger entry marks it as used.
import { type Batch, createBatch } from '../core/batch.ts'
import { batchSizesOf, type Tallies } from '../core/tallies.ts'
import { type Database, retryScopeOf } from '../db/database.ts'
import { withResultOfUsedReferences } from './references.sql.ts'
import { customerNotFound, insufficientCredits, referenceRefusals } from './refusals.ts'
import { retryOnUniqueViolation } from './retry-on-unique-violation.ts'
import { type SpendInput, type SpendOutput, spendAll } from './spend.sql.ts'

/** Spends of one customer share a statement, one after the other. Two with one reference do not: the second must see the first. */
export function createSpend(database: Database, tallies: Tallies): Batch<SpendInput, SpendOutput> {
  return createBatch<SpendInput, SpendOutput>({
    retryScopeOf,
    sizes: batchSizesOf(tallies, 'credits.spend'),
    conflictKey: ({ customerId, reference }) => `${customerId}/${reference}`,
    rowKey: ({ customerId }) => customerId,
    run: async (inputs) => {
      const outputs = await retryOnUniqueViolation(() => spendAll(database, inputs))
      for (const { isNew, spent } of outputs) if (isNew) tallies.credits.spent += spent
      return withResultOfUsedReferences(database, inputs, outputs, {
        isRefused: ({ spent, available, isHold }) => spent === 0 && available !== null && !isHold,
        outputOf: ({ kind, spent, available }) => ({
          spent,
          available,
          isHold: kind === 'HOLD',
          isReversal: kind === 'REVERSAL',
          isNew: false,
        }),
      })
    },
  })
}

export type SpendAnswer = { reference: string; credits: number; balance: number }

/** The answer to a service of the platform, or the refusal. */
export async function spendCredits(spend: Batch<SpendInput, SpendOutput>, input: SpendInput): Promise<SpendAnswer> {
  const { reference, credits } = input
  const { spent, available, isHold, isReversal } = await spend(input)
  if (available === null) throw customerNotFound()
  if (isHold) throw referenceRefusals.usedForHold()
  if (isReversal) throw referenceRefusals.usedToReverse()
  if (spent === 0) throw insufficientCredits(credits, available)
  if (spent !== credits) throw referenceRefusals.spentOtherCredits(spent)
  return { reference, credits, balance: available }
}
