// Makes the routes of the console from its contract: each is for those whom the contract names, what it changes is on the
// trail with who, what and why before it happens, and what the handlers get and give has the contract's types.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { refuse } from '../core/errors.ts'
import { newCustomerId, orderIdPattern, uuidPattern } from '../core/ids.ts'
import { mapTexts, visible } from '../core/visible.ts'
import { keyIdPattern } from '../customers/api-keys.ts'
import { findKey } from '../customers/customers.sql.ts'
import type { Database } from '../db/database.ts'
import { SuccessOf, success } from '../http/envelope.ts'
import { recorded, type Trail } from '../operators/action-log.ts'
import { type Body, type Contract, contract, type Data, type Endpoint, type Params, type Query } from './contract.ts'
import { apiPath, type EndpointName, endpoints } from './endpoints.ts'
import { type Gate, gateOf } from './gate.ts'
import type { Guard, SignedIn } from './guard.ts'
import { shownTo } from './payment-keys.ts'

/** Whatever was sent, and by whom. */
export type Asked<Name extends EndpointName> = {
  operator: Name extends 'signIn' ? null : SignedIn
  params: Params<Name>
  query: Query<Name>
  body: Body<Name>
  /** What the trail has it about. */
  subject: Contract[Name] extends { subject: 'a new customer' } ? string : string | null
  request: FastifyRequest
  reply: FastifyReply
}

/** The serialiser writes times as they are written everywhere. */
type Sendable<Value> = Value extends string
  ? Value | Date
  : Value extends (infer Item)[]
    ? Sendable<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Sendable<Value[Name]> }
      : Value

export type Handler<Name extends EndpointName> = (asked: Asked<Name>) => Promise<Sendable<Data<Name>>>
export type Handlers<Names extends EndpointName = EndpointName> = { [Name in Names]: Handler<Name> }

export type ApiParts = { guard: Guard; trail: Trail; handlers: Handlers }

export function apiRoutes(app: FastifyInstance, { guard, trail, handlers }: ApiParts): void {
  const elsewhere = { config: { open: true, documented: 'no API' }, onRequest: nothingThere } as const
  app.all(`${apiPath}/*`, elsewhere, nothingThere)
  for (const [name, address] of Object.entries(endpoints) as [EndpointName, string][]) {
    const [method = '', path = ''] = address.split(' ')
    const endpoint: Endpoint = contract[name]
    const { params, query: querystring, body, data } = endpoint
    const handle = handlers[name] as (asked: object) => Promise<object>
    const failed = endpoint.failed as ((answer: object) => boolean) | undefined
    // Whoever signs in has places of their own: those who are in need not wait for those who are not.
    const enter: Gate['enter'] = endpoint.for === 'anybody' ? (work) => work() : gateOf(guard.gates, method).enter
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
        const asked = { operator, params, query, body, request, reply }
        requireIds(params as Record<string, string>)
        const answer = await enter(async () => {
          const subject = await subjectOf(endpoint, request, trail.database)
          const work = () => handle({ ...asked, subject })
          if (!endpoint.trail) return work()
          return recorded(trail, { ...actionOf(endpoint.trail, endpoint.body, request), subject }, work, failed)
        })
        return success(mapTexts(operator ? shownTo(operator.role, answer) : answer, visible), null)
      },
    })
  }
}

/** Without a word about keys of the API: nobody gets to the console with one. */
async function nothingThere(): Promise<never> {
  throw refuse('NOT000')
}

/** Of the names of a path. */
const idPatterns: Record<string, RegExp> = {
  orderId: orderIdPattern,
  customerId: uuidPattern,
  keyId: keyIdPattern,
  discrepancyId: uuidPattern,
  reconciliationId: uuidPattern,
  auditId: uuidPattern,
}

/** What cannot be an id is the id of nothing: it is not looked for, and not on the trail. */
function requireIds(params: Record<string, string>): void {
  const isId = ([name, value]: [string, string]) => idPatterns[name]?.test(value)
  if (!Object.entries(params).every(isId)) throw refuse('NOT000', { message: 'There is nothing of this id.' })
}

/** What the trail says of a call: the ids of its path, and what it was told but for the reason, which has its own place. */
function actionOf(command: string, schema: Type.TSchema | undefined, request: FastifyRequest) {
  const { params, body } = request
  const { reason = null, ...told } = (body ?? {}) as Record<string, string> & { reason?: string }
  const named = namedOf(schema, told)
  const actor = actorOf(request)
  return { actor, command, arguments: [...idsOf(params), ...named], reason: reason?.trim() ?? null }
}

/** As options of a command: those that the schema has. Others are ignored, and nobody can write them into the trail. */
export function namedOf(schema: Type.TSchema | undefined, sent: Record<string, unknown>): string[] {
  const { properties = {} } = (schema ?? {}) as { properties?: object }
  const known = Object.entries(sent).filter(([name]) => Object.hasOwn(properties, name))
  return known.flatMap(([name, value]) => [`--${name}`, `${value}`])
}

/** As they are kept, however they were typed. */
function idsOf(params: unknown): string[] {
  const ids = Object.values(params as Record<string, string>)
  return ids.map((id) => (uuidPattern.test(id) ? id.toLowerCase() : id))
}

/** The trail of a customer has how they came to be, and what was done to their keys. */
async function subjectOf(
  { subject }: Endpoint,
  { params }: FastifyRequest,
  database: Database,
): Promise<string | null> {
  const [id = ''] = idsOf(params)
  if (subject === 'a new customer') return newCustomerId()
  if (subject === 'the customer of the key') {
    return keyIdPattern.test(id) ? ((await findKey(database, id))?.customerId ?? null) : null
  }
  return id || null
}

export function actorOf({ operator, ip }: { operator: { name: string } | null; ip: string }): string {
  return `${operator?.name} in the console from ${ip}`
}
