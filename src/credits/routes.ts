// The internal API on one page: how the platform's own services spend credits, set them aside, and read why a balance is
// what it is. Same envelope and codes as the public one. The customer is named in the request: the caller is a service.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { readMoment } from '../core/clock.ts'
import { refuse, refuseFields } from '../core/errors.ts'
import { uuidPattern } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { NullableText, SuccessOf, success } from '../http/envelope.ts'
import type { Credits } from './credits.ts'
import { endHold, openHold } from './holds.ts'
import { spendCredits } from './spend.ts'
import { readStatement, type StatementQuery } from './statement.ts'
import { entryKinds } from './statement-sql.ts'

const CustomerId = Type.String({ pattern: uuidPattern.source, description: 'the UUID of a customer' })
const CreditsToMove = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of credits, at least 1',
})
const Reference = Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$', description: '1 to 200 visible ASCII characters' })
const longestHoldSeconds = 7 * 86_400
const defaultHoldSeconds = 3_600

const SpendBody = Type.Object({ customerId: CustomerId, credits: CreditsToMove, reference: Reference })
const HoldBody = Type.Object({
  customerId: CustomerId,
  credits: CreditsToMove,
  reference: Reference,
  expiresInSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: longestHoldSeconds, description: `1 to ${longestHoldSeconds} seconds` }),
  ),
})
const CaptureBody = Type.Object({ customerId: CustomerId, credits: Type.Optional(CreditsToMove) })
const ReleaseBody = Type.Object({ customerId: CustomerId })
/** What cannot be an id is the id of nothing, as on the public listener. */
const HoldParams = Type.Object({ holdId: Type.String() })

const Whole = Type.Integer()
const Text = Type.String()
const WholeOrNull = Type.Union([Whole, Type.Null()])
const SpendData = Type.Object({ reference: Text, credits: Whole, balance: Whole })
const HoldData = Type.Object({ holdId: Text, credits: Whole, expiresAt: Text, balance: Whole })
const EndData = Type.Object({ holdId: Text, captured: Whole, released: Whole, balance: Whole })
const BalancesData = Type.Object({ balance: Whole, held: WholeOrNull, available: WholeOrNull })
const StatementData = Type.Object({
  customerId: Text,
  balance: BalancesData,
  setAside: Type.Array(
    Type.Object({
      ...{
        by: Text,
        holdId: Text,
        credits: Whole,
        reference: NullableText,
        orderId: NullableText,
        service: NullableText,
      },
      expiresAt: NullableText,
    }),
  ),
  opening: BalancesData,
  closing: BalancesData,
  entries: Type.Array(
    Type.Object({
      ...{ entryNumber: Whole, kind: Text, delta: Whole, heldDelta: WholeOrNull },
      ...{ balanceAfter: Whole, heldAfter: WholeOrNull, availableAfter: WholeOrNull },
      ...{
        orderId: NullableText,
        reference: NullableText,
        holdId: NullableText,
        service: NullableText,
        createdAt: Text,
      },
    }),
  ),
  nextCursor: NullableText,
})

const StatementParams = Type.Object({ customerId: Type.String() })
/** Query values are text. */
const Time = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?(Z|[+-]\\d\\d:\\d\\d)$',
  description: 'a time such as 2026-01-31T09:00:00Z',
})
const Query = Type.Object({
  cursor: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,14}$', description: 'the nextCursor of a statement' })),
  limit: Type.Optional(Type.String({ pattern: '^([1-9]\\d{0,2}|1000)$', description: '1 to 1000' })),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  kind: Type.Optional(
    Type.String({
      pattern: `^(${entryKinds.join('|')})(,(${entryKinds.join('|')}))*$`,
      description: `of ${entryKinds.join(', ')}, separated by commas`,
    }),
  ),
})
const defaultPage = 100

export type SpendingParts = { credits: Credits; database: Database }

export function spendingRoutes(app: FastifyInstance, { credits, database }: SpendingParts): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.post(
    '/internal/v1/credits/spend',
    { config: { work: 'write' }, schema: { body: SpendBody, response: { 200: SuccessOf(SpendData) } } },
    async ({ serviceId, body }) => {
      const { customerId, credits: amount, reference } = body
      const input = { customerId: customerId.toLowerCase(), credits: amount, reference, serviceId }
      return success(await spendCredits(credits.spend, input), 'The credits are spent.')
    },
  )

  typed.post(
    '/internal/v1/credits/holds',
    { config: { work: 'write' }, schema: { body: HoldBody, response: { 201: SuccessOf(HoldData) } } },
    async ({ serviceId, body }, reply) => {
      const { expiresInSeconds = defaultHoldSeconds, ...rest } = body
      const request = { ...rest, customerId: body.customerId.toLowerCase(), expiresInSeconds }
      const answer = await openHold(credits, serviceId, request)
      return reply.code(201).send(success(answer, 'The credits are set aside.'))
    },
  )

  typed.post(
    '/internal/v1/credits/holds/:holdId/capture',
    {
      config: { work: 'settle' },
      schema: { params: HoldParams, body: CaptureBody, response: { 200: SuccessOf(EndData) } },
    },
    async ({ serviceId, params, body }) => {
      const request = { ...keyOf(params, body), ending: 'CAPTURE', captured: body.credits ?? null } as const
      return success(await endHold(credits, serviceId, request), 'The hold is captured.')
    },
  )

  typed.post(
    '/internal/v1/credits/holds/:holdId/release',
    {
      config: { work: 'settle' },
      schema: { params: HoldParams, body: ReleaseBody, response: { 200: SuccessOf(EndData) } },
    },
    async ({ serviceId, params, body }) => {
      const request = { ...keyOf(params, body), ending: 'RELEASE', captured: null } as const
      return success(await endHold(credits, serviceId, request), 'The hold is released.')
    },
  )

  typed.get(
    '/internal/v1/customers/:customerId/statement',
    {
      config: { work: 'read' },
      schema: { params: StatementParams, querystring: Query, response: { 200: SuccessOf(StatementData) } },
    },
    async ({ params, query }) => {
      const { entries, ...rest } = await readStatement(database, queryOf(params.customerId, query))
      const shown = entries.map((entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() }))
      return success({ ...rest, entries: shown }, 'The statement of the customer.')
    },
  )
}

function keyOf({ holdId }: { holdId: string }, { customerId }: { customerId: string }) {
  return { customerId: customerId.toLowerCase(), holdId: idOf(holdId) }
}

/** Of a path. */
function idOf(text: string): string {
  if (!uuidPattern.test(text)) throw refuse('NOT000')
  return text.toLowerCase()
}

function queryOf(customerId: string, query: Type.Static<typeof Query>): StatementQuery {
  const { cursor, limit, kind } = query
  const times = { from: timeOf('from', query.from), to: timeOf('to', query.to) }
  if (times.from && times.to && times.from > times.to) {
    throw refuseFields('VAL003', [{ field: 'to', rule: 'must not be before from' }])
  }
  return {
    ...times,
    // After the rest of the request: whom nobody knows comes last.
    customerId: idOf(customerId),
    kinds: kind === undefined ? null : (kind.split(',') as NonNullable<StatementQuery['kinds']>),
    cursor: cursor === undefined ? null : Number(cursor),
    limit: limit === undefined ? defaultPage : Number(limit),
  }
}

function timeOf(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = readMoment(text)
  if (!time) throw refuseFields('VAL003', [{ field, rule: 'must be a time that exists' }])
  return time
}
