// The two comparisons of the gateway's list with our books, page by page: which operation accounts for a movement, and which
// movement for an operation. The list and the books are read by statements of their own, because the books are keyed by
// customer and the list knows no customers. The two match by order, payment key and amount.
import type { Database } from '../../db/database.ts'
import type { Movement } from '../../gateway/gateway.ts'
import { operationKinds } from '../kinds.ts'
import { findOrderKeys } from '../orders.sql.ts'
import { slices } from './movement-list.ts'
import {
  type ApprovedOperation,
  findBookedMovements,
  findMovementsOfPayments,
  type ListedSpan,
  listApprovedOperations,
  listMovementsToCompare,
  type MovementOfCustomer,
  type MovementOfPayment,
  type MovementPlace,
  type TimeSpan,
} from './reconcile.sql.ts'

/** `customerId` is null for an order that is not ours. `booked`: an operation of ours accounts for it. */
export type ComparedMovement = Movement & { customerId: string | null; booked: boolean }

/**
 * Leaves the rejected rows out. An operation accounts for its amount once: a second movement like it is not booked. The
 * movements are read before the books: the order of a movement exists before its money moves, and an approved operation stays
 * approved. So what is missing in the books is reviewed, and at worst it was booked a moment later.
 */
export async function compareMovements(
  database: Database,
  span: TimeSpan,
  after: MovementPlace,
  rejectedKeys: string[],
  limit: number,
): Promise<(ComparedMovement & MovementPlace)[]> {
  const page = await listMovementsToCompare(database, span, after, rejectedKeys, limit)
  const found = await withCustomers(database, page)
  const ours = found.filter((each) => each.customerId !== null)
  const booked = ours.length > 0 ? await findBookedMovements(database, ours as MovementOfCustomer[]) : new Set()
  return found.map(({ repeated: _, total: __, ...each }) => ({ ...each, booked: booked.has(each.transactionKey) }))
}

/** Movements with the customers of their orders. */
export async function withCustomers<Each extends Movement>(
  database: Database,
  movements: Each[],
): Promise<(Each & { customerId: string | null })[]> {
  if (movements.length === 0) return []
  const keys = await findOrderKeys(database, [...new Set(movements.map(({ orderId }) => orderId))])
  return movements.map((each) => ({ ...each, customerId: keys.get(each.orderId)?.customerId ?? null }))
}

/**
 * Approved operations of a slice that the gateway's list of the whole span has no movement for, in pages. A slice with more
 * operations than the limit is read in halves, so that no row is read for every page; a millisecond is read as a whole. A
 * movement that is added after the operations were read was added during the run, which is found at its end.
 */
export async function* listUnmoved(
  database: Database,
  slice: TimeSpan,
  listed: ListedSpan,
  limit: number,
): AsyncGenerator<ApprovedOperation[]> {
  const lengthMs = slice.to.getTime() - slice.from.getTime()
  const isWhole = lengthMs <= 1
  const operations = await listApprovedOperations(database, slice, isWhole ? null : limit + 1)
  if (isWhole || operations.length <= limit) yield await withoutMovement(database, operations, listed)
  else for (const half of slices(slice, Math.ceil(lengthMs / 2))) yield* listUnmoved(database, half, listed, limit)
}

async function withoutMovement(
  database: Database,
  operations: ApprovedOperation[],
  listed: ListedSpan,
): Promise<ApprovedOperation[]> {
  if (operations.length === 0) return []
  const paymentKeys = [...new Set(operations.map(({ paymentKey }) => paymentKey))]
  const movements = await findMovementsOfPayments(database, paymentKeys, listed)
  const ofPayments = Map.groupBy(movements, ({ paymentKey }) => paymentKey)
  return operations.filter((each) => !isMoved(each, ofPayments.get(each.paymentKey) ?? []))
}

/** A payment key alone proves nothing: it may be another customer's. A cancel that the gateway made in parts has to add up. */
function isMoved({ orderId, kind, amount }: ApprovedOperation, ofPayment: MovementOfPayment[]): boolean {
  const { movement } = operationKinds[kind]
  const amounts = ofPayment
    .filter((each) => each.orderId === orderId && each.direction === movement)
    .map((each) => each.amount)
  return amounts.includes(amount) || (amounts.length > 0 && amounts.reduce((sum, each) => sum + each) === amount)
}
