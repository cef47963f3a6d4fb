// Compares every movement of money in the gateway's list with our books, both ways. What does not match is reviewed: the
// review repairs what is certain and leaves the rest as a discrepancy. When the gateway does not answer there are no
// conclusions, and the run is made again. Everything goes in pieces: memory does not grow with the books.
import { sleep } from '../core/clock.ts'
import { newOperationId, orderIdPattern } from '../core/ids.ts'
import type { MovementPage } from '../gateway/gateway.ts'
import type { PaymentContext } from './context.ts'
import { listOpenDiscrepancies, saveDiscrepancy } from './discrepancy-sql.ts'
import type { OrderKey } from './order-sql.ts'
import {
  type ComparedMovement,
  claimDailyRun,
  compareMovements,
  countMovements,
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

const dayMs = 86_400_000
const sliceMs = 300_000
const pageSize = 1_000
const reviewsAtATime = 8
const leaseMs = 120_000
/** Pauses before the gateway is asked for a page again. */
const pausesMs = [1_000, 2_000, 4_000, 8_000]
/** An operation may be opened a while before its money moves. */
const overlapMs = dayMs
const minuteMs = 60_000
const rereviewedAtMost = 1_000
/** No id comes before this one. */
const beforeAll = '00000000-0000-0000-0000-000000000000'

/** By command. Throws when the gateway does not answer, or when `stopping` says so. */
export async function reconcile(
  context: PaymentContext,
  span: Span,
  onProgress: Progress = () => undefined,
): Promise<Reconciliation> {
  const run = await insertRun(context.database, newOperationId(), span, leaseMs)
  return compareBooks(context, run, onProgress, new AbortController().signal)
}

/** The oldest of the last days that is not reconciled yet; null when there is none. */
export async function reconcileDay(context: PaymentContext, stopping: AbortSignal): Promise<Reconciliation | null> {
  const run = await claimDailyRun(context.database, newOperationId(), leaseMs)
  return run && compareBooks(context, run, () => undefined, stopping)
}

async function compareBooks(
  context: PaymentContext,
  run: Run,
  onProgress: Progress,
  stopping: AbortSignal,
): Promise<Reconciliation> {
  const result: Reconciliation = {
    ...{ from: run.from.toISOString(), to: run.to.toISOString(), movements: 0, captured: 0, cancelled: 0 },
    ...{ bookedCaptured: 0, bookedCancelled: 0, foreign: 0 },
    reviewed: { agrees: 0, repaired: 0, disagrees: 0, 'under way': 0, unknown: 0 },
  }
  /** Between two pieces of work. */
  async function goOn(): Promise<void> {
    stopping.throwIfAborted()
    if (!(await renewRun(context.database, run, leaseMs))) throw new Error('another process has taken the run over')
  }
  await readGateway(context, run, goOn, onProgress)
  await compareGateway(context, run, goOn, result, onProgress)
  await compareOperations(context, run, goOn, result, onProgress)
  await reviewDiscrepancies(context, goOn, result)
  await finishRun(context.database, run, result)
  return result
}

/** Day by day, page by page, into our own table: both comparisons work from there. */
async function readGateway(context: PaymentContext, { from, to }: Span, goOn: () => Promise<void>, progress: Progress) {
  const showTime = timeShower('minutes of the span read from the gateway', { from, to }, progress)
  for (const day of slices({ from, to }, dayMs)) {
    for (let after: string | null = null; ; ) {
      await goOn()
      // The gateway takes both ends in, to the second.
      const page = await readPage(context, { from: day.from, to: new Date(day.to.getTime() - 1), after })
      await insertMovements(context.database, page.movements)
      showTime(page.movements.at(-1)?.movedAt ?? day.from)
      if (page.next === null) break
      after = page.next
    }
    showTime(day.to)
  }
}

async function readPage(context: PaymentContext, query: Span & { after: string | null }): Promise<MovementPage> {
  for (const pauseMs of [...pausesMs, null]) {
    const page = await context.gateway.listMovements(query)
    if (page.kind === 'page') return page
    if (pauseMs === null)
      throw new Error(`The gateway does not list its transactions (${page.code}): nothing concluded.`)
    await sleep(pauseMs)
  }
  throw new Error('unreachable')
}

async function compareGateway(
  context: PaymentContext,
  span: Span,
  goOn: () => Promise<void>,
  result: Reconciliation,
  progress: Progress,
): Promise<void> {
  const total = await countMovements(context.database, span)
  let after: MovementPlace = { movedAt: new Date(0), transactionKey: '' }
  for (;;) {
    await goOn()
    const page = await compareMovements(context.database, span, after, pageSize)
    for (const movement of page) count(result, movement)
    const doubtful = page.filter((movement) => !movement.booked)
    const ours = doubtful.filter((movement) => movement.customerId !== null)
    for (const movement of doubtful) if (movement.customerId === null) await noteForeign(context, movement)
    await reviewEach(context, ours as (OrderKey & { paymentKey: string })[], result)
    progress('movements compared with our books', result.movements, total)
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
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
  if (isNew) log.error({ subject, detail }, 'the gateway moved money for an order that we do not have')
}

async function compareOperations(
  context: PaymentContext,
  span: Span,
  goOn: () => Promise<void>,
  result: Reconciliation,
  progress: Progress,
): Promise<void> {
  const from = new Date(span.from.getTime() - overlapMs)
  const showTime = timeShower('minutes of our books compared with the list', { from, to: span.to }, progress)
  let renewedAt = 0
  for (const slice of slices({ from, to: span.to }, sliceMs)) {
    if (performance.now() - renewedAt > 1_000) {
      await goOn()
      renewedAt = performance.now()
    }
    let after = { customerId: beforeAll, operationId: beforeAll }
    for (;;) {
      const page = await listUnmoved(context.database, slice, after, pageSize)
      await reviewEach(context, page, result)
      const last = page.at(-1)
      if (!last || page.length < pageSize) break
      after = last
    }
    showTime(slice.to)
  }
}

/** What was open before may have come right. */
async function reviewDiscrepancies(context: PaymentContext, goOn: () => Promise<void>, result: Reconciliation) {
  const open = await listOpenDiscrepancies(context.database, rereviewedAtMost)
  const keys = new Map(
    open.flatMap(({ customerId, orderId }) =>
      customerId && orderId ? [[orderId, { customerId, orderId, paymentKey: null }] as const] : [],
    ),
  )
  await goOn()
  await reviewEach(context, [...keys.values()], result)
}

async function reviewEach(
  context: PaymentContext,
  orders: (OrderKey & { paymentKey: string | null })[],
  result: Reconciliation,
): Promise<void> {
  const queue = orders.values()
  async function work(): Promise<void> {
    for (const { customerId, orderId, paymentKey } of queue) {
      result.reviewed[await review(context, { customerId, orderId }, paymentKey)] += 1
    }
  }
  await Promise.all(Array.from({ length: Math.min(reviewsAtATime, orders.length) }, work))
}

function timeShower(phase: string, { from, to }: Span, progress: Progress): (reached: Date) => void {
  const minutesTo = (time: Date) => Math.ceil((time.getTime() - from.getTime()) / minuteMs)
  return (reached) => progress(phase, minutesTo(reached), minutesTo(to))
}

/** Consecutive spans of at most that length, each up to the beginning of the next. */
function* slices({ from, to }: Span, lengthMs: number): Generator<Span> {
  const end = to.getTime() + 1
  for (let start = from.getTime(); start < end; start += lengthMs) {
    yield { from: new Date(start), to: new Date(Math.min(start + lengthMs, end)) }
  }
}
