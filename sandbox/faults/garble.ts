// What can happen to an answer between the gateway and a client: a page of a proxy, a part of the answer, nothing, or
// an answer about another payment. The work is done by then, and the true answer is bound to the idempotency key: a
// retry with the same key gets it.

import { bodyOf } from '../payments/payment-object.ts'
import type { Answer, Payment } from '../payments/payments.ts'

/** A body that is sent as it is, whatever its content type. */
export type RawAnswer = { status: number; type: string; text: string }

/** Null when the answer cannot be garbled this way: it is sent as it is. */
export type Garble = (answer: Answer) => RawAnswer | Answer | null

const jsonType = 'application/json; charset=utf-8'

const page = `<!doctype html>
<html lang="en"><head><title>One moment</title></head><body><p>The page you asked for is on its way.</p></body></html>
`

export const htmlPage: Garble = () => ({ status: 200, type: 'text/html; charset=utf-8', text: page })

export const emptyBody: Garble = () => ({ status: 200, type: jsonType, text: '' })

/** The Content-Length is that of the part: only the JSON shows that the rest is missing. */
export const truncated: Garble = (answer) => {
  const text = JSON.stringify(bodyOf(answer))
  return { status: answer.status, type: jsonType, text: text.slice(0, Math.floor(text.length / 2)) }
}

export const otherOrder: Garble = (answer) =>
  withPayment(answer, ({ orderId, ...payment }) => ({
    ...payment,
    orderId: orderId.slice(0, -1) + (orderId.endsWith('0') ? '1' : '0'),
  }))

export const otherAmount: Garble = (answer) =>
  withPayment(answer, (payment) => ({ ...payment, amount: payment.amount + 1 }))

/** As it was before the buyer authenticated. */
export const notDone: Garble = (answer) =>
  withPayment(answer, (payment) =>
    payment.approvedAt === null
      ? null
      : { ...payment, status: 'READY', method: null, approvedAt: null, lastTransactionKey: null, cancels: [] },
  )

function withPayment(answer: Answer, change: (payment: Payment) => Payment | null): Answer | null {
  const payment = 'payment' in answer ? change(answer.payment) : null
  return payment === null ? null : { status: answer.status, payment }
}
