// How the order of a lot was paid, in answers, statements and events.
import Type from 'typebox'
import type { PaidWith } from '../../core/paid-with.ts'

const KrwOrNull = Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, description: 'KRW' })

export const PaidWithOrNull = Type.Union(
  [
    Type.Object(
      {
        method: Type.Enum(['CARD', 'EASY_PAY', 'OTHER'], { description: 'EASY_PAY: a wallet of the payment window' }),
        provider: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'the wallet, as the gateway names it',
        }),
        cardAmount: KrwOrNull,
        walletAmount: KrwOrNull,
        pointsAmount: KrwOrNull,
      },
      { title: 'PaidWith' },
    ),
    Type.Null(),
  ],
  {
    description:
      'how it was paid: by card, from the money of a wallet, with points or coupons; the three are the amount. Null where ' +
      'the gateway did not say it',
  },
)

export const paidWithExample: PaidWith = {
  method: 'EASY_PAY',
  provider: '토스페이',
  cardAmount: 15_000,
  walletAmount: 0,
  pointsAmount: 5_000,
}
