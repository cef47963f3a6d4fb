// What waits for a second person is approved by one request, whatever it is about.
import { findRequest } from '../../credits/adjustments/adjust.sql.ts'
import { type AdjustmentResult, approve } from '../../credits/adjustments/adjust.ts'
import type { PaymentContext } from '../context.ts'
import { approvePart } from './accept.ts'

export async function approvePending(
  context: PaymentContext,
  requestId: string,
  actor: string,
  perDay: number,
): Promise<AdjustmentResult> {
  const request = await findRequest(context.database, requestId)
  if (request?.kind === 'PART') return approvePart(context, requestId, actor, perDay)
  return approve(context.database, requestId, actor, perDay)
}
