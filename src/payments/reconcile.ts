// Compares every movement of money in the gateway's list with our books, both ways. What does not match is reviewed: the
// review repairs what is certain and leaves the rest as a discrepancy. When the gateway does not answer there are no
// conclusions, and the run is made again. Everything goes in pieces: memory does not grow with the books.
import { sleep } from '../core/clock.ts'
import { leastUuid, newOperationId, orderIdPattern } from '../core/ids.ts'
import { dayMs } from '../core/korean-days.ts'
import type { MovementPage, MovementQuery } from '../gateway/gateway.ts'
import type { PaymentContext } from './context.ts'
import { listOpenDiscrepancies, saveDiscrepancy } from './discrepancy-sql.ts'
import type { OrderKey } from './order-sql.ts'
import {
  type ComparedMovement,
  claimDailyRun,
  compareMovements,
  finishRun,
  insertMovements,
  insertRun,
  listUnmoved,
  type MovementPlace,
  type Run,
  renewRun,
  type Span,
} from './reconcile-sql.ts'
import { type Review, review } from './review.ts'

export type Progress = (phase: string, done: number, total: number) => void
type Watching = { onProgress: Progress; stopping: AbortSignal }

export type Reconciliation = {
  from: string
  to: string
  /** Of the gateway, in the span. Amounts are KRW. */
  movements: number
  captured: number
  cancelled: number
  /** Amounts of those that our books account for as they stood; the rest was reviewed. */
  bookedCaptured: number
  bookedCancelled: number
  /** Movements of orders that are not this service's. */
  foreign: number
  /** Orders that were looked at, by what came of it. */
  reviewed: Record<Review, number>
}

/** Something disagrees, or could not be found out. */
export function isDoubtful({ reviewed: { disagrees, unknown } }: Pick<Reconciliation, 'reviewed'>): boolean {
  return disagrees + unknown > 0
}

const hourMs = 3_600_000
const pageSize = 1_000
const reviewsAtATime = 8
const leaseMs = 120_000
/** Pauses before the gateway is asked for a page again. */
const pausesMs = [1_000, 2_000, 4_000, 8_000]
const minuteMs = 60_000
const rereviewedAtMost = 1_000
const takenOver = 'another process has taken the run over'

/** By command. Throws when the gateway does not answer. */
export async function reconcile(
  context: PaymentContext,
  span: Span,
  onProgress: Progress = () => undefined,
): Promise<Reconciliation> {
  return carryOut(context, await beginRun(context, span), { onProgress })
}

/** A run that somebody asked for, to be carried out at once by whoever has begun it. */
export async function beginRun({ database }: PaymentContext, span: Span): Promise<Run> {
  // Nothing has moved in the future.
  const to = new Date(Math.min(span.to.getTime(), Date.now()))
  if (to <= span.from) throw new Error('There is nothing to reconcile in a span that has not begun.')
  return insertRun(database, newOperationId(), { from: span.from, to }, leaseMs)
}

/** One that comes to nothing is let go of: it shows as interrupted, not as under way until its lease is over. */
export async function carryOut(
  context: PaymentContext,
  run: Run,
  { onProgress = () => undefined, stopping = new AbortController().signal }: Partial<Watching> = {},
): Promise<Reconciliation> {
  try {
    return await finish(context, run, await compareBooks(context, run, onProgress, stopping))
  } catch (error) {
    await letGo(context, run)
    throw error
  }
}

/** Of a run that is not carried out, or comes to nothing. */
export async function letGo({ database }: PaymentContext, run: Run): Promise<void> {
  await renewRun(database, run, 0).catch(() => undefined)
}

/** The oldest of the last days that is not reconciled yet; null when there is none. */
export async function reconcileDay(context: PaymentContext, stopping: AbortSignal): Promise<Reconciliation | null> {
  const run = await claimDailyRun(context.database, newOperationId(), leaseMs)
  if (!run) return null
  const result = await compareBooks(context, run, () => undefined, stopping)
  const { unknown, 'under way': underWay } = result.reviewed
  // Nobody would look at them again once the day is done.
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
  onProgress: Progress,
  stopping: AbortSignal,
): Promise<Reconciliation> {
  const result = emptyResult(run)
  let renewedAt = Number.NEGATIVE_INFINITY
  /** Between any two pieces of work; the lease is renewed once a second. */
  async function goOn(): Promise<void> {
    stopping.throwIfAborted()
    if (performance.now() - renewedAt < 1_000) return
    renewedAt = performance.now()
    if (!(await renewRun(context.database, run, leaseMs))) throw new Error(takenOver)
  }
  const work: Work = { context, span: run, goOn, result, onProgress, stopping }
  await reviewDiscrepancies(work)
  await readGateway(work)
  await compareGateway(work)
  await compareOperations(work)
  return result
}

type Work = {
  context: PaymentContext
  span: Span
  goOn: () => Promise<void>
  result: Reconciliation
  onProgress: Progress
  stopping: AbortSignal
}

/** Day by day, page by page, into our own table: both comparisons work from there. */
async function readGateway(work: Work): Promise<void> {
  const showTime = timeShower('minutes of the span read from the gateway', work)
  for (const day of slices(work.span, dayMs)) {
    for (let after: string | null = null; ; ) {
      // The gateway takes both ends in, to the second.
      const page = await readPage(work, { from: day.from, to: new Date(day.to.getTime() - 1), after })
      await insertMovements(work.context.database, page.movements)
      showTime(page.movements.at(-1)?.movedAt ?? day.from)
      if (page.next === null) break
      after = page.next
    }
    showTime(day.to)
  }
}

async function readPage({ context, goOn, stopping }: Work, query: MovementQuery): Promise<MovementPage> {
  for (let attempt = 0; ; attempt += 1) {
    await goOn()
    const page = await context.gateway.listMovements(query)
    if (page.kind === 'page') return page
    const pauseMs = pausesMs[attempt]
    if (pauseMs === undefined) {
      throw new Error(`The gateway does not list its transactions (${page.code}): nothing concluded.`)
    }
    await sleep(pauseMs, stopping)
  }
}

async function compareGateway(work: Work): Promise<void> {
  const { context, span, result } = work
  const showTime = timeShower("minutes of the gateway's list compared with our books", work)
  let after: MovementPlace = { movedAt: new Date(0), transactionKey: '' }
  for (;;) {
    await work.goOn()
    const page = await compareMovements(context.database, span, after, pageSize)
    for (const movement of page) count(result, movement)
    const doubtful = page.filter((movement) => !movement.booked)
    const ours = doubtful.filter((movement) => movement.customerId !== null)
    for (const movement of doubtful) if (movement.customerId === null) await noteForeign(context, movement)
    await reviewEach(work, ours as Doubtful[])
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    showTime(last.movedAt)
    after = last
  }
}

function count(result: Reconciliation, { direction, amount, booked, customerId }: ComparedMovement): void {
  const isCapture = direction === 'CAPTURE'
  result.movements += 1
  if (customerId === null) result.foreign += 1
  result[isCapture ? 'captured' : 'cancelled'] += amount
  if (booked) result[isCapture ? 'bookedCaptured' : 'bookedCancelled'] += amount
}

/** Another shop may use the same account at the gateway; an order that looks like ours and is not there is a loss. */
async function noteForeign({ database, log }: PaymentContext, movement: ComparedMovement): Promise<void> {
  const { paymentKey: subject, orderId, direction, amount, movedAt } = movement
  if (!orderIdPattern.test(orderId)) return
  const detail = { orderId, direction, amount, movedAt }
  const isNew = await saveDiscrepancy(database, { kind: 'UNKNOWN_ORDER', subject, order: null, detail })
  if (isNew) log.error({ orderId, direction, amount }, 'the gateway moved money for an order that we do not have')
}

async function compareOperations(work: Work): Promise<void> {
  const showTime = timeShower('minutes of our books compared with the list', work)
  for (const slice of slices(work.span, hourMs)) {
    let after = { customerId: leastUuid, operationId: leastUuid }
    for (;;) {
      await work.goOn()
      const page = await listUnmoved(work.context.database, slice, after, pageSize)
      await reviewEach(work, page)
      const last = page.at(-1)
      if (!last || page.length < pageSize) break
      after = last
    }
    showTime(slice.to)
  }
}

/** What was open before may have come right. It says nothing about the span, and does not count for it. */
async function reviewDiscrepancies(work: Work): Promise<void> {
  const open = await listOpenDiscrepancies(work.context.database, rereviewedAtMost)
  const orders = open.flatMap(({ customerId, orderId }) =>
    customerId && orderId ? [{ customerId, orderId, paymentKey: null }] : [],
  )
  await reviewEach({ ...work, result: emptyResult(work.span) }, orders)
}

type Doubtful = OrderKey & { paymentKey: string | null }

/** Several at a time, but not of one order. */
async function reviewEach({ context, goOn, result }: Work, doubtful: Doubtful[]): Promise<void> {
  const queue = Map.groupBy(doubtful, (each) => each.orderId).values()
  async function work(): Promise<void> {
    for (const payments of queue) {
      for (const { customerId, orderId, paymentKey } of payments) {
        await goOn()
        result.reviewed[await reviewSafely(context, { customerId, orderId }, paymentKey)] += 1
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(reviewsAtATime, doubtful.length) }, work))
}

/** A bug that strikes one order must not keep the others from being compared; it is told as not known. */
async function reviewSafely(context: PaymentContext, key: OrderKey, paymentKey: string | null): Promise<Review> {
  try {
    return await review(context, key, paymentKey)
  } catch (error) {
    context.log.error({ ...key, err: error }, 'a review failed')
    return 'unknown'
  }
}

function emptyResult({ from, to }: Span): Reconciliation {
  return {
    ...{ from: from.toISOString(), to: to.toISOString(), movements: 0, captured: 0, cancelled: 0 },
    ...{ bookedCaptured: 0, bookedCancelled: 0, foreign: 0 },
    reviewed: { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 },
  }
}

function timeShower(phase: string, { span: { from, to }, onProgress }: Work): (reached: Date) => void {
  const minutesTo = (time: Date) => Math.ceil((time.getTime() - from.getTime()) / minuteMs)
  return (reached) => onProgress(phase, minutesTo(reached), minutesTo(to))
}

/** Consecutive spans of at most that length, each up to the beginning of the next. */
function* slices({ from, to }: Span, lengthMs: number): Generator<Span> {
  const end = to.getTime() + 1
  for (let start = from.getTime(); start < end; start += lengthMs) {
    yield { from: new Date(start), to: new Date(Math.min(start + lengthMs, end)) }
  }
}
