// The schemas of the adjustments of a customer, and of the requests that wait for a second operator.
import Type from 'typebox'
import { adjustmentKinds } from '../../credits/adjustments/adjustments.sql.ts'
import { Moment, paging, ReasonText, Text, TextOrNull, Uuid, Whole, WholeOrNull } from '../schema-types.ts'

const RequestKind = Type.Enum(['GOODWILL', 'CORRECTION', 'PART'])

/** The oldest first. */
export const PendingAdjustments = Type.Array(
  Type.Object({
    customerId: Text,
    customerName: TextOrNull,
    adjustmentId: Text,
    kind: RequestKind,
    credits: Whole,
    reason: Text,
    requestedBy: Text,
    /** `NAME as USER` when it was requested on a command line. */
    typedBy: TextOrNull,
    requestedAt: Moment,
    /** Only for a PART: its order, and the KRW that the gateway has returned. */
    orderId: TextOrNull,
    amount: WholeOrNull,
  }),
)

export const AdjustmentsQuery = Type.Object(paging)
/** Newest first. */
export const AdjustmentsData = Type.Object({
  pending: PendingAdjustments,
  adjustments: Type.Array(
    Type.Object({
      adjustmentId: Text,
      entryNumber: Whole,
      kind: Type.Enum([...adjustmentKinds]),
      credits: Whole,
      reason: Text,
      actor: TextOrNull,
      approvedBy: TextOrNull,
      /** `NAME as USER` for what was done on a command line. */
      typedBy: TextOrNull,
      approvalTypedBy: TextOrNull,
      service: TextOrNull,
      reference: TextOrNull,
      reversedReference: TextOrNull,
      createdAt: Moment,
    }),
  ),
  /** The limits of the operator who asks: credits in a Korean day, and those above which a second operator is needed now. */
  limits: Type.Object({ perDay: Whole, usedToday: Whole, approvalAbove: Whole }),
  nextCursor: TextOrNull,
})

const largest = 999_999_999
/** Chosen by the page: a repeat is recognised by it. */
const body = { adjustmentId: Uuid, reason: ReasonText }
export const GoodwillBody = Type.Object({
  ...body,
  credits: Type.Integer({ minimum: 1, maximum: largest, description: 'a whole number of credits, at least 1' }),
})
export const CorrectionBody = Type.Object({
  ...body,
  credits: Type.Integer({
    minimum: -largest,
    maximum: largest,
    not: { const: 0 },
    description: 'a whole number of credits other than 0',
  }),
})
export const AdjustmentParams = Type.Object({ adjustmentId: Type.String({ description: 'the id of an adjustment' }) })
export const AdjustedData = Type.Object({
  adjustmentId: Text,
  customerId: Text,
  kind: RequestKind,
  credits: Whole,
  state: Type.Enum(['DONE', 'PENDING', 'REJECTED']),
  available: WholeOrNull,
})
