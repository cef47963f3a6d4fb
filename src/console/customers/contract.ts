// What the pages of customers show, and what their actions take and give.
import Type from 'typebox'
import { namePattern } from '../../core/one-line.ts'
import { lineOf, Moment, paging, Reason, Text, TextOrNull, Whole, WholeOrNull } from '../schema-words.ts'

export const CustomersQuery = Type.Object({
  ...paging,
  /** The beginning of a name. */
  q: Type.Optional(lineOf(100, 'the beginning of a name')),
})
const CustomerRow = Type.Object({
  customerId: Text,
  name: TextOrNull,
  createdAt: Moment,
  balance: Whole,
  held: Whole,
})
/** Newest first, or by name where one is looked for. */
export const CustomersData = Type.Object({ customers: Type.Array(CustomerRow), nextCursor: TextOrNull })

const KeyStatus = Type.Enum(['ACTIVE', 'SUSPENDED'])
export const KeyRow = Type.Object({
  keyId: Text,
  lastFour: Text,
  status: KeyStatus,
  createdAt: Moment,
  suspendedAt: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
})

export const CustomerData = Type.Object({
  customerId: Text,
  name: TextOrNull,
  createdAt: Moment,
  balance: Whole,
  held: Whole,
  available: Whole,
  keys: Type.Array(KeyRow),
  limits: Type.Object({
    /** PENDING orders there are, and how many there may be; null: no limit. */
    pendingOrders: Whole,
    pendingOrdersAtMost: WholeOrNull,
    /** Of each key; null: no limit. */
    requestsPerSecond: WholeOrNull,
    /** Below it the platform is told by an event; null: never. */
    lowCredits: WholeOrNull,
  }),
})

export const HoldsQuery = Type.Object(paging)
/** Active ones, the next to expire first. What became of others is in the statement. */
export const HoldsData = Type.Object({
  holds: Type.Array(
    Type.Object({ holdId: Text, credits: Whole, reference: TextOrNull, service: TextOrNull, expiresAt: Moment }),
  ),
  nextCursor: TextOrNull,
})

export const CreateCustomerBody = Type.Object({
  name: Type.String({
    pattern: namePattern.source,
    description: 'a name of 1 to 100 characters in one line',
  }),
  reason: Reason,
})
export const LowCreditsBody = Type.Object({
  /** Left out: never. */
  credits: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'a whole number of credits, at least 1',
    }),
  ),
  reason: Reason,
})
export const LowCreditsData = Type.Object({ customerId: Text, lowCredits: WholeOrNull })
export const CreatedCustomerData = Type.Object({ customerId: Text })
/** The secret is in this answer and nowhere else. */
export const IssuedKeyData = Type.Object({ customerId: Text, keyId: Text, apiKey: Text })
export const RotatedKeyData = Type.Object({ customerId: Text, keyId: Text, apiKey: Text, suspendedKeyId: Text })
export const KeyStatusData = Type.Object({ keyId: Text, status: KeyStatus })
