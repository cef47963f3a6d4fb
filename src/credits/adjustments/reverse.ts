// Gives credits back that a service has spent, or captured from a hold: all of them or a part, together never more than was
// spent. Idempotent by the reversal's own reference within the customer: a retry gets the first answer.
import { randomUUID } from 'node:crypto'
import type { Batch } from '../../core/batch.ts'
import type { Tallies } from '../../core/tallies.ts'
import { batchStatement } from '../../db/batch.ts'
import type { Database } from '../../db/database.ts'
import { withResultOfUsedReferences } from '../references.sql.ts'
import { referenceRefusals, reversalRefusals } from '../refusals.ts'
import { retryOnUniqueViolation } from '../retry-on-unique-violation.ts'
import { type ReversalInput, type ReversalOutput, reverseAll } from './reverse.sql.ts'

/** Reversals of one spend do not share a statement: the second must see what the first has left. */
export function createReverse(database: Database, tallies: Tallies): Batch<ReversalInput, ReversalOutput> {
  return batchStatement<ReversalInput, ReversalOutput>(database, 'credits.reverse', {
    tallies,
    conflictKey: ({ customerId, reversedReference }) => `${customerId}/${reversedReference}`,
    rowKey: ({ customerId }) => customerId,
    run: async (inputs) => {
      const outputs = await retryOnUniqueViolation(() => reverseAll(database, inputs))
      for (const { isNew, credits } of outputs) if (isNew) tallies.credits.reversed += credits
      return withResultOfUsedReferences(database, inputs, outputs, {
        isRefused: ({ kind, left }) => kind === null && left !== null,
        outputOf: ({ kind, credits, available, reversedReference }) => ({
          kind,
          reversedReference,
          credits,
          available,
          left: null,
          isNew: false,
        }),
      })
    },
  })
}

export type ReversalRequest = Omit<ReversalInput, 'adjustmentId'>
export type ReversalAnswer = { reference: string; credits: number; balance: number }

/** The answer to a service of the platform, or the refusal. */
export async function reverseSpend(
  reverse: Batch<ReversalInput, ReversalOutput>,
  request: ReversalRequest,
): Promise<ReversalAnswer> {
  const { reference, reversedReference } = request
  const { kind, left, credits, available, ...used } = await reverse({ ...request, adjustmentId: randomUUID() })
  if (kind === null) throw left === null ? reversalRefusals.spendNotFound() : reversalRefusals.moreThanLeft(left)
  if (kind !== 'REVERSAL') throw referenceRefusals.usedFor(kind)
  if (used.reversedReference !== reversedReference) throw referenceRefusals.reversedOtherSpend()
  if (request.credits !== null && request.credits !== credits) throw referenceRefusals.reversedOtherCredits(credits)
  return { reference, credits, balance: available }
}
