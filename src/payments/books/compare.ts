// The two comparisons of the gateway's list with our books, page by page: which operation accounts for a movement, and which
// movement for an operation. The list and the books are read by statements of their own, because the books are keyed by
// customer and the list knows no customers.
//
// The two match by order, payment key, amount and, where the operation knows it, the gateway's transaction key. An operation
// accounts for one movement over all days, or for parts of one span that add up to it (`accountedFor`).
import { endOfKoreanDay } from '../../core/korean-days.ts'
import type { Database } from '../../db/database.ts'
import type { Movement } from '../../gateway/gateway.ts'
import { operationKinds } from '../kinds.ts'
import { findOrderKeys } from '../orders.sql.ts'
import type { ListedMovements } from './listed-movements.ts'
import { slices } from './movement-list.ts'
import {
  type ApprovedOperation,
  findApprovedOperations,
  findMovementsOfPayments,
  listApprovedOperations,
  listMovements,
  type MovementPlace,
  type PaymentOfOrder,
  type TimeSpan,
} from './reconcile.sql.ts'

/** `customerId` is null for an order that is not ours. `booked`: an operation of ours accounts for it. */
export type ComparedMovement = Movement & { customerId: string | null; booked: boolean }

/** What the gateway lists in a span. */
export type ListedSpan = { span: TimeSpan; listed: ListedMovements }

/** `next`: where the next page begins; null after the last one. */
export type ComparedPage = { compared: ComparedMovement[]; next: (MovementPlace & { movedAt: Date }) | null }

/**
 * The rows of our table after `after` that are in the list. They are read before the books: the order of a movement exists
 * before its money moves, and an approved operation stays approved. So what is missing in the books is reviewed, and at worst
 * it was booked a moment later.
 */
export async function compareMovements(
  database: Database,
  list: ListedSpan,
  after: MovementPlace,
  limit: number,
): Promise<ComparedPage> {
  const page = await listMovements(database, list.span, after, limit)
  const found = await withCustomers(
    database,
    page.filter((each) => list.listed.has(each)),
  )
  const ours = found.filter((each) => each.customerId !== null) as (Movement & PaymentOfOrder)[]
  const booked = await findBooked(database, ours, list)
  const compared = found.map((each) => ({ ...each, booked: booked.has(each.transactionKey) }))
  return { compared, next: page.length < limit ? null : (page.at(-1) ?? null) }
}

/** The transaction keys of the movements that approved operations of these payments account for. */
async function findBooked(
  database: Database,
  payments: PaymentOfOrder[],
  list: ListedSpan,
): Promise<ReadonlySet<string>> {
  if (payments.length === 0) return new Set()
  const ofPayments = await readPayments(database, payments, list)
  const distinct = new Map(payments.map((each) => [`${each.orderId} ${each.paymentKey}`, each]))
  const operations = await findApprovedOperations(database, [...distinct.values()])
  const movements = operations.flatMap((operation) =>
    expectedDirections(operation).flatMap((direction) => accountedFor(operation, direction, ofPayments, list.span)),
  )
  return new Set(movements.map(({ transactionKey }) => transactionKey))
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
 * operations than the limit is read in halves, so that no row is read for every page; a millisecond is read as a whole.
 */
export async function* listUnmoved(
  database: Database,
  slice: TimeSpan,
  list: ListedSpan,
  limit: number,
): AsyncGenerator<ApprovedOperation[]> {
  const lengthMs = slice.to.getTime() - slice.from.getTime()
  const isWhole = lengthMs <= 1
  const operations = await listApprovedOperations(database, slice, isWhole ? null : limit + 1)
  if (isWhole || operations.length <= limit) yield await withoutMovement(database, operations, list)
  else for (const half of slices(slice, Math.ceil(lengthMs / 2))) yield* listUnmoved(database, half, list, limit)
}

async function withoutMovement(
  database: Database,
  operations: ApprovedOperation[],
  list: ListedSpan,
): Promise<ApprovedOperation[]> {
  if (operations.length === 0) return []
  const ofPayments = await readPayments(database, operations, list)
  return operations.filter(
    (each) => accountedFor(each, operationKinds[each.kind].movement, ofPayments, list.span).length === 0,
  )
}

/** The movements of payments by payment key, in the order of their times; those of the span only as the gateway lists them. */
type MovementsOfPayments = Map<string, Movement[]>

async function readPayments(
  database: Database,
  payments: { paymentKey: string }[],
  { span, listed }: ListedSpan,
): Promise<MovementsOfPayments> {
  const paymentKeys = [...new Set(payments.map(({ paymentKey }) => paymentKey))]
  const stored = await findMovementsOfPayments(database, paymentKeys)
  const movements = stored.filter((each) => !isIn(span, each) || listed.has(each))
  return Map.groupBy(movements, ({ paymentKey }) => paymentKey)
}

const isIn = ({ from, to }: TimeSpan, { movedAt }: Movement) => movedAt >= from && movedAt < to

/** A RETURN is also all that the books have of the capture that it returns: no confirm of ours has it. */
function expectedDirections({ kind }: ApprovedOperation): Movement['direction'][] {
  return kind === 'RETURN' ? ['CAPTURE', 'CANCEL'] : [operationKinds[kind].movement]
}

/**
 * The movements of the span in a direction that an operation accounts for: the one of its amount, or all of them where they
 * add up to it because the gateway moved the money in parts. The one with its transaction key has to be among them. An
 * operation without a key accounts for the one nearest to its opening, among those that its call can have made. Movements on
 * other days prove nothing, because they are not in this run's list; they only show which one is nearest.
 *
 * A payment key alone proves nothing: it may be another customer's.
 */
function accountedFor(
  operation: ApprovedOperation,
  direction: Movement['direction'],
  ofPayments: MovementsOfPayments,
  span: TimeSpan,
): Movement[] {
  const { orderId, paymentKey, kind, amount } = operation
  const ofDirection = (ofPayments.get(paymentKey) ?? []).filter(
    (each) => each.orderId === orderId && each.direction === direction,
  )
  const isItsOwn = direction === operationKinds[kind].movement
  const { transactionKey } = operation
  const moved = isItsOwn && transactionKey === null ? byNearness(operation, ofDirection) : ofDirection
  const own =
    isItsOwn && transactionKey !== null ? moved.find((each) => each.transactionKey === transactionKey) : moved[0]
  if (!own || !isIn(span, own)) return []
  if (own.amount === amount) return [own]
  const parts = moved.filter((each) => isIn(span, each))
  return parts.reduce((sum, each) => sum + each.amount, 0) === amount ? parts : []
}

/** The clocks of the gateway and of the database differ, and a call around midnight ends after it. */
const toleranceMs = 600_000

/**
 * The movements that an operation can have made, by their time, the nearest to its opening first: on its day and not before it.
 * A person has accepted a PART after it moved. The first movement of a payment may be deleted by now, or not stored yet: without
 * a limit a second one on another day would take its place. A call that was repeated on a later day is reviewed instead.
 */
function byNearness({ kind, openedAt }: ApprovedOperation, moved: Movement[]): Movement[] {
  const opened = openedAt.getTime()
  const from = kind === 'PART' ? Number.NEGATIVE_INFINITY : opened - toleranceMs
  const to = (kind === 'PART' ? opened : endOfKoreanDay(openedAt).getTime()) + toleranceMs
  const distance = ({ movedAt }: Movement) => Math.abs(movedAt.getTime() - opened)
  return moved
    .filter(({ movedAt }) => movedAt.getTime() >= from && movedAt.getTime() <= to)
    .toSorted((one, other) => distance(one) - distance(other))
}
