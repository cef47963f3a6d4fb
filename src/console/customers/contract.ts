// The schemas of the pages of customers and of their actions.
import Type from 'typebox'
import { namePattern } from '../../core/one-line.ts'
import { budgetPeriods, budgetScopes } from '../../credits/budgets/kinds.ts'
import { customerSorts } from '../../customers/customer-list.sql.ts'
import { LotRow } from '../orders/contract.ts'
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
  /** The highest first; without a name. By net payments and last purchase the list has customers that have bought. */
  sort: Type.Optional(Type.Enum([...customerSorts])),
})
/** Figures of the customer, less than a minute old: captured less refunded in KRW, confirmed orders, and the last of them. */
const figures = { netPaid: Whole, orders: Whole, lastPurchaseAt: MomentOrNull }
/** While the figures of customers are aggregated: they cover the time up to here. Null: they are complete. */
const figuresUpTo = { figuresUpTo: MomentOrNull }
const CustomerRow = Type.Object({
  customerId: Text,
  name: TextOrNull,
  createdAt: Moment,
  balance: Whole,
  held: Whole,
  ...figures,
  /** Null: it is active. */
  suspendedAt: MomentOrNull,
})
/** Newest first, sorted, or by name when a name is searched. */
export const CustomersData = Type.Object({
  customers: Type.Array(CustomerRow),
  nextCursor: TextOrNull,
  ...figuresUpTo,
})

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
  ...figures,
  ...figuresUpTo,
  /** Null: it is active. All keys of a suspended customer are refused, and its spends and holds. */
  suspendedAt: MomentOrNull,
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
  /** Notes by operators, newest first. */
  notes: Type.Array(Type.Object({ at: Moment, actor: Text, note: Text })),
})

export const CustomerLotsQuery = Type.Object(paging)
/** Newest first. */
export const CustomerLotsData = Type.Object({ lots: Type.Array(LotRow), nextCursor: TextOrNull })

export const HoldsQuery = Type.Object(paging)
/** Active holds, the next to expire first. The statement has the others. `credits` is what is still held, without parts. */
export const HoldsData = Type.Object({
  holds: Type.Array(
    Type.Object({
      holdId: Text,
      credits: Whole,
      capturedInParts: Whole,
      reference: TextOrNull,
      service: TextOrNull,
      expiresAt: Moment,
    }),
  ),
  nextCursor: TextOrNull,
})

const Scope = Type.Enum([...budgetScopes])
const Period = Type.Enum([...budgetPeriods])
export const BudgetListData = Type.Object({
  budgets: Type.Array(
    Type.Object({
      budgetId: Text,
      scope: Scope,
      value: TextOrNull,
      period: Period,
      credits: Whole,
      warnAt: Whole,
      renewsAt: Moment,
      /** Set in the present period: uses before are not counted. */
      countsSince: MomentOrNull,
      /** One, but where each key or user has the limit for itself. */
      uses: Type.Array(Type.Object({ value: TextOrNull, used: Whole, left: Whole })),
    }),
  ),
})
const BudgetCredits = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of credits',
})
export const SetBudgetBody = Type.Object({
  scope: Scope,
  value: Type.Optional(lineOf(200, 'the name of a service, a keyId or a userId')),
  period: Period,
  credits: BudgetCredits,
  /** Omitted: 80 % of the credits. */
  warnAt: Type.Optional(Type.Integer({ minimum: 1, description: 'a whole number of credits, at least 1' })),
  reason: ReasonText,
})
export const SetBudgetData = Type.Object({ customerId: Text, budgetId: Text, warnAt: Whole })
export const BudgetParams = Type.Object({
  customerId: Type.String({ description: 'the UUID of a customer' }),
  budgetId: Type.String({ description: 'the UUID of a budget' }),
})
export const RemovedBudgetData = Type.Object({ customerId: Text, budgetId: Text })
export const CustomerStatusData = Type.Object({ customerId: Text, status: KeyStatus })

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
