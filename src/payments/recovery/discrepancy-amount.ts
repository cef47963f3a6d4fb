// The amount of a discrepancy, from what was recorded when it was last seen: what the gateway has more than our books, negative
// when it has less. The sum of the open ones, without their signs, is what is left to be explained.
import { orderIdPattern } from '../../core/ids.ts'
import { type OperationKind, operationKinds } from '../kinds.ts'

export type RecordedDiscrepancy = {
  kind: string
  /** An order id of ours for the payment of that order, else a payment key or transaction key. */
  subject: string
  detail: object
}

type Recorded = {
  gateway?: Payment
  orderStatus?: string
  orderAmount?: number
  refundedAmount?: number
  operationKind?: OperationKind
  operationAmount?: number
  heard?: string
} & Payment

/** As a review records it, or as the adapter of the gateway does. */
type Payment = { status?: string | null; currency?: string } & {
  balance?: number
  totalAmount?: number
  balanceAmount?: number
}

/** Their money is that of other discrepancies, or is not known. Those of movements are about our copy of the gateway's list. */
const withoutAmount = ['OPERATION_STUCK', 'MOVEMENT_NOT_LISTED', 'MOVEMENT_DIFFERS']

/** KRW; null: not known. For an operation without an outcome it is the amount that may have moved. */
export function amountOf({ kind, subject, detail }: RecordedDiscrepancy): number | null {
  const recorded = detail as Recorded
  const { gateway, operationKind, balance } = recorded
  if (withoutAmount.includes(kind)) return null
  if (kind === 'UNKNOWN_ORDER') return balance ?? null
  if (operationKind) return amountOfOperation(kind, operationKind, recorded)
  if (!gateway) return null
  return differenceOf(balanceOf(gateway), orderIdPattern.test(subject) ? bookedBalanceOf(recorded) : 0)
}

function differenceOf(gateway: number | null, books: number | null): number | null {
  return gateway === null || books === null ? null : gateway - books
}

const captured = ['DONE', 'PARTIAL_CANCELED', 'CANCELED']
const notCaptured = ['READY', 'IN_PROGRESS', 'ABORTED', 'EXPIRED', 'no such payment']

/** What the gateway keeps of a payment. The balance of one that is not captured is its whole amount, and no money. */
function balanceOf({ status, currency = 'KRW', balance, balanceAmount }: Payment): number | null {
  if (currency !== 'KRW' || !status) return null
  if (notCaptured.includes(status)) return 0
  return captured.includes(status) ? (balance ?? balanceAmount ?? null) : null
}

/** What our books keep of the order's own payment. */
function bookedBalanceOf({ orderStatus, orderAmount, refundedAmount }: Recorded): number | null {
  if (orderAmount === undefined) return null
  if (orderStatus === 'CONFIRMED') return orderAmount - (refundedAmount ?? 0)
  if (orderStatus === 'REFUNDED') return refundedAmount === undefined ? null : orderAmount - refundedAmount
  return 0
}

function amountOfOperation(kind: string, operationKind: OperationKind, recorded: Recorded): number | null {
  const { totalAmount, operationAmount, heard } = recorded
  if (kind === 'PARTLY_CANCELLED_AT_GATEWAY') return differenceOf(balanceOf(recorded), totalAmount ?? null)
  if (operationAmount === undefined) return null
  if (kind === 'REFUNDED_MORE_AT_GATEWAY' && totalAmount !== undefined)
    return differenceOf(balanceOf(recorded), totalAmount - operationAmount)
  const moved = operationKinds[operationKind].movement === 'CAPTURE' ? operationAmount : -operationAmount
  // Our books have the opposite of what was heard: here a movement that the gateway has not made.
  return heard === 'REJECTED' ? -moved : moved
}
