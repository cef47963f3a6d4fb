// The gateway says by card, wallet and points how a payment was paid. Where that does not add up to the total, the payment is taken
// by its total, and a person has to look at it.
import type { PaymentDetail } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import type { OrderKey } from '../orders.sql.ts'
import { saveDiscrepancy } from './discrepancies.sql.ts'

export const wrongPartsKind = 'PAYMENT_PARTS_DIFFER'

type Capture = { paymentKey: string; amount: number }

export async function reportWrongParts(
  { database, log }: PaymentContext,
  { customerId, orderId }: OrderKey,
  { paymentKey, amount: totalAmount }: Capture,
  parts: PaymentDetail,
): Promise<void> {
  const key = { customerId, orderId }
  const detail = { paymentKey, gateway: { totalAmount, ...parts } }
  const isNew = await saveDiscrepancy(database, { kind: wrongPartsKind, subject: orderId, order: key, detail })
  if (isNew) log.error({ ...key, discrepancy: wrongPartsKind }, 'the gateway and our books disagree')
}
