// Notifications that the gateway did not send. They can be sent by anyone with the address, so none may have an effect.
// Each with the statuses that may answer it.
import type { Random } from '../../../harness/random.ts'
import type { KnownOrder } from '../../world/shop.ts'

export type Forged = {
  /** `right`, or another text for the path. */
  token: string
  body: string
  statuses: number[]
  copies?: number
}

export type Forgery = { what: string; make(random: Random, order: KnownOrder | undefined): Forged }

const strangerOrder = { orderId: 'ord_00000000000000000000000000000000000', amount: 1_000, checkouts: [] }

function notification(
  order: Pick<KnownOrder, 'orderId' | 'amount' | 'checkouts'>,
  status: string,
  key?: string,
): string {
  const { orderId, amount: totalAmount } = order
  const paymentKey = key ?? order.checkouts[0]?.paymentKey ?? 'made_up'
  const data = { paymentKey, orderId, status, totalAmount, balanceAmount: totalAmount, currency: 'KRW', cancels: null }
  return JSON.stringify({ eventType: 'PAYMENT_STATUS_CHANGED', createdAt: '2026-01-01T00:00:00.000000', data })
}

export const forgedNotifications: Forgery[] = [
  {
    what: 'DONE for an order that is not paid',
    make: (_random, order = strangerOrder as never) => ({
      token: 'right',
      body: notification(order, 'DONE'),
      statuses: [200],
    }),
  },
  {
    what: 'DONE with a made-up key',
    make: (random, order = strangerOrder as never) => ({
      token: 'right',
      body: notification(order, 'DONE', `made_up_${random.integer(0, 2 ** 31)}`),
      statuses: [200],
    }),
  },
  {
    what: 'CANCELED for any order, many at once',
    make: (random, order = strangerOrder as never) => ({
      token: 'right',
      body: notification(order, 'CANCELED'),
      statuses: [200],
      copies: random.integer(2, 20),
    }),
  },
  {
    what: 'ABORTED for any order',
    make: (_random, order = strangerOrder as never) => ({
      token: 'right',
      body: notification(order, 'ABORTED'),
      statuses: [200],
    }),
  },
  {
    what: 'DONE for an order that does not exist',
    make: () => ({ token: 'right', body: notification(strangerOrder, 'DONE'), statuses: [200] }),
  },
  {
    what: 'a wrong token',
    make: (random, order = strangerOrder as never) => ({
      token: `guessed_${random.integer(0, 2 ** 31)}`,
      body: notification(order, 'DONE'),
      statuses: [404],
    }),
  },
  { what: 'malformed JSON', make: () => ({ token: 'right', body: '{"eventType":', statuses: [400] }) },
  { what: 'no notification', make: () => ({ token: 'right', body: '{"data":[1,2,3]}', statuses: [400] }) },
  {
    what: 'a body over the limit',
    make: () => ({ token: 'right', body: JSON.stringify({ filler: 'x'.repeat(100_000) }), statuses: [400] }),
  },
]
