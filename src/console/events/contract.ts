// The schemas of the pages of event endpoints and of their actions. Of an endpoint's URL only the host is shown: path and query may
// contain a secret of the platform.
import Type from 'typebox'
import { eventTypes } from '../../events/outbox.sql.ts'
import {
  Flag,
  Moment,
  MomentOrNull,
  paging,
  ReasonText,
  Text,
  TextOrNull,
  Uuid,
  Whole,
  WholeOrNull,
} from '../schema-types.ts'

const EventTypeName = Type.Enum([...eventTypes])
const EndpointStatus = Type.Enum(['ACTIVE', 'DISABLED'])
const endpointRow = {
  endpointId: Text,
  host: Text,
  /** Empty: all. */
  types: Type.Array(Text),
  status: EndpointStatus,
  createdAt: Moment,
  waitingEvents: Whole,
  waitingCustomers: Whole,
  /** The first failure since the last event that was accepted; null: none of its queues is failing. */
  failingSince: MomentOrNull,
  /** Counted up to a limit. */
  deadEvents: Whole,
}
export const EventEndpointsData = Type.Object({
  endpoints: Type.Array(Type.Object(endpointRow)),
  /** The types that an endpoint can be added for. */
  knownTypes: Type.Array(EventTypeName),
})

export const EventEndpointParams = Type.Object({ endpointId: Type.String({ description: 'the id of an endpoint' }) })
export const EventEndpointData = Type.Object({
  ...endpointRow,
  /** The queues with events to deliver, the next one due first, up to a limit. */
  queues: Type.Array(
    Type.Object({
      customerId: Text,
      customerName: TextOrNull,
      nextEvent: Whole,
      events: Whole,
      /** Failures since the last event that was accepted. */
      attempts: Whole,
      error: TextOrNull,
      nextTryAt: Moment,
    }),
  ),
})

export const EventAttemptsQuery = Type.Object(paging)
/** Newest first. */
export const EventAttemptsData = Type.Object({
  attempts: Type.Array(
    Type.Object({
      customerId: Text,
      customerName: TextOrNull,
      eventNumber: Whole,
      /** Null: the event was deleted. */
      type: TextOrNull,
      attemptedAt: Moment,
      /** Null: there was no answer. */
      status: WholeOrNull,
      /** Null: the endpoint accepted it. */
      error: TextOrNull,
      tookMs: Whole,
    }),
  ),
  nextCursor: TextOrNull,
})

export const DeadEventsQuery = Type.Object(paging)
/** Customer by customer, the oldest first. */
export const DeadEventsData = Type.Object({
  dead: Type.Array(
    Type.Object({
      customerId: Text,
      customerName: TextOrNull,
      eventNumber: Whole,
      type: Text,
      /** Only for an event about an order. */
      orderId: TextOrNull,
      attempts: Whole,
      error: Text,
      diedAt: Moment,
    }),
  ),
  nextCursor: TextOrNull,
})

export const AddEndpointBody = Type.Object({
  url: Type.String({ pattern: '^https?://\\S{1,2000}$', description: 'a URL that begins with https:// or http://' }),
  types: Type.Array(EventTypeName, {
    maxItems: eventTypes.length,
    description: 'types of events; none: all',
  }),
  reason: ReasonText,
})
/** With EndpointSecretData the only answers that contain the secret. */
export const AddedEndpointData = Type.Object({ endpointId: Text, host: Text, secret: Text })
export const EndpointSecretData = Type.Object({ endpointId: Text, secret: Text })
export const EndpointStatusData = Type.Object({ endpointId: Text, status: EndpointStatus })
export const RemovedEndpointData = Type.Object({ endpointId: Text })

export const RetryBody = Type.Object({ customerId: Type.Optional(Uuid), reason: ReasonText })
/** `customers`: whose events are due now. */
export const RetryData = Type.Object({ endpointId: Text, customers: Whole })

export const TestEventData = Type.Object({
  endpointId: Text,
  accepted: Flag,
  status: WholeOrNull,
  error: TextOrNull,
  tookMs: Whole,
})

export const ResendDeadBody = Type.Object({
  /** With an event: that one alone. */
  customerId: Type.Optional(Uuid),
  eventNumber: Type.Optional(Type.Integer({ minimum: 1, description: 'the number of an event of the customer' })),
  reason: ReasonText,
})
/** `left`: not sent, after one that was not accepted or for lack of time. `errors`: the first ones. */
export const ResendDeadData = Type.Object({
  endpointId: Text,
  resent: Whole,
  left: Whole,
  failed: Whole,
  errors: Type.Array(Type.Object({ customerId: Text, eventNumber: Whole, type: Text, error: Text })),
})
