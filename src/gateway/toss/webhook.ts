// Reads which payment a notification of Toss Payments is about, and nothing else. Payment webhooks are not signed: one is
// only a hint to look the payment up. Amounts in the body are not read, and its `secret` is never stored.
import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Compile } from 'typebox/compile'

export type Notification = {
  /** The same for every repetition of one transmission. */
  transmissionId: string
  eventType: string
  orderId: string
  paymentKey: string | null
  status: string | null
}

const Id = Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$' })
/** The gateway sends every field, null where it has no value. */
const Maybe = Type.Optional(Type.Union([Id, Type.Null()]))

/** PAYMENT_STATUS_CHANGED and its kin carry the payment in `data`; DEPOSIT_CALLBACK is flat and has no event type. */
const nested = Compile(
  Type.Object({ eventType: Id, data: Type.Object({ orderId: Id, paymentKey: Maybe, status: Maybe }) }),
)
const flat = Compile(Type.Object({ orderId: Id, status: Id, transactionKey: Id }))
const about = Compile(Type.Object({ eventType: Id }))
const paymentEvent = 'PAYMENT_STATUS_CHANGED'

export type ReadNotification =
  | { kind: 'payment'; notification: Notification }
  /** An event about something we do not offer, such as a billing key. */
  | { kind: 'other'; eventType: string }
  | { kind: 'unreadable' }

export function readNotification(transmissionId: string | undefined, body: unknown): ReadNotification {
  const id = transmissionId ?? idOfBody(body)
  if (id.length > 200 || !/^[\x21-\x7e]+$/.test(id)) return { kind: 'unreadable' }
  if (nested.Check(body)) {
    const { orderId, paymentKey = null, status = null } = body.data
    return {
      kind: 'payment',
      notification: { transmissionId: id, eventType: body.eventType, orderId, paymentKey, status },
    }
  }
  if (flat.Check(body)) {
    const { orderId, status } = body
    const notification = { transmissionId: id, eventType: 'DEPOSIT_CALLBACK', orderId, paymentKey: null, status }
    return { kind: 'payment', notification }
  }
  // Refused, so that the gateway lists it as undelivered and sends it again.
  if (!about.Check(body) || body.eventType === paymentEvent) return { kind: 'unreadable' }
  return { kind: 'other', eventType: body.eventType }
}

/** For a sender without transmission ids: the same bytes are the same notification. */
function idOfBody(body: unknown): string {
  return `body:${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`
}
