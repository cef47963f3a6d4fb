// The API document of this version: the routes of the public and of the internal listener, registered on an application that is
// never started.
import fastify, { type FastifyInstance } from 'fastify'
import { refuse } from '../core/errors.ts'
import { readVersion } from '../core/version.ts'
import { tokenTexts } from '../customers/service-tokens.ts'
import { type Refused, refused, transportRefusals } from '../http/documented.ts'
import { type Api, buildDocument } from '../openapi/document.ts'
import { collectRoutes, type DocumentedRoute } from '../openapi/operations.ts'
import type { PaymentContext } from '../payments/context.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type InternalRouteParts, internalRoutes } from './internal.ts'
import { publicRoutes } from './public.ts'

const keyCodes = ['INVALID_API_KEY', 'AUTH001', 'AUTH003'] as const
const whenByCode = (credential: 'key' | 'token'): Record<(typeof keyCodes)[number], string> => ({
  INVALID_API_KEY: 'the header is missing or malformed',
  AUTH001: `the ${credential} is unknown`,
  AUTH003: `the ${credential} is suspended`,
})

/** Authentication is checked before anything else of the request, then the rate and the load. */
function edgeRefusals(
  credential: 'key' | 'token',
  texts: Partial<Record<(typeof keyCodes)[number], string>>,
): Api['refusals'] {
  const when = whenByCode(credential)
  const ofCallers: Refused[] = keyCodes.map((code) => {
    const message = texts[code]
    return refused(when[code], refuse(code, message === undefined ? {} : { message }))
  })
  const busy = refused(`too many requests, with this ${credential} or altogether`, refuse('SVC001'))
  return { ofCallers: [...ofCallers, busy], ofAll: transportRefusals }
}

function routesOf(register: (app: FastifyInstance) => void): DocumentedRoute[] {
  const app = fastify({ exposeHeadRoutes: false })
  const routes = collectRoutes(app)
  register(app)
  return routes
}

/** The addresses of a running service; undefined: the default ones. */
export type ListenerAddresses = { publicUrl: string; internalUrl: string }

const publicApi = (url: string | undefined): Api => ({
  routes: routesOf((app) => publicRoutes(app, {} as PaymentContext)),
  server: serverOf('public', url, 'http://127.0.0.1:8080'),
  security: 'ServiceApiKey',
  client: 'createCreditsClient',
  hasEvents: false,
  refusals: edgeRefusals('key', {}),
})

const internalApi = (url: string | undefined): Api => ({
  routes: routesOf((app) => {
    const signer: InternalRouteParts['signer'] = { keys: [], origin: '' }
    const parts = { metrics: {} as Metrics, payments: {} as PaymentContext, signer }
    internalRoutes(app, parts as InternalRouteParts)
  }),
  server: serverOf('internal', url, 'http://127.0.0.1:8081'),
  security: 'ServiceToken',
  client: 'createSpendingClient',
  hasEvents: true,
  refusals: edgeRefusals('token', tokenTexts),
})

function serverOf(name: string, url: string | undefined, defaultUrl: string): Api['server'] {
  const description = `The ${name} listener${url === undefined ? ', at its default address' : ''}.`
  return { url: url ?? defaultUrl, description }
}

export function apiDocument(addresses?: ListenerAddresses): object {
  return buildDocument(readVersion(), [publicApi(addresses?.publicUrl), internalApi(addresses?.internalUrl)])
}

/** For customers: the public API alone. */
export function publicApiDocument(publicUrl: string): object {
  return buildDocument(readVersion(), [publicApi(publicUrl)])
}

/** As it is served: built with the first request, when the addresses are known. */
export function servedDocument(build: () => object): () => string {
  let text: string | undefined
  return () => {
    text ??= JSON.stringify(build())
    return text
  }
}

/** The content of `openapi.json`. */
export function apiDocumentText(): string {
  return `${JSON.stringify(apiDocument(), null, 2)}\n`
}
