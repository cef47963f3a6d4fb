// The home page: sales, refunds, credits outstanding, and everything that needs attention. Days and months are Korea's. The
// number of orders per status is computed from the totals of all transitions.
import { addDays, daysFromTo, koreanDayOf, startOfKoreanDay } from '../../core/korean-days.ts'
import { listPendingRequests } from '../../credits/adjustments/adjust.sql.ts'
import { withCustomerNames } from '../../customers/names.sql.ts'
import { readBacklog } from '../../payments/books/backlog.sql.ts'
import { type FigureName, type FigureRow, readFigures, readFiguresBetween } from '../../payments/books/figures.sql.ts'
import { listOpenDiscrepancies, sumOpenDiscrepancies } from '../../payments/recovery/discrepancies.sql.ts'
import { withNamesAndTypedBy } from '../adjustments/adjustments.ts'
import { listAudits } from '../books/audits.sql.ts'
import { isAuditOverdue } from '../books/audits.ts'
import { withAmountsAndNames } from '../books/discrepancies.sql.ts'
import type { ConsoleContext } from '../context.ts'
import type { Handlers } from '../routes.ts'
import { listOldestOperations } from './home.sql.ts'

const defaultDays = 30
const maxOldest = 10
/** If the aggregated figures lag more than this, the rest is too much to count for a page. */
const maxLagMs = 600_000
const hourMs = 3_600_000

export type Sums = {
  ordersMade: number
  ordersConfirmed: number
  ordersFailed: number
  ordersExpired: number
  ordersCancelled: number
  ordersRefunded: number
  captured: number
  returned: number
  netPaid: number
  creditsSold: number
  creditsTakenBack: number
  creditsSpent: number
  creditsAdjusted: number
  conversion: number | null
}

type HomeContext = Pick<ConsoleContext, 'database' | 'payments' | 'isHeldBack'>

export function homeHandlers({ database, payments, isHeldBack }: HomeContext): Handlers<'home'> {
  return {
    async home({ query }) {
      const days = query.days === undefined ? defaultDays : Number(query.days)
      const [figures, backlog, operations, oldest, openSum, pendingAdjustments, [audit = null]] = await Promise.all([
        readFigureDays(database, days),
        readBacklog(database),
        listOldestOperations(database, maxOldest),
        listOpenDiscrepancies(database, maxOldest),
        sumOpenDiscrepancies(database),
        listPendingRequests(database, null, maxOldest),
        listAudits(database, null, 1),
      ])
      const { operations: open, oldestEventSeconds, undeliveredEvents: undelivered, deadEvents: dead } = backlog
      return {
        ...figures,
        operations: {
          count: open.reduce((sum, { count }) => sum + count, 0),
          oldest: await withCustomerNames(database, operations),
        },
        discrepancies: {
          count: backlog.openDiscrepancies,
          ...openSum,
          oldest: await withAmountsAndNames(database, oldest),
        },
        pendingAdjustments: await withNamesAndTypedBy(database, pendingAdjustments),
        audit,
        isAuditOverdue: isAuditOverdue(backlog),
        events: {
          undelivered,
          dead,
          oldestSeconds: oldestEventSeconds === null ? null : Math.floor(oldestEventSeconds),
        },
        waitingNotifications: backlog.waitingNotifications,
        gateway: { ...payments.gateway.state(), heldBack: isHeldBack() },
      }
    },
  }
}

async function readFigureDays(database: ConsoleContext['database'], count: number) {
  const now = new Date()
  const monthStart = `${koreanDayOf(now).slice(0, 8)}01`
  const firstDay = [monthStart, addDays(koreanDayOf(now), -count)].toSorted()[0] as string
  const figures = await readFigures(database, momentOf(firstDay), maxLagMs)
  const { asOf, reached, detailsReached, upTo, detailsUpTo, rows } = figures
  // By the clock of the database.
  const today = koreanDayOf(asOf)
  const month = `${today.slice(0, 8)}01`
  const byDay = Map.groupBy(rows, ({ day }) => day)
  const since = (first: string) => sumsOf(rows.filter(({ day }) => day !== null && day >= first && day <= today))
  const ever = sumsOf(byDay.get(null) ?? [])
  const creditsOutstanding = outstandingOf(ever)
  const isComplete = upTo === null && detailsUpTo === null
  // The earlier one of both marks: the orders that expired are compared too.
  const bothReached = new Date(Math.min(reached.getTime(), detailsReached.getTime()))
  const comparisons = isComplete ? await compare(database, { today, month, reached: bothReached }) : null
  return {
    asOf,
    today: { from: momentOf(today), to: asOf, ...since(today), comparison: comparisons?.today ?? null },
    month: { from: momentOf(month), to: asOf, ...since(month), comparison: comparisons?.month ?? null },
    orders: {
      PENDING: ever.ordersMade - ever.ordersConfirmed - ever.ordersFailed,
      CONFIRMED: ever.ordersConfirmed - ever.ordersCancelled - ever.ordersRefunded,
      FAILED: ever.ordersFailed,
      CANCELLED: ever.ordersCancelled,
      REFUNDED: ever.ordersRefunded,
    },
    ordersExpired: ever.ordersExpired,
    creditsOutstanding,
    days: daysOf(daysFromTo(addDays(today, 1 - count), today), byDay, creditsOutstanding),
    figuresUpTo: upTo,
    expiredUpTo: detailsUpTo,
  }
}

function momentOf(day: string): Date {
  return startOfKoreanDay(day) as Date
}

type Days = { today: string; month: string; reached: Date }

/** Each period and the one before, up to the last hour that is added up. */
async function compare(database: ConsoleContext['database'], { today, month, reached }: Days) {
  const upTo = new Date(Math.floor(reached.getTime() / hourMs) * hourMs)
  const monthBefore = `${addDays(month, -1).slice(0, 8)}01`
  const periods = {
    today: { start: momentOf(today), startBefore: momentOf(addDays(today, -1)) },
    month: { start: momentOf(month), startBefore: momentOf(monthBefore) },
  }
  const spans = Object.entries(periods).flatMap(([name, { start, startBefore }]) => {
    // The month before may be shorter.
    const endBefore = Math.min(startBefore.getTime() + upTo.getTime() - start.getTime(), start.getTime())
    return [
      { name: `${name} now`, from: start, to: upTo },
      { name: `${name} before`, from: startBefore, to: new Date(endBefore) },
    ]
  })
  const bySpan = Map.groupBy(await readFiguresBetween(database, spans), ({ name }) => name)
  const comparisonOf = (name: keyof typeof periods) =>
    upTo <= periods[name].start
      ? null
      : { upTo, now: sumsOf(bySpan.get(`${name} now`) ?? []), before: sumsOf(bySpan.get(`${name} before`) ?? []) }
  return { today: comparisonOf('today'), month: comparisonOf('month') }
}

/** The credits outstanding at the end of a day are those of now less the changes since. */
function daysOf(days: string[], byDay: Map<string | null, FigureRow[]>, outstandingNow: number) {
  let creditsOutstanding = outstandingNow
  return days
    .toReversed()
    .map((day) => {
      const sums = sumsOf(byDay.get(day) ?? [])
      const shown = { day, ...sums, creditsOutstanding }
      creditsOutstanding -= outstandingOf(sums)
      return shown
    })
    .reverse()
}

function outstandingOf({ creditsSold, creditsTakenBack, creditsSpent, creditsAdjusted }: Sums): number {
  return creditsSold - creditsTakenBack - creditsSpent + creditsAdjusted
}

export function sumsOf(rows: Omit<FigureRow, 'day'>[]): Sums {
  const sum = (name: FigureName, what: 'count' | 'total') =>
    rows.reduce((result, row) => (row.figure === name ? result + row[what] : result), 0)
  const [ordersMade, ordersConfirmed] = [sum('orders made', 'count'), sum('orders confirmed', 'count')]
  const captured = sum('orders confirmed', 'total')
  const returned =
    sum('orders cancelled', 'total') + sum('orders refunded', 'total') + sum('orders refunded in part', 'total')
  return {
    ordersMade,
    ordersConfirmed,
    ordersFailed: sum('orders failed', 'count'),
    ordersExpired: sum('orders expired', 'count'),
    ordersCancelled: sum('orders cancelled', 'count'),
    ordersRefunded: sum('orders refunded', 'count'),
    captured,
    returned,
    netPaid: captured - returned,
    creditsSold: sum('credits granted', 'total'),
    creditsTakenBack: sum('credits rolled back', 'total') + sum('credits refunded', 'total'),
    creditsSpent: sum('credits spent', 'total'),
    creditsAdjusted: sum('credits adjusted', 'total'),
    // An order created before midnight and confirmed after it counts in this day only as confirmed.
    conversion: ordersMade === 0 ? null : Math.min(1, ordersConfirmed / ordersMade),
  }
}
