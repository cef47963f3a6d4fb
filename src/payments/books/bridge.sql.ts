// Finds the discrepancies that the lines of a bridge belong to: an open one, else the last that was resolved.
import { type Database, statement } from '../../db/database.ts'
import type { BridgeLine, LinkedLine } from './bridge.ts'

type DiscrepancyRow = {
  discrepancyId: string
  kind: string
  subject: string
  orderId: string | null
  /** Null: it is about an operation of the order. */
  paymentKey: string | null
  isOpen: boolean
}

const findOfLinesStatement = statement.global(
  'payments.findDiscrepanciesOfLines',
  `select d.discrepancy_id as "discrepancyId", d.kind, d.subject, d.order_id as "orderId",
    d.detail ->> 'paymentKey' as "paymentKey", d.resolved_at is null as "isOpen", d.resolved_at
  from unnest($1::uuid[], $2::text[]) as i (customer_id, order_id)
  join discrepancies d on d.customer_id = i.customer_id and d.order_id = i.order_id
  union all
  select d.discrepancy_id, d.kind, d.subject, null, null, d.resolved_at is null, d.resolved_at
  from discrepancies d
  where d.kind in ('UNKNOWN_ORDER', 'MOVEMENT_DIFFERS') and d.subject = any ($3::text[])
  order by resolved_at desc nulls first`,
)

/** The lines with their discrepancies. What was resolved about the order, and not about the payment, explains no line. */
export async function withDiscrepancies(database: Database, lines: BridgeLine[]): Promise<LinkedLine[]> {
  const ours = lines.filter(({ customerId }) => customerId !== null)
  const orders = [...new Map(ours.map(({ orderId, customerId }) => [orderId, customerId]))]
  const subjects = lines.flatMap(({ paymentKey, transactionKey }) => [paymentKey, transactionKey ?? paymentKey])
  const rows = await database.run<DiscrepancyRow>(findOfLinesStatement, [
    orders.map(([, customerId]) => customerId),
    orders.map(([orderId]) => orderId),
    [...new Set(subjects)],
  ])
  const bySubject = Map.groupBy(rows, ({ subject }) => subject)
  const byOrder = Map.groupBy(rows, ({ orderId }) => orderId)
  return lines.map((line) => {
    const { transactionKey, paymentKey, orderId } = line
    const ofOrder = byOrder.get(orderId) ?? []
    const ofPayment = [
      ...(bySubject.get(transactionKey ?? '') ?? []),
      ...(bySubject.get(paymentKey) ?? []),
      ...ofOrder.filter((row) => row.paymentKey === paymentKey),
    ]
    const found =
      ofPayment.find(({ isOpen }) => isOpen) ??
      ofOrder.find((row) => row.paymentKey === null && row.isOpen) ??
      ofPayment[0]
    return { ...line, discrepancyId: found?.discrepancyId ?? null, kind: found?.kind ?? null }
  })
}
