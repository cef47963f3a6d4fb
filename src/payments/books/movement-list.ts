// Copies the gateway's list of a span into `gateway_movements`, from which the span is compared, and checks the copy: the
// database role of the service may insert and delete rows there, and an older row may differ from what the gateway lists now.
// A row that is not in this run's list, or differs from it, is rejected: it becomes a discrepancy, and so does one that was
// added during the run and is still there at its end. The comparison itself uses only rows that are in the list, which is in
// memory (listed-movements.ts).
//
// Pages may come in any order and repeat movements. One day is read at a time; memory has the keys of its movements that were
// stored before, about 100 bytes each.
import { sleep } from '../../core/clock.ts'
import { dayMs } from '../../core/korean-days.ts'
import type { Movement, MovementPage, MovementQuery } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { findOrderKeys } from '../orders.sql.ts'
import { type Discrepancy, resolveMovementDiscrepancies, saveDiscrepancy } from '../recovery/discrepancies.sql.ts'
import { review } from '../recovery/review.ts'
import { createListedMovements, type ListedMovements } from './listed-movements.ts'
import {
  findMovements,
  firstPlace,
  insertMovements,
  isBookedCancel,
  listMovements,
  type StoredMovement,
  type TimeSpan,
} from './reconcile.sql.ts'

export type ReconcileProgress = (phase: string, done: number, total: number) => void

export type ReconcileWork = {
  context: PaymentContext
  span: TimeSpan
  /** Called between any two pieces of work: renews the lease. Throws when the run was taken over, or the process stops. */
  checkLease: () => Promise<void>
  onProgress: ReconcileProgress
  stopping: AbortSignal
}

/** A movement as the gateway lists it, and the row of our table with its transaction key. */
type Differing = { listed: Movement; stored: Movement }

export type MovementList = {
  listed: ListedMovements
  /** Rows of our table in the span that the gateway does not list. */
  notListed: Movement[]
  /** One for each version of a movement that the gateway lists. */
  differing: Map<string, Differing>
  /** The transaction keys of these rows. */
  rejectedKeys: string[]
}

const pageSize = 1_000
/** How often a page is requested from the gateway again: over 15 seconds. */
const pageRetries = 4
const minuteMs = 60_000
/** More cannot be checked one by one: the list is of another account, or the table is corrupted. */
const rejectedAtMost = 1_000

export async function copyList(work: ReconcileWork): Promise<MovementList> {
  const listed = createListedMovements()
  const list: MovementList = { listed, notListed: [], differing: new Map(), rejectedKeys: [] }
  const showTime = createTimeProgress('minutes of the span read from the gateway', work)
  for (const day of slices(work.span, dayMs)) {
    await copyDay(work, day, list, showTime)
    showTime(day.to)
  }
  const rejected = [...list.notListed, ...[...list.differing.values()].map(({ stored }) => stored)]
  list.rejectedKeys = [...new Set(rejected.map(({ transactionKey }) => transactionKey))]
  await report(work, list)
  return list
}

async function copyDay(
  work: ReconcileWork,
  day: TimeSpan,
  list: MovementList,
  showTime: (reached: Date) => void,
): Promise<void> {
  const { database } = work.context
  const unconfirmed = new Set<string>()
  for await (const { transactionKey } of storedMovements(work, day)) unconfirmed.add(transactionKey)
  for (let after: string | null = null; ; ) {
    // The gateway includes both ends, to the second.
    const { movements, next } = await readPage(work, { from: day.from, to: new Date(day.to.getTime() - 1), after })
    const ofDay = movements.filter(({ movedAt }) => movedAt >= day.from && movedAt < day.to)
    if (ofDay.length > 0) {
      const inserted = await insertMovements(database, ofDay)
      list.listed.add(ofDay)
      if (inserted < ofDay.length) await findDiffering(work, ofDay, list.differing)
    }
    for (const { transactionKey } of ofDay) unconfirmed.delete(transactionKey)
    showTime(movements.at(-1)?.movedAt ?? day.from)
    if (next === null) break
    after = next
  }
  const keys = [...unconfirmed]
  if (list.notListed.length + list.differing.size + keys.length > rejectedAtMost) {
    throw new Error(
      `The gateway does not list more than ${rejectedAtMost} movements as they are in gateway_movements: is it another account? Nothing concluded.`,
    )
  }
  if (keys.length > 0) list.notListed.push(...(await findMovements(database, keys)))
}

async function* storedMovements(
  { context, checkLease }: ReconcileWork,
  span: TimeSpan,
): AsyncGenerator<StoredMovement> {
  for (let after = firstPlace; ; ) {
    await checkLease()
    const page = await listMovements(context.database, span, after, pageSize)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last
  }
}

async function readPage({ context, checkLease, stopping }: ReconcileWork, query: MovementQuery): Promise<MovementPage> {
  for (let attempt = 0; ; attempt += 1) {
    await checkLease()
    const page = await context.gateway.listMovements(query)
    if (page.kind === 'page') return page
    if (attempt === pageRetries) {
      throw new Error(`The gateway does not list its transactions (${page.code}): nothing concluded.`)
    }
    await sleep(context.settings.retryFirstPauseMs * 2 ** attempt, stopping)
  }
}

async function findDiffering(
  { context }: ReconcileWork,
  page: Movement[],
  differing: Map<string, Differing>,
): Promise<void> {
  const keys = page.map(({ transactionKey }) => transactionKey)
  const rows = await findMovements(context.database, keys)
  const byKey = new Map(rows.map((row) => [row.transactionKey, row]))
  for (const listed of page) {
    const stored = byKey.get(listed.transactionKey)
    if (stored && !isSame(listed, stored)) differing.set(JSON.stringify(listed), { listed, stored })
  }
}

function isSame(one: Movement, other: Movement): boolean {
  const isSameTime = one.movedAt.getTime() === other.movedAt.getTime()
  return (
    isSameTime && (['paymentKey', 'orderId', 'direction', 'amount'] as const).every((name) => one[name] === other[name])
  )
}

/**
 * Throws when a row was added during the run that the gateway does not list. When another run has added it, the gateway lists it
 * by now: then this reads the list a second time.
 */
export async function checkCopy(work: ReconcileWork, { listed, rejectedKeys }: MovementList): Promise<void> {
  const known = new Set(rejectedKeys)
  const isKnown = (stored: StoredMovement) => listed.has(stored) || known.has(stored.transactionKey)
  if (await every(storedMovements(work, work.span), isKnown)) return
  const again = await copyList(work)
  if (again.rejectedKeys.every((transactionKey) => known.has(transactionKey))) return
  throw new Error('Movements that the gateway does not list were added during the run: it has to be made again.')
}

async function every<Item>(items: AsyncIterable<Item>, holds: (item: Item) => boolean): Promise<boolean> {
  for await (const item of items) if (!holds(item)) return false
  return true
}

/** They name no order: a review of the order would find it right and resolve them, although the row is still there. */
async function report(work: ReconcileWork, { notListed, differing, rejectedKeys }: MovementList): Promise<void> {
  const { context, span } = work
  const missing: Movement[] = []
  for (const stored of notListed) if (!(await isTakenBack(work, stored))) missing.push(stored)
  const found: Discrepancy[] = [
    ...missing.map((stored) => discrepancyOf('MOVEMENT_NOT_LISTED', stored, null)),
    ...[...differing.values()].map(({ listed, stored }) => discrepancyOf('MOVEMENT_DIFFERS', stored, listed)),
  ]
  for (const discrepancy of found) {
    const isNew = await saveDiscrepancy(context.database, discrepancy)
    const { kind, subject: transactionKey } = discrepancy
    if (isNew) context.log.error({ discrepancy: kind, transactionKey }, 'a movement is not as the gateway lists it')
  }
  await resolveMovementDiscrepancies(context.database, span, rejectedKeys)
}

/** A cancel of ours that the gateway has taken back: the order is the discrepancy. */
async function isTakenBack({ context, checkLease }: ReconcileWork, stored: Movement): Promise<boolean> {
  if (stored.direction !== 'CANCEL') return false
  const key = (await findOrderKeys(context.database, [stored.orderId])).get(stored.orderId)
  await checkLease()
  if (!key || !(await isBookedCancel(context.database, key, stored))) return false
  return (await review(context, key)) === 'disagrees'
}

function discrepancyOf(kind: string, stored: Movement, listed: Movement | null): Discrepancy {
  const detail = { stored: withoutKey(stored), gateway: listed ? withoutKey(listed) : { status: 'not listed' } }
  return { kind, subject: stored.transactionKey, order: null, detail }
}

function withoutKey({ transactionKey, ...rest }: Movement): object {
  return rest
}

export function createTimeProgress(
  phase: string,
  { span: { from, to }, onProgress }: ReconcileWork,
): (reached: Date) => void {
  const minutesTo = (time: Date) => Math.ceil((time.getTime() - from.getTime()) / minuteMs)
  return (reached) => onProgress(phase, minutesTo(reached), minutesTo(to))
}

/** Consecutive spans of at most this length, each up to the beginning of the next. */
export function* slices({ from, to }: TimeSpan, lengthMs: number): Generator<TimeSpan> {
  const end = to.getTime()
  for (let start = from.getTime(); start < end; start += lengthMs) {
    yield { from: new Date(start), to: new Date(Math.min(start + lengthMs, end)) }
  }
}
