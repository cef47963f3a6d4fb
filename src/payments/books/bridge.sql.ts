// Finds the open discrepancies that the lines of a bridge belong to.
import { type Database, statement } from '../../db/database.ts'
import type { BridgeLine, LinkedLine } from './bridge.ts'

type OpenDiscrepancyRow = {
  discrepancyId: string
  kind: string
  subject: string
  orderId: string | null
  /** Null: it is about an operation of the order. */
  paymentKey: string | null
}

const findOfLinesStatement = statement.global(
  'payments.findDiscrepanciesOfLines',
  `select d.discrepancy_id as "discrepancyId", d.kind, d.subject, d.order_id as "orderId",
    d.detail ->> 'paymentKey' as "paymentKey"
  from unnest($1::uuid[], $2::text[]) as i (customer_id, order_id)
  join discrepancies d on d.customer_id = i.customer_id and d.order_id = i.order_id
  where d.resolved_at is null
  union all
  select d.discrepancy_id, d.kind, d.subject, null, null
  from discrepancies d
  where d.resolved_at is null and d.kind in ('UNKNOWN_ORDER', 'MOVEMENT_DIFFERS') and d.subject = any ($3::text[])`,
)

/** The lines with their discrepancies. Those of other services and those that were repaired have none. */
export async function withDiscrepancies(database: Database, lines: BridgeLine[]): Promise<LinkedLine[]> {
  const ours = lines.filter(({ customerId }) => customerId !== null)
  const orders = [...new Map(ours.map(({ orderId, customerId }) => [orderId, customerId]))]
  const subjects = lines.flatMap(({ paymentKey, transactionKey }) => [paymentKey, transactionKey ?? paymentKey])
  const rows = await database.run<OpenDiscrepancyRow>(findOfLinesStatement, [
    orders.map(([, customerId]) => customerId),
    orders.map(([orderId]) => orderId),
    [...new Set(subjects)],
  ])
  const bySubject = new Map(rows.map((row) => [row.subject, row]))
  const byOrder = Map.groupBy(rows, ({ orderId }) => orderId)
  return lines.map((line) => {
    const ofOrder = byOrder.get(line.orderId) ?? []
    const found =
      bySubject.get(line.transactionKey ?? '') ??
      bySubject.get(line.paymentKey) ??
      ofOrder.find(({ paymentKey }) => paymentKey === line.paymentKey) ??
      ofOrder.find(({ paymentKey }) => paymentKey === null)
    return { ...line, discrepancyId: found?.discrepancyId ?? null, kind: found?.kind ?? null }
  })
}
