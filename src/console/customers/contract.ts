// The schemas of the pages of customers and of their actions.
import Type from 'typebox'
import { namePattern } from '../../core/text/one-line.ts'
import {
  lineOf,
  Moment,
  MomentOrNull,
  paging,
  ReasonText,
  Text,
  TextOrNull,
  Whole,
  WholeOrNull,
} from '../schema-types.ts'

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
/** Newest first, or by name when a name is searched. */
export const CustomersData = Type.Object({ customers: Type.Array(CustomerRow), nextCursor: TextOrNull })

const KeyStatus = Type.Enum(['ACTIVE', 'SUSPENDED'])
const KeyRow = Type.Object({
  keyId: Text,
  lastFour: Text,
  status: KeyStatus,
  createdAt: Moment,
  suspendedAt: MomentOrNull,
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
    /** PENDING orders now and at most; null: no limit. */
    pendingOrders: Whole,
    pendingOrdersAtMost: WholeOrNull,
    /** Per key; null: no limit. */
    requestsPerSecond: WholeOrNull,
    /** Below each of these balances `credits.low` is sent, the highest first; none: never. */
    lowCredits: Type.Array(Whole),
  }),
})

export const HoldsQuery = Type.Object(paging)
/** Active holds, the next to expire first. The statement has the others. */
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
  reason: ReasonText,
})
export const LowCreditsBody = Type.Object({
  /** None: never. */
  credits: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    maxItems: 10,
    description: 'at most ten whole numbers of credits, each at least 1',
  }),
  reason: ReasonText,
})
export const LowCreditsData = Type.Object({ customerId: Text, lowCredits: Type.Array(Whole) })
export const CreatedCustomerData = Type.Object({ customerId: Text })
/** The only answer that contains the key. */
export const IssuedKeyData = Type.Object({ customerId: Text, keyId: Text, apiKey: Text })
export const RotatedKeyData = Type.Object({ customerId: Text, keyId: Text, apiKey: Text, suspendedKeyId: Text })
export const KeyStatusData = Type.Object({ keyId: Text, status: KeyStatus })
