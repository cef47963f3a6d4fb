// The schemas of the internal API: they validate requests, serialise answers, and are the API document. A title is the name
// of the schema in that document. The description of a request field is also the rule in its VAL003.
import Type from 'typebox'
import { uuidPattern } from '../core/ids.ts'
import { NullableText } from '../http/envelope.ts'
import { budgetPeriods, budgetScopes, labelPattern } from './budgets/budgets.sql.ts'
import { longestHoldSeconds } from './credits.ts'
import { entryKinds } from './statement/statement.sql.ts'

export const CustomerId = Type.String({ pattern: uuidPattern.source, description: 'the UUID of a customer' })
export const CreditsToMove = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of credits, at least 1',
})
const Reference = Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$', description: '1 to 200 visible ASCII characters' })
const Label = Type.Optional(
  Type.String({ pattern: labelPattern.source, description: '1 to 200 visible ASCII characters' }),
)
export const defaultHoldSeconds = 3_600
export const ExpiresInSeconds = Type.Integer({
  minimum: 1,
  maximum: longestHoldSeconds,
  description: `1 to ${longestHoldSeconds} seconds`,
})

export const SpendBody = Type.Object(
  { customerId: CustomerId, credits: CreditsToMove, reference: Reference, keyId: Label, userId: Label },
  { title: 'SpendRequest' },
)
export const HoldBody = Type.Object(
  {
    customerId: CustomerId,
    credits: CreditsToMove,
    reference: Reference,
    expiresInSeconds: Type.Optional(ExpiresInSeconds),
    keyId: Label,
    userId: Label,
  },
  { title: 'HoldRequest' },
)
export const CaptureBody = Type.Object(
  { customerId: CustomerId, credits: Type.Optional(CreditsToMove) },
  { title: 'CaptureRequest' },
)
export const ReleaseBody = Type.Object({ customerId: CustomerId }, { title: 'ReleaseRequest' })
/** A path with text that is no UUID gets NOT000, as on the public listener, so there is no pattern. */
export const HoldParams = Type.Object({
  holdId: Type.String({ description: 'the holdId of a hold', examples: ['0a4b7c1e-53f2-4f0e-9a61-7d2c8e5b9f10'] }),
})
export const StatementParams = Type.Object({
  customerId: Type.String({
    description: 'the UUID of a customer',
    examples: ['5509d75f-dfe0-4984-9be9-f02d7cdb5de6'],
  }),
})

// Query values are text.
const Time = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?(Z|[+-]\\d\\d:\\d\\d)$',
  description: 'a time such as 2026-01-31T09:00:00Z',
})
export const Limit = Type.String({ pattern: '^([1-9]\\d{0,2}|1000)$', description: '1 to 1000' })
export const StatementQuery = Type.Object({
  cursor: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,14}$', description: 'the nextCursor of a statement' })),
  limit: Type.Optional(Limit),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  kind: Type.Optional(
    Type.String({
      pattern: `^(${entryKinds.join('|')})(,(${entryKinds.join('|')}))*$`,
      description: `of ${entryKinds.join(', ')}, separated by commas`,
    }),
  ),
})

const Credits = Type.Integer({ minimum: 0 })
const Change = Type.Integer()
const CreditsOrNull = Type.Union([Credits, Type.Null()])
const ChangeOrNull = Type.Union([Change, Type.Null()])
const Text = Type.String()
const Id = Type.String({ format: 'uuid' })
const IdOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'uuid' })
const Moment = Type.String({ format: 'date-time' })
const MomentOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })

export const SpendData = Type.Object({ reference: Text, credits: Credits, balance: Credits }, { title: 'Spend' })
export const HoldData = Type.Object(
  { holdId: Id, credits: Credits, expiresAt: Moment, balance: Credits },
  { title: 'Hold' },
)
export const EndData = Type.Object(
  { holdId: Id, captured: Credits, released: Credits, balance: Credits },
  { title: 'EndedHold' },
)
const BudgetData = Type.Object(
  {
    budgetId: Id,
    scope: Type.Enum([...budgetScopes], { title: 'BudgetScope' }),
    value: NullableText,
    period: Type.Enum([...budgetPeriods], { title: 'BudgetPeriod' }),
    credits: Credits,
    warnAt: Type.Integer({ minimum: 1 }),
    renewsAt: Moment,
    uses: Type.Array(Type.Object({ value: NullableText, used: Credits, left: Credits }, { title: 'BudgetUse' }), {
      description:
        'What is used in the present period. One use, but where each key or user has the limit for itself: then the ' +
        'hundred that have used the most.',
    }),
  },
  { title: 'Budget' },
)
export const BudgetsData = Type.Object({ customerId: Id, budgets: Type.Array(BudgetData) }, { title: 'Budgets' })
const BalancesData = Type.Object(
  { balance: Credits, held: CreditsOrNull, available: CreditsOrNull },
  {
    title: 'Balances',
    description: '`held` and `available` are null where the ledger of that time does not have them.',
  },
)
const SetAsideData = Type.Object(
  {
    by: Type.Enum(['HOLD', 'CANCEL', 'REFUND']),
    holdId: Id,
    credits: Credits,
    reference: NullableText,
    orderId: NullableText,
    service: NullableText,
    expiresAt: MomentOrNull,
  },
  { title: 'SetAside', description: 'Credits of a hold, or of a cancel or refund whose outcome is not known yet.' },
)
const EntryData = Type.Object(
  {
    entryNumber: Type.Integer({ minimum: 1 }),
    kind: Type.Enum([...entryKinds], { title: 'EntryKind' }),
    delta: Change,
    heldDelta: ChangeOrNull,
    balanceAfter: Credits,
    heldAfter: CreditsOrNull,
    availableAfter: CreditsOrNull,
    orderId: NullableText,
    reference: NullableText,
    holdId: IdOrNull,
    service: NullableText,
    createdAt: Moment,
  },
  { title: 'StatementEntry' },
)
export const StatementData = Type.Object(
  {
    customerId: Id,
    balance: BalancesData,
    setAside: Type.Array(SetAsideData),
    opening: BalancesData,
    closing: BalancesData,
    entries: Type.Array(EntryData),
    nextCursor: NullableText,
  },
  { title: 'Statement' },
)
