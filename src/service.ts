// Puts the parts together: database, gateway, listeners, worker, in the order in which they need each other, and takes
// them down in the reverse order. What fails to start leaves nothing running.
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { startStorefront } from '../examples/storefront/server.ts'
import type { Config } from './config.ts'
import { deliverySettings, outboundOptions, paymentSettings } from './config.ts'
import { readOrMakeSecret } from './core/secret-file.ts'
import { readVersion } from './core/version.ts'
import { createCredits } from './credits/credits.ts'
import { type IssuedKey, issueKey, type Peppers } from './customers/api-keys.ts'
import { createAuthenticate } from './customers/authenticate.ts'
import { countKeys } from './customers/customers.sql.ts'
import { readOrIssueKey, storefrontCustomer } from './customers/key-file.ts'
import { readOrMakePepper } from './customers/pepper-file.ts'
import { createAuthenticateService } from './customers/service-tokens.ts'
import type { Database } from './db/database.ts'
import { openDatabase } from './db/open.ts'
import { openGateway } from './dev/open-gateway.ts'
import { createDeliverer } from './events/deliverer.ts'
import { createOutbound } from './events/outbound.ts'
import { buildInternalListener } from './listeners/internal.ts'
import { explainListen, listen } from './listeners/listen.ts'
import { writeProcessId } from './listeners/process-id.ts'
import { buildPublicListener } from './listeners/public.ts'
import { buildWebhookListener, webhookPath } from './listeners/webhook.ts'
import { countOperators } from './operators/operators.sql.ts'
import { createPaymentContext } from './payments/context.ts'
import { failUrlOf } from './payments/fail-url.ts'
import { countedGateway } from './telemetry/gateway.ts'
import { createMeasures, openMetrics } from './telemetry/metrics.ts'
import { openTracing } from './telemetry/open-tracing.ts'
import { creditJobs, eventJobs, notificationsJob, paymentJobs } from './worker/jobs.ts'
import { startWorker, type Worker } from './worker/worker.ts'

export type Service = {
  publicUrl: string
  internalUrl: string
  webhookUrl: string
  /** Undefined when the gateway is the real one. */
  sandboxUrl: string | undefined
  storefrontUrl: string | undefined
  databasePlace: string
  /** Sandbox mode, first start: the only time this key can be seen. */
  demoKey: IssuedKey | undefined
  /** Whether anybody can sign in to the console. */
  hasOperators: boolean
  close(): Promise<void>
}

export async function startService(config: Config, log: Logger): Promise<Service> {
  const parts = new AsyncDisposableStack()
  try {
    const { dataDir, internalHost } = config
    // Goes down last: what others do on their way down is told too.
    const tracing = await openTracing(config, log)
    parts.defer(() => tracing.close())
    const measures = createMeasures()
    const { tallies, listeners: counts } = measures
    const opened = await openDatabase({ ...config, use: 'service', tallies, log })
    parts.defer(() => opened.close())
    const { database, requestDatabase } = opened
    const peppers = config.keyPeppers ?? readOrMakePepper(dataDir)
    const quiet = log.child({}, { level: log.level === 'info' ? 'warn' : log.level })

    const token = config.webhookToken ?? readOrMakeSecret(dataDir, 'webhook-token')
    let worker: Worker | undefined
    const onStored = () => worker?.wake(notificationsJob)
    const webhooks = buildWebhookListener({
      database: requestDatabase,
      token,
      onStored,
      log: quiet,
      counts: counts.webhook,
      tallies,
    })
    parts.defer(() => webhooks.close())
    const webhookBase = await listen(webhooks, 'WEBHOOK_PORT', internalHost, config.webhookPort)
    const webhookUrl = `${webhookBase}${webhookPath(token)}`

    const { sandboxUrl, breakerState, money, ...reached } = await openGateway(config, {
      use: 'service',
      webhookUrl: onThisMachine(webhookUrl),
      log,
    })
    parts.defer(reached.close)
    const gateway = countedGateway(reached.gateway, measures.gatewayCounts)

    const settings = paymentSettings(config)
    const credits = createCredits(requestDatabase, tallies)
    const common = { gateway, credits, settings, log, tallies, tracing }
    const payments = createPaymentContext({ database: requestDatabase, ...common })
    const authenticate = createAuthenticate(requestDatabase, peppers)
    const authenticateService = createAuthenticateService(requestDatabase, peppers)
    const { bodyLimitBytes, rateLimitPerSecond } = config
    const listener = buildPublicListener({
      authenticate,
      payments,
      log: quiet,
      bodyLimitBytes,
      rateLimitPerSecond,
      counts: counts.public,
      tracing,
    })
    const outbound = createOutbound(outboundOptions(config))
    parts.defer(() => outbound.close())
    const deliveries = { database, outbound, sealing: peppers, settings: deliverySettings(config), log, tallies }
    const deliverer = createDeliverer(deliveries)
    const { serving: connection, pools } = opened
    const metrics = openMetrics({ measures, gateway, breakerState, pools, connection, version: readVersion(), log })
    parts.defer(() => metrics.close())
    // All of them have requests or operations under way, and none is to wait for another.
    let internal: FastifyInstance | undefined
    parts.defer(async () => {
      await Promise.all([internal?.close(), listener.close(), worker?.stop().then(deliverer.finish)])
    })
    const publicUrl = await listen(listener, 'PORT', config.host, config.port)
    const shop = await startStorefrontOf(config, { database, peppers, publicUrl, sandboxUrl })
    parts.defer(async () => shop?.close())
    // A shop on a free port is known only now; nobody has been told where we listen yet.
    if (shop && config.storefront?.hasOwnUrls) {
      Object.assign(settings, { successUrl: `${shop.url}/success`, failUrlOf: failUrlOf(`${shop.url}/fail`) })
    }
    const background = createPaymentContext({ database, ...common })
    const jobs = [...paymentJobs(background), ...creditJobs(database, tallies), ...eventJobs(deliverer)]
    if (config.worker) worker = startWorker(jobs, log, tallies)
    const removeProcessId = writeProcessId(dataDir)
    parts.defer(async () => removeProcessId())
    const hasOperators = (await countOperators(database)) > 0
    // Last of all: whoever is told that we are ready finds everything in its place, and nothing is left that could fail.
    internal = buildInternalListener({
      database: requestDatabase,
      gateway,
      money,
      credits,
      authenticateService,
      bodyLimitBytes,
      log: quiet,
      counts: counts.internal,
      metrics,
      tracing,
      hostnames: config.internalHostnames,
      console: {
        database: requestDatabase,
        payments,
        background,
        deliveries,
        peppers,
        log,
        limits: { pendingOrdersPerCustomer: config.pendingOrdersPerCustomer, requestsPerSecond: rateLimitPerSecond },
        isHeldBack: () => breakerState() !== 'closed',
        secureCookies: config.production,
        firstPasswordHours: config.firstPasswordHours,
      },
    })
    const internalUrl = await listen(internal, 'INTERNAL_PORT', internalHost, config.internalPort)
    // It is shown once, so it is not made for a start that fails. Without a database in this moment the next start makes it.
    const demoKey = shop && sandboxUrl ? await issueDemoKey(database, peppers).catch(() => undefined) : undefined

    return {
      publicUrl,
      internalUrl,
      webhookUrl,
      sandboxUrl,
      storefrontUrl: shop?.url,
      databasePlace: opened.place,
      demoKey,
      hasOperators,
      close: () => parts.disposeAsync(),
    }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

/** The sandbox notifies this machine only; of an address of another kind it is told nothing. */
function onThisMachine(url: string): string | undefined {
  const local = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  return /^http:\/\/(127\.[\d.]+|\[::1\]):/.test(local) ? local : undefined
}

type ShopParts = { database: Database; peppers: Peppers; publicUrl: string; sandboxUrl: string | undefined }

async function startStorefrontOf(config: Config, { database, peppers, publicUrl, sandboxUrl }: ShopParts) {
  if (!config.storefront) return undefined
  const { internalHost: host, storefront } = config
  const dataDir = join(config.dataDir, 'storefront')
  const apiKey = await readOrIssueKey(database, peppers, join(dataDir, 'api-key'))
  const gatewayScriptUrl = sandboxUrl ? `${sandboxUrl}/v2/standard` : 'https://js.tosspayments.com/v2/standard'
  // The buyer's browser comes back to these.
  const hostnames = [config.successUrl, config.failUrl].map((url) => new URL(url).hostname)
  const options = {
    host,
    port: storefront.port,
    apiUrl: publicUrl,
    apiKey,
    gatewayScriptUrl,
    dataDir,
    hostnames: [...config.internalHostnames, ...hostnames],
  }
  return startStorefront(options).catch((error) => {
    throw explainListen(error, 'STOREFRONT_PORT', host, storefront.port)
  })
}

/** On the first start that comes this far: the only key there is the shop's own. */
async function issueDemoKey(database: Database, peppers: Peppers): Promise<IssuedKey | undefined> {
  return (await countKeys(database)) > 1 ? undefined : issueKey(database, peppers, storefrontCustomer)
}
