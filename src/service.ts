// Puts the parts together: database, gateway, listeners, worker, in the order in which they need each other, and closes
// them in the reverse order. A start that fails leaves nothing running.
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { deliverySettings, gatewayOptions, outboundOptions, paymentSettings, paymentUrlTemplate } from './config.ts'
import { paymentUrlsBy } from './console/orders/payment-link.ts'
import { readVersion } from './core/version.ts'
import { createCredits } from './credits/credits.ts'
import type { Peppers } from './customers/api-keys.ts'
import { createAuthenticate } from './customers/authenticate.ts'
import { findOrCreateCustomer } from './customers/customers.sql.ts'
import { createAuthenticateService } from './customers/service-tokens.ts'
import type { Database, Log } from './db/database.ts'
import { openDatabase } from './db/open.ts'
import { createDeliverer } from './events/deliverer.ts'
import { createOutbound } from './events/outbound.ts'
import { platformCustomer } from './events/outbox.sql.ts'
import { openGateway } from './gateway/toss/open.ts'
import { apiDocument, publicApiDocument, servedDocument } from './listeners/api-document.ts'
import { buildInternalListener } from './listeners/internal.ts'
import { listen, onThisMachine } from './listeners/listen.ts'
import { writeProcessId } from './listeners/process-id.ts'
import { buildPublicListener } from './listeners/public.ts'
import { writeRunningNote } from './listeners/running-note.ts'
import { buildWebhookListener, webhookPath } from './listeners/webhook.ts'
import { countOperators } from './operators/operators.sql.ts'
import { createPaymentContext, type PaymentSettings } from './payments/context.ts'
import { keepRefundRules } from './payments/refunds/keep-rules.ts'
import { countedGateway } from './telemetry/gateway.ts'
import { createMeasures, openMetrics } from './telemetry/metrics.ts'
import { openTracing } from './telemetry/open-tracing.ts'
import { type LogSigner, logSignerOf } from './transparency/note.ts'
import { findHoldingRestore, heldBackText } from './transparency/restored/restores.sql.ts'
import {
  actionJobs,
  clusterJobs,
  creditJobs,
  eventJobs,
  logJobs,
  notificationsJob,
  paymentJobs,
  publicationJobs,
} from './worker/jobs.ts'
import { startWorker, type Worker } from './worker/worker.ts'

export type Service = {
  publicUrl: string
  internalUrl: string
  webhookUrl: string
  /** Undefined when the gateway is the real one. */
  sandboxUrl: string | undefined
  databasePlace: string
  /** Whether the console has an operator who can sign in. */
  hasOperators: boolean
  close(): Promise<void>
}

/** What development puts around the service. Production with the real gateway needs none of it. */
export type Surroundings = {
  peppers(): Peppers
  webhookToken(): string
  /** Opened before the gateway is called and before any order is taken: orders carry the address of the shop. */
  open(parts: {
    database: Database
    peppers: Peppers
    webhookUrl: string
    /** Known once the public listener is up. */
    publicUrl(): string | undefined
  }): Promise<{ sandboxUrl: string | undefined; settings: Partial<PaymentSettings>; close(): Promise<void> }>
}

export async function startService(config: Config, log: Logger, surroundings?: Surroundings): Promise<Service> {
  const parts = new AsyncDisposableStack()
  try {
    const { dataDir, internalHost } = config
    // Closed last: the spans of the other parts' closing are exported too.
    const tracing = await openTracing(config, log)
    parts.defer(() => tracing.close())
    const measures = createMeasures()
    const { tallies, listeners: counts } = measures
    const opened = await openDatabase({ ...config, use: 'service', tallies, log, onWait: (line) => log.warn(line) })
    parts.defer(() => opened.close())
    const { database, requestDatabase } = opened
    await keepRefundRules(database, config.refundRules, log)
    const peppers = configured('KEY_PEPPER', config.keyPeppers ?? surroundings?.peppers())
    const signer = logSignerOf(peppers, config.transparencyLog)
    const logState = await reportLog(database, signer, log)
    const quiet = log.child({}, { level: log.level === 'info' ? 'warn' : log.level })

    const token = configured('WEBHOOK_TOKEN', config.webhookToken ?? surroundings?.webhookToken())
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

    let publicUrl: string | undefined
    let internalUrl: string | undefined
    const around = await surroundings?.open({ database, peppers, webhookUrl, publicUrl: () => publicUrl })
    parts.defer(async () => around?.close())
    const sandboxUrl = around?.sandboxUrl
    const opening = openGateway(gatewayOptions(config, sandboxUrl), log)
    const { breakerState } = opening
    parts.defer(() => opening.gateway.close())
    const gateway = countedGateway(opening.gateway, measures.gatewayCounts)

    const settings = { ...paymentSettings(config), ...around?.settings }
    const credits = createCredits(requestDatabase, tallies)
    const common = { gateway, credits, settings, log, tallies, tracing }
    const payments = createPaymentContext({ database: requestDatabase, ...common })
    const authenticate = createAuthenticate(requestDatabase, peppers)
    const authenticateService = createAuthenticateService(requestDatabase, peppers)
    const { bodyLimitBytes, rateLimitPerSecond } = config
    const { reference } = config
    const addresses = () => ({
      publicUrl: reference.publicUrl ?? onThisMachine(publicUrl ?? ''),
      internalUrl: reference.internalUrl ?? onThisMachine(internalUrl ?? ''),
    })
    const listener = buildPublicListener({
      document: reference.isPublic ? servedDocument(() => publicApiDocument(addresses().publicUrl)) : undefined,
      logParts: config.transparencyLog.isPublic ? { database: requestDatabase, signer } : undefined,
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
    const { serving: connection, pools, plans } = opened
    const metrics = openMetrics({
      measures,
      gateway,
      breakerState,
      pools,
      connection,
      workers: opened.database.workers,
      plans,
      version: readVersion(),
      log,
    })
    parts.defer(() => metrics.close())
    // All of them have requests or operations under way, so they stop at the same time.
    let internal: FastifyInstance | undefined
    parts.defer(async () => {
      await Promise.all([internal?.close(), listener.close(), worker?.stop()])
    })
    publicUrl = await listen(listener, 'PORT', config.host, config.port)
    const background = createPaymentContext({ database, ...common })
    const jobs = [
      ...clusterJobs(database),
      ...paymentJobs(background, peppers),
      ...actionJobs(database, log),
      ...creditJobs(database, tallies),
      ...logJobs(database, signer),
      ...publicationJobs({
        database,
        signer,
        settings: config.publication,
        post: (url, body, giveUp) =>
          outbound.exchange(url, { headers: { 'content-type': 'text/plain' }, body }, giveUp),
        openAccount: () => findOrCreateCustomer(database, platformCustomer, null),
        tallies,
        log,
      }),
      ...eventJobs(deliverer, database, config),
    ]
    if (config.worker) worker = startWorker(jobs, log, tallies)
    const removeProcessId = writeProcessId(dataDir)
    parts.defer(async () => removeProcessId())
    const hasOperators = (await countOperators(database)) > 0
    // Last of all: a service that reports ready has every part in place, and nothing is left that could fail.
    internal = buildInternalListener({
      database: requestDatabase,
      gateway,
      money: reportMoney(config, log),
      standbys: config.standbys,
      credits,
      payments,
      authenticateService,
      bodyLimitBytes,
      log: quiet,
      counts: counts.internal,
      metrics,
      tracing,
      hostnames: config.internalHostnames,
      document: servedDocument(() => apiDocument(addresses())),
      signer,
      logState,
      console: {
        database: requestDatabase,
        payments,
        background,
        deliveries,
        peppers,
        log,
        limits: { pendingOrdersPerCustomer: config.pendingOrdersPerCustomer, requestsPerSecond: rateLimitPerSecond },
        adjustments: config.adjustments,
        signer,
        witnesses: config.publication.witnesses,
        paymentUrlOf: paymentUrlsBy(paymentUrlTemplate(config, sandboxUrl)),
        isHeldBack: () => breakerState() !== 'closed',
        secureCookies: config.production,
        firstPasswordHours: config.firstPasswordHours,
      },
    })
    internalUrl = await listen(internal, 'INTERNAL_PORT', internalHost, config.internalPort)
    // After the last step that can fail: a service that does not come up has no note.
    const removeNote = writeRunningNote(config)
    parts.defer(async () => removeNote())
    return {
      publicUrl,
      internalUrl,
      webhookUrl,
      sandboxUrl,
      databasePlace: opened.place,
      hasOperators,
      close: () => parts.disposeAsync(),
    }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

/** Settings that production has to give: src/config.ts has refused to start without them. */
function configured<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** Whether the transparency log signs, as readiness reports it. Both the settings and the restore stay as they are at the start. */
async function reportLog(database: Database, signer: LogSigner, log: Log): Promise<string> {
  const restore = await findHoldingRestore(database, signer)
  if (!restore) return 'signs'
  const text = heldBackText(restore, signer.origin)
  log.warn({}, text)
  return text
}

/** Whether a payment moves money, as readiness reports it. Production in which none moves is a warning. */
export function reportMoney({ production, gateway }: Config, log: Log): string {
  const isSandbox = gateway.kind === 'sandbox'
  if (!isSandbox && !gateway.secretKey.startsWith('test_')) return 'moves'
  const reason = isSandbox ? 'the sandbox as the gateway' : 'test keys of the gateway'
  if (production) log.warn({}, `production with ${reason}: no money moves`)
  return `no money moves: ${reason}`
}
