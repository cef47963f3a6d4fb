// The amount of a discrepancy, from what was recorded when it was last seen: what the gateway has more than our books, negative
// when it has less. The sum of the open ones is what is left to be explained.
import { orderIdPattern } from '../../core/ids.ts'
import { type OperationKind, operationKinds } from '../kinds.ts'

export type RecordedDiscrepancy = {
  kind: string
  /** An order id of ours for the payment of that order, else a payment key or transaction key. */
  subject: string
  detail: object
}

type Recorded = {
  direction?: string
  amount?: number
  stored?: Recorded
  gateway?: Payment & Recorded
  orderStatus?: string
  orderAmount?: number
  refundedAmount?: number
  operationKind?: OperationKind
  operationAmount?: number
} & Payment

/** As a review records it, or as the adapter of the gateway does. */
type Payment = { status?: string | null; currency?: string } & {
  balance?: number
  totalAmount?: number
  balanceAmount?: number
}

/** KRW; null: not known. For an operation without an outcome it is the amount that may have moved. */
export function amountOf({ kind, subject, detail }: RecordedDiscrepancy): number | null {
  const recorded = detail as Recorded
  const { stored, gateway, operationKind, direction } = recorded
  if (stored) return differenceOf(gateway?.direction ? signed(gateway) : 0, signed(stored))
  if (direction) return signed(recorded)
  if (operationKind) return amountOfOperation(kind, operationKind, recorded)
  if (!gateway) return null
  return differenceOf(balanceOf(gateway), orderIdPattern.test(subject) ? bookedBalanceOf(recorded) : 0)
}

function differenceOf(gateway: number | null, books: number | null): number | null {
  return gateway === null || books === null ? null : gateway - books
}

function signed({ direction, amount }: Recorded): number | null {
  if (amount === undefined) return null
  return direction === 'CAPTURE' ? amount : -amount
}

/** What the gateway keeps of a payment. */
function balanceOf({ status, currency = 'KRW', balance, balanceAmount }: Payment): number | null {
  if (currency !== 'KRW') return null
  return status === 'no such payment' ? 0 : (balance ?? balanceAmount ?? null)
}

/** What our books keep of the order's own payment. */
function bookedBalanceOf({ orderStatus, orderAmount, refundedAmount }: Recorded): number | null {
  if (orderAmount === undefined) return null
  if (orderStatus === 'CONFIRMED') return orderAmount
  if (orderStatus === 'REFUNDED') return refundedAmount === undefined ? null : orderAmount - refundedAmount
  return 0
}

function amountOfOperation(kind: string, operationKind: OperationKind, recorded: Recorded): number | null {
  const { totalAmount, operationAmount } = recorded
  if (kind === 'PARTLY_CANCELLED_AT_GATEWAY') return differenceOf(balanceOf(recorded), totalAmount ?? null)
  if (operationAmount === undefined) return null
  if (kind === 'REFUNDED_MORE_AT_GATEWAY' && totalAmount !== undefined)
    return differenceOf(balanceOf(recorded), totalAmount - operationAmount)
  return operationKinds[operationKind].movement === 'CAPTURE' ? operationAmount : -operationAmount
}
