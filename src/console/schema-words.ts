// The words that the schemas of the console are made of.
import Type from 'typebox'
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
/** Names and values, for a person to read. */
export const Detail = Type.Record(Type.String(), Type.Unknown())

export const OrderStatus = Type.Enum([...orderStatuses])

// What an operator sends. The description is the rule they read when they break it.
export const Reason = Type.String({
  pattern: tellingReasonPattern.source,
  description: '3 to 200 characters in one line that say why',
})
/** Something to look for by: whatever PostgreSQL can compare, in one line. */
export function lineOf(most: number, what: string) {
  return Type.String({
    pattern: `^[^\\p{Cc}\\p{Cs}]{1,${most}}$`,
    description: `${what}, at most ${most} characters in one line`,
  })
}
export const ReasonBody = Type.Object({ reason: Reason })
export const CustomerParams = Type.Object({ customerId: Type.String({ description: 'the UUID of a customer' }) })
export const OrderParams = Type.Object({ orderId: Type.String({ description: 'the id of an order' }) })
export const KeyParams = Type.Object({ keyId: Type.String({ description: 'the id of a key' }) })
export const Uuid = Type.String({ pattern: uuidPattern.source, description: 'a UUID' })
/** A day of Korea. */
export const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'a day such as 2026-01-31' })

/** Query values are text. Where a page ended is told by the page itself, and nobody else makes one up. */
export const Cursor = Type.String({ pattern: '^[A-Za-z0-9_.:~-]{1,120}$', description: 'the nextCursor of a page' })
export const PageLimit = Type.String({ pattern: '^([1-9]\\d?|1\\d\\d|200)$', description: '1 to 200' })
export const paging = { cursor: Type.Optional(Cursor), limit: Type.Optional(PageLimit) }
