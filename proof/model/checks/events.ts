// Events: each state that an order reached is an event in the books once, and so is each fall of credits below a threshold,
// each reversal and each adjustment; the consumer accepted every event of the books, signed, in the order of its customer,
// whatever faults either side had.
import type { OrderStatus } from '../../../src/payments/kinds.ts'
import type { Consumer, Delivery } from '../../world/consumer.ts'
import type { World } from '../../world/world.ts'
import { isConnectionRefused } from '../operators/console-client.ts'
import { type Check, checksOf, type Evidence } from './evidence.ts'
import { type BookedEvent, type OrderWithEvents, readEvents, readOrdersWithEvents } from './money/booked.ts'

/** `settledAt`: everything written before it has been delivered. */
export async function checkEvents({ books, consumer }: World, evidence: Evidence, settledAt: number): Promise<Check[]> {
  // Before the books are read, so that every delivery is in them.
  const deliveries = [...consumer.deliveries]
  const events = await readEvents(books)
  const orders = await readOrdersWithEvents(books)
  return checksOf({
    'I-17 every state of every order is an event, once': ofOrders(orders),
    'I-17 every fall of the credits below the threshold of a customer is an event': ofLowCredits(evidence, events),
    'I-17 every fall of the credits of a customer to none is an event': ofEmptyAccounts(evidence, events),
    'I-17 every reversal and every adjustment is an event, once': ofAdjustments(evidence, events),
    'I-17 every event was delivered, as it is in the books': delivered(deliveries, events, settledAt),
    'I-17 the events of a customer came in their order, without a gap': inOrder(deliveries, firstResends(evidence)),
    'I-17 no event came with a wrong signature, and after a rotation both secrets sign': [
      ...consumer.wrong,
      ...signedByOne(consumer),
    ],
  })
}

/** The states that an order has reached, by the one it is in. */
const reached: Record<OrderStatus, OrderStatus[]> = {
  PENDING: [],
  FAILED: ['FAILED'],
  CONFIRMED: ['CONFIRMED'],
  CANCELLED: ['CONFIRMED', 'CANCELLED'],
  REFUNDED: ['CONFIRMED', 'REFUNDED'],
}

function ofOrders(orders: OrderWithEvents[]): string[] {
  return orders.flatMap(({ orderId, status, order, events }) => {
    if (status === null) return [`an event is about ${orderId}, which is no order`]
    const written = events.map(({ type, data }) => textOfOrder(type, data))
    const expected = reached[status].map((each) =>
      textOfOrder(`order.${each.toLowerCase()}`, { ...order, status: each }),
    )
    return written.join() === expected.join()
      ? []
      : [`${orderId} is ${status}: events ${written}, expected ${expected}`]
  })
}

function textOfOrder(type: string, data: Record<string, unknown>): string {
  const { customerId, orderId, status, packageType, amount, credits } = data
  return [type, customerId, orderId, status, packageType, amount, credits].join(' ')
}

/** From the ledger: a fall from the threshold or above to below it. */
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
    return found.join() === expected.join() ? [] : [`customer ${index}: events ${found}, fell to ${expected}`]
  })
}

/** From the ledger: a fall to nothing that can be spent. */
function ofEmptyAccounts({ shop, courses }: Evidence, events: BookedEvent[]): string[] {
  const written = events.filter(({ type }) => type === 'credits.empty')
  return shop.customers.flatMap(({ customerId, index }) => {
    const course = (courses.get(customerId) ?? []).map(({ available }) => available)
    const falls = course.filter((after, place) => after === 0 && (course[place - 1] ?? 0) > 0).length
    const found = written.filter((event) => event.customerId === customerId).length
    return found === falls ? [] : [`customer ${index}: ${found} events credits.empty, fell to 0 ${falls} times`]
  })
}

function ofAdjustments({ uses, adjustments, parts }: Evidence, events: BookedEvent[]): string[] {
  const reversals = [...uses.values()].filter(({ kind }) => kind === 'REVERSAL')
  const expected = [
    ...reversals.map(({ customerId, reference, reversed, credits, balance }) =>
      ['credits.reversed', customerId, reference, reversed, credits, balance].join(' '),
    ),
    ...adjustments
      .filter(({ available }) => available !== null)
      .map(({ customerId, kind, credits, available }) =>
        ['credits.adjusted', customerId, kind, credits, available].join(' '),
      ),
    ...parts.map(({ customerId, delta, available }) =>
      ['credits.adjusted', customerId, 'PART', delta, available].join(' '),
    ),
  ].sort()
  const found = events.flatMap(({ type, customerId, data }) => {
    const { kind, reference, reversedReference, credits, balance } = data
    if (type === 'credits.reversed')
      return [[type, customerId, reference, reversedReference, credits, balance].join(' ')]
    return type === 'credits.adjusted' ? [[type, customerId, kind, credits, balance].join(' ')] : []
  })
  found.sort()
  return expected.join() === found.join()
    ? []
    : [
        ...expected.filter((each) => !found.includes(each)).map((each) => `${each} is no event`),
        ...found.filter((each) => !expected.includes(each)).map((each) => `${each} is not in the books`),
        `${found.length} events, expected ${expected.length}`,
      ]
}

/** At least once, and each time as it was written. */
function delivered(deliveries: Delivery[], events: BookedEvent[], settledAt: number): string[] {
  const byId = Map.groupBy(deliveries, ({ eventId }) => eventId)
  const violations = events.flatMap(({ customerId, eventNumber, eventId, type, data, createdAt }) => {
    const ofEvent = byId.get(eventId) ?? []
    const name = `${type} ${eventNumber} of ${customerId}`
    const isAccepted = ofEvent.some(({ accepted }) => accepted !== null)
    if (!isAccepted && createdAt.getTime() < settledAt) return [`${name} was not delivered, ${ofEvent.length} tries`]
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

/** When an operator first resent the events of an order, by orderId: from then on they may come out of order. */
function firstResends({ consoleCalls }: Evidence): Map<string, number> {
  const resends = consoleCalls.filter(
    (call) => call.endpoint === 'resendEvents' && call.outcome.kind !== 'fail' && !isConnectionRefused(call),
  )
  const byOrder = Map.groupBy(resends, ({ params }) => params.orderId ?? '')
  return new Map([...byOrder].map(([orderId, calls]) => [orderId, Math.min(...calls.map((call) => call.invokedAtMs))]))
}

/** Each first comes when the one before it was accepted; of a resent one the last delivery counts. */
function inOrder(deliveries: Delivery[], resends: Map<string, number>): string[] {
  return [...Map.groupBy(deliveries, ({ payload }) => String(payload.data.customerId))].flatMap(([customerId, all]) => {
    const bySequence = Map.groupBy(all, ({ payload }) => payload.sequence)
    return [...bySequence].flatMap(([sequence, ofEvent]) => {
      const [first] = ofEvent
      if (sequence === 1 || !first) return []
      const resentAtMs = resends.get(String(first.payload.data.orderId)) ?? Number.POSITIVE_INFINITY
      const inSequence = first.cameAtMs > resentAtMs ? (ofEvent.at(-1) ?? first) : first
      const before = bySequence.get(sequence - 1) ?? []
      const isAfter = before.some(({ accepted }) => accepted !== null && accepted < inSequence.came)
      return isAfter ? [] : [`${customerId}: ${sequence} came before ${sequence - 1} was accepted`]
    })
  })
}

/** A process that read the secrets before the rotation may have been paused. */
const slowMs = 12_000

function signedByOne({ deliveries, rotatedAt, secretCount }: Consumer): string[] {
  if (rotatedAt === null) return []
  return deliveries
    .filter(({ payload }) => Date.parse(payload.timestamp) > rotatedAt + slowMs)
    .filter(({ signatures }) => signatures < secretCount())
    .map(({ payload }) => `${payload.timestamp} ${payload.sequence}: long after the rotation one secret has signed`)
}
