// An example shop that sells credit packages in a browser. Its server calls the payment service with the API key, which
// never leaves it; the browser gets pages, the gateway's script, and the purchase's data for the checkout. It has no
// accounts: every visitor buys for the customer of its key, so bind it to loopback.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { type ApiOptions, createApi } from './api.ts'
import { foreignHostText, isOwnHost } from './host-names.ts'
import { addOrderRoutes } from './order-routes.ts'
import { openOrders } from './orders.ts'
import type { ShopInfo } from './pages/layout.ts'
import { addPaymentRoutes } from './payment-routes.ts'
import { createPresenter, type Presenter } from './presenter.ts'

export type StorefrontOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Names it answers to, besides addresses and localhost; lower case. */
  hostnames?: readonly string[]
  /** The public listener of the payment service. Undefined until it is known: the shop may start before the service. */
  apiUrl: () => string | undefined
  apiKey: string
  /** The script that opens the payment window, as the official loader wants it. */
  gatewayScriptUrl: string
  /** Where the shop keeps the list of its orders. */
  dataDir: string
  /** The internal listener and a service token, for the statement and what is used of an order; undefined: no statement. */
  statement?: ApiOptions['statement']
  /** Who sells. */
  shop: ShopInfo
  apiTimeoutMs?: number
  /** How long a buyer who comes back waits for the answer to the confirm before the page is sent without it. */
  confirmWaitMs?: number
}

export type RunningStorefront = { url: string; close(): Promise<void> }

const assetTypes: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
const assets = ['storefront.css', 'icon.svg', 'shop.js', 'pay.js', 'outcome.js']

export async function startStorefront(options: StorefrontOptions): Promise<RunningStorefront> {
  const { apiUrl, apiKey, statement, gatewayScriptUrl, apiTimeoutMs: timeoutMs = 10_000, confirmWaitMs = 700 } = options
  const api = createApi({ apiUrl, apiKey, statement, timeoutMs })
  const orders = openOrders(options.dataDir)
  const presenter = createPresenter(api, gatewayScriptUrl, options.shop)
  const app = createApp(presenter, options.hostnames ?? [])
  addPaymentRoutes(app, { api, orders, presenter, gatewayScriptUrl, confirmWaitMs })
  addOrderRoutes(app, { api, orders, presenter })
  try {
    const url = await app.listen({ host: options.host, port: options.port })
    return { url, close: () => app.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

function createApp(presenter: Presenter, hostnames: readonly string[]): FastifyInstance {
  const app = Fastify({ bodyLimit: 8_192, forceCloseConnections: true })
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (isOwnHost(headers.host, hostnames)) return
    return reply.code(400).type('text/plain; charset=utf-8').send(foreignHostText)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  // Against forged requests of another site's page: a browser sends the origin of a form.
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    if (request.method !== 'POST' || origin === undefined || URL.parse(origin)?.host === host) return
    return presenter.message(request, reply, 403, (text) => text.incomplete)
  })
  app.setNotFoundHandler((request, reply) => presenter.message(request, reply, 404, (text) => text.notFound))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const callersFault = (error.statusCode ?? 500) < 500
    // The route and not the address: addresses contain payment keys.
    if (!callersFault)
      process.stderr.write(`storefront: ${request.method} ${request.routeOptions.url}: ${error.stack}\n`)
    return presenter.message(request, reply, callersFault ? 400 : 500, (text) =>
      callersFault ? text.incomplete : text.failed,
    )
  })
  for (const name of assets) addFile(app, `/assets/${name}`, new URL(`./public/${name}`, import.meta.url))
  addFile(app, '/vendor/tosspayments-sdk.js', new URL(import.meta.resolve('@tosspayments/tosspayments-sdk')))
  return app
}

function addFile(app: FastifyInstance, path: string, file: URL): void {
  const content = readFileSync(fileURLToPath(file), 'utf8')
  const type = assetTypes[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
  app.get(path, (_request, reply) =>
    reply
      .headers({ 'content-type': type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
      .send(content),
  )
}
