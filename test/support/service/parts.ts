// Accepts a part that was cancelled at the gateway, as an operator does: the action is in the log.
import { randomUUID } from 'node:crypto'
import { asOperator } from '../../../harness/as-operator.ts'
import type { AdjustmentLimits } from '../../../src/credits/adjustments/adjust.ts'
import type { PaymentContext } from '../../../src/payments/context.ts'
import type { OrderKey } from '../../../src/payments/orders.sql.ts'
import { type AcceptAnswer, acceptPart } from '../../../src/payments/refunds/accept.ts'

export const wideLimits: AdjustmentLimits = { perDay: 1_000_000, approvalAbove: 1_000_000 }

export type TestAcceptance = {
  credits?: number
  reason?: string
  discrepancyId?: string
  actor?: string
  limits?: AdjustmentLimits
}

export function acceptPartOf(
  payments: PaymentContext,
  key: OrderKey,
  { credits, reason = 'agreed', discrepancyId = randomUUID(), actor = 'kim', limits = wideLimits }: TestAcceptance = {},
): Promise<AcceptAnswer> {
  const { customerId, orderId } = key
  const acceptance = { customerId, orderId, discrepancyId, credits, reason, actor }
  return asOperator(payments.database, { command: 'discrepancies accept', subject: discrepancyId }, () =>
    acceptPart(payments, acceptance, limits),
  )
}
