// The schemas of the pages of orders and of their actions.
import Type from 'typebox'
import { PaidWithOrNull } from '../../credits/lots/paid-with.ts'
import { failureReasons } from '../../payments/failure-reasons.ts'
import { packageTypes } from '../../payments/packages.ts'
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

export const FailureReasonText = Type.Enum([...failureReasons])
/** As the badges show them: not paid in time, or refused for any other reason. */
export const failureGroups = ['expired', 'declined'] as const

const ordersFilter = {
  status: Type.Optional(OrderStatusText),
  customerId: Type.Optional(Uuid),
  /** Days in Korea, both included. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  packageType: Type.Optional(Type.Enum([...packageTypes])),
  /** Why orders are FAILED: a reason, or a group of them. */
  failure: Type.Optional(Type.Enum([...failureGroups, ...failureReasons])),
  /** Only orders with an operation in progress at the gateway. */
  open: Type.Optional(Type.Literal('yes', { description: 'yes' })),
}
export const orderSorts = ['newest', 'highest'] as const
export const OrdersQuery = Type.Object({
  ...paging,
  ...ordersFilter,
  sort: Type.Optional(Type.Enum([...orderSorts])),
})
/** The filter of the CSV file. */
export const OrdersFilterQuery = Type.Object(ordersFilter)

const row = {
  orderId: Text,
  customerId: Text,
  customerName: TextOrNull,
  status: OrderStatusText,
  packageType: Text,
  amount: Whole,
  credits: Whole,
  createdAt: Moment,
  confirmedAt: MomentOrNull,
  /** KRW, with parts that were cancelled at the gateway; null when nothing went back. */
  refundedAmount: WholeOrNull,
  /** Why it is FAILED, with the code of the gateway if it has refused; null: it is not. */
  failure: Type.Union([Type.Object({ reason: FailureReasonText, gatewayCode: TextOrNull }), Type.Null()]),
}
export const OrderRow = Type.Object({
  ...row,
  /** The kind of its operation in progress at the gateway. */
  openOperation: TextOrNull,
})
/** A page may have fewer rows than its limit and still be followed: filters are searched in stretches. */
export const OrdersData = Type.Object({
  orders: Type.Array(OrderRow),
  /**
   * All that match, with the first page. `amount`: ordered; `kept`: paid of it, less what was refunded. `among`: only
   * this many orders, the newest, were searched; null: all of them.
   */
  matched: Type.Union([Type.Object({ count: Whole, amount: Whole, kept: Whole, among: WholeOrNull }), Type.Null()]),
  nextCursor: TextOrNull,
})

export const LotRow = Type.Object({
  entryNumber: Whole,
  orderId: Text,
  packageType: Text,
  status: OrderStatusText,
  grantedAt: Moment,
  amount: Whole,
  credits: Whole,
  used: Whole,
  held: Whole,
  unused: Whole,
  takenBack: Whole,
  value: Whole,
  refundedAmount: WholeOrNull,
})

/**
 * The timeline of an order, oldest first. `detail` has these fields, by kind:
 *   PURCHASE              packageType, amount, credits
 *   OPERATION_BEGUN       operationId, kind, paymentKey, amount, reason, creditsHeld; of a refund of the unused part also
 *                         refundRule: { from, fullPriceDays, smallestAmount, sharePercent }
 *   ATTEMPT               operationId, gatewayCode: a call whose outcome was not known; neighbouring ones of an operation are
 *                         one moment with count, until (the time of the last one) and codes: [{ gatewayCode, count }]
 *   OPERATION_ENDED       operationId, kind, state, gatewayCode, transactionKey, attempts; EXPIRED: not paid in time; cancelled
 *                         at the gateway and not by us: also the fields of OPERATION_BEGUN, which it does not have
 *   LEDGER                entryNumber, kind, delta, heldDelta, balanceAfter
 *   EVENT                 eventNumber, eventId, type, deliveries: [{ endpointId, host, endpointStatus, state, error, attempts,
 *                         nextTryAt }], state one of DELIVERED, WAITING, DEAD, NOT_SENT (the endpoint was added later)
 *   WEBHOOK               eventType, status, paymentKey, receivedAt, processedAt, outcome
 *   DISCREPANCY_FOUND     discrepancyId, kind, lastSeenAt, detail
 *   DISCREPANCY_RESOLVED  discrepancyId, kind, resolution
 *   OPERATOR              actionId, actor, command, reason, outcome, endedAt
 */
export const momentKinds = [
  'PURCHASE',
  'OPERATION_BEGUN',
  'ATTEMPT',
  'OPERATION_ENDED',
  'LEDGER',
  'EVENT',
  'WEBHOOK',
  'DISCREPANCY_FOUND',
  'DISCREPANCY_RESOLVED',
  'OPERATOR',
] as const
export const TimelineMoments = Type.Array(
  Type.Object({ at: Moment, kind: Type.Enum([...momentKinds]), detail: DetailFields }),
)

/** Who closed an order. `gateway`: it was cancelled there and not by us; `platform`: a service of it, or unknown. */
export const enders = ['customer', 'operator', 'platform', 'gateway'] as const

export const orderActions = ['settle', 'refund', 'resend events'] as const
/** `open`: an operation is in progress at the gateway. */
export const blockCodes = ['role', 'state', 'open', 'no events', 'no endpoint'] as const

export const OrderData = Type.Object({
  order: Type.Object({
    ...row,
    paymentKey: TextOrNull,
    cardNumber: TextOrNull,
    approvalNumber: TextOrNull,
    paidWith: PaidWithOrNull,
    /** Masked like a payment key. */
    receiptUrl: TextOrNull,
    /** The payment on a page of the gateway; masked like a payment key. */
    paymentUrl: TextOrNull,
    refundShortfall: WholeOrNull,
    /** Parts that were cancelled at the gateway and accepted; null: there are none. */
    parts: Type.Union([Type.Object({ amount: Whole, credits: Whole }), Type.Null()]),
    /** How the order was CANCELLED or REFUNDED; null: it is neither. */
    ended: Type.Union([
      Type.Object({
        at: Moment,
        by: Type.Enum([...enders]),
        /** The operator who refunded, or accepted what was cancelled at the gateway. */
        operator: TextOrNull,
        /** The end of the API key of the customer. */
        keyLastFour: TextOrNull,
        reason: TextOrNull,
        /** KRW that went back by it, without the parts that were cancelled at the gateway before. */
        amount: Whole,
        /** Taken back by it. */
        credits: Whole,
      }),
      Type.Null(),
    ]),
    /** The payment status that the gateway has last notified and that our books do not have, or not yet. */
    notified: TextOrNull,
  }),
  /** What is left of the order; null when it has granted nothing. */
  lot: Type.Union([LotRow, Type.Null()]),
  story: TimelineMoments,
  /** The operation in progress at the gateway. */
  open: Type.Union([
    Type.Object({
      kind: Text,
      openedAt: Moment,
      /** Without an outcome, by requests and by the worker. */
      attempts: Whole,
      /** More attempts are not counted. */
      attemptsAtMost: Whole,
      gatewayCode: TextOrNull,
      nextAttemptAt: MomentOrNull,
    }),
    Type.Null(),
  ]),
  openDiscrepancies: Type.Array(
    Type.Object({
      discrepancyId: Text,
      kind: Text,
      foundAt: Moment,
      /** What the gateway has more than our books, KRW; null: not known. */
      amount: WholeOrNull,
      detail: DetailFields,
      /** A link to the payment that it is about; masked like a payment key. */
      paymentUrl: TextOrNull,
    }),
  ),
  /** Whether this operator can do it now, and if not, why: a code for the page, a sentence for people. */
  actions: Type.Array(
    Type.Object({
      action: Type.Enum([...orderActions]),
      allowed: Flag,
      why: TextOrNull,
      code: Type.Union([Type.Enum([...blockCodes]), Type.Null()]),
    }),
  ),
})

export const SettleData = Type.Object({
  result: Type.Enum(['agrees', 'repaired', 'disagrees', 'under way', 'unknown']),
  status: OrderStatusText,
})

export const RefundQuoteData = Type.Object({
  orderId: Text,
  customerId: Text,
  packageType: Text,
  paid: Whole,
  /** KRW; null: not known, see `gatewayCode`. */
  backToTheCard: WholeOrNull,
  gatewayCode: TextOrNull,
  creditsOfTheOrder: Whole,
  creditsTakenBack: Whole,
  shortfall: Whole,
  /** A refund of the unused part; null: it would be refused because of `unusedRefusal`. */
  unused: Type.Union([
    Type.Object({
      rule: Text,
      amount: Whole,
      credits: Whole,
      value: Whole,
      terms: Type.Object({ from: TextOrNull, fullPriceDays: Whole, smallestAmount: Whole, sharePercent: Whole }),
    }),
    Type.Null(),
  ]),
  unusedRefusal: TextOrNull,
})
/** As it was quoted. */
export const RefundUnusedBody = Type.Object({ reason: ReasonText, amount: Whole, credits: Whole })
export const RefundData = Type.Object({
  orderId: Text,
  status: Type.Literal('REFUNDED'),
  refundedAmount: Whole,
  creditsTakenBack: Whole,
  shortfall: Whole,
})
export const ResendData = Type.Object({
  delivered: Whole,
  failed: Type.Array(Type.Object({ endpointId: Text, type: Text, error: Text })),
})
