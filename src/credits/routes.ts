// The internal API on one page: services of the platform spend credits, hold them, and read the statement of a customer. The
// envelope and the codes are those of the public API. The caller is a service, so the request names the customer. The statement
// is also on the public listener, for the customer itself.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { readMoment } from '../core/clock.ts'
import type { Refusal } from '../core/errors.ts'
import { customerIdPattern, uuidPattern } from '../core/ids.ts'
import type { Database } from '../db/database.ts'
import { SuccessOf, success } from '../http/envelope.ts'
import { pageSizeOf } from '../http/input/page.ts'
import { hasAccount } from './accounts.sql.ts'
import { reverseSpend } from './adjustments/reverse.ts'
import { listBudgets } from './budgets/budgets.sql.ts'
import type { Credits } from './credits.ts'
import { documentedCredits } from './document.ts'
import { dryRunHold, dryRunSpend } from './dry-run.ts'
import { capturePart, endHold, extendHold, openHold } from './holds/holds.ts'
import type { Lot } from './lots/lots.sql.ts'
import { readLots } from './lots/lots.ts'
import { captureRefusals, customerNotFound, holdRefusals, reversalRefusals, statementRefusals } from './refusals.ts'
import {
  BudgetsData,
  CaptureBody,
  CustomerPath,
  DryHoldData,
  defaultHoldSeconds,
  EndData,
  ExtendBody,
  HoldBody,
  HoldData,
  HoldParams,
  LotsData,
  LotsQuery,
  PartData,
  ReleaseBody,
  ReversalData,
  ReverseBody,
  ReverseParams,
  referencePattern,
  SpendBody,
  SpendData,
  StatementData,
  StatementQuery,
  UseData,
  UseQuery,
} from './schemas.ts'
import { spendCredits } from './spend.ts'
import { readStatement, type StatementRequest } from './statement/statement.ts'
import { readUse, spanOfUse, type UseRequest } from './use/use.ts'

export type SpendingParts = { credits: Credits; database: Database }

export function spendingRoutes(app: FastifyInstance, { credits, database }: SpendingParts): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.post(
    '/internal/v1/credits/spend',
    {
      config: { work: 'write', scope: 'spend', documented: documentedCredits.spend },
      schema: { body: SpendBody, response: { 200: SuccessOf(SpendData) } },
    },
    async ({ serviceId, body }) => {
      const { dryRun, ...request } = body
      const input = { ...request, customerId: body.customerId.toLowerCase(), serviceId }
      if (dryRun) return success(await dryRunSpend(database, input), 'The credits would be spent.')
      return success(await spendCredits(credits.spend, input), 'The credits are spent.')
    },
  )

  typed.post(
    '/internal/v1/credits/spend/:reference/reverse',
    {
      config: { work: 'write', scope: 'spend', documented: documentedCredits.reverse },
      schema: { params: ReverseParams, body: ReverseBody, response: { 200: SuccessOf(ReversalData) } },
    },
    async ({ serviceId, params, body }) => {
      if (!referencePattern.test(params.reference)) throw reversalRefusals.spendNotFound()
      const request = {
        customerId: body.customerId.toLowerCase(),
        reversedReference: params.reference,
        credits: body.credits ?? null,
        reference: body.reference,
        serviceId,
        reason: body.reason.trim(),
      }
      return success(await reverseSpend(credits.reverse, request), 'The credits are given back.')
    },
  )

  typed.post(
    '/internal/v1/credits/holds',
    {
      config: { work: 'write', scope: 'hold', documented: documentedCredits.hold },
      schema: { body: HoldBody, response: { 200: SuccessOf(DryHoldData), 201: SuccessOf(HoldData) } },
    },
    async ({ serviceId, body }, reply) => {
      const { expiresInSeconds = defaultHoldSeconds, dryRun, ...rest } = body
      const request = { ...rest, customerId: body.customerId.toLowerCase(), expiresInSeconds }
      if (dryRun) {
        const answer = await dryRunHold(database, { ...request, serviceId })
        return reply.send(success(answer, 'The credits would be set aside.'))
      }
      const answer = await openHold(credits, serviceId, request)
      return reply.code(201).send(success(answer, 'The credits are set aside.'))
    },
  )

  typed.post(
    '/internal/v1/credits/holds/:holdId/extend',
    {
      config: { work: 'settle', scope: 'hold', documented: documentedCredits.extend },
      schema: { params: HoldParams, body: ExtendBody, response: { 200: SuccessOf(HoldData) } },
    },
    async ({ serviceId, mayManageHolds, params, body }) => {
      const caller = { serviceId, mayManageHolds }
      const request = { ...keyOf(params, body), ...caller, expiresInSeconds: body.expiresInSeconds }
      return success(await extendHold(credits, request), 'The hold is extended.')
    },
  )

  typed.post(
    '/internal/v1/credits/holds/:holdId/capture',
    {
      config: { work: 'settle', scope: 'hold', documented: documentedCredits.capture },
      schema: {
        params: HoldParams,
        body: CaptureBody,
        response: { 200: SuccessOf(Type.Union([EndData, PartData])) },
      },
    },
    async ({ serviceId, mayManageHolds, params, body }) => {
      const caller = { serviceId, mayManageHolds }
      const part = partOf(body)
      if (part) {
        const answer = await capturePart(credits, caller, { ...keyOf(params, body), ...part })
        return success(answer, 'The part is captured.')
      }
      const request = { ...keyOf(params, body), ending: 'CAPTURE', captured: body.credits ?? null } as const
      return success(await endHold(credits, caller, request), 'The hold is captured.')
    },
  )

  typed.post(
    '/internal/v1/credits/holds/:holdId/release',
    {
      config: { work: 'settle', scope: 'hold', documented: documentedCredits.release },
      schema: { params: HoldParams, body: ReleaseBody, response: { 200: SuccessOf(EndData) } },
    },
    async ({ serviceId, mayManageHolds, params, body }) => {
      const caller = { serviceId, mayManageHolds }
      const request = { ...keyOf(params, body), ending: 'RELEASE', captured: null } as const
      return success(await endHold(credits, caller, request), 'The hold is released.')
    },
  )

  typed.get(
    '/internal/v1/customers/:customerId/statement',
    {
      config: { work: 'read', scope: 'read', documented: documentedCredits.statement },
      schema: { params: CustomerPath, querystring: StatementQuery, response: { 200: SuccessOf(StatementData) } },
    },
    async ({ params, query }) =>
      success(
        await statementOf(database, statementRequestOf(params.customerId, query)),
        'The statement of the customer.',
      ),
  )

  typed.get(
    '/internal/v1/customers/:customerId/use',
    {
      config: { work: 'read', scope: 'read', documented: documentedCredits.use },
      schema: { params: CustomerPath, querystring: UseQuery, response: { 200: SuccessOf(UseData) } },
    },
    async ({ params, query }) => {
      const use = await readUse(database, requestOfUse(params.customerId, query))
      return success(use, 'The use of the customer.')
    },
  )

  typed.get(
    '/internal/v1/customers/:customerId/lots',
    {
      config: { work: 'read', scope: 'read', documented: documentedCredits.lots },
      schema: { params: CustomerPath, querystring: LotsQuery, response: { 200: SuccessOf(LotsData) } },
    },
    async ({ params, query: { cursor, limit } }) => {
      const request = {
        customerId: customerOf(params.customerId),
        cursor: cursor === undefined ? null : Number(cursor),
        limit: pageSizeOf(limit),
      }
      const { lots, ...rest } = await readLots(database, request)
      return success({ ...rest, lots: lots.map(shownLot) }, 'The lots of the customer.')
    },
  )

  typed.get(
    '/internal/v1/customers/:customerId/budgets',
    {
      config: { work: 'read', scope: 'read', documented: documentedCredits.budgets },
      schema: { params: CustomerPath, response: { 200: SuccessOf(BudgetsData) } },
    },
    async ({ params }) => {
      const customerId = customerOf(params.customerId)
      if (!(await hasAccount(database, customerId))) throw customerNotFound()
      const budgets = await listBudgets(database, customerId)
      const shown = budgets.map((budget) => ({ ...budget, renewsAt: budget.renewsAt.toISOString() }))
      return success({ customerId, budgets: shown }, 'The budgets of the customer.')
    },
  )
}

/** On the public listener: the customer is that of the API key. */
export function ownStatementRoute(app: FastifyInstance, database: Database): void {
  app.withTypeProvider<TypeBoxTypeProvider>().get(
    '/public/v1/statement',
    {
      config: { work: 'read', documented: documentedCredits.ownStatement },
      schema: { querystring: StatementQuery, response: { 200: SuccessOf(StatementData) } },
    },
    async ({ customerId, query }) =>
      success(await statementOf(database, statementRequestOf(customerId, query)), 'The statement of the customer.'),
  )
}

async function statementOf(database: Database, request: StatementRequest) {
  const found = await readStatement(database, request)
  const entries = found.entries.map((entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() }))
  return { ...found, lots: found.lots.map(shownLot), entries }
}

function shownLot(lot: Lot) {
  return { ...lot, grantedAt: lot.grantedAt.toISOString() }
}

/** Null for a final capture. */
function partOf(body: Type.Static<typeof CaptureBody>): { credits: number; reference: string } | null {
  const { final = true, credits, reference } = body
  if (final && reference !== undefined) throw captureRefusals.referenceOfFinal()
  if (final) return null
  if (credits !== undefined && reference !== undefined) return { credits, reference }
  throw captureRefusals.fieldsMissing(
    Object.entries({ credits, reference }).flatMap(([field, value]) => (value === undefined ? [field] : [])),
  )
}

function keyOf({ holdId }: { holdId: string }, { customerId }: { customerId: string }) {
  return { customerId: customerId.toLowerCase(), holdId: idOf(holdId, holdRefusals.holdNotFound) }
}

/** From a path: text that cannot be an id identifies nothing. */
function idOf(text: string, notFound: () => Refusal, pattern = uuidPattern): string {
  if (!pattern.test(text)) throw notFound()
  return text.toLowerCase()
}

const customerOf = (text: string) => idOf(text, customerNotFound, customerIdPattern)

/** From a path and a query. */
export function statementRequestOf(customerId: string, query: Type.Static<typeof StatementQuery>): StatementRequest {
  const { cursor, limit, kind } = query
  const times = { from: timeOf('from', query.from), to: timeOf('to', query.to) }
  if (times.from && times.to && times.from > times.to) throw statementRefusals.endsBeforeItBegins()
  return {
    ...times,
    // Last, because VAL003 of the request takes precedence over NOT000.
    customerId: customerOf(customerId),
    kinds: kind === undefined ? null : (kind.split(',') as NonNullable<StatementRequest['kinds']>),
    cursor: cursor === undefined ? null : Number(cursor),
    limit: pageSizeOf(limit),
  }
}

/** From a path and a query. */
export function requestOfUse(customerId: string, query: Type.Static<typeof UseQuery>): UseRequest {
  // First, because VAL003 of the request takes precedence over NOT000.
  const span = spanOfUse(query)
  return { ...span, customerId: customerOf(customerId) }
}

function timeOf(field: 'from' | 'to', text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = readMoment(text)
  if (!time) throw statementRefusals.noSuchTime(field)
  return time
}
