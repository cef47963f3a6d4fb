// Spends credits now. Idempotent by the reference within the customer: a retry gets the first answer. A reference that was
// refused for lack of credits can be used again, because only a ledger entry marks it as used.
import type { Batch } from '../core/batch.ts'
import type { Tallies } from '../core/tallies.ts'
import { batchStatement } from '../db/batch.ts'
import type { Database } from '../db/database.ts'
import { spendRestricted } from './budgets/restricted.sql.ts'
import { createUnbatched } from './budgets/restricted.ts'
import { type ReferenceUse, withResultOfUsedReferences } from './references.sql.ts'
import { customerNotFound, insufficientCredits, referenceRefusals, requireAllowed } from './refusals.ts'
import { retryOnUniqueViolation } from './retry-on-unique-violation.ts'
import { type SpendInput, type SpendOutput, spendAll } from './spend.sql.ts'

/** Spends of one customer share a statement, one after the other. Two with one reference do not: the second must see the first. */
export function createSpend(database: Database, tallies: Tallies): Batch<SpendInput, SpendOutput> {
  const spendTogether = batchStatement<SpendInput, SpendOutput>(database, 'credits.spend', {
    tallies,
    conflictKey: ({ customerId, reference }) => `${customerId}/${reference}`,
    rowKey: ({ customerId }) => customerId,
    run: async (inputs) => complete(inputs, await retryOnUniqueViolation(() => spendAll(database, inputs))),
  })
  const spendAlone = createUnbatched((input: SpendInput) => spendRestricted(database, input))

  async function complete(inputs: SpendInput[], outputs: SpendOutput[]): Promise<SpendOutput[]> {
    for (const { isNew, spent } of outputs) if (isNew) tallies.credits.spent += spent
    return withResultOfUsedReferences(database, inputs, outputs, {
      isRefused: ({ spent, available, usedFor, isRestricted }) =>
        spent === 0 && available !== null && usedFor === null && !isRestricted,
      outputOf: outputOfUse,
    })
  }

  return async (input) => {
    const output = await spendTogether(input)
    if (!output.isRestricted) return output
    const [alone] = await complete([input], [await spendAlone(input)])
    return alone as SpendOutput
  }
}

export function outputOfUse({ kind, credits, available }: ReferenceUse): SpendOutput {
  const isSpend = kind === 'SPEND'
  return { spent: isSpend ? credits : 0, available, usedFor: isSpend ? null : kind, isNew: false, isRestricted: false }
}

export type SpendAnswer = { reference: string; credits: number; balance: number }

/** The answer to a service of the platform, or the refusal. */
export async function spendCredits(spend: Batch<SpendInput, SpendOutput>, input: SpendInput): Promise<SpendAnswer> {
  return spendAnswerOf(input, await spend(input))
}

export function spendAnswerOf(
  { reference, credits }: Pick<SpendInput, 'reference' | 'credits'>,
  { spent, available, usedFor, ...verdict }: SpendOutput,
): SpendAnswer {
  if (available === null) throw customerNotFound()
  if (usedFor) throw referenceRefusals.usedFor(usedFor)
  if (spent === 0) {
    requireAllowed(credits, available, verdict)
    throw insufficientCredits(credits, available)
  }
  if (spent !== credits) throw referenceRefusals.spentOtherCredits(spent)
  return { reference, credits, balance: available }
}
