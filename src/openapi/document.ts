// The API document (OpenAPI 3.1), built from the registered routes. A field is described by the schema that validates and
// serialises it, a refusal by the route's own list of refusals.
import type { Refused } from '../http/documented.ts'
import { refusalReasonHeader } from '../http/envelope.ts'
import { eventWebhooks } from './events.ts'
import { info, tags } from './info.ts'
import { type DocumentedRoute, operationOf } from './operations.ts'
import { addRefusals } from './refusals.ts'
import { createComponents, type JsonSchema } from './schemas.ts'

export type Api = {
  routes: readonly DocumentedRoute[]
  server: { url: string; description: string }
  /** The name of its scheme among `securitySchemes`. */
  security: keyof typeof securitySchemes
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
    description: 'The token of a service of the platform: `cst_` and 43 letters and digits.',
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
    description: 'Why it was refused. Missing where the code says it all.',
    required: false,
    schema: { $ref: '#/components/schemas/RefusalReason' },
    example: 'credits-spent',
  },
}

export function buildDocument(version: string, apis: readonly Api[]): JsonSchema {
  const components = createComponents()
  addRefusals(components)
  const paths = Object.assign({}, ...apis.map((api) => pathsOf(api)))

  function pathsOf({ routes, server, security, refusals }: Api): Record<string, JsonSchema> {
    const byPath = Map.groupBy(routes, ({ path }) => path)
    return Object.fromEntries(
      [...byPath].map(([path, own]) => {
        const operations = own.map((route) => {
          const before = route.isOpen ? refusals.ofAll : [...refusals.ofCallers, ...refusals.ofAll]
          return [route.method.toLowerCase(), operationOf(components, route, { security, refusals: before })]
        })
        return [path, { servers: [server], ...Object.fromEntries(operations) }]
      }),
    )
  }

  const webhooks = eventWebhooks(components)
  return {
    openapi: '3.1.0',
    info: { ...info, version },
    servers: apis.map(({ server }) => server),
    tags,
    paths,
    webhooks,
    components: { securitySchemes, headers, schemas: components.all() },
  }
}
