// The schemas of the refund endpoints of the internal API.
import Type from 'typebox'
import { NullableText } from '../../http/envelope.ts'
import { Amount, CancelReason } from '../schemas.ts'

export const RefundParams = Type.Object({
  customerId: Type.String({
    description: 'the UUID of a customer',
    examples: ['5509d75f-dfe0-4984-9be9-f02d7cdb5de6'],
  }),
  orderId: Type.String({
    description: 'an order of the customer',
    examples: ['ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C'],
  }),
})

const Credits = Type.Integer({ minimum: 0 })
export const QuotedCredits = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'the credits of the quote',
})

export const RefundBody = Type.Object(
  { amount: Amount, credits: QuotedCredits, reason: CancelReason },
  { title: 'RefundRequest' },
)

export const UnusedQuoteData = Type.Object(
  {
    orderId: Type.String(),
    rule: Type.Enum(['full price', 'unused part'], {
      description:
        'full price: nothing was used, and the order is young enough that no smallest amount applies. unused part: the ' +
        'share of the value of what is left that the terms have.',
    }),
    amount: Type.Integer({ minimum: 1, description: 'KRW that would go back' }),
    credits: Type.Integer({ minimum: 1, description: 'credits that would be taken, bonus included' }),
    value: Type.Integer({ minimum: 1, description: 'KRW that these credits are worth' }),
    terms: Type.Object(
      {
        from: {
          ...NullableText,
          format: 'date',
          description: 'the Korean day from which the rule holds; null: from the beginning',
        },
        fullPriceDays: Type.Integer({
          minimum: 0,
          description:
            'within so many days of its confirm an order of which nothing was used goes back at its full price',
        }),
        smallestAmount: Type.Integer({ minimum: 1, description: 'KRW; no less goes back of an unused part' }),
        sharePercent: Type.Integer({
          minimum: 1,
          maximum: 100,
          description: 'percent of the value of the unused part that goes back',
        }),
      },
      { title: 'RefundRule', description: 'the rule of the platform on the day on which the order was confirmed' },
    ),
    paid: Type.Integer({ minimum: 1, description: 'KRW' }),
    creditsOfTheOrder: Credits,
    creditsUsed: Credits,
  },
  { title: 'RefundQuote' },
)

export const UnusedRefundData = Type.Object(
  {
    orderId: Type.String(),
    status: Type.Literal('REFUNDED'),
    refundedAmount: Type.Integer({ minimum: 1, description: 'KRW' }),
    creditsTakenBack: Credits,
    shortfall: Type.Integer({ minimum: 0, description: 'credits of the order that were used' }),
  },
  { title: 'Refund' },
)
