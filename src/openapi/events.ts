// The events that the service sends, as webhooks of the API document. Their data is written by SQL; a test validates
// delivered events against these schemas.
import Type from 'typebox'
import { budgetPeriods, budgetScopes } from '../credits/budgets/kinds.ts'
import { PaidWithOrNull, paidWithExample } from '../credits/lots/paid-with.ts'
import type { EventType } from '../events/outbox.sql.ts'
import { NullableText } from '../http/envelope.ts'
import type { OrderStatus } from '../payments/kinds.ts'
import { packageOf } from '../payments/packages.ts'
import { StatusData } from '../payments/schemas.ts'
import { documentedSlip } from '../payments/slip-headers.ts'
import type { Components, JsonSchema } from './schemas.ts'

type DocumentedEvent = { title: string; summary: string; data: Type.TProperties; example: object }

const customer = { customerId: Type.String({ format: 'uuid' }) }
const customerId = '5509d75f-dfe0-4984-9be9-f02d7cdb5de6'
const { packageType, price: amount, credits } = packageOf('STANDARD')
const root = 'EKgRJQ4+9DhLvxRbYd13+GD+pkLu59Q82fMmygPElBM='
const signature = 'p51optVVdOY5dBAqfr+tV1aiSYfUzM4r1N1+1KTv8BcvSfudfSl1FX1+wSbZFECL0gEWGOlqCQ/GiNR0tOrfm+gn+Q4='
const checkpoint = {
  customerId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  size: '20852',
  root,
  note: `prepaid-credits/log\n20852\n${root}\n\n— prepaid-credits/log ${signature}\n`,
}

type OrderEventMore = { data: Type.TProperties; example: object }
const nothingMore: OrderEventMore = { data: {}, example: {} }

function orderEvent(
  title: string,
  summary: string,
  status: OrderStatus,
  balance: number,
  more: OrderEventMore = nothingMore,
): DocumentedEvent {
  const { orderId, packageType: PackageType, amount: Price } = StatusData.properties
  return {
    title,
    summary,
    data: {
      ...customer,
      orderId,
      status: Type.Literal(status),
      packageType: PackageType,
      amount: Price,
      credits: Type.Integer({ minimum: 1, description: 'the credits of the order' }),
      ...more.data,
      balance: Type.Integer({ minimum: 0, description: 'what the customer could spend then' }),
    },
    example: {
      customerId,
      orderId: 'ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C',
      status,
      packageType,
      amount,
      credits,
      ...more.example,
      balance,
    },
  }
}

/** Each is null where the gateway did not send it. */
function withSlip(event: DocumentedEvent): DocumentedEvent {
  const slip = Object.entries(documentedSlip)
  const data = slip.map(([name, { description }]) => [name, Type.Unsafe({ type: ['string', 'null'], description })])
  const example = slip.map(([name, member]) => [name, member.example])
  return {
    ...event,
    data: { ...event.data, ...Object.fromEntries(data), paidWith: PaidWithOrNull },
    example: { ...event.example, ...Object.fromEntries(example), paidWith: paidWithExample },
  }
}

const events: Record<EventType, DocumentedEvent> = {
  'order.confirmed': withSlip(orderEvent('OrderConfirmedEvent', 'An order was confirmed', 'CONFIRMED', 32)),
  'order.failed': orderEvent('OrderFailedEvent', 'An order was refused by the gateway, or expired', 'FAILED', 11),
  'order.cancelled': orderEvent('OrderCancelledEvent', 'An order was cancelled', 'CANCELLED', 11),
  'order.refunded': orderEvent('OrderRefundedEvent', 'An order was refunded by the platform', 'REFUNDED', 11, {
    data: { refundedAmount: Type.Integer({ minimum: 1, description: 'what went back, in KRW' }) },
    example: { refundedAmount: 15_000 },
  }),
  'credits.low': {
    title: 'CreditsLowEvent',
    summary: 'What a customer can spend fell below one of its thresholds',
    data: { ...customer, credits: Type.Integer({ minimum: 0 }), threshold: Type.Integer({ minimum: 1 }) },
    example: { customerId, credits: 3, threshold: 5 },
  },
  'credits.reversed': {
    title: 'CreditsReversedEvent',
    summary: 'A service gave credits back that it had spent',
    data: {
      ...customer,
      reference: Type.String({ description: 'the reference of the reversal' }),
      reversedReference: Type.String({ description: 'the reference of the spend or the hold' }),
      credits: Type.Integer({ minimum: 1 }),
      balance: Type.Integer({ minimum: 0, description: 'what the customer could spend then' }),
    },
    example: { customerId, reference: 'analysis-1-back', reversedReference: 'analysis-1', credits: 2, balance: 29 },
  },
  'credits.adjusted': {
    title: 'CreditsAdjustedEvent',
    summary:
      'An operator granted credits as goodwill, corrected the balance, or took credits for a part that was cancelled at the gateway',
    data: {
      ...customer,
      kind: Type.Enum(['GOODWILL', 'CORRECTION', 'PART']),
      credits: Type.Integer({ description: 'negative when credits were taken' }),
      balance: Type.Integer({ minimum: 0, description: 'what the customer could spend then' }),
    },
    example: { customerId, kind: 'GOODWILL', credits: 5, balance: 32 },
  },
  'credits.empty': {
    title: 'CreditsEmptyEvent',
    summary: 'A customer has no credits left to spend',
    data: { ...customer, credits: Type.Literal(0) },
    example: { customerId, credits: 0 },
  },
  'budget.low': {
    title: 'BudgetLowEvent',
    summary: 'What was used of a budget reached its warning; once in a period',
    data: {
      ...customer,
      allCustomers: Type.Boolean(),
      budgetId: Type.String({ format: 'uuid' }),
      scope: Type.Enum([...budgetScopes]),
      value: NullableText,
      period: Type.Enum([...budgetPeriods]),
      credits: Type.Integer({ minimum: 0 }),
      used: Type.Integer({ minimum: 1 }),
      left: Type.Integer({ minimum: 0 }),
      renewsAt: Type.String({ format: 'date-time' }),
    },
    example: {
      customerId,
      allCustomers: false,
      budgetId: '3f0c8a52-9d1e-4b67-8c34-6a1f5e2d7b90',
      scope: 'KEY',
      value: 'key-17',
      period: 'DAY',
      credits: 100,
      used: 80,
      left: 20,
      renewsAt: '2026-11-15T15:00:00.000Z',
    },
  },
  'checkpoint.published': {
    title: 'CheckpointPublishedEvent',
    summary: 'A checkpoint of the transparency log was published: an event of the platform, not of a customer',
    data: {
      customerId: Type.String({ format: 'uuid', description: 'the one that stands for the platform, always the same' }),
      size: Type.String({ pattern: '^[1-9][0-9]*$', description: 'how many entries the log had' }),
      root: Type.String({ description: 'the root of its tree, in base64' }),
      note: Type.String({ description: 'the signed checkpoint, with the cosignatures that it had then: keep it' }),
    },
    example: checkpoint,
  },
}

const description =
  'Sent to every endpoint of the platform that wants this type: at least once, and in order for each customer. A repeat ' +
  'has the same `webhook-id`. Verify the signature by the Standard Webhooks scheme before anything else.'

function header(name: string, text: string, schema: object, example: string) {
  return { name, in: 'header', required: true, description: text, schema, example }
}

const headers = [
  header(
    'webhook-id',
    'Identifies the event; the same in each repeat.',
    { type: 'string', format: 'uuid' },
    customerId,
  ),
  header(
    'webhook-timestamp',
    'When this request was signed, in seconds since 1970.',
    { type: 'string', pattern: '^\\d+$' },
    '1794740745',
  ),
  header(
    'webhook-signature',
    'One signature or several, separated by blanks.',
    { type: 'string', pattern: '^v1,\\S+( v1,\\S+)*$' },
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const responses = {
  '2XX': { description: 'Accepted: it is not sent again.' },
  410: { description: 'The endpoint is gone: it is disabled, and its events wait until it is enabled again.' },
  default: {
    description: 'Not accepted: it is sent again, after growing pauses. `Retry-After` on 429 and 503 is respected.',
  },
}

export function eventWebhooks(components: Components): Record<string, JsonSchema> {
  const all = Object.entries(events).map(([type, event], place) => {
    const { title, summary, data } = event
    const schema = Type.Object(
      {
        type: Type.Literal(type),
        timestamp: Type.String({ format: 'date-time', description: 'when it happened, UTC' }),
        sequence: Type.Integer({
          minimum: 1,
          description: 'counts the events of the customer, or of the platform, over all types',
        }),
        data: Type.Object(data),
      },
      { title, description: `${summary}.` },
    )
    const example = { type, timestamp: '2026-11-15T11:05:45.863Z', sequence: place + 1, data: event.example }
    return { type, event, reference: components.schemaOf(schema, 'response'), example }
  })
  components.add('Event', {
    description: 'Every event, distinguished by its type.',
    oneOf: all.map(({ reference }) => reference),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(all.map(({ type, reference }) => [type, reference.$ref])),
    },
  })
  return Object.fromEntries(
    all.map(({ type, event: { title, summary }, reference: schema, example }) => [
      type,
      {
        post: {
          operationId: `tell${title}`,
          tags: ['Events'],
          summary,
          description,
          security: [],
          parameters: headers,
          requestBody: { required: true, content: { 'application/json': { schema, example } } },
          responses,
        },
      },
    ]),
  )
}
