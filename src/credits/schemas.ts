// The schemas of the internal API: they validate requests, serialise answers, and are the API document. A title is the name
// of the schema in that document. The description of a request field is also the rule in its VAL003.
import Type from 'typebox'
import { dayPattern, dayRule } from '../core/day-span.ts'
import { customerIdPattern, customerIdRule } from '../core/ids.ts'
import { reasonPattern } from '../core/one-line.ts'
import { NullableText } from '../http/envelope.ts'
import { Limit } from '../http/input/page.ts'
import { labelPattern } from './budgets/budgets.sql.ts'
import { budgetPeriods, budgetScopes } from './budgets/kinds.ts'
import { longestHoldSeconds } from './credits.ts'
import { PaidWithOrNull } from './lots/paid-with.ts'
import { entryKinds } from './movements.ts'
import { mostUnits } from './use/details.sql.ts'
import { useDimensions } from './use/use.sql.ts'
import { mostUseValues } from './use/use.ts'

export const CustomerId = Type.String({ pattern: customerIdPattern.source, description: customerIdRule })
export const CreditsToMove = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of credits, at least 1',
})
export const referencePattern = /^[\x21-\x7e]{1,200}$/
export const Reference = Type.String({
  pattern: referencePattern.source,
  description: '1 to 200 visible ASCII characters',
})
export const Reason = Type.String({ pattern: reasonPattern.source, description: '1 to 200 characters in one line' })
const Label = Type.Optional(
  Type.String({ pattern: labelPattern.source, description: '1 to 200 visible ASCII characters' }),
)
/** What a spend or a hold is for. */
const details = {
  keyId: Label,
  userId: Label,
  label: Label,
  units: Type.Optional(
    Type.Integer({ minimum: 0, maximum: mostUnits, description: `a whole number, 0 to ${mostUnits}` }),
  ),
}
export const defaultHoldSeconds = 3_600
export const ExpiresInSeconds = Type.Integer({
  minimum: 1,
  maximum: longestHoldSeconds,
  description: `1 to ${longestHoldSeconds} seconds`,
})

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const DryRun = Flag('true or false; true changes nothing and answers what would happen now')

export const SpendBody = Type.Object(
  {
    customerId: CustomerId,
    credits: CreditsToMove,
    reference: Reference,
    ...details,
    dryRun: DryRun,
  },
  { title: 'SpendRequest' },
)
export const ReverseBody = Type.Object(
  { customerId: CustomerId, credits: Type.Optional(CreditsToMove), reference: Reference, reason: Reason },
  { title: 'ReverseRequest' },
)
/** A path with text that is no reference gets NOT000, so there is no pattern. */
export const ReverseParams = Type.Object({
  reference: Type.String({
    description: 'the reference of a spend, or of a hold that was captured, percent-encoded',
    examples: ['analysis-4711'],
  }),
})
export const HoldBody = Type.Object(
  {
    customerId: CustomerId,
    credits: CreditsToMove,
    reference: Reference,
    expiresInSeconds: Type.Optional(ExpiresInSeconds),
    atMost: Flag('true or false; true holds what is available, up to credits, and at least 1'),
    ...details,
    dryRun: DryRun,
  },
  { title: 'HoldRequest' },
)
export const ExtendBody = Type.Object(
  { customerId: CustomerId, expiresInSeconds: ExpiresInSeconds },
  { title: 'ExtendRequest' },
)
export const CaptureBody = Type.Object(
  {
    customerId: CustomerId,
    credits: Type.Optional(CreditsToMove),
    final: Flag('true or false; false captures a part, and the hold stays active'),
    reference: Type.Optional(Reference),
  },
  { title: 'CaptureRequest' },
)
export const ReleaseBody = Type.Object({ customerId: CustomerId }, { title: 'ReleaseRequest' })
/** A path with text that is no UUID gets NOT000, as on the public listener, so there is no pattern. */
export const HoldParams = Type.Object({
  holdId: Type.String({ description: 'the holdId of a hold', examples: ['0a4b7c1e-53f2-4f0e-9a61-7d2c8e5b9f10'] }),
})
export const CustomerPath = Type.Object({
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
const Cursor = (of: string) => Type.String({ pattern: '^[1-9]\\d{0,14}$', description: `the nextCursor of ${of}` })
export const StatementQuery = Type.Object({
  cursor: Type.Optional(Cursor('a statement')),
  limit: Type.Optional(Limit),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  kind: Type.Optional(
    Type.String({
      pattern: `^(${entryKinds.join('|')})(,(${entryKinds.join('|')}))*$`,
      description: `the kinds of entries, separated by commas: ${entryKinds.join(', ')}`,
    }),
  ),
})

export const UseBy = Type.Enum([...useDimensions], { description: useDimensions.join(', ') })
const UseDay = Type.String({ pattern: dayPattern.source, description: dayRule })
export const UseQuery = Type.Object({
  from: Type.Optional(UseDay),
  to: Type.Optional(UseDay),
  by: Type.Optional(UseBy),
})

export const LotsQuery = Type.Object({
  cursor: Type.Optional(Cursor('a page of lots')),
  limit: Type.Optional(Limit),
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
export const ReversalData = Type.Object({ reference: Text, credits: Credits, balance: Credits }, { title: 'Reversal' })
export const HoldData = Type.Object(
  { holdId: Id, credits: Credits, expiresAt: Moment, balance: Credits },
  { title: 'Hold' },
)
export const DryHoldData = Type.Object(
  { holdId: IdOrNull, credits: Credits, expiresAt: MomentOrNull, balance: Credits },
  {
    title: 'DryHold',
    description: 'What a hold would be. `holdId` and `expiresAt` are null unless it is there already.',
  },
)
export const PartData = Type.Object(
  { holdId: Id, captured: Credits, remaining: Credits, balance: Credits },
  { title: 'CapturedPart', description: '`remaining` is what is still held. At 0 the hold has ended, as CAPTURED.' },
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
    keyId: NullableText,
    userId: NullableText,
    label: NullableText,
    units: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0 }),
    paidWith: PaidWithOrNull,
    createdAt: Moment,
  },
  {
    title: 'StatementEntry',
    description:
      '`keyId`, `userId` and `label` are of the spend or hold that the entry belongs to, `units` only of the spend or hold itself.',
  },
)
const used = {
  credits: Type.Integer({ description: 'spent and captured, less what was given back' }),
  units: Credits,
  count: Type.Integer({
    minimum: 0,
    description: 'spends, and holds with their first capture; what is given back is not subtracted',
  }),
}
export const UseData = Type.Object(
  {
    customerId: Id,
    by: Type.Enum([...useDimensions], { title: 'UseDimension' }),
    from: Text,
    to: Text,
    rows: Type.Array(Type.Object({ day: Text, value: NullableText, ...used }, { title: 'UseOfDay' }), {
      description: 'By day in Korea. `value` is null for what has none.',
    }),
    sums: Type.Array(Type.Object({ value: NullableText, ...used }, { title: 'UseOfValue' }), {
      description: 'The values that have used the most first.',
    }),
    others: Type.Union([Type.Object(used), Type.Null()], {
      description: `Of all values after the first ${mostUseValues} that were used: they have no rows. Null: there are none.`,
    }),
    total: Type.Object(used, { title: 'UseSums' }),
  },
  { title: 'Use' },
)
const Krw = Type.Integer({ minimum: 0, description: 'KRW' })
const LotData = Type.Object(
  {
    entryNumber: Type.Integer({
      minimum: 1,
      description: 'the number of the entry that granted it: lots are used in this order',
    }),
    orderId: Text,
    packageType: Text,
    status: Type.Enum(['CONFIRMED', 'CANCELLED', 'REFUNDED']),
    grantedAt: Moment,
    amount: Krw,
    credits: Credits,
    used: Credits,
    held: Credits,
    unused: Credits,
    takenBack: Credits,
    value: Type.Integer({ minimum: 0, description: 'KRW, of what is not used; 0 when it is cancelled or refunded' }),
    refundedAmount: Type.Union([Krw, Type.Null()]),
  },
  {
    title: 'Lot',
    description: 'What is left of an order. `credits` is the sum of `used`, `held`, `unused` and `takenBack`.',
  },
)
export const LotsData = Type.Object(
  {
    customerId: Id,
    lots: Type.Array(LotData),
    adjusted: Type.Integer({
      minimum: 0,
      description: 'unused credits of adjustments: without value, and used after those of all lots',
    }),
    nextCursor: NullableText,
  },
  { title: 'Lots' },
)
export const StatementData = Type.Object(
  {
    customerId: Id,
    balance: BalancesData,
    setAside: Type.Array(SetAsideData),
    lots: Type.Array(LotData, { description: 'those with credits that are not used, newest first, at most 100' }),
    opening: BalancesData,
    closing: BalancesData,
    entries: Type.Array(EntryData),
    nextCursor: NullableText,
  },
  { title: 'Statement' },
)
