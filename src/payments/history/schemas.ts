// The schemas of a customer's orders: an order has what its status has, and more.
import Type from 'typebox'
import { orderIdPattern } from '../../core/ids.ts'
import { PaidWithOrNull } from '../../credits/lots/paid-with.ts'
import { NullableText } from '../../http/envelope.ts'
import { Limit } from '../../http/input/page.ts'
import { type FailureReason, failureReasons } from '../failure-reasons.ts'
import { StatusData } from '../schemas.ts'
import { documentedSlip } from '../slip-headers.ts'

export const OwnOrdersQuery = Type.Object({
  cursor: Type.Optional(
    Type.String({ pattern: orderIdPattern.source, description: 'the nextCursor of a list of orders' }),
  ),
  limit: Type.Optional(Limit),
})

const Won = Type.Integer({ minimum: 1, description: 'KRW' })
const slipText = (name: keyof typeof documentedSlip) => ({
  ...NullableText,
  description: `${documentedSlip[name].description}; null where the gateway did not send it`,
})

export const OwnOrderData = Type.Object(
  {
    ...StatusData.properties,
    credits: Type.Integer({ minimum: 1, description: 'the credits of the package, bonus included' }),
    receiptUrl: slipText('receiptUrl'),
    cardNumber: slipText('cardNumber'),
    approvalNumber: slipText('approvalNumber'),
    paidWith: PaidWithOrNull,
    refusalReason: Type.Unsafe<FailureReason | null>({
      type: ['string', 'null'],
      enum: [...failureReasons, null],
      description: 'why the order is FAILED; null if it is not',
    }),
    refundedAmount: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      description: 'KRW that went back in all; null when nothing did',
    }),
    refunds: Type.Array(
      Type.Object(
        {
          amount: Won,
          refundedAt: Type.String({
            format: 'date-time',
            description: 'when our books recorded it; a part that was cancelled at the gateway went back earlier',
          }),
        },
        { title: 'OrderRefund' },
      ),
      {
        description:
          'each amount that went back, oldest first: of a cancel, of a refund, of a part that was cancelled at the gateway',
      },
    ),
  },
  { title: 'Order' },
)

export const OwnOrdersData = Type.Object(
  {
    customerId: Type.String({ format: 'uuid' }),
    orders: Type.Array(OwnOrderData),
    nextCursor: NullableText,
  },
  { title: 'Orders' },
)
