// The schemas of the six endpoints: they validate requests, serialise answers, and are the API document. A title is the name
// of the schema in that document. The description of a request field is also the rule in its VAL003.
import Type from 'typebox'
import { orderIdPattern } from '../core/ids.ts'
import { failureReasons } from './failure-reasons.ts'
import { orderStatuses } from './kinds.ts'
import { packageTypes, paymentMethod } from './packages.ts'

export const PackageTypeName = Type.Enum([...packageTypes], {
  title: 'PackageType',
  description: `one of ${packageTypes.join(', ')}`,
})
const PaymentMethod = Type.Enum([paymentMethod], { title: 'PaymentMethod', description: paymentMethod })
const OrderStatus = Type.Enum([...orderStatuses], {
  title: 'OrderStatus',
  description:
    'PENDING: awaiting confirmation, no credits added. CONFIRMED: paid, credits added. FAILED: refused or expired, no ' +
    'credits added. CANCELLED: cancelled, credits taken back. REFUNDED: refunded by the platform after settlement.',
})
/** A header, not a field. */
export const FailureReasonName = Type.Enum(failureReasons, {
  description: 'why the order is FAILED; only if it is',
  examples: ['card-declined'],
})
export const Amount = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of KRW',
})
// Issued by the gateway, with at most 200 characters. It becomes a path segment of a URL, so it is visible ASCII and neither
// `.` nor `..`.
export const PaymentKey = Type.String({
  pattern: '^(?!\\.{1,2}$)[\\x21-\\x7e]{1,200}$',
  description: '1 to 200 visible ASCII characters',
})
// Any text, without what PostgreSQL cannot store (NUL, lone surrogates) and without other control characters.
export const CancelReason = Type.String({
  maxLength: 200,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\p{Cs}]*$',
  description: '1 to 200 characters, not blank, without control characters',
})

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/
/** Not in the schema of the route: the framework gives one value for a header that was sent twice. */
export const IdempotencyKey = Type.Optional(
  Type.String({
    pattern: idempotencyKeyPattern.source,
    description:
      'Protects a purchase from being made twice: a retry with the same key and body gets the original order. It belongs ' +
      'to the customer and lives as long as the order.',
    examples: ['7f0c1d8e-2f5e-4a57-9d0e-6c1d2b3a4f55'],
  }),
)

export const PurchaseBody = Type.Object(
  { packageType: PackageTypeName, paymentMethod: Type.Optional(PaymentMethod) },
  { title: 'PurchaseRequest' },
)
export const ConfirmBody = Type.Object(
  {
    orderId: Type.String({ minLength: 1, description: 'the orderId of a purchase' }),
    paymentKey: PaymentKey,
    amount: Amount,
  },
  { title: 'ConfirmRequest' },
)
export const CancelBody = Type.Object({ paymentKey: PaymentKey, reason: CancelReason }, { title: 'CancelRequest' })
/** Text that is no order id gets NOT000, so there is no pattern. */
export const StatusParams = Type.Object({
  orderId: Type.String({
    description: 'the orderId of a purchase',
    examples: ['ord_01JCQ4T9KDX7M2RZ5V8WYB3NEHG6FSA0PQ1C'],
  }),
})

const OrderId = Type.String({ pattern: orderIdPattern.source, description: 'identifies the order' })
const Price = Type.Integer({ minimum: 1, description: 'the price in KRW' })

export const PurchaseData = Type.Object(
  {
    orderId: OrderId,
    packageType: PackageTypeName,
    amount: Price,
    clientKey: Type.String({ description: 'the client key of the gateway, for the checkout in the browser' }),
    successUrl: Type.String({ description: 'where the gateway sends the buyer after the checkout' }),
    failUrl: Type.String({ description: 'where the gateway sends the buyer when the checkout failed' }),
  },
  { title: 'Purchase' },
)
export const ConfirmData = Type.Object(
  {
    orderId: OrderId,
    creditsAdded: Type.Integer({ minimum: 1, description: 'the credits that this payment has added' }),
    totalCredits: Type.Integer({ minimum: 0, description: 'what the customer could spend right after it' }),
    message: Type.String({ description: 'the same for people' }),
  },
  { title: 'Confirmation' },
)
export const StatusData = Type.Object(
  {
    orderId: OrderId,
    status: OrderStatus,
    packageType: PackageTypeName,
    amount: Price,
    createdAt: Type.String({ format: 'date-time', description: 'when it was purchased, UTC' }),
    confirmedAt: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'when it was confirmed, UTC; null before',
    }),
  },
  { title: 'PaymentOrder' },
)
export const BalanceData = Type.Object(
  {
    credits: Type.Integer({
      minimum: 0,
      description: 'the credits that the customer can spend, without those that are held',
    }),
    customerId: Type.String({ format: 'uuid', description: 'the customer of the API key' }),
  },
  { title: 'Balance' },
)
export const PackageData = Type.Object(
  {
    packageType: PackageTypeName,
    credits: Type.Integer({ minimum: 1, description: 'all credits that it adds, the bonus included' }),
    price: Price,
    displayName: Type.String({ description: 'its name for people' }),
    description: Type.String({ description: 'a sentence for people' }),
    bonusPercentage: Type.Integer({ minimum: 0, description: 'the bonus in percent of the other credits' }),
    bonusCredits: Type.Integer({ minimum: 0, description: 'the part of the credits that is a bonus' }),
  },
  { title: 'CreditPackage' },
)
export const CancelData = Type.Object(
  { message: Type.String({ description: 'what happened, for people' }) },
  { title: 'Cancellation' },
)
