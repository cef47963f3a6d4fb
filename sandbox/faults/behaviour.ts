// Unknown behaviour of Toss, as switches: every point on which its documentation is silent or contradicts itself and on
// which an answer of the sandbox depends. A correct client passes its tests with every value. The first value is the
// default, the one that is documented best or assumed by most. Beside them the window of a cancel, which differs between card
// companies: a number of days.

import { boundedInteger, oneOf } from '../protocol/fields.ts'

export const behaviours = {
  /** The code at confirm for another amount than the buyer agreed to. */
  amountMismatch: ['INVALID_REQUEST', 'FORBIDDEN_REQUEST'],
  /** Whether a lookup sees payments that are READY or IN_PROGRESS. */
  unconfirmedLookup: ['found', 'not-found'],
  /** The sign of the amount in the rows of cancels in GET /v1/transactions. */
  cancelRowSign: ['positive', 'negative'],
  /** Whether a 5xx answer is bound to the idempotency key, as a 4xx is. */
  replayServerErrors: [false, true],
  /** Whether a repeated webhook carries the transmission id of the first. */
  transmissionIdOnRetry: ['same', 'new'],
  /** Which answers to a webhook count as received. */
  webhookReceived: ['200', '2xx'],
  /** Whether a further partial cancel, which leaves the status as it is, is notified again. */
  partialCancelWebhook: ['every', 'first'],
  /** Whether card, easyPay.amount and easyPay.discountAmount are together the total. */
  easyPayParts: ['add up', 'differ'],
} as const

/** How long after its approval a payment can be cancelled. */
export const cancelWindowDays = { usual: 365, rule: boundedInteger(0, 3650) }

type Switches = { -readonly [Name in keyof typeof behaviours]: (typeof behaviours)[Name][number] }
type Values = Switches & { cancelWindowDays: number }

export type Behaviour = Readonly<Values>

export function createBehaviour() {
  const switches = Object.fromEntries(Object.entries(behaviours).map(([name, [first]]) => [name, first])) as Switches
  const values: Values = { ...switches, cancelWindowDays: cancelWindowDays.usual }
  return {
    values: values as Behaviour,
    /** All or nothing; returns what is wrong with the names or values, or null. */
    merge(body: unknown): string | null {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body: expected a JSON object.'
      for (const [name, value] of Object.entries(body)) {
        if (!Object.hasOwn(values, name)) return `${name}: expected one of ${Object.keys(values).join(', ')}.`
        const allowed: readonly unknown[] | undefined = behaviours[name as keyof typeof behaviours]
        const { accepts, expected } = allowed ? oneOf(allowed) : cancelWindowDays.rule
        if (!accepts(value)) return `${name}: expected ${expected}.`
      }
      Object.assign(values, body)
      return null
    },
  }
}
