// Builds the routes of the console from its contract. Each route checks the permission of its endpoint, writes an action to the
// action log before it is carried out, and gives its handler input and output of the contract's types.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { refuse } from '../core/errors.ts'
import { customerIdPattern, newCustomerId, orderIdPattern, uuidPattern } from '../core/ids.ts'
import { mapTexts, visible } from '../core/visible.ts'
import { findRequest } from '../credits/adjustments/adjust.sql.ts'
import { keyIdPattern } from '../customers/api-keys.ts'
import { findKey } from '../customers/customers.sql.ts'
import { serviceIdPattern } from '../customers/service-tokens.ts'
import type { Database } from '../db/database.ts'
import { endpointIdPattern } from '../events/endpoints.ts'
import { SuccessOf, success } from '../http/envelope.ts'
import { type ActionLog, type ActionOutcomes, argumentOf, recordAction } from '../operators/action-log.ts'
import { type ConcurrencyLimit, limitFor } from './concurrency-limit.ts'
import {
  type Body,
  type ConsoleEndpoint,
  type Contract,
  contract,
  type Data,
  type Params,
  type Query,
} from './contract.ts'
import { apiPath, type EndpointName, endpoints } from './endpoints.ts'
import type { Guard, SignedIn } from './guard.ts'
import { shownTo } from './payment-keys.ts'

/** The request of an operator. */
export type ApiCall<Name extends EndpointName> = {
  operator: Name extends 'signIn' ? null : SignedIn
  params: Params<Name>
  query: Query<Name>
  body: Body<Name>
  /** What the action log has the action about. */
  subject: Contract[Name] extends { subject: 'a new customer' } ? string : string | null
  request: FastifyRequest
  reply: FastifyReply
}

/** The serialiser writes a Date as ISO 8601. */
type Sendable<Value> = Value extends string
  ? Value | Date
  : Value extends (infer Item)[]
    ? Sendable<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Sendable<Value[Name]> }
      : Value

export type Handler<Name extends EndpointName> = (call: ApiCall<Name>) => Promise<Sendable<Data<Name>>>
export type Handlers<Names extends EndpointName = EndpointName> = { [Name in Names]: Handler<Name> }

type ApiRouteContext = { guard: Guard; actionLog: ActionLog; handlers: Handlers }

export function apiRoutes(app: FastifyInstance, { guard, actionLog, handlers }: ApiRouteContext): void {
  const unknownPath = { config: { open: true, documented: 'no API' }, onRequest: refuseUnknownPath } as const
  app.all(`${apiPath}/*`, unknownPath, refuseUnknownPath)
  for (const [name, address] of Object.entries(endpoints) as [EndpointName, string][]) {
    const [method = '', path = ''] = address.split(' ')
    const endpoint: ConsoleEndpoint = contract[name]
    const { params, query: querystring, body, data } = endpoint
    const handle = handlers[name] as (call: object) => Promise<object>
    const outcomes = endpoint as ActionOutcomes<never> as ActionOutcomes<object>
    // Signing in has limits of its own (session.ts): operators with a session do not queue behind those without.
    const run: ConcurrencyLimit['run'] =
      endpoint.for === 'public' ? (work) => work() : limitFor(guard.limits, method).run
    app.route({
      method,
      url: `${apiPath}${path}`,
      config: { open: true, documented: 'no API' },
      schema: {
        ...(params && { params }),
        ...(querystring && { querystring }),
        ...(body && { body }),
        response: { 200: SuccessOf(data, Type.Null()) },
      },
      onRequest: guard.onRequest(endpoint.for),
      async handler(request, reply) {
        const { operator, params, query, body } = request
        const call = { operator, params, query, body, request, reply }
        requireIds(params as Record<string, string>)
        const answer = await run(async () => {
          const subject = await subjectOf(endpoint, request, actionLog.database)
          const work = () => handle({ ...call, subject })
          if (!endpoint.action) return work()
          const action = { ...actionOf(endpoint.action, endpoint.body, request), subject }
          return recordAction(actionLog, action, work, outcomes)
        })
        return success(mapTexts(operator ? shownTo(operator.role, answer) : answer, visible), null)
      },
    })
  }
}

/** The same answer with and without an API key: the console takes none. */
async function refuseUnknownPath(): Promise<never> {
  throw refuse('NOT000')
}

/** By the names of path parameters. */
const idPatterns: Record<string, RegExp> = {
  orderId: orderIdPattern,
  customerId: customerIdPattern,
  keyId: keyIdPattern,
  discrepancyId: uuidPattern,
  reconciliationId: uuidPattern,
  auditId: uuidPattern,
  adjustmentId: uuidPattern,
  budgetId: uuidPattern,
  endpointId: endpointIdPattern,
  serviceId: serviceIdPattern,
}

/** A path parameter without the form of an id is refused before anything is looked up or written to the action log. */
function requireIds(params: Record<string, string>): void {
  const isId = ([name, value]: [string, string]) => idPatterns[name]?.test(value)
  if (!Object.entries(params).every(isId)) throw refuse('NOT000', { message: 'There is nothing with this id.' })
}

/** Arguments are the ids of the path and the fields of the body; the reason has a column of its own. */
function actionOf(command: string, schema: Type.TSchema | undefined, request: FastifyRequest) {
  const { params, body } = request
  const { reason = null, ...fields } = (body ?? {}) as Record<string, string> & { reason?: string }
  const named = sentNames(schema, fields)
  const actor = actorOf(request)
  return { actor, command, arguments: [...idsOf(params), ...named], reason: reason?.trim() ?? null }
}

/** Fields of the schema as command options. Unknown fields are ignored and do not get into the action log. */
export function sentNames(schema: Type.TSchema | undefined, sent: Record<string, unknown>): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: object }
  const known = Object.entries(sent).filter(([name]) => Object.hasOwn(properties, name))
  return known.flatMap(([name, value]) => argumentOf(name, `${value}`))
}

/** In the form in which they are stored. */
function idsOf(params: unknown): string[] {
  const ids = Object.values(params as Record<string, string>)
  return ids.map((id) => (uuidPattern.test(id) ? id.toLowerCase() : id))
}

/** Creating a customer, changes of its keys and decisions on its adjustments are recorded about the customer. */
async function subjectOf(
  { subject }: ConsoleEndpoint,
  { params }: FastifyRequest,
  database: Database,
): Promise<string | null> {
  const [id = ''] = idsOf(params)
  if (subject === 'a new customer') return newCustomerId()
  if (subject === 'the customer of the key') {
    return (await findKey(database, id))?.customerId ?? null
  }
  if (subject === 'the customer of the adjustment') {
    return (await findRequest(database, id))?.customerId ?? null
  }
  return id || null
}

export function actorOf({ operator, ip }: { operator: { name: string } | null; ip: string }): string {
  return `${operator?.name} in the console from ${ip}`
}
