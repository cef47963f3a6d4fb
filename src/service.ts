// Puts the parts together: database, gateway, listeners, in the order in which they need each other, and takes them down
// in the reverse order. What fails to start leaves nothing running.
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { startStorefront } from '../examples/storefront/server.ts'
import { startSandbox } from '../sandbox/server.ts'
import type { Config } from './config.ts'
import { createLedger } from './credits/ledger.ts'
import { type IssuedKey, issueKey, type Peppers } from './customers/api-keys.ts'
import { createAuthenticate } from './customers/authenticate.ts'
import { readOrIssueKey, storefrontCustomer } from './customers/key-file.ts'
import { readOrMakePepper } from './customers/pepper-file.ts'
import { countKeys } from './customers/sql.ts'
import type { Database } from './db/database.ts'
import { openDatabase } from './db/open.ts'
import { createTossGateway } from './gateway/toss/adapter.ts'
import { defaultBreakerSettings, withBreaker } from './gateway/toss/breaker.ts'
import { createTossClient } from './gateway/toss/client.ts'
import { buildInternalListener } from './internal-listener.ts'
import { createPaymentContext, type PaymentSettings } from './payments/context.ts'
import { writeProcessId } from './process-id.ts'
import { buildPublicListener } from './public-listener.ts'

export type Service = {
  publicUrl: string
  internalUrl: string
  /** Undefined when the gateway is the real one. */
  sandboxUrl: string | undefined
  storefrontUrl: string | undefined
  databasePlace: string
  /** Sandbox mode, first start: the only time this key can be seen. */
  demoKey: IssuedKey | undefined
  close(): Promise<void>
}

/** How long a payment may still be confirmed at the gateway after the buyer has authenticated. */
const gatewaySessionMs = 600_000

export async function startService(config: Config, log: Logger): Promise<Service> {
  const parts = new AsyncDisposableStack()
  try {
    const { dataDir, databaseUrl, databaseConnections } = config
    const opened = await openDatabase({ dataDir, databaseUrl, databaseConnections, use: 'service', log })
    parts.defer(() => opened.close())
    const { database } = opened
    const peppers = config.keyPeppers ?? readOrMakePepper(dataDir)

    const sandbox = await startSandboxOf(config)
    parts.defer(async () => sandbox?.close())
    const client = createTossClient(tossSettings(config, sandbox?.url))
    const gateway = createTossGateway(withBreaker(client, defaultBreakerSettings, log), log)
    parts.defer(() => gateway.close())

    const settings = paymentSettings(config)
    const payments = createPaymentContext({ database, gateway, ledger: createLedger(database), settings, log })
    const authenticate = createAuthenticate(database, peppers)
    const { bodyLimitBytes } = config
    const quiet = log.child({}, { level: log.level === 'info' ? 'warn' : log.level })
    const listener = buildPublicListener({ authenticate, payments, log: quiet, bodyLimitBytes })
    const publicUrl = await listen(listener, 'PORT', config.host, config.port, parts)
    const shop = await startStorefrontOf(config, { database, peppers, publicUrl, sandboxUrl: sandbox?.url })
    parts.defer(async () => shop?.close())
    // A shop on a free port is known only now; nobody has been told where we listen yet.
    if (shop && config.storefront?.hasOwnUrls) {
      Object.assign(settings, { successUrl: `${shop.url}/success`, failUrl: `${shop.url}/fail` })
    }
    const removeProcessId = writeProcessId(dataDir)
    parts.defer(async () => removeProcessId())
    // Last of all: whoever is told that we are ready finds everything in its place.
    const internal = buildInternalListener({ database, gateway, log: quiet })
    const internalUrl = await listen(internal, 'INTERNAL_PORT', config.internalHost, config.internalPort, parts)

    return {
      publicUrl,
      internalUrl,
      sandboxUrl: sandbox?.url,
      storefrontUrl: shop?.url,
      databasePlace: opened.place,
      demoKey: shop && sandbox && (await issueDemoKey(database, peppers)),
      close: () => parts.disposeAsync(),
    }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

async function startSandboxOf({ gateway, internalHost: host, dataDir }: Config) {
  if (gateway.kind !== 'sandbox') return undefined
  const { clientKey, secretKey, port, strict } = gateway
  return startSandbox({ host, port, clientKey, secretKey, strict, dataDir: join(dataDir, 'sandbox') }).catch(
    (error) => {
      throw explainListen(error, 'SANDBOX_PORT', host, port)
    },
  )
}

type ShopParts = { database: Database; peppers: Peppers; publicUrl: string; sandboxUrl: string | undefined }

async function startStorefrontOf(config: Config, { database, peppers, publicUrl, sandboxUrl }: ShopParts) {
  if (!config.storefront) return undefined
  const { internalHost: host, storefront } = config
  const dataDir = join(config.dataDir, 'storefront')
  const apiKey = await readOrIssueKey(database, peppers, join(dataDir, 'api-key'))
  const gatewayScriptUrl = sandboxUrl ? `${sandboxUrl}/v2/standard` : 'https://js.tosspayments.com/v2/standard'
  const options = { host, port: storefront.port, apiUrl: publicUrl, apiKey, gatewayScriptUrl, dataDir }
  return startStorefront(options).catch((error) => {
    throw explainListen(error, 'STOREFRONT_PORT', host, storefront.port)
  })
}

function tossSettings(config: Config, sandboxUrl: string | undefined) {
  return {
    apiUrl: config.gateway.kind === 'toss' ? config.gateway.apiUrl : (sandboxUrl ?? ''),
    secretKey: config.gateway.secretKey,
    connectTimeoutMs: config.gatewayConnectTimeoutMs,
    callTimeoutMs: config.gatewayTimeoutMs,
    lookupTimeoutMs: config.gatewayLookupTimeoutMs,
    maxConnections: 256,
  }
}

function paymentSettings(config: Config): PaymentSettings {
  const { operationLeaseMs, operationWaitMs, pendingOrdersPerCustomer, successUrl, failUrl } = config
  const { clientKey } = config.gateway
  // A request may be on its way for as long as its time limit, and find a session that is as old as one can be.
  const paymentSessionMs = gatewaySessionMs + config.gatewayTimeoutMs
  const limits = { operationLeaseMs, operationWaitMs, paymentSessionMs, pendingOrdersPerCustomer }
  return { ...limits, clientKey, successUrl, failUrl }
}

async function listen(
  app: FastifyInstance,
  setting: string,
  host: string,
  port: number,
  parts: AsyncDisposableStack,
): Promise<string> {
  parts.defer(() => app.close())
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw explainListen(error, setting, host, port)
  }
  const bound = app.server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

function explainListen(error: unknown, setting: string, host: string, port: number): unknown {
  const notHere = `${host} is not an address of this machine: set ${setting === 'PORT' ? 'HOST' : 'INTERNAL_HOST'}.`
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken: stop what uses it, or set ${setting} to another.`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
    EAI_AGAIN: notHere,
    EACCES: `Port ${port} needs more rights than this user has: set ${setting} to one above 1023.`,
  }
  const reason = reasons[(error as { code?: string }).code ?? '']
  return reason ? new Error(reason) : error
}

/** On the first start that comes this far: the only key there is the shop's own. */
async function issueDemoKey(database: Database, peppers: Peppers): Promise<IssuedKey | undefined> {
  return (await countKeys(database)) > 1 ? undefined : issueKey(database, peppers, storefrontCustomer)
}
