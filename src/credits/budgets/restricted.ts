// Runs the statements of restricted accounts, one input each, beside the batches of all others: an account without budgets does
// not wait for them.
import { type Batch, createBatch } from '../../core/batch.ts'
import { refuse } from '../../core/errors.ts'
import { isUniqueViolation, retryScopeOf } from '../../db/database.ts'
import type { Verdict } from './usage.sql.ts'

/** Statements at once: they wait for one another's rows, and each has a connection. */
const atOnce = 4

/** Each run that has to be repeated was overtaken by a statement that has committed. */
const mostRuns = 20

export function createUnbatched<Input extends { customerId: string }, Output extends Verdict>(
  run: (input: Input) => Promise<Output>,
): Batch<Input, Output> {
  return createBatch<Input, Output>({
    retryScopeOf,
    maxSize: 1,
    // They would wait for the account, and keep others waiting.
    conflictKey: ({ customerId }) => customerId,
    concurrency: atOnce,
    run: (inputs) => Promise.all(inputs.map((input) => runUntilFresh(() => run(input)))),
  })
}

async function runUntilFresh<Output extends Verdict>(run: () => Promise<Output>): Promise<Output> {
  for (let runs = 0; runs < mostRuns; runs += 1) {
    try {
      const output = await run()
      if (!output.isStale) return output
    } catch (error) {
      if (!wasOvertaken(error)) throw error
    }
  }
  throw refuse('SVC001')
}

/** By a statement that inserted the same usage or used the same reference, or by one that lowered the limit. */
function wasOvertaken(error: unknown): boolean {
  const { constraint = '' } = (error ?? {}) as { constraint?: string }
  return isUniqueViolation(error) || /^budget_usage_(begins|stays)_within_limit$/.test(constraint)
}
