// Converts a route to an operation of the document: parameters, body, and every answer.
import type { FastifyInstance, RouteOptions } from 'fastify'
import { assert } from '../core/assert.ts'
import type { TokenScope } from '../core/token-scopes.ts'
import { scopeMissing } from '../http/api-listener.ts'
import { bodyRefusals, type Documented, type Refused, refused } from '../http/documented.ts'
import { refusalResponses } from './refusals.ts'
import type { Components, JsonSchema } from './schemas.ts'

export type DocumentedRoute = {
  method: string
  path: string
  documented: Documented
  isOpen: boolean
  /** What a token needs for it. */
  scope?: TokenScope | undefined
  schema: RouteSchema
}

type ObjectSchema = { properties: Record<string, object>; required?: string[] }
type RouteSchema = {
  params?: ObjectSchema
  querystring?: ObjectSchema
  body?: object
  response?: Record<string, object>
}

/** To be called before the routes are added. Every route must be documented, or be marked as no API. */
export function collectRoutes(app: FastifyInstance): DocumentedRoute[] {
  const routes: DocumentedRoute[] = []
  app.addHook('onRoute', ({ method, url, schema = {}, config = {} }: RouteOptions) => {
    const { documented, open = false, scope } = config
    assert(documented !== undefined, `${method} ${url} is not documented: config.documented`)
    if (documented === 'no API') return
    const path = url.replaceAll(/:(\w+)/g, '{$1}')
    routes.push({ method: `${method}`, path, documented, isOpen: open, scope, schema: schema as RouteSchema })
  })
  return routes
}

export function operationOf(
  components: Components,
  { documented, schema, isOpen, scope }: DocumentedRoute,
  { security, refusals }: { security: string; refusals: readonly Refused[] },
): JsonSchema {
  const { operationId, tag, summary, description, headers = {}, body } = documented
  const parameters = [
    ...parametersOf(components, 'path', schema.params),
    ...parametersOf(components, 'query', schema.querystring),
    ...Object.entries(headers).map(([name, header]) => parameterOf(components, 'header', name, header, false)),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: isOpen ? [] : [{ [security]: scope ? [scope] : [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(schema.body && { requestBody: requestBodyOf(components, schema.body, body) }),
    responses: {
      ...successResponses(components, schema, documented),
      ...refusalResponses([
        ...refusals,
        ...(scope ? [refused(`the token lacks the scope ${scope}`, scopeMissing(scope))] : []),
        ...(schema.body ? bodyRefusals : []),
        ...documented.refusals,
      ]),
    },
  }
}

function parametersOf(components: Components, place: 'path' | 'query', schema: ObjectSchema | undefined): JsonSchema[] {
  const { properties = {}, required = [] } = schema ?? {}
  return Object.entries(properties).map(([name, each]) =>
    parameterOf(components, place, name, each, required.includes(name)),
  )
}

function parameterOf(components: Components, place: string, name: string, schema: object, required: boolean) {
  return { name, in: place, required, ...describedValue(components, schema, 'request') }
}

/** For a parameter or a header: its text and its example stand beside its schema. */
function describedValue(components: Components, schema: object, use: 'request' | 'response') {
  const { description, examples, ...rest } = components.schemaOf(schema, use)
  const [example] = (examples ?? []) as unknown[]
  return { description, schema: rest, ...(example !== undefined && { example }) }
}

function requestBodyOf(components: Components, schema: object, example: unknown): JsonSchema {
  return {
    required: true,
    content: { 'application/json': { schema: components.schemaOf(schema, 'request'), example } },
  }
}

const descriptions: Record<string, string> = { 200: 'Done.', 201: 'Created.', 503: 'Not now.' }

/** An answer without a schema is plain text. */
function successResponses(components: Components, { response = {} }: RouteSchema, documented: Documented) {
  const { answers, answerHeaders = {} } = documented
  const own = Object.entries(answerHeaders).map(([name, header]) => [
    name,
    { required: false, ...describedValue(components, header, 'response') },
  ])
  return Object.fromEntries(
    Object.entries(answers).map(([status, example]) => {
      const schema = response[status]
      const content = schema
        ? { 'application/json': { schema: components.schemaOf(schema, 'response'), example } }
        : { 'text/plain': { schema: { type: 'string' }, example } }
      const headers = {
        'Cache-Control': { $ref: '#/components/headers/Cache-Control' },
        ...Object.fromEntries(own),
      }
      return [status, { description: descriptions[status], headers, content }]
    }),
  )
}
