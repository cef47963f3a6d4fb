// What the platform was told: each state that an order came to is an event in the books once, each time that few credits
// were left too; and the consumer got every event of the books, signed, in the order of its customer, whatever either side
// went through.
import type { OrderStatus } from '../../src/payments/kinds.ts'
import { metNobody } from '../desk/console.ts'
import type { Consumer, Delivery } from '../world/consumer.ts'
import type { World } from '../world/world.ts'
import type { Check, Evidence } from './evidence.ts'
import { type BookedEvent, readEvents, readToldOrders, type ToldOrder } from './money/booked.ts'

/** `settledAt`: nothing that was written before that was still on its way. */
export async function checkEvents({ books, consumer }: World, evidence: Evidence, settledAt: number): Promise<Check[]> {
  // Before the books are read: what has come is in them.
  const deliveries = [...consumer.deliveries]
  const events = await readEvents(books)
  const orders = await readToldOrders(books)
  return [
    { id: 'I-17', title: 'every state of every order is an event, once', violations: ofOrders(orders) },
    {
      id: 'I-17',
      title: 'an event tells each time that the credits fell below what a customer has set',
      violations: ofLowCredits(evidence, events),
    },
    {
      id: 'I-17',
      title: 'every event was delivered, as it is in the books',
      violations: delivered(deliveries, events, settledAt),
    },
    {
      id: 'I-17',
      title: 'the events of a customer came in their order, without a gap',
      violations: inOrder(deliveries, firstResends(evidence)),
    },
    {
      id: 'I-17',
      title: 'no event came with a wrong signature, and after a rotation both secrets sign',
      violations: [...consumer.wrong, ...signedByOne(consumer)],
    },
  ]
}

/** The states that an order has come to, by the one it is in. */
const told: Record<OrderStatus, OrderStatus[]> = {
  PENDING: [],
  FAILED: ['FAILED'],
  CONFIRMED: ['CONFIRMED'],
  CANCELLED: ['CONFIRMED', 'CANCELLED'],
  REFUNDED: ['CONFIRMED', 'REFUNDED'],
}

function ofOrders(orders: ToldOrder[]): string[] {
  return orders.flatMap(({ orderId, status, order, events }) => {
    if (status === null) return [`an event tells of ${orderId}, which is no order`]
    const written = events.map(({ type, data }) => textOfOrder(type, data))
    const expected = told[status].map((each) => textOfOrder(`order.${each.toLowerCase()}`, { ...order, status: each }))
    return written.join() === expected.join() ? [] : [`${orderId} is ${status}: told ${written}, expected ${expected}`]
  })
}

function textOfOrder(type: string, data: Record<string, unknown>): string {
  const { customerId, orderId, status, packageType, amount, credits } = data
  return [type, customerId, orderId, status, packageType, amount, credits].join(' ')
}

/** Worked out from the ledger: a fall from the threshold or above to below it. */
function ofLowCredits({ shop, courses }: Evidence, events: BookedEvent[]): string[] {
  const written = Map.groupBy(
    events.filter(({ type }) => type === 'credits.low'),
    ({ customerId }) => customerId,
  )
  return shop.customers.flatMap(({ customerId, index, lowCredits }) => {
    const course = (courses.get(customerId) ?? []).map(({ available }) => available)
    const isFall = (after: number, place: number) =>
      lowCredits !== null && after < lowCredits && (course[place - 1] ?? 0) >= lowCredits
    const expected = course.filter(isFall).map((credits) => `${credits} of ${lowCredits}`)
    const found = (written.get(customerId) ?? []).map(({ data }) => `${data.credits} of ${data.threshold}`)
    return found.join() === expected.join() ? [] : [`customer ${index}: told ${found}, fell to ${expected}`]
  })
}

/** At least once, and each time as it was written. */
function delivered(deliveries: Delivery[], events: BookedEvent[], settledAt: number): string[] {
  const byId = Map.groupBy(deliveries, ({ eventId }) => eventId)
  const violations = events.flatMap(({ customerId, eventNumber, eventId, type, data, createdAt }) => {
    const ofEvent = byId.get(eventId) ?? []
    const name = `${type} ${eventNumber} of ${customerId}`
    const isTaken = ofEvent.some(({ taken }) => taken !== null)
    if (!isTaken && createdAt.getTime() < settledAt) return [`${name} was not delivered, ${ofEvent.length} tries`]
    const written = textOf({ type, timestamp: createdAt.toISOString(), sequence: eventNumber, data })
    const others = ofEvent.filter(({ payload }) => textOf(payload) !== written)
    return others.map(({ payload }) => `${name} came as ${JSON.stringify(payload)}, and is ${written}`)
  })
  const known = new Set(events.map(({ eventId }) => eventId))
  const strangers = [...byId.keys()].filter((eventId) => !known.has(eventId))
  return [...violations, ...strangers.map((eventId) => `${eventId} came, and is not in the books`)]
}

function textOf({ type, timestamp, sequence, data }: Delivery['payload']): string {
  return JSON.stringify([type, timestamp, sequence, Object.entries(data).sort()])
}

/** When an operator first asked for the events of an order once more, by orderId: from then on they may come out of turn. */
function firstResends({ desk }: Evidence): Map<string, number> {
  const asked = desk.filter(
    (call) => call.endpoint === 'resendEvents' && call.outcome.kind !== 'fail' && !metNobody(call),
  )
  const byOrder = Map.groupBy(asked, ({ params }) => params.orderId ?? '')
  return new Map([...byOrder].map(([orderId, calls]) => [orderId, Math.min(...calls.map((call) => call.invokedAtMs))]))
}

/** Each comes for the first time when the one before it has been taken; what may have come out of turn, some time. */
function inOrder(deliveries: Delivery[], resends: Map<string, number>): string[] {
  return [...Map.groupBy(deliveries, ({ payload }) => String(payload.data.customerId))].flatMap(([customerId, all]) => {
    const bySequence = Map.groupBy(all, ({ payload }) => payload.sequence)
    return [...bySequence].flatMap(([sequence, ofEvent]) => {
      const [first] = ofEvent
      if (sequence === 1 || !first) return []
      const resentAtMs = resends.get(String(first.payload.data.orderId)) ?? Number.POSITIVE_INFINITY
      const inTurn = first.cameAtMs > resentAtMs ? (ofEvent.at(-1) ?? first) : first
      const before = bySequence.get(sequence - 1) ?? []
      const isAfter = before.some(({ taken }) => taken !== null && taken < inTurn.came)
      return isAfter ? [] : [`${customerId}: ${sequence} came before ${sequence - 1} was taken`]
    })
  })
}

/** Who read the secrets before the rotation may have been slow, or asleep. */
const slowMs = 12_000

function signedByOne({ deliveries, rotatedAt, secretCount }: Consumer): string[] {
  if (rotatedAt === null) return []
  return deliveries
    .filter(({ payload }) => Date.parse(payload.timestamp) > rotatedAt + slowMs)
    .filter(({ signatures }) => signatures < secretCount())
    .map(({ payload }) => `${payload.timestamp} ${payload.sequence}: long after the rotation one secret has signed`)
}
