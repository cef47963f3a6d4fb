// What the pages of orders show, and what their actions take and give.
import Type from 'typebox'
import {
  Detail,
  Flag,
  Moment,
  MomentOrNull,
  OrderStatus,
  paging,
  Text,
  TextOrNull,
  Uuid,
  Whole,
  WholeOrNull,
} from '../schema-words.ts'

export const OrdersQuery = Type.Object({
  ...paging,
  status: Type.Optional(OrderStatus),
  customerId: Type.Optional(Uuid),
})

const row = {
  orderId: Text,
  customerId: Text,
  customerName: TextOrNull,
  status: OrderStatus,
  packageType: Text,
  amount: Whole,
  credits: Whole,
  createdAt: Moment,
  confirmedAt: MomentOrNull,
}
export const OrderRow = Type.Object(row)
/** Newest first. A page may have fewer than asked for and still be followed: rare states are looked for in stretches. */
export const OrdersData = Type.Object({ orders: Type.Array(OrderRow), nextCursor: TextOrNull })

/**
 * What happened to an order, in the order of time. What each kind tells is in `detail`, by these names:
 *   PURCHASE              packageType, amount, credits
 *   OPERATION_BEGUN       operationId, kind, paymentKey, reason, creditsHeld
 *   ATTEMPT               operationId, gatewayCode: a call whose outcome was not known
 *   OPERATION_ENDED       operationId, kind, state, gatewayCode, transactionKey, attempts; EXPIRED: the time of a purchase
 *   LEDGER                entryNumber, kind, delta, heldDelta, balanceAfter
 *   EVENT                 eventNumber, eventId, type, deliveries: [{ endpointId, host, endpointStatus, state, error, attempts,
 *                         nextTryAt }], state one of DELIVERED, WAITING, DEAD, NOT_TOLD (the endpoint was added later)
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
export const StoryMoments = Type.Array(Type.Object({ at: Moment, kind: Type.Enum([...momentKinds]), detail: Detail }))

export const orderActions = ['settle', 'refund', 'resend events'] as const
/** `open`: something is under way at the gateway. */
export const refusalCodes = ['role', 'state', 'open', 'no events', 'no endpoint'] as const

export const OrderData = Type.Object({
  order: Type.Object({ ...row, paymentKey: TextOrNull, refundShortfall: WholeOrNull }),
  story: StoryMoments,
  /** What is under way at the gateway; null: nothing. */
  open: Type.Union([
    Type.Object({
      kind: Text,
      openedAt: Moment,
      attempts: Whole,
      gatewayCode: TextOrNull,
      nextAttemptAt: MomentOrNull,
    }),
    Type.Null(),
  ]),
  openDiscrepancies: Type.Array(Type.Object({ discrepancyId: Text, kind: Text, foundAt: Moment, detail: Detail })),
  /** Whether it can be done now by this operator, and if not, why: a code for a program, prose for a person. */
  actions: Type.Array(
    Type.Object({
      action: Type.Enum([...orderActions]),
      allowed: Flag,
      why: TextOrNull,
      code: Type.Union([Type.Enum([...refusalCodes]), Type.Null()]),
    }),
  ),
})

export const SettleData = Type.Object({
  result: Type.Enum(['agrees', 'repaired', 'disagrees', 'under way', 'unknown']),
  status: OrderStatus,
})

export const RefundQuoteData = Type.Object({
  orderId: Text,
  customerId: Text,
  packageType: Text,
  paid: Whole,
  /** KRW; null: not known, and the gateway says why. */
  backToTheCard: WholeOrNull,
  gatewayCode: TextOrNull,
  creditsOfTheOrder: Whole,
  creditsTakenBack: Whole,
  shortfall: Whole,
})
export const RefundData = Type.Object({
  orderId: Text,
  status: Type.Literal('REFUNDED'),
  creditsTakenBack: Whole,
  shortfall: Whole,
})
export const ResendData = Type.Object({
  delivered: Whole,
  failed: Type.Array(Type.Object({ endpointId: Text, type: Text, error: Text })),
})
