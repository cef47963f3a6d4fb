// The schemas of the pages of the books: days, reconciliations, discrepancies, cancels with new keys, audits.
import Type from 'typebox'
import { spanStates } from '../../payments/books/span-state.ts'
import { TimelineMoments } from '../orders/contract.ts'
import {
  Day,
  DetailFields,
  Flag,
  Moment,
  MomentOrNull,
  OrderStatusText,
  paging,
  ReasonText,
  Text,
  TextOrNull,
  Uuid,
  Whole,
  WholeOrNull,
} from '../schema-types.ts'
import { paymentGroups } from './payments.sql.ts'

export const DaysQuery = Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) })

/**
 * KRW of a day in Korea. `books` are our operations that match the gateway's transactions, and those of the day that the gateway
 * does not confirm. The difference is the gateway's net less that of the books.
 */
const Money = Type.Object({ captured: Whole, cancelled: Whole, net: Whole })
export const dayStates = [...spanStates, 'under way', 'not compared'] as const
export const DaysData = Type.Object({
  /** Newest first. */
  days: Type.Array(
    Type.Object({
      day: Text,
      state: Type.Enum([...dayStates]),
      movements: Whole,
      /** Null: the day has not been compared yet. */
      gateway: Type.Union([Money, Type.Null()]),
      books: Type.Union([Money, Type.Null()]),
      difference: Whole,
      reconciliationId: TextOrNull,
      comparedAt: MomentOrNull,
    }),
  ),
})

const Result = Type.Object({
  movements: Whole,
  captured: Whole,
  cancelled: Whole,
  bookedCaptured: Whole,
  bookedCancelled: Whole,
  foreign: Whole,
  /** Not in results of version 0.14.0 and before: what `foreign` counts together. */
  otherServices: Type.Optional(Whole),
  unknownOrders: Type.Optional(Whole),
  /** Not in results of version 0.7.0. */
  outsideCaptured: Type.Optional(Whole),
  outsideCancelled: Type.Optional(Whole),
  missingCaptured: Type.Optional(Whole),
  missingCancelled: Type.Optional(Whole),
  notListed: Type.Optional(Whole),
  listedDifferently: Type.Optional(Whole),
  reviewed: Type.Object({ agrees: Whole, repaired: Whole, disagrees: Whole, 'under way': Whole, unknown: Whole }),
})
/** What leads from the net of our books to the net of the gateway; the lines and the rest add up to the difference. */
const Bridge = Type.Object({
  /** Those that need a decision first, then by time. */
  lines: Type.Array(
    Type.Object({
      /** What the gateway has more than our books because of it, KRW. */
      amount: Whole,
      /** A movement that no operation accounts for, or an operation that the gateway does not confirm. */
      of: Type.Enum(['movement', 'operation']),
      direction: Type.Enum(['CAPTURE', 'CANCEL']),
      result: Type.Enum(['agrees', 'repaired', 'disagrees', 'under way', 'unknown', 'unknown order', 'other service']),
      at: Moment,
      orderId: Text,
      customerId: TextOrNull,
      customerName: TextOrNull,
      paymentKey: Text,
      transactionKey: TextOrNull,
      discrepancyId: TextOrNull,
      /** The kind of the discrepancy. */
      kind: TextOrNull,
      resolvedAt: MomentOrNull,
    }),
  ),
  /** Lines that are not stored. */
  rest: Type.Object({ lines: Whole, amount: Whole }),
})
const run = {
  reconciliationId: Text,
  cause: Type.Enum(['DAILY', 'COMMAND']),
  /** The name of the operator, or `NAME on the command line`; null: the worker, or a run of version 0.14.0 and before. */
  requestedBy: TextOrNull,
  from: Moment,
  to: Moment,
  startedAt: Moment,
  finishedAt: MomentOrNull,
  /** `interrupted`: its process ended before it was finished; the same days can be reconciled again. */
  state: Type.Enum(['under way', 'finished', 'interrupted']),
  /** Only for a finished run. */
  outcome: Type.Union([Type.Enum([...spanStates]), Type.Null()]),
  result: Type.Union([Result, Type.Null()]),
}
/** `bridge` is null without a result, and for runs of version 0.14.0 and before. */
export const RunData = Type.Object({ ...run, bridge: Type.Union([Bridge, Type.Null()]) })
export const RunParams = Type.Object({ reconciliationId: Uuid })
export const RunsQuery = Type.Object(paging)
export const RunsData = Type.Object({ runs: Type.Array(Type.Object(run)), nextCursor: TextOrNull })
/** Both days are included. */
export const ReconcileBody = Type.Object({ from: Day, to: Day, reason: ReasonText })
export const ReconcileData = Type.Object({ reconciliationId: Text })

export const DiscrepanciesQuery = Type.Object({
  ...paging,
  state: Type.Optional(Type.Enum(['open', 'resolved'], { description: 'open or resolved' })),
  /** Only those that this run saw: found before its end and last seen after its start. */
  reconciliationId: Type.Optional(Uuid),
})
const discrepancy = {
  discrepancyId: Text,
  kind: Text,
  subject: Text,
  customerId: TextOrNull,
  orderId: TextOrNull,
  /** What the gateway has more than our books, KRW; null: not known. */
  amount: WholeOrNull,
  customerName: TextOrNull,
  detail: DetailFields,
  foundAt: Moment,
  lastSeenAt: Moment,
  resolvedAt: MomentOrNull,
  resolution: TextOrNull,
}
export const DiscrepancyData = Type.Object(discrepancy)
/** The sum of the known amounts of all open discrepancies, null when too many are open; how many amounts are not known. */
export const openSum = { amount: WholeOrNull, withoutAmount: Whole }
/** Open ones oldest first, resolved ones newest first. */
export const DiscrepanciesData = Type.Object({
  discrepancies: Type.Array(DiscrepancyData),
  open: Type.Object(openSum),
  nextCursor: TextOrNull,
})
export const DiscrepancyParams = Type.Object({ discrepancyId: Uuid })
export const discrepancyActions = ['settle', 'accept', 'resolve'] as const
export const DiscrepancyPageData = Type.Object({
  discrepancy: DiscrepancyData,
  /** Its current state; null: the discrepancy is not about an order of ours. */
  order: Type.Union([
    Type.Object({ orderId: Text, status: OrderStatusText, amount: Whole, credits: Whole }),
    Type.Null(),
  ]),
  /** Like the timeline of an order: found, actions of operators on it or on its order while it was open, resolved. */
  history: TimelineMoments,
  /** The payment on a page of the gateway; masked like a payment key. */
  paymentUrl: TextOrNull,
  /** About the same order or payment, newest first. */
  others: Type.Array(
    Type.Object({ discrepancyId: Text, kind: Text, foundAt: Moment, resolvedAt: MomentOrNull, resolution: TextOrNull }),
  ),
  /** Whether this operator can do it now, and if not, why. */
  actions: Type.Array(
    Type.Object({
      action: Type.Enum([...discrepancyActions]),
      allowed: Flag,
      code: Type.Union([Type.Enum(['role', 'resolved', 'no order', 'not a part']), Type.Null()]),
    }),
  ),
})
/** What accepting a part that was cancelled at the gateway would do now. */
export const PartQuoteData = Type.Object({
  orderId: Text,
  paid: Whole,
  creditsOfTheOrder: Whole,
  creditsUsed: Whole,
  /** KRW that the gateway has returned, and that was not accepted before. */
  amount: Whole,
  /** The credits that the won stand for, and the most that can be taken: both as far as they are unused. */
  proposed: Whole,
  most: Whole,
  unused: Whole,
  /** KRW that the rest of the order is worth afterwards. */
  valueAfter: Whole,
  /** What is taken less or more than proposed counts like an adjustment. */
  limits: Type.Object({ perDay: Whole, usedToday: Whole, approvalAbove: Whole }),
})
/** How many of the order's credits are taken. */
export const AcceptBody = Type.Object({
  reason: ReasonText,
  credits: Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'a whole number of credits, from 0 on' }),
})
/** PENDING: a second operator has to approve the request. */
export const AcceptedData = Type.Object({
  orderId: Text,
  discrepancyId: Text,
  state: Type.Enum(['DONE', 'PENDING']),
  requestId: TextOrNull,
  amount: Whole,
  creditsTaken: Whole,
  creditsLeft: Whole,
  value: Whole,
})
export const ResolvedData = Type.Object({ discrepancyId: Text, kind: Text, resolution: Text })

export const PaymentsQuery = Type.Object({
  ...paging,
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  group: Type.Optional(Type.Enum([...paymentGroups])),
})
/** By the time when our books closed them, newest first. Amounts are KRW; what went back is negative. */
export const PaymentsData = Type.Object({
  payments: Type.Array(
    Type.Object({
      operationId: Text,
      group: Type.Enum([...paymentGroups]),
      kind: Type.Enum(['CONFIRM', 'CANCEL', 'REFUND', 'PART']),
      orderId: Text,
      customerId: Text,
      customerName: TextOrNull,
      amount: Whole,
      /** Granted; negative when taken back. */
      credits: Whole,
      closedAt: Moment,
    }),
  ),
  /** All that match, with the first page; null: they are too many to be summed up. */
  matched: Type.Union([Type.Object({ count: Whole, amount: Whole }), Type.Null()]),
  nextCursor: TextOrNull,
})

export const NewKeyCancelsQuery = Type.Object(paging)
/** Newest first. A page may have fewer rows than the limit, or none, and still be followed by another. */
export const NewKeyCancelsData = Type.Object({
  cancels: Type.Array(
    Type.Object({
      operationId: Text,
      openedAt: Moment,
      state: Type.Enum(['OPEN', 'APPROVED', 'REJECTED']),
      orderId: Text,
      customerId: Text,
      customerName: TextOrNull,
      /** KRW. */
      amount: Whole,
      keyId: Text,
      lastFour: Text,
      /** At the time of the cancel. */
      keyAgeSeconds: Whole,
    }),
  ),
  nextCursor: TextOrNull,
})

const auditSummary = {
  auditId: Text,
  cause: Type.Enum(['DAILY', 'COMMAND']),
  begunAt: Moment,
  endedAt: Moment,
  ageSeconds: Whole,
  /** Number of rules, and of rows checked against them. */
  rules: Whole,
  rows: Whole,
  violationCount: Whole,
  /** The only findings are rows that could not be read in time. No violation is known. */
  isOnlyUnread: Flag,
}

/** Null: never audited, or only by an earlier version, which stored nothing. */
export const LastAudit = Type.Union([Type.Object(auditSummary), Type.Null()])

export const AuditsQuery = Type.Object(paging)
/** Newest first. */
export const AuditsData = Type.Object({ audits: Type.Array(Type.Object(auditSummary)), nextCursor: TextOrNull })

export const AuditParams = Type.Object({ auditId: Uuid })
export const AuditData = Type.Object({
  ...auditSummary,
  /** Rows checked, by kind. Audits of earlier versions checked fewer kinds. */
  checked: Type.Object({
    accounts: Whole,
    entries: Whole,
    holds: Whole,
    orders: Whole,
    operations: Whole,
    events: Whole,
    adjustments: Type.Optional(Whole),
    usage: Type.Optional(Whole),
    customers: Type.Optional(Whole),
    apiKeys: Type.Optional(Whole),
    serviceTokens: Type.Optional(Whole),
    operators: Type.Optional(Whole),
    operatorActions: Type.Optional(Whole),
    discrepancies: Type.Optional(Whole),
    audits: Type.Optional(Whole),
    budgets: Type.Optional(Whole),
    eventEndpoints: Type.Optional(Whole),
    logCheckpoints: Type.Optional(Whole),
    journalEntries: Type.Optional(Whole),
    loggedEntries: Type.Optional(Whole),
    publishedCheckpoints: Type.Optional(Whole),
  }),
  /** By rule: the number of violations, and the first few rows. */
  findings: Type.Array(Type.Object({ invariant: Text, rule: Text, count: Whole, subjects: Type.Array(DetailFields) })),
})
