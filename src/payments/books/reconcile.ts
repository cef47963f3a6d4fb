// Compares every movement of money in the gateway's list with our books, both ways. Mismatches are reviewed: the review
// repairs what is certain and saves the rest as a discrepancy. When the gateway does not answer, the run concludes nothing and
// is made again. The work is done in pages: memory does not grow with the books, only by 8 bytes for each movement of the span.
//
// A movement belongs to a span by the gateway's time, an operation by the time at which it was opened; around midnight the
// two are on different days. So that every won of a difference can be traced, an operation counts on the day of its
// movement, and an operation without a movement in its span is looked up at the gateway.
import { newOperationId, orderIdPattern } from '../../core/ids.ts'
import { readDatabaseTime } from '../../db/database.ts'
import type { Movement } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { operationKinds } from '../kinds.ts'
import type { OrderKey } from '../orders.sql.ts'
import { listDoubtedOrders, resolveDiscrepancyOfPayment, saveDiscrepancy } from '../recovery/discrepancies.sql.ts'
import { type Review, review } from '../recovery/review.ts'
import { withDiscrepancies } from './bridge.sql.ts'
import { type Bridge, type BridgeLine, type BridgeLines, createBridgeLines } from './bridge.ts'
import { type ComparedMovement, type ComparedPage, compareMovements, listUnmoved, withCustomers } from './compare.ts'
import {
  checkCopy,
  copyList,
  createTimeProgress,
  type MovementList,
  type ReconcileProgress,
  type ReconcileWork,
  slices,
} from './movement-list.ts'
import {
  type ApprovedOperation,
  claimDailyRun,
  findBalanceWith,
  finishRun,
  firstPlace,
  insertRun,
  lastMomentOf,
  type MovementPlace,
  type Run,
  renewRun,
  type TimeSpan,
} from './reconcile.sql.ts'

type RunOptions = { onProgress: ReconcileProgress; stopping: AbortSignal }

export type Reconciliation = Bridge & {
  from: string
  /** The last second, included. */
  to: string
  /** The gateway's movements in the span, as listed in this run. Amounts are KRW. */
  movements: number
  captured: number
  cancelled: number
  /** Our approved operations that account for these movements; the other movements were reviewed. */
  bookedCaptured: number
  bookedCancelled: number
  // Our approved operations, opened in the span, without a movement in it. Each was looked up at the gateway.
  /** Found there: their movement is outside of the span. */
  outsideCaptured: number
  outsideCancelled: number
  /** Not found there. */
  missingCaptured: number
  missingCancelled: number
  /** Movements of orders that we do not have: `otherServices` and `unknownOrders` together. */
  foreign: number
  /** Another shop may use the same gateway account. */
  otherServices: number
  /** The order id is in our format: a lost order. */
  unknownOrders: number
  /** Rows of our copy that the gateway does not list, or lists differently. They are left out of the comparison. */
  notListed: number
  listedDifferently: number
  /** Orders that were reviewed, by result. */
  reviewed: Record<Review, number>
}

/** Something disagrees, or is not known. */
export function isDoubtful({ reviewed, notListed, listedDifferently }: Reconciliation): boolean {
  return reviewed.disagrees + reviewed.unknown + notListed + listedDifferently > 0
}

const hourMs = 3_600_000
const pageSize = 1_000
const reviewsAtATime = 8
const leaseMs = 120_000
const discrepanciesReviewedAtMost = 1_000
const takenOver = 'another process has taken the run over'

/** For the command. Throws when the gateway does not answer. */
export async function reconcile(
  context: PaymentContext,
  span: TimeSpan,
  { requestedBy, id, onProgress }: { requestedBy?: string; id?: string; onProgress?: ReconcileProgress } = {},
): Promise<Reconciliation> {
  return executeRun(context, await beginRun(context, span, requestedBy ?? null, id), {
    ...(onProgress && { onProgress }),
  })
}

/** A run on request. The process that begins it executes it. */
export async function beginRun(
  { database }: PaymentContext,
  span: TimeSpan,
  requestedBy: string | null,
  id = newOperationId(),
): Promise<Run> {
  // There are no movements in the future.
  const present = await readDatabaseTime(database)
  const begun = { from: span.from, to: span.to < present ? span.to : present }
  if (lastMomentOf(begun) <= span.from) throw new Error('There is nothing to reconcile in a span that has not begun.')
  return insertRun(database, id, begun, leaseMs, requestedBy)
}

/** The lease of a failed run ends at once: it shows as interrupted, not as running until the lease is over. */
export async function executeRun(
  context: PaymentContext,
  run: Run,
  { onProgress = () => undefined, stopping = new AbortController().signal }: Partial<RunOptions> = {},
): Promise<Reconciliation> {
  try {
    return await finish(context, run, await compareBooks(context, run, onProgress, stopping))
  } catch (error) {
    await abandonRun(context, run)
    throw error
  }
}

/** Ends the lease of a run that is not executed, or failed. */
export async function abandonRun({ database }: PaymentContext, run: Run): Promise<void> {
  await renewRun(database, run, 0).catch(() => undefined)
}

/** The oldest due day that is not reconciled yet; null when there is none. */
export async function reconcileDay(context: PaymentContext, stopping: AbortSignal): Promise<Reconciliation | null> {
  const run = await claimDailyRun(context.database, newOperationId(), leaseMs)
  if (!run) return null
  const result = await compareBooks(context, run, () => undefined, stopping)
  const { unknown, 'under way': underWay } = result.reviewed
  // They would not be compared again once the day is done.
  if (unknown + underWay > 0) {
    throw new Error(`${unknown + underWay} payments could not be compared yet: the day is reconciled again.`)
  }
  return finish(context, run, result)
}

async function finish({ database }: PaymentContext, run: Run, result: Reconciliation): Promise<Reconciliation> {
  if (!(await finishRun(database, run, result))) throw new Error(takenOver)
  return result
}

async function compareBooks(
  context: PaymentContext,
  run: Run,
  onProgress: ReconcileProgress,
  stopping: AbortSignal,
): Promise<Reconciliation> {
  const result = emptyResult(run)
  const bridge = createBridgeLines()
  let renewedAt = Number.NEGATIVE_INFINITY
  /** The lease is renewed once a second. */
  async function checkLease(): Promise<void> {
    stopping.throwIfAborted()
    if (performance.now() - renewedAt < 1_000) return
    renewedAt = performance.now()
    if (!(await renewRun(context.database, run, leaseMs))) throw new Error(takenOver)
  }
  const work: ReconcileWork = { context, span: run, checkLease, onProgress, stopping }
  await reviewDiscrepancies(work)
  const list = await copyList(work)
  result.notListed = list.notListed.length
  result.listedDifferently = new Set([...list.differing.values()].map(({ stored }) => stored.transactionKey)).size
  await compareGateway(work, list, { result, bridge })
  await compareOperations(work, list, { result, bridge })
  await checkCopy(work, list)
  const lines = await withDiscrepancies(context.database, bridge.kept())
  return { ...result, lines, rest: bridge.rest() }
}

/** What a run has found so far. */
type Found = { result: Reconciliation; bridge: BridgeLines }

/** Throws when a listed movement could not be compared: the database role of the service may delete rows of our copy. */
async function compareGateway(
  work: ReconcileWork,
  { listed, rejectedKeys, differing }: MovementList,
  found: Found,
): Promise<void> {
  const { context, span } = work
  const showTime = createTimeProgress("minutes of the gateway's list compared with our books", work)
  const differently = [...differing.values()].map((each) => each.listed)
  await countAndReview(work, await asUnbooked(context, differently), rejectedKeys, found)
  let count = differently.length
  for (let after: MovementPlace | null = firstPlace; after !== null; ) {
    await work.checkLease()
    const { compared, next }: ComparedPage = await compareMovements(context.database, { span, listed }, after, pageSize)
    await countAndReview(work, compared, rejectedKeys, found)
    count += compared.length
    if (next) showTime(next.movedAt)
    after = next
  }
  if (count < listed.count()) throw new Error('Movements were deleted during the run: it has to be made again.')
}

/** Movements as the gateway lists them, where our row differs; there are few. */
async function asUnbooked({ database }: PaymentContext, listed: Movement[]): Promise<ComparedMovement[]> {
  return (await withCustomers(database, listed)).map((each) => ({ ...each, booked: false }))
}

async function countAndReview(
  work: ReconcileWork,
  movements: ComparedMovement[],
  rejectedKeys: string[],
  { result, bridge }: Found,
): Promise<void> {
  for (const movement of movements) count(result, movement)
  const doubtful = movements.filter((movement) => !movement.booked)
  const ours = doubtful.filter((movement) => movement.customerId !== null)
  for (const movement of doubtful) {
    if (movement.customerId !== null) continue
    await saveForeign(work.context, movement, rejectedKeys)
    addMovement(bridge, movement, isOfOurs(movement) ? 'unknown order' : 'other service')
  }
  await reviewEach(work, ours as (ComparedMovement & Doubtful)[], result, (movement, review) =>
    addMovement(bridge, movement, review),
  )
}

function addMovement(bridge: BridgeLines, movement: ComparedMovement, result: BridgeLine['result']): void {
  const { direction, amount: moved, movedAt: at, orderId, customerId, paymentKey, transactionKey } = movement
  bridge.add({ moved, of: 'movement', direction, result, at, orderId, customerId, paymentKey, transactionKey })
}

/** An order id in our format. */
function isOfOurs({ orderId }: ComparedMovement): boolean {
  return orderIdPattern.test(orderId)
}

function count(result: Reconciliation, movement: ComparedMovement): void {
  const { direction, amount, booked, customerId } = movement
  const isCapture = direction === 'CAPTURE'
  result.movements += 1
  if (customerId === null) {
    result.foreign += 1
    result[isOfOurs(movement) ? 'unknownOrders' : 'otherServices'] += 1
  }
  result[isCapture ? 'captured' : 'cancelled'] += amount
  if (booked) result[isCapture ? 'bookedCaptured' : 'bookedCancelled'] += amount
}

/**
 * Another shop may use the same gateway account. But an order id in our format that we do not have is a lost order, until the
 * gateway has returned its money. Without an answer of the gateway the list says what is left.
 */
async function saveForeign(
  { database, gateway, log }: PaymentContext,
  movement: ComparedMovement,
  rejectedKeys: string[],
): Promise<void> {
  if (!isOfOurs(movement)) return
  const { paymentKey: subject, orderId, direction, amount, movedAt } = movement
  const kind = 'UNKNOWN_ORDER'
  const fetched = await gateway.fetchPayment(subject)
  if (fetched.kind === 'payment' && fetched.money === 'returned') {
    await resolveDiscrepancyOfPayment(database, { kind, subject }, 'the gateway has returned the payment')
    return
  }
  const balance = fetched.kind === 'payment' ? fetched.balance : await findBalanceWith(database, movement, rejectedKeys)
  const detail = { orderId, direction, amount, movedAt, balance }
  const isNew = await saveDiscrepancy(database, { kind, subject, order: null, detail })
  if (isNew) log.error({ orderId, direction, amount }, 'the gateway moved money for an order that we do not have')
}

async function compareOperations(
  work: ReconcileWork,
  { listed }: MovementList,
  { result, bridge }: Found,
): Promise<void> {
  const showTime = createTimeProgress('minutes of our books compared with the list', work)
  const list = { span: work.span, listed }
  for (const slice of slices(work.span, hourMs)) {
    await work.checkLease()
    for await (const page of listUnmoved(work.context.database, slice, list, pageSize)) {
      await reviewEach(work, page, result, (operation, review) => countUnmoved({ result, bridge }, operation, review))
      await work.checkLease()
    }
    showTime(slice.to)
  }
}

const isConfirmed: Record<Review, boolean> = {
  agrees: true,
  repaired: true,
  disagrees: false,
  'under way': false,
  unknown: false,
}

function countUnmoved({ result, bridge }: Found, operation: ApprovedOperation, review: Review): void {
  const { kind, amount, openedAt: at, orderId, customerId, paymentKey } = operation
  const direction = operationKinds[kind].movement
  const isCapture = direction === 'CAPTURE'
  if (isConfirmed[review]) {
    result[isCapture ? 'outsideCaptured' : 'outsideCancelled'] += amount
    return
  }
  result[isCapture ? 'missingCaptured' : 'missingCancelled'] += amount
  const line = { direction, result: review, at, orderId, customerId, paymentKey, transactionKey: null }
  bridge.add({ moved: amount, of: 'operation', ...line })
}

/** Discrepancies from before may be resolved by now. They say nothing about the span, and are not counted. */
async function reviewDiscrepancies(work: ReconcileWork): Promise<void> {
  const orders = await listDoubtedOrders(work.context.database, discrepanciesReviewedAtMost)
  const doubtful = orders.map((order) => ({ ...order, paymentKey: null }))
  await reviewEach(work, doubtful, emptyResult(work.span))
}

type Doubtful = OrderKey & { paymentKey: string | null }

/** Several at a time, but not of one order. */
async function reviewEach<Each extends Doubtful>(
  { context, checkLease }: ReconcileWork,
  doubtful: Each[],
  result: Reconciliation,
  onReviewed: (each: Each, review: Review) => void = () => undefined,
): Promise<void> {
  const queue = Map.groupBy(doubtful, (each) => each.orderId).values()
  async function work(): Promise<void> {
    for (const ofOrder of queue) {
      for (const each of ofOrder) {
        await checkLease()
        const { customerId, orderId, paymentKey } = each
        const found = await reviewSafely(context, { customerId, orderId }, paymentKey)
        result.reviewed[found] += 1
        onReviewed(each, found)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(reviewsAtATime, doubtful.length) }, work))
}

/** A bug in one order must not stop the comparison of the others; its result is unknown. */
async function reviewSafely(context: PaymentContext, key: OrderKey, paymentKey: string | null): Promise<Review> {
  try {
    return await review(context, key, paymentKey)
  } catch (error) {
    context.log.error({ ...key, err: error }, 'a review failed')
    return 'unknown'
  }
}

function emptyResult(span: TimeSpan): Reconciliation {
  return {
    from: span.from.toISOString(),
    to: lastMomentOf(span).toISOString(),
    movements: 0,
    captured: 0,
    cancelled: 0,
    bookedCaptured: 0,
    bookedCancelled: 0,
    outsideCaptured: 0,
    outsideCancelled: 0,
    missingCaptured: 0,
    missingCancelled: 0,
    foreign: 0,
    otherServices: 0,
    unknownOrders: 0,
    notListed: 0,
    listedDifferently: 0,
    reviewed: { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 },
    rest: { lines: 0, amount: 0 },
    lines: [],
  }
}

/** The daily reconciliation, by the worker: each day that is due, by one process. Mismatches are logged and are discrepancies. */
export async function closeDay(context: PaymentContext, stopping: AbortSignal): Promise<{ more: boolean }> {
  for (let day = await reconcileDay(context, stopping); day; day = await reconcileDay(context, stopping)) {
    if (Object.values(day.reviewed).some((orders) => orders > 0)) context.log.warn(day, 'reconciled')
  }
  return { more: false }
}
