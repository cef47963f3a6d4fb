// Copies the gateway's list of a span into `gateway_movements`, from which the span is compared, and checks the copy: the
// role that serves may add rows there, and an older row may say something else than the gateway does now. A row that this
// run's list does not have, or has otherwise, is not believed: it takes no part in the comparison and is a discrepancy.
// Rows cannot be changed or deleted by that role, so counting them once more at the end shows whether any was added since.
//
// Pages are not assumed to be in any order, nor to be free of repetitions. A day is read at a time; in memory are the keys
// of those of its movements that had been read before, about 100 bytes each.
import { sleep } from '../../core/clock.ts'
import { dayMs } from '../../core/korean-days.ts'
import type { Movement, MovementPage, MovementQuery } from '../../gateway/gateway.ts'
import type { PaymentContext } from '../context.ts'
import { type Discrepancy, resolveMovementDiscrepancies, saveDiscrepancy } from '../recovery/discrepancies.sql.ts'
import {
  findMovements,
  firstPlace,
  insertMovements,
  listMovements,
  type Span,
  sumMovements,
  type Totals,
} from './reconcile.sql.ts'

export type Progress = (phase: string, done: number, total: number) => void

export type Work = {
  context: PaymentContext
  span: Span
  /** Between any two pieces of work. Throws when the run was taken over, or is to stop. */
  goOn: () => Promise<void>
  onProgress: Progress
  stopping: AbortSignal
}

/** A movement as the gateway lists it, and the row of our table with its transaction key. */
type Differing = { listed: Movement; stored: Movement }

export type MovementList = {
  /** Rows of our table in the span that the gateway does not list. */
  notListed: Movement[]
  differing: Map<string, Differing>
  /** The transaction keys of all these rows. */
  disbelieved: string[]
  /** What the table had of the span when it had been copied. */
  stored: Totals
}

const pageSize = 1_000
/** Pauses before the gateway is asked for a page again. */
const pausesMs = [1_000, 2_000, 4_000, 8_000]
const minuteMs = 60_000
/** More than that is not for a person to look at one by one: the list is another account's, or the table is spoiled. */
const disbelievedAtMost = 1_000

export async function copyList(work: Work): Promise<MovementList> {
  const list: MovementList = { notListed: [], differing: new Map(), disbelieved: [], stored: noTotals() }
  const showTime = timeShower('minutes of the span read from the gateway', work)
  for (const day of slices(work.span, dayMs)) {
    await copyDay(work, day, list, showTime)
    showTime(day.to)
  }
  list.disbelieved = [...list.notListed.map(({ transactionKey }) => transactionKey), ...list.differing.keys()]
  await report(work, list)
  return list
}

async function copyDay(work: Work, day: Span, list: MovementList, showTime: (reached: Date) => void): Promise<void> {
  const { database } = work.context
  const unconfirmed = await readKeys(work, day, list.stored)
  for (let after: string | null = null; ; ) {
    // The gateway takes both ends in, to the second.
    const { movements, next } = await readPage(work, { from: day.from, to: new Date(day.to.getTime() - 1), after })
    const asked = movements.filter(({ movedAt }) => movedAt >= day.from && movedAt < day.to)
    if (asked.length > 0) {
      const inserted = await insertMovements(database, asked)
      addTotals(list.stored, inserted)
      if (inserted.movements < asked.length) await findDiffering(work, asked, list.differing)
    }
    for (const { transactionKey } of asked) unconfirmed.delete(transactionKey)
    showTime(movements.at(-1)?.movedAt ?? day.from)
    if (next === null) break
    after = next
  }
  const keys = [...unconfirmed]
  if (list.notListed.length + list.differing.size + keys.length > disbelievedAtMost) {
    throw new Error(
      `The gateway does not list more than ${disbelievedAtMost} movements as they are in gateway_movements: is it another account? Nothing concluded.`,
    )
  }
  if (keys.length > 0) list.notListed.push(...(await findMovements(database, keys)))
}

/** Of the rows that our table has of a day before it is read. */
async function readKeys({ context, goOn }: Work, day: Span, stored: Totals): Promise<Set<string>> {
  const keys = new Set<string>()
  for (let after = firstPlace; ; ) {
    await goOn()
    const page = await listMovements(context.database, day, after, pageSize)
    for (const { transactionKey, direction, amount } of page) {
      keys.add(transactionKey)
      addTotals(stored, totalsOf(direction, amount))
    }
    const last = page.at(-1)
    if (!last || page.length < pageSize) return keys
    after = last
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

/** Among those of a page. */
async function findDiffering({ context }: Work, page: Movement[], differing: Map<string, Differing>): Promise<void> {
  const keys = page.map(({ transactionKey }) => transactionKey)
  const rows = await findMovements(context.database, keys)
  const byKey = new Map(rows.map((row) => [row.transactionKey, row]))
  for (const listed of page) {
    const stored = byKey.get(listed.transactionKey)
    if (stored && !isSame(listed, stored)) differing.set(listed.transactionKey, { listed, stored })
  }
}

function isSame(one: Movement, other: Movement): boolean {
  const isSameTime = one.movedAt.getTime() === other.movedAt.getTime()
  return (
    isSameTime && (['paymentKey', 'orderId', 'direction', 'amount'] as const).every((name) => one[name] === other[name])
  )
}

/**
 * Throws when rows were added during the run that the gateway does not list: they may have been believed. What another run
 * has added meanwhile the gateway does list, which costs a second reading.
 */
export async function checkCopy(work: Work, list: MovementList): Promise<void> {
  const stored = noTotals()
  for (const day of slices(work.span, dayMs)) {
    await work.goOn()
    addTotals(stored, await sumMovements(work.context.database, day))
  }
  const isUnchanged = totalNames.every((name) => stored[name] === list.stored[name])
  if (isUnchanged) return
  const again = await copyList(work)
  const known = new Set(list.disbelieved)
  if (again.disbelieved.every((transactionKey) => known.has(transactionKey))) return
  throw new Error('Movements that the gateway does not list were added during the run: it has to be made again.')
}

/** About no order: a review of the order would find it right and close the discrepancy, and the row would still be there. */
async function report({ context, span }: Work, { notListed, differing, disbelieved }: MovementList): Promise<void> {
  const found: Discrepancy[] = [
    ...notListed.map((stored) => discrepancyOf('MOVEMENT_NOT_LISTED', stored, null)),
    ...[...differing.values()].map(({ listed, stored }) => discrepancyOf('MOVEMENT_DIFFERS', stored, listed)),
  ]
  for (const discrepancy of found) {
    const isNew = await saveDiscrepancy(context.database, discrepancy)
    const { kind, subject: transactionKey } = discrepancy
    if (isNew) context.log.error({ discrepancy: kind, transactionKey }, 'a movement is not as the gateway lists it')
  }
  await resolveMovementDiscrepancies(context.database, span, disbelieved)
}

function discrepancyOf(kind: string, stored: Movement, listed: Movement | null): Discrepancy {
  const detail = { stored: withoutKey(stored), gateway: listed ? withoutKey(listed) : { status: 'not listed' } }
  return { kind, subject: stored.transactionKey, order: null, detail }
}

function withoutKey({ transactionKey, ...rest }: Movement): object {
  return rest
}

const totalNames = ['movements', 'captured', 'cancelled'] as const

function noTotals(): Totals {
  return { movements: 0, captured: 0, cancelled: 0 }
}

function totalsOf(direction: Movement['direction'], amount: number): Totals {
  const [captured, cancelled] = direction === 'CAPTURE' ? [amount, 0] : [0, amount]
  return { movements: 1, captured, cancelled }
}

function addTotals(sum: Totals, more: Totals): void {
  for (const name of totalNames) sum[name] += more[name]
}

export function timeShower(phase: string, { span: { from, to }, onProgress }: Work): (reached: Date) => void {
  const minutesTo = (time: Date) => Math.ceil((time.getTime() - from.getTime()) / minuteMs)
  return (reached) => onProgress(phase, minutesTo(reached), minutesTo(to))
}

/** Consecutive spans of at most that length, each up to the beginning of the next. */
export function* slices({ from, to }: Span, lengthMs: number): Generator<Span> {
  const end = to.getTime()
  for (let start = from.getTime(); start < end; start += lengthMs) {
    yield { from: new Date(start), to: new Date(Math.min(start + lengthMs, end)) }
  }
}
