// The API document (OpenAPI 3.1), built from the registered routes. A field is described by the schema that validates and
// serialises it, a refusal by the route's own list of refusals.
import type { ErrorCode } from '../core/errors.ts'
import type { Refused } from '../http/documented.ts'
import { refusalReasonHeader } from '../http/envelope.ts'
import { eventWebhooks } from './events.ts'
import { infoOf, tags } from './info.ts'
import { type DocumentedRoute, operationOf } from './operations.ts'
import { addRefusals } from './refusals.ts'
import { type SampleClient, sampleOf } from './samples.ts'
import { createComponents, type JsonSchema } from './schemas.ts'

export type Api = {
  routes: readonly DocumentedRoute[]
  server: { url: string; description: string }
  /** The name of its scheme among `securitySchemes`. */
  security: keyof typeof securitySchemes
  /** The function of our client package for this API. */
  client: SampleClient
  /** Whether its callers can register endpoints for events. */
  hasEvents: boolean
  /** Refusals before a route is reached: of every request, and of requests that need a key or token. */
  refusals: { ofAll: readonly Refused[]; ofCallers: readonly Refused[] }
}

const securitySchemes = {
  ServiceApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Service-Api-Key',
    description: 'The API key of a customer: `cpk_` and 43 letters and digits.',
  },
  ServiceToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of a service of the platform: `cst_` and 43 letters and digits. It has one or more of the scopes `spend`, ' +
      '`hold`, `refund`, `read` and `manage-holds`; the scope that an operation needs is in its `security`.',
  },
} as const

const headers = {
  'Cache-Control': {
    description: 'An answer is for its caller alone.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'Retry-After': {
    description: 'Repeat the request after so many seconds.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  [refusalReasonHeader]: {
    description:
      'Why a purchase, a confirm or a cancel was refused, or an order is FAILED. Missing on other answers, as on those about a ' +
      'field that is wrong by itself.',
    required: false,
    schema: { $ref: '#/components/schemas/RefusalReason' },
    example: 'credits-spent',
  },
}

export function buildDocument(version: string, apis: readonly Api[]): JsonSchema {
  const components = createComponents()
  const codes = new Set<ErrorCode>()
  const paths = Object.assign({}, ...apis.map((api) => pathsOf(api)))

  function pathsOf({ routes, server, security, client, refusals }: Api): Record<string, JsonSchema> {
    const byPath = Map.groupBy(routes, ({ path }) => path)
    return Object.fromEntries(
      [...byPath].map(([path, own]) => {
        const operations = own.map((route) => {
          const before = route.isOpen ? refusals.ofAll : [...refusals.ofCallers, ...refusals.ofAll]
          const operation = operationOf(components, route, { security, refusals: before })
          for (const { refusal } of [...before, ...route.documented.refusals]) codes.add(refusal.code)
          const samples = route.isOpen ? {} : { 'x-codeSamples': [sampleOf(operation, client, server.url)] }
          return [route.method.toLowerCase(), { ...operation, ...samples }]
        })
        return [path, { servers: [server], ...Object.fromEntries(operations) }]
      }),
    )
  }

  addRefusals(components, codes)
  const events = apis.some(({ hasEvents }) => hasEvents) && { webhooks: eventWebhooks(components) }
  const ofRoutes = apis.flatMap(({ routes }) => routes.map(({ documented }) => documented.tag))
  const used = new Set<string>(events ? [...ofRoutes, 'Events'] : ofRoutes)
  const schemes = apis.map(({ security }) => [security, securitySchemes[security]])
  return {
    openapi: '3.1.0',
    info: { ...infoOf(codes), version },
    servers: apis.map(({ server }) => server),
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    ...events,
    components: { securitySchemes: Object.fromEntries(schemes), headers, schemas: components.all() },
  }
}
