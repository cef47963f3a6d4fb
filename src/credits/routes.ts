// The internal API on one page: services of the platform spend credits, hold them, and read the statement of a customer. The
// envelope and the codes are those of the public API. The caller is a service, so the request names the customer.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type Type from 'typebox'
import { readMoment } from '../core/clock.ts'
import type { Refusal } from '../core/errors.ts'
import { uuidPattern } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { SuccessOf, success } from '../http/envelope.ts'
import { hasAccount } from './accounts.sql.ts'
import { listBudgets } from './budgets/budgets.sql.ts'
import type { Credits } from './credits.ts'
import { documentedCredits } from './document.ts'
import { endHold, openHold } from './holds.ts'
import { customerNotFound, holdRefusals, statementRefusals } from './refusals.ts'
import {
  BudgetsData,
  CaptureBody,
  defaultHoldSeconds,
  EndData,
  HoldBody,
  HoldData,
  HoldParams,
  ReleaseBody,
  SpendBody,
  SpendData,
  StatementData,
  StatementParams,
  StatementQuery,
} from './schemas.ts'
import { spendCredits } from './spend.ts'
import { readStatement, type StatementRequest } from './statement/statement.ts'

const defaultPage = 100

export type SpendingParts = { credits: Credits; database: Database }

export function spendingRoutes(app: FastifyInstance, { credits, database }: SpendingParts): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.post(
    '/internal/v1/credits/spend',
    {
      config: { work: 'write', documented: documentedCredits.spend },
      schema: { body: SpendBody, response: { 200: SuccessOf(SpendData) } },
    },
    async ({ serviceId, body }) => {
      const input = { ...body, customerId: body.customerId.toLowerCase(), serviceId }
      return success(await spendCredits(credits.spend, input), 'The credits are spent.')
    },
  )

  typed.post(
    '/internal/v1/credits/holds',
    {
      config: { work: 'write', documented: documentedCredits.hold },
      schema: { body: HoldBody, response: { 201: SuccessOf(HoldData) } },
    },
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
      config: { work: 'settle', documented: documentedCredits.capture },
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
      config: { work: 'settle', documented: documentedCredits.release },
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
      config: { work: 'read', documented: documentedCredits.statement },
      schema: { params: StatementParams, querystring: StatementQuery, response: { 200: SuccessOf(StatementData) } },
    },
    async ({ params, query }) => {
      const { entries, ...rest } = await readStatement(database, statementRequestOf(params.customerId, query))
      const shown = entries.map((entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() }))
      return success({ ...rest, entries: shown }, 'The statement of the customer.')
    },
  )

  typed.get(
    '/internal/v1/customers/:customerId/budgets',
    {
      config: { work: 'read', documented: documentedCredits.budgets },
      schema: { params: StatementParams, response: { 200: SuccessOf(BudgetsData) } },
    },
    async ({ params }) => {
      const customerId = idOf(params.customerId, customerNotFound)
      if (!(await hasAccount(database, customerId))) throw customerNotFound()
      const budgets = await listBudgets(database, customerId)
      const shown = budgets.map((budget) => ({ ...budget, renewsAt: budget.renewsAt.toISOString() }))
      return success({ customerId, budgets: shown }, 'The budgets of the customer.')
    },
  )
}

function keyOf({ holdId }: { holdId: string }, { customerId }: { customerId: string }) {
  return { customerId: customerId.toLowerCase(), holdId: idOf(holdId, holdRefusals.holdNotFound) }
}

/** From a path: text that is no UUID identifies nothing. */
function idOf(text: string, notFound: () => Refusal): string {
  if (!uuidPattern.test(text)) throw notFound()
  return text.toLowerCase()
}

/** From a path and a query. */
export function statementRequestOf(customerId: string, query: Type.Static<typeof StatementQuery>): StatementRequest {
  const { cursor, limit, kind } = query
  const times = { from: timeOf('from', query.from), to: timeOf('to', query.to) }
  if (times.from && times.to && times.from > times.to) throw statementRefusals.endsBeforeItBegins()
  return {
    ...times,
    // Last, because VAL003 of the request takes precedence over NOT000.
    customerId: idOf(customerId, customerNotFound),
    kinds: kind === undefined ? null : (kind.split(',') as NonNullable<StatementRequest['kinds']>),
    cursor: cursor === undefined ? null : Number(cursor),
    limit: limit === undefined ? defaultPage : Number(limit),
  }
}

function timeOf(field: 'from' | 'to', text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = readMoment(text)
  if (!time) throw statementRefusals.noSuchTime(field)
  return time
}
