// What the first page shows, and what a search finds.
import Type from 'typebox'
import { LastAudit } from '../books/audit-contract.ts'
import {
  Flag,
  lineOf,
  Moment,
  MomentOrNull,
  NumberOrNull,
  Text,
  TextOrNull,
  Whole,
  WholeOrNull,
} from '../schema-words.ts'

export const HomeQuery = Type.Object({
  days: Type.Optional(Type.Enum(['7', '30', '90', '365'], { description: '7, 30, 90 or 365' })),
})

/** What happened in a span of time. Amounts are KRW. */
const sums = {
  ordersMade: Whole,
  ordersConfirmed: Whole,
  ordersFailed: Whole,
  ordersCancelled: Whole,
  ordersRefunded: Whole,
  /** Captured for orders, given back for them, and the difference. */
  captured: Whole,
  returned: Whole,
  revenue: Whole,
  creditsSold: Whole,
  /** By cancellations and refunds. */
  creditsTakenBack: Whole,
  creditsSpent: Whole,
}
/** Orders confirmed to orders made in the span, 1 at most; null when none were made. */
const conversion = { conversion: NumberOrNull }

export const PeriodData = Type.Object({ from: Moment, to: Moment, ...sums, ...conversion })
/** `day` is a day of Korea. `outstanding`: what customers could still spend at its end, a liability. */
export const DayFigures = Type.Object({ day: Text, ...sums, ...conversion, creditsOutstanding: Whole })

const Pending = Type.Object({
  customerId: Text,
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
  foundAt: Moment,
  ageSeconds: Whole,
})

export const HomeData = Type.Object({
  asOf: Moment,
  today: PeriodData,
  month: PeriodData,
  /** All orders there are, by the state they are in. */
  orders: Type.Object({ PENDING: Whole, CONFIRMED: Whole, FAILED: Whole, CANCELLED: Whole, REFUNDED: Whole }),
  creditsOutstanding: Whole,
  /** Oldest first, today last. */
  days: Type.Array(DayFigures),
  /** The figures are being added up for the first time: they are of before this moment. Null: they are complete. */
  figuresUpTo: MomentOrNull,
  operations: Type.Object({ count: Whole, oldest: Type.Array(Pending) }),
  discrepancies: Type.Object({ count: Whole, oldest: Type.Array(OpenDiscrepancy) }),
  /** The last whole one. */
  audit: LastAudit,
  /** The nights since it, or since the first that could have been, should have brought another. */
  isAuditOverdue: Flag,
  events: Type.Object({ undelivered: Whole, dead: Whole, oldestSeconds: WholeOrNull }),
  waitingNotifications: Whole,
  gateway: Type.Object({
    state: Type.Enum(['untried', 'answering', 'failing', 'refusing our credentials']),
    since: MomentOrNull,
    /** Calls are held back after too many failures. */
    heldBack: Flag,
  }),
})

export const SearchQuery = Type.Object({
  q: lineOf(200, 'something to look for'),
})
export const SearchData = Type.Object({
  results: Type.Array(
    Type.Object({
      /** What was found: leads to its order or its customer. */
      kind: Type.Enum(['order', 'payment', 'customer', 'key']),
      id: Text,
      orderId: TextOrNull,
      customerId: TextOrNull,
      customerName: TextOrNull,
      status: TextOrNull,
    }),
  ),
})
