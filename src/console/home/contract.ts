// The schemas of the home page.
import Type from 'typebox'
import { PendingAdjustments } from '../adjustments/contract.ts'
import { LastAudit, openSum } from '../books/contract.ts'
import { Flag, Moment, MomentOrNull, NumberOrNull, Text, TextOrNull, Whole, WholeOrNull } from '../schema-types.ts'

export const HomeQuery = Type.Object({
  days: Type.Optional(Type.Enum(['7', '30', '90', '365'], { description: '7, 30, 90 or 365' })),
})

/** The sums of a period. Amounts are KRW. */
const sums = {
  ordersMade: Whole,
  ordersConfirmed: Whole,
  ordersFailed: Whole,
  /** Failed because they were not paid in time. The others were declined. */
  ordersExpired: Whole,
  ordersCancelled: Whole,
  ordersRefunded: Whole,
  /** Captured, cancelled and refunded, and the difference. */
  captured: Whole,
  returned: Whole,
  netPaid: Whole,
  creditsSold: Whole,
  /** By cancellations and refunds. */
  creditsTakenBack: Whole,
  creditsSpent: Whole,
  /** Goodwill, corrections and reversals; negative when corrections took more. */
  creditsAdjusted: Whole,
}
/** Orders confirmed per order created in the period, 1 at most; null when none were created. */
const conversion = { conversion: NumberOrNull }

const PeriodSums = Type.Object({ ...sums, ...conversion })
export const PeriodData = Type.Object({
  from: Moment,
  to: Moment,
  ...sums,
  ...conversion,
  /** With the period before, both up to the same time: the last full hour, `upTo`. Null: no hour is over yet, or the figures are incomplete. */
  comparison: Type.Union([Type.Object({ upTo: Moment, now: PeriodSums, before: PeriodSums }), Type.Null()]),
})
/** `day` is a day in Korea. `creditsOutstanding`: credits not spent at its end, a liability. */
export const DayFigures = Type.Object({ day: Text, ...sums, ...conversion, creditsOutstanding: Whole })

const OpenOperation = Type.Object({
  customerId: Text,
  customerName: TextOrNull,
  orderId: Text,
  kind: Text,
  openedAt: Moment,
  ageSeconds: Whole,
  attempts: Whole,
  gatewayCode: TextOrNull,
  nextAttemptAt: MomentOrNull,
})
const OpenDiscrepancy = Type.Object({
  discrepancyId: Text,
  kind: Text,
  subject: Text,
  customerId: TextOrNull,
  orderId: TextOrNull,
  /** What the gateway has more than our books, KRW; null: not known. */
  amount: WholeOrNull,
  customerName: TextOrNull,
  foundAt: Moment,
  ageSeconds: Whole,
})

export const HomeData = Type.Object({
  asOf: Moment,
  today: PeriodData,
  month: PeriodData,
  /** All orders by their current status. */
  orders: Type.Object({ PENDING: Whole, CONFIRMED: Whole, FAILED: Whole, CANCELLED: Whole, REFUNDED: Whole }),
  /** Among all orders that are FAILED. */
  ordersExpired: Whole,
  creditsOutstanding: Whole,
  /** Oldest first, today last. */
  days: Type.Array(DayFigures),
  /** While the figures are aggregated for the first time: they cover the time up to here. Null: they are complete. */
  figuresUpTo: MomentOrNull,
  /** The same of the orders that expired, which are aggregated by themselves. */
  expiredUpTo: MomentOrNull,
  operations: Type.Object({ count: Whole, oldest: Type.Array(OpenOperation) }),
  discrepancies: Type.Object({ count: Whole, ...openSum, oldest: Type.Array(OpenDiscrepancy) }),
  /** Adjustments that wait for a second operator; the oldest ten. */
  pendingAdjustments: PendingAdjustments,
  /** The last complete one. */
  audit: LastAudit,
  /** Whether the nightly audit is missing since the last one, or since the first that was due. */
  isAuditOverdue: Flag,
  events: Type.Object({ undelivered: Whole, dead: Whole, oldestSeconds: WholeOrNull }),
  waitingNotifications: Whole,
  gateway: Type.Object({
    state: Type.Enum(['untried', 'answering', 'failing', 'refusing our credentials']),
    since: MomentOrNull,
    /** Whether the circuit breaker holds calls back. */
    heldBack: Flag,
  }),
})
