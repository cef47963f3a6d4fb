// The twenty scenarios: what happens to a purchase, and what must hold in the end. A scenario without `play` is a buyer who
// pays and comes back once, while the gateway has the faults of its row. The buyer never reloads the page: a shop has to
// find out by itself.

import type { Fault, FaultKind } from '../faults/faults.ts'
import type { CheckoutResult } from '../payments/payments.ts'

/** What a play does with one order of the shop. */
export type Stage = {
  readonly order: { orderId: string; amount: number }
  /** The buyer finishes a checkout, of the order unless another is given. Returns the payment key. */
  pay(result?: CheckoutResult, other?: { orderId?: string; amount?: number }): Promise<string>
  /** The buyer's browser opens the return address. */
  comeBack(paymentKey: string, amount?: number): Promise<void>
  setFaults(faults: readonly Fault[]): Promise<void>
  /** Waits until the gateway has captured the payment and the shop has noticed; otherwise the play ends here. */
  untilPaid(): Promise<void>
  cancel(paymentKey: string): Promise<void>
  /** A webhook that does not come from the gateway and claims that the payment is done. Unreceived, it ends the play. */
  forgeWebhook(paymentKey: string): Promise<void>
}

/**
 * `paid`: the order is paid once, with its amount. `unpaid`: no money was taken, and the shop does not call it paid.
 * `consistent`: either, as long as the shop and the gateway agree. `cancelled`: paid once, and returned once.
 */
export type Ending = 'paid' | 'unpaid' | 'consistent' | 'cancelled'

export type Scenario = {
  name: string
  happens: string
  mustHold: string
  ending: Ending
  result?: CheckoutResult
  faults?: readonly Fault[]
  play?: (stage: Stage) => Promise<void>
  /** Options without which it cannot be played, or would hold whatever the shop does. */
  needs?: readonly Need[]
}

export type Need = 'status' | 'cancel' | 'webhook'

const once = (on: 'confirm' | 'cancel', kind: FaultKind): Fault => ({ on, kind, times: 1 })

const findsOut = 'The shop looks the payment up or sends the same request again, and ends at paid.'
const staysConsistent = 'The shop tries again or gives up, and agrees with the gateway.'

export const plainPayment: Scenario = {
  name: 'paid',
  happens: 'Nothing goes wrong.',
  mustHold: 'One capture of the amount of the order; the shop says paid.',
  ending: 'paid',
}

export const scenarios: readonly Scenario[] = [
  plainPayment,
  {
    name: 'returned-twice',
    happens: 'The return address is opened twice at the same time, and once more later.',
    mustHold: 'One capture; repeated confirms carry the same Idempotency-Key; the shop says paid.',
    ending: 'paid',
    async play({ pay, comeBack }) {
      const paymentKey = await pay()
      await Promise.all([comeBack(paymentKey), comeBack(paymentKey)])
      await comeBack(paymentKey)
    },
  },
  {
    name: 'paid-in-two-windows',
    happens: 'The buyer pays the order in two windows and comes back from both.',
    mustHold: 'The second payment is not captured, or it is returned.',
    ending: 'paid',
    async play({ pay, comeBack }) {
      const [first, second] = [await pay(), await pay()]
      await comeBack(first)
      await comeBack(second)
    },
  },
  {
    name: 'amount-tampered',
    happens: 'The buyer changes the amount in the browser: the payment and the return address have another one.',
    mustHold: 'The shop compares with the amount it stored; nothing is captured.',
    ending: 'unpaid',
    async play({ order, pay, comeBack }) {
      const amount = order.amount > 100 ? 100 : order.amount + 100
      await comeBack(await pay('approve', { amount }), amount)
    },
  },
  {
    name: 'payment-of-another-order',
    happens: 'The return address has the payment key of another order.',
    mustHold: 'Nothing is captured, and the order is not paid.',
    ending: 'unpaid',
    async play({ order, pay, comeBack }) {
      await comeBack(await pay('approve', { orderId: `other-${order.orderId}`.slice(0, 64) }))
    },
  },
  {
    name: 'declined',
    happens: 'The card company refuses the payment at confirm (403 REJECT_CARD_COMPANY).',
    mustHold: 'The order is not paid.',
    ending: 'unpaid',
    result: 'decline',
  },
  {
    name: 'session-expired',
    happens: 'The buyer comes back too late (404 NOT_FOUND_PAYMENT_SESSION).',
    mustHold: 'The order is not paid.',
    ending: 'unpaid',
    result: 'expire',
  },
  {
    name: 'error-before',
    happens: 'Confirm is answered with 500, and the money was not taken.',
    mustHold: staysConsistent,
    ending: 'consistent',
    faults: [once('confirm', 'error-before')],
  },
  {
    name: 'error-after',
    happens: 'Confirm is answered with 500, and the money was taken.',
    mustHold: findsOut,
    ending: 'paid',
    faults: [once('confirm', 'error-after')],
    needs: ['status'],
  },
  {
    name: 'reset-before',
    happens: 'The connection of the confirm is lost before the money was taken.',
    mustHold: staysConsistent,
    ending: 'consistent',
    faults: [once('confirm', 'reset-before')],
  },
  {
    name: 'reset-after',
    happens: 'The connection of the confirm is lost after the money was taken.',
    mustHold: findsOut,
    ending: 'paid',
    faults: [once('confirm', 'reset-after')],
    needs: ['status'],
  },
  {
    name: 'hang',
    happens: 'Confirm takes the money and is never answered.',
    mustHold: findsOut,
    ending: 'paid',
    faults: [once('confirm', 'hang-after')],
    needs: ['status'],
  },
  {
    name: 'html-answer',
    happens: 'Confirm takes the money; a proxy answers 200 with an HTML page.',
    mustHold: findsOut,
    ending: 'paid',
    faults: [once('confirm', 'html-after')],
    needs: ['status'],
  },
  {
    name: 'answer-of-another-order',
    happens: 'Confirm takes the money and is answered with the payment of another order.',
    mustHold: 'The shop compares the orderId, looks the payment up, and ends at paid.',
    ending: 'paid',
    faults: [once('confirm', 'other-order-after')],
    needs: ['status'],
  },
  {
    name: 'too-many-requests',
    happens: 'Confirm is answered with 429.',
    mustHold: staysConsistent,
    ending: 'consistent',
    faults: [once('confirm', 'too-many')],
  },
  {
    name: 'lookup-fails-too',
    happens: 'The answer to the confirm is lost, and the first two lookups fail.',
    mustHold: 'A failed lookup decides nothing; the shop goes on, and ends at paid.',
    ending: 'paid',
    faults: [once('confirm', 'reset-after'), { on: 'lookup', kind: 'error-before', times: 2 }],
    needs: ['status'],
  },
  {
    name: 'webhook-twice',
    happens: 'The webhook is sent twice at the same time.',
    mustHold: 'It is answered with 200 within 10 seconds; the order is paid once.',
    ending: 'paid',
    faults: [{ on: 'webhook', kind: 'duplicate', times: 1 }],
    needs: ['webhook', 'status'],
  },
  {
    name: 'webhook-lost',
    happens: 'The answer to the confirm is lost, and the webhook never comes.',
    mustHold: 'The shop looks the payment up by itself, and ends at paid.',
    ending: 'paid',
    faults: [once('confirm', 'reset-after'), { on: 'webhook', kind: 'drop', times: 1 }],
    needs: ['webhook', 'status'],
  },
  {
    name: 'webhook-forged',
    happens: 'A webhook that is not from the gateway says that the payment is done.',
    mustHold: 'The shop asks the gateway before it believes it; the order is not paid.',
    ending: 'unpaid',
    async play({ pay, forgeWebhook }) {
      await forgeWebhook(await pay())
    },
    needs: ['webhook', 'status'],
  },
  {
    name: 'cancel-answer-lost',
    happens: 'The order is cancelled, the answer of the gateway is lost, and the cancel is asked for again.',
    mustHold: 'The money is returned once; the shop says cancelled.',
    ending: 'cancelled',
    async play({ pay, comeBack, untilPaid, setFaults, cancel }) {
      const paymentKey = await pay()
      await comeBack(paymentKey)
      await untilPaid()
      await setFaults([once('cancel', 'reset-after')])
      await cancel(paymentKey)
      await cancel(paymentKey)
    },
    needs: ['cancel'],
  },
]
