// The types that the schemas of the console are built from.
import Type from 'typebox'
import { dayPattern, dayRule } from '../core/day-span.ts'
import { uuidPattern } from '../core/ids.ts'
import { tellingReasonPattern } from '../core/one-line.ts'
import { orderStatuses } from '../payments/kinds.ts'

export const Text = Type.String()
export const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
export const Whole = Type.Integer()
export const WholeOrNull = Type.Unsafe<number | null>({ type: ['integer', 'null'] })
export const NumberOrNull = Type.Unsafe<number | null>({ type: ['number', 'null'] })
export const Flag = Type.Boolean()
/** ISO 8601, UTC. */
export const Moment = Type.String({ format: 'date-time' })
export const MomentOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })
/** Names and values for display. */
export const DetailFields = Type.Record(Type.String(), Type.Unknown())

export const OrderStatusText = Type.Enum([...orderStatuses])

// Input of operators. The description is the rule shown when it is broken.
export const ReasonText = Type.String({
  pattern: tellingReasonPattern.source,
  description: 'a reason of 3 to 200 characters in one line',
})
/** Search text: anything that PostgreSQL can compare, in one line. */
export function lineOf(most: number, what: string) {
  return Type.String({
    pattern: `^[^\\p{Cc}\\p{Cs}]{1,${most}}$`,
    description: `${what}, at most ${most} characters in one line`,
  })
}
export const ReasonBody = Type.Object({ reason: ReasonText })
export const CustomerParams = Type.Object({ customerId: Type.String({ description: 'the UUID of a customer' }) })
export const OrderParams = Type.Object({ orderId: Type.String({ description: 'the id of an order' }) })
export const KeyParams = Type.Object({ keyId: Type.String({ description: 'the id of a key' }) })
export const Uuid = Type.String({ pattern: uuidPattern.source, description: 'a UUID' })
/** A day in Korea. */
export const Day = Type.String({ pattern: dayPattern.source, description: dayRule })

/** Query values are text. A cursor comes from the page before and is opaque to the client. */
export const Cursor = Type.String({ pattern: '^[A-Za-z0-9_.:~-]{1,120}$', description: 'the nextCursor of a page' })
export const PageLimit = Type.String({ pattern: '^([1-9]\\d?|1\\d\\d|200)$', description: '1 to 200' })
export const paging = { cursor: Type.Optional(Cursor), limit: Type.Optional(PageLimit) }
