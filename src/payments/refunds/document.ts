// The refund endpoints of the internal API for the API document.
import type { Refusal } from '../../core/errors.ts'
import { type Documented, missing, notAllowed, type Refused, refused } from '../../http/documented.ts'
import { success } from '../../http/envelope.ts'
import { packageOf } from '../packages.ts'
import { asFieldRefusal, orderNotFound, outcomeUnknown, refundRefusals } from '../refusals.ts'
import { QuotedCredits } from './schemas.ts'

const orderId = 'ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C'
const { price: paid, credits: creditsOfTheOrder } = packageOf('STANDARD')
const quoted = { amount: 15_000, credits: 16 }
const terms = { from: null, fullPriceDays: 7, smallestAmount: 1_000, sharePercent: 100 }

const refusedRefund = (when: string, refusal: Refusal) => refused(when, asFieldRefusal(refusal))

/** What both endpoints check, in this order. */
const ofTheOrder: Refused[] = [
  refused('there is no such order of this customer', orderNotFound()),
  refusedRefund('it is refunded already, with another amount', refundRefusals.alreadyRefunded(15_000)),
  refusedRefund('the order is not CONFIRMED', refundRefusals.notConfirmed('CANCELLED')),
]
const ofTheRule: Refused[] = [
  refusedRefund('nothing that was paid for is left', refundRefusals.nothingLeft()),
  refusedRefund('the value is below the smallest refund', refundRefusals.belowSmallestAmount(3_000, 5_000)),
  refusedRefund('holds leave too few credits available', refundRefusals.creditsHeld(16, 11)),
]

export const documentedRefunds = {
  quote: {
    operationId: 'quoteRefund',
    tag: 'Credits',
    summary: 'Quote the refund of the unused part of an order',
    description:
      'What would go back to the card now, and the credits that would be taken: all unspent credits of the order, bonus ' +
      'included. The rule of the day on which the order was confirmed decides, for ever: `terms`.',
    answers: {
      200: success(
        { orderId, rule: 'unused part', ...quoted, value: 15_000, terms, paid, creditsOfTheOrder, creditsUsed: 5 },
        'The refund as it would be made now.',
      ),
    },
    refusals: [
      ...ofTheOrder,
      refusedRefund('part of the payment was cancelled at the gateway', refundRefusals.cancelledInPart()),
      ...ofTheRule,
      refused('another operation on the order is under way', outcomeUnknown()),
    ],
  },
  refund: {
    operationId: 'refundUnused',
    tag: 'Credits',
    summary: 'Refund the unused part of an order',
    description:
      'Returns the share of the value of the unused credits that the rule of the order has, and takes them; the order is REFUNDED. `amount` and `credits` are those of a ' +
      'quote: exactly that is done, or the refund is refused because credits have moved since. A repeat gets the first ' +
      'answer. After SVC001 repeat it: the money goes back once.',
    body: { ...quoted, reason: 'the project has ended' },
    answers: {
      200: success(
        { orderId, status: 'REFUNDED', refundedAmount: 15_000, creditsTakenBack: 16, shortfall: 5 },
        'The unused part is refunded.',
      ),
    },
    refusals: [
      missing('amount'),
      notAllowed('credits', QuotedCredits),
      refused('the reason is that of a cancellation at the gateway', refundRefusals.reservedReason()),
      ...ofTheOrder,
      ...ofTheRule,
      refusedRefund('credits have moved since the quote', refundRefusals.changed({ amount: 12_000, credits: 13 })),
      refusedRefund('the gateway refuses', refundRefusals.refusedByGateway()),
      refused('the outcome at the gateway is not known yet: repeat the request', outcomeUnknown()),
    ],
  },
} satisfies Record<string, Documented>
