// Accepts a part that was cancelled at the gateway, as an operator does: the action is in the log.
import { randomUUID } from 'node:crypto'
import { asOperator } from '../../../harness/as-operator.ts'
import type { AdjustmentLimits } from '../../../src/credits/adjustments/adjust.ts'
import type { PaymentContext } from '../../../src/payments/context.ts'
import type { OrderKey } from '../../../src/payments/orders.sql.ts'
import { findDoubtsOfOrder } from '../../../src/payments/recovery/discrepancies.sql.ts'
import { partlyCancelled, review } from '../../../src/payments/recovery/review.ts'
import { type AcceptAnswer, acceptPart } from '../../../src/payments/refunds/accept.ts'

export const wideLimits: AdjustmentLimits = { perDay: 1_000_000, approvalAbove: 1_000_000 }

export type TestAcceptance = {
  credits?: number
  reason?: string
  discrepancyId?: string
  actor?: string
  limits?: AdjustmentLimits
}

/** Without `discrepancyId` it is the discrepancy that a review finds; an unknown id where there is nothing to accept. */
export async function acceptPartOf(
  payments: PaymentContext,
  key: OrderKey,
  { credits, reason = 'agreed', discrepancyId, actor = 'kim', limits = wideLimits }: TestAcceptance = {},
): Promise<AcceptAnswer> {
  const { database } = payments
  const subject = discrepancyId ?? (await findDiscrepancyOf(payments, key)) ?? randomUUID()
  const acceptance = { ...key, discrepancyId: subject, credits, reason, actor }
  return asOperator(database, { command: 'discrepancies accept', subject, actor, credits }, () =>
    acceptPart(payments, acceptance, limits),
  )
}

async function findDiscrepancyOf(payments: PaymentContext, key: OrderKey): Promise<string | undefined> {
  await review(payments, key)
  const doubts = await findDoubtsOfOrder(payments.database, key)
  return doubts.find(({ kind }) => kind === partlyCancelled)?.discrepancyId
}
