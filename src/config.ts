// The only reader of the environment. Every setting has a limit and a unit; all faults are reported at once, each with what was
// expected. In production no default is insecure: what sandbox mode generates has to be set.
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { uuidPattern } from './core/ids.ts'
import { createReader, type Environment, type Reader } from './core/settings-reader.ts'
import type { Pepper, Peppers } from './customers/api-keys.ts'
import type { Standbys } from './db/connect.ts'
import type { DeliverySettings } from './events/deliver.ts'
import type { OutboundOptions } from './events/outbound.ts'
import type { OpenGatewayOptions } from './gateway/toss/open.ts'
import { type AdjustmentSettings, noLimits, readAdjustmentLimits } from './operators/adjustment-limits.ts'
import { defaultFirstPasswordHours } from './operators/passwords.ts'
import type { PaymentSettings } from './payments/context.ts'
import { failUrlOf } from './payments/fail-url.ts'
import { type RefundRule, readLaterRules, ruleLimits } from './payments/refunds/dated-rules.ts'
import type { PublicationSettings } from './transparency/publication/publish.ts'
import { readWitnesses } from './transparency/publication/witnesses.ts'

export type Config = {
  production: boolean
  host: string
  port: number
  internalHost: string
  internalPort: number
  /** Names that the listeners of internalHost answer to, besides addresses and localhost; lower case. */
  internalHostnames: string[]
  reference: ReferenceConfig
  transparencyLog: TransparencyLogConfig
  webhookPort: number
  /** Undefined: generated and kept in dataDir. */
  webhookToken: string | undefined
  dataDir: string
  /** Undefined: the embedded PostgreSQL in dataDir. */
  databaseUrl: string | undefined
  /** The URL of the owner of the tables, which migrates; undefined: the role of databaseUrl does. */
  migrationDatabaseUrl: string | undefined
  databaseConnections: number
  /** How long a start or a command waits for a database without a primary. */
  databaseWaitMs: number
  /** What makes a commit survive a power cut; `provider` when the server itself has fsync off by design. */
  durability: 'server' | 'provider'
  /** Whether a primary without a synchronous standby is refused. */
  standbys: Standbys
  /** Undefined: sandbox mode generates one and keeps it in dataDir. */
  keyPeppers: Peppers | undefined
  gateway: GatewayConfig
  gatewayConnectTimeoutMs: number
  gatewayTimeoutMs: number
  gatewayLookupTimeoutMs: number
  gatewayListTimeoutMs: number
  /** The page of a payment at the gateway, with {paymentKey} or {orderId}; undefined: that of the sandbox, or none. */
  gatewayPaymentUrl: string | undefined
  operationLeaseMs: number
  operationWaitMs: number
  operationRetryMaxMs: number
  operationFlagAttempts: number
  pendingOrdersPerCustomer: number
  pendingOrderLifetimeMs: number
  /** The first one holds from the beginning. */
  refundRules: [RefundRule, ...RefundRule[]]
  movementsKeptDays: number
  successUrl: string
  failUrl: string
  /** The example shop; undefined in production and with live keys. */
  storefront: { port: number; hasOwnUrls: boolean } | undefined
  /** What its pages say about the seller; null: a default. */
  shopTexts: { name: string | null; seller: string | null; termsUrl: string | null; refundRule: string | null }
  /** How long the first password of an operator, or one after a reset, is valid. */
  firstPasswordHours: number
  adjustments: AdjustmentSettings
  bodyLimitBytes: number
  /** For each API key; 0: no limit. */
  rateLimitPerSecond: number
  shutdownTimeoutMs: number
  /** Whether events may go to private and loopback addresses: for development. */
  eventPrivateAddresses: boolean
  eventTimeoutMs: number
  eventFirstPauseMs: number
  eventRetryMaxMs: number
  eventDeadAfterMs: number
  eventsKeptDays: number
  eventAttemptsKeptDays: number
  publication: PublicationSettings
  /** Whether this process runs the background jobs. */
  worker: boolean
  logLevel: string
  /** Undefined: nothing is traced. */
  tracing: { url: string; serviceName: string; ratio: number } | undefined
}

export type GatewayConfig =
  | { kind: 'sandbox'; clientKey: string; secretKey: string; host: string; port: number; strict: boolean }
  | { kind: 'toss'; clientKey: string; secretKey: string; apiUrl: string }

/** The reference page of the API: where callers reach the listeners (undefined: where they listen), and who can read it. */
export type ReferenceConfig = {
  publicUrl: string | undefined
  internalUrl: string | undefined
  /** Whether the public listener has one too, of the public API alone. */
  isPublic: boolean
}

/** The log over the ledger: its name in checkpoints and keys, and whether the public listener serves it too. */
export type TransparencyLogConfig = {
  origin: string
  /** The restore after which the log goes on under its name. */
  continuedRestore: string | undefined
  isPublic: boolean
}

export class ConfigFaults extends Error {
  override name = 'ConfigFaults'
  readonly faults: string[]

  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const hour = 3_600_000

/** The directory in which a command was typed: npm and bin/credits change it and pass it on in INIT_CWD. */
export function invokedFrom(environment: Environment = process.env): string {
  return environment.INIT_CWD?.trim() || process.cwd()
}

/** The settings of the database alone: a job that only migrates needs no others. */
export type DatabaseConfig = Pick<
  Config,
  | 'production'
  | 'dataDir'
  | 'databaseUrl'
  | 'migrationDatabaseUrl'
  | 'databaseConnections'
  | 'databaseWaitMs'
  | 'durability'
  | 'standbys'
>

export function readDatabaseConfig(environment: Environment = process.env): DatabaseConfig {
  const read = createReader(environment)
  const config = readDatabase(read)
  if (read.faults.length > 0) throw new ConfigFaults(read.faults)
  return config
}

function readDatabase(read: Reader): DatabaseConfig {
  const databaseUrl = readDatabaseUrl(read, 'DATABASE_URL')
  return {
    production: read.raw('NODE_ENV') === 'production',
    dataDir: resolve(read.text('DATA_DIR', 'a directory', './data')),
    databaseUrl,
    migrationDatabaseUrl: readMigrationUrl(read, databaseUrl),
    databaseConnections: read.integer('DATABASE_CONNECTIONS', 10, 2, 1_000),
    databaseWaitMs: read.integer('DATABASE_WAIT_MS', 60_000, 0, 600_000),
    durability: read.oneOf('DATABASE_DURABILITY', ['server', 'provider'] as const, 'server'),
    standbys: readStandbys(read, databaseUrl),
  }
}

export function readConfig(environment: Environment = process.env): Config {
  const read = createReader(environment)
  const database = readDatabase(read)
  const { production, databaseUrl } = database
  const gateway = readGateway(read, production)
  const sandbox = gateway.kind === 'sandbox'
  // With the sandbox and the embedded database, consumers of events run on the same machine.
  const consumers = sandbox && !production && databaseUrl === undefined ? 'allow' : 'refuse'
  const storefrontPort = read.integer('STOREFRONT_PORT', 8084, 0, 65_535)
  const storefront = storefrontOf(read, storefrontPort, production, gateway)
  const shop = sandbox || storefront ? `http://127.0.0.1:${storefrontPort}` : undefined
  const config: Config = {
    ...database,
    host: read.text('HOST', 'an address', '127.0.0.1'),
    port: read.integer('PORT', 8080, 0, 65_535),
    internalHost: read.text('INTERNAL_HOST', 'an address', '127.0.0.1'),
    internalPort: read.integer('INTERNAL_PORT', 8081, 0, 65_535),
    internalHostnames: readHostnames(read),
    reference: readReference(read, production),
    transparencyLog: readTransparencyLog(read),
    webhookPort: read.integer('WEBHOOK_PORT', 8083, 0, 65_535),
    webhookToken: readWebhookToken(read, production && !sandbox),
    keyPeppers: readPeppers(read, sandbox),
    gateway,
    gatewayConnectTimeoutMs: read.integer('GATEWAY_CONNECT_TIMEOUT_MS', 2_000, 1, hour),
    gatewayTimeoutMs: read.integer('GATEWAY_TIMEOUT_MS', 30_000, 1, hour),
    gatewayLookupTimeoutMs: read.integer('GATEWAY_LOOKUP_TIMEOUT_MS', 5_000, 1, hour),
    gatewayListTimeoutMs: read.integer('GATEWAY_LIST_TIMEOUT_MS', 60_000, 1, hour),
    gatewayPaymentUrl: readPaymentLink(read),
    operationLeaseMs: read.integer('OPERATION_LEASE_MS', 40_000, 1, hour),
    operationWaitMs: read.integer('OPERATION_WAIT_MS', 5_000, 1, hour),
    operationRetryMaxMs: read.integer('OPERATION_RETRY_MAX_MS', 300_000, 1_000, 24 * hour),
    operationFlagAttempts: read.integer('OPERATION_FLAG_ATTEMPTS', 20, 1, 10_000),
    pendingOrdersPerCustomer: read.integer('PENDING_ORDERS_PER_CUSTOMER', 1_000, 0, 1_000_000),
    pendingOrderLifetimeMs: read.integer('PENDING_ORDER_LIFETIME_MS', 24 * hour, 1_000, 365 * 24 * hour),
    refundRules: readRefundRules(read),
    movementsKeptDays: read.integer('MOVEMENTS_KEPT_DAYS', 400, 0, 36_500),
    successUrl: read.url('SUCCESS_URL', ['https:', 'http:'], shop && `${shop}/success`),
    failUrl: read.url('FAIL_URL', ['https:', 'http:'], shop && `${shop}/fail`),
    storefront,
    shopTexts: readShopTexts(read),
    eventPrivateAddresses: read.oneOf('EVENT_PRIVATE_ADDRESSES', ['allow', 'refuse'] as const, consumers) === 'allow',
    eventTimeoutMs: read.integer('EVENT_TIMEOUT_MS', 15_000, 1, hour),
    eventFirstPauseMs: read.integer('EVENT_FIRST_PAUSE_MS', 5_000, 1, hour),
    eventRetryMaxMs: read.integer('EVENT_RETRY_MAX_MS', hour, 1, 24 * hour),
    eventDeadAfterMs: read.integer('EVENT_DEAD_AFTER_MS', 72 * hour, 1, 720 * hour),
    eventsKeptDays: read.integer('EVENTS_KEPT_DAYS', 400, 30, 36_500),
    eventAttemptsKeptDays: read.integer('EVENT_ATTEMPTS_KEPT_DAYS', 30, 1, 36_500),
    publication: readPublication(read),
    worker: read.oneOf('WORKER', ['on', 'off'] as const, 'on') === 'on',
    firstPasswordHours: read.integer('FIRST_PASSWORD_HOURS', defaultFirstPasswordHours, 1, 8_760),
    adjustments: readAdjustments(read),
    bodyLimitBytes: read.integer('BODY_LIMIT_BYTES', 16_384, 256, 1_048_576),
    rateLimitPerSecond: read.integer('RATE_LIMIT_PER_SECOND', 20_000, 0, 1_000_000),
    shutdownTimeoutMs: read.integer('SHUTDOWN_TIMEOUT_MS', 25_000, 1, hour),
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const, 'info'),
    tracing: readTracing(read),
  }
  // A confirm may look up once after its call; past the lease another process would do the same work again.
  const longestCallMs = config.gatewayTimeoutMs + config.gatewayLookupTimeoutMs
  if (config.operationLeaseMs < longestCallMs) {
    read.fault(
      'OPERATION_LEASE_MS',
      `at least GATEWAY_TIMEOUT_MS + GATEWAY_LOOKUP_TIMEOUT_MS, which is ${longestCallMs}`,
    )
  }
  if (read.faults.length > 0) throw new ConfigFaults(read.faults)
  return config
}

/** How the checkpoints of the transparency log become known to others. */
function readPublication(read: Reader): PublicationSettings {
  const witnesses = readWitnesses(read.raw('LOG_WITNESSES') ?? '')
  if (!witnesses) read.fault('LOG_WITNESSES', '"URL VKEY" of each witness, separated by commas, each of them once')
  // The default is the name of every log: a witness would take those of two installations for one history.
  if (witnesses?.length && !read.raw('LOG_ORIGIN')) {
    read.fault(
      'LOG_ORIGIN',
      'a name such as credits.example.com/log by which the witnesses of LOG_WITNESSES distinguish this log from others',
    )
  }
  const file = read.raw('CHECKPOINT_FILE')
  return {
    witnesses: witnesses ?? [],
    everySeconds: read.integer('CHECKPOINT_SECONDS', 3_600, 1, 86_400),
    file: file && resolve(file),
  }
}

/** Any of these turns traces off. */
const tracesOff = { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'none', OTEL_TRACES_SAMPLER: 'always_off' }

/** The standard variables of OpenTelemetry, which may be set for all programs of a machine. */
function readTracing(read: Reader): Config['tracing'] {
  if (Object.entries(tracesOff).some(([name, off]) => read.raw(name)?.toLowerCase() === off)) return undefined
  const [own, base] = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const
  if (!read.raw(own) && !read.raw(base)) return undefined
  const url = read.raw(own)
    ? read.url(own, ['https:', 'http:'], undefined)
    : `${withoutEnd(read.url(base, ['https:', 'http:'], undefined), '/')}/v1/traces`
  return { url, serviceName: read.text('OTEL_SERVICE_NAME', 'a name', 'prepaid-credits'), ratio: readRatio(read) }
}

/** Only samplers by ratio have a ratio as their argument. */
function readRatio(read: Reader): number {
  const sampler = read.raw('OTEL_TRACES_SAMPLER') ?? 'parentbased_traceidratio'
  if (!sampler.endsWith('traceidratio')) return sampler === 'parentbased_always_off' ? 0 : 1
  const ratio = Number(read.raw('OTEL_TRACES_SAMPLER_ARG') ?? '1')
  if (!(ratio >= 0 && ratio <= 1)) read.fault('OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1')
  return ratio
}

/** For the reference page without a service; port 0: any free port. */
export function readDocsConfig(environment: Environment = process.env) {
  const read = createReader(environment)
  const host = read.text('INTERNAL_HOST', 'an address', '127.0.0.1')
  const port = read.integer('DOCS_PORT', 0, 0, 65_535)
  const hostnames = readHostnames(read)
  if (read.faults.length > 0) throw new ConfigFaults(read.faults)
  return { host, port, hostnames }
}

function readReference(read: Reader, production: boolean): ReferenceConfig {
  const addressOf = (name: string) =>
    read.raw(name) ? withoutEnd(read.url(name, ['https:', 'http:'], undefined), '/') : undefined
  const isPublic = read.oneOf('PUBLIC_REFERENCE', ['on', 'off'] as const, 'off') === 'on'
  if (production && isPublic && !read.raw('PUBLIC_URL')) {
    read.fault('PUBLIC_URL', 'the address of the API that PUBLIC_REFERENCE=on shows to customers')
  }
  return { publicUrl: addressOf('PUBLIC_URL'), internalUrl: addressOf('INTERNAL_URL'), isPublic }
}

/** The name is a line of a checkpoint and the name of a key in a signed note: without spaces and `+`. */
function readTransparencyLog(read: Reader): TransparencyLogConfig {
  const origin = read.text('LOG_ORIGIN', 'a name', 'prepaid-credits/log')
  if (!/^[A-Za-z0-9][A-Za-z0-9._~:/-]{0,199}$/.test(origin)) {
    read.fault('LOG_ORIGIN', 'a name such as credits.example.com/log: letters, digits and . _ ~ : / -')
  }
  const continuedRestore = read.raw('LOG_CONTINUE_AFTER_RESTORE')?.toLowerCase()
  if (continuedRestore && !uuidPattern.test(continuedRestore)) {
    read.fault('LOG_CONTINUE_AFTER_RESTORE', 'the id that `restore` has printed')
  }
  return { origin, continuedRestore, isPublic: read.oneOf('PUBLIC_LOG', ['on', 'off'] as const, 'off') === 'on' }
}

/** Includes the name that is listened on. */
function readHostnames(read: Reader): string[] {
  const listed = (read.raw('INTERNAL_HOSTNAMES') ?? '').split(',').map((name) => name.trim().toLowerCase())
  const names = listed.filter((name) => name !== '')
  if (!names.every((name) => /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/.test(name))) {
    read.fault('INTERNAL_HOSTNAMES', 'names without a port, separated by commas, such as "service,credits.internal"')
  }
  const own = read.raw('INTERNAL_HOST')?.toLowerCase()
  return own === undefined || isIP(own) ? names : [...names, own]
}

/** Only the beginning is checked: libpq allows other forms after it, such as a socket directory instead of a host. */
function readDatabaseUrl(read: Reader, name: string): string | undefined {
  const url = read.raw(name)
  if (url && !/^postgres(ql)?:\/\//.test(url)) {
    read.fault(name, 'postgres://user:password@host:port/database; several hosts are separated by commas')
  }
  return url
}

function readStandbys(read: Reader, databaseUrl: string | undefined): Config['standbys'] {
  const standbys = read.oneOf('DATABASE_STANDBYS', ['optional', 'required'] as const, 'optional')
  if (standbys === 'required' && !databaseUrl) {
    read.fault('DATABASE_STANDBYS', 'DATABASE_URL to be set too: the embedded database has no standby')
  }
  return standbys
}

/** Not for the embedded database, which has its own owner. */
function readMigrationUrl(read: Reader, databaseUrl: string | undefined): string | undefined {
  const url = readDatabaseUrl(read, 'MIGRATION_DATABASE_URL')
  if (url && !databaseUrl)
    read.fault('MIGRATION_DATABASE_URL', 'DATABASE_URL to be set too: the service connects with it')
  return url
}

/** A path segment; a sender that knows it may send notifications. */
function readWebhookToken(read: Reader, isNeeded: boolean): string | undefined {
  const token = read.raw('WEBHOOK_TOKEN')
  if (!token && !isNeeded) return undefined
  if (!/^[A-Za-z0-9_-]{16,200}$/.test(token ?? '')) {
    read.fault('WEBHOOK_TOKEN', '16 to 200 letters, digits, - and _')
  }
  return token
}

/** The shop has no login: only with the sandbox, or with the gateway's test keys. */
function storefrontOf(read: Reader, port: number, production: boolean, gateway: GatewayConfig): Config['storefront'] {
  if (production || (gateway.kind === 'toss' && !gateway.secretKey.startsWith('test_'))) return undefined
  return { port, hasOwnUrls: !read.raw('SUCCESS_URL') && !read.raw('FAIL_URL') }
}

function readShopTexts(read: Reader): Config['shopTexts'] {
  return {
    name: read.raw('SHOP_NAME') ?? null,
    seller: read.raw('SHOP_SELLER') ?? null,
    termsUrl: read.raw('SHOP_TERMS_URL') ? read.url('SHOP_TERMS_URL', ['https:', 'http:'], undefined) : null,
    refundRule: read.raw('SHOP_REFUND_RULE') ?? null,
  }
}

function readGateway(read: Reader, production: boolean): GatewayConfig {
  const isMissing = production && read.raw('GATEWAY') === undefined
  if (isMissing) read.fault('GATEWAY', 'toss (or sandbox, to run without real payments in production mode)')
  // Without it production is read as real payments: everything that is missing for them is reported at once.
  if (read.oneOf('GATEWAY', ['sandbox', 'toss'] as const, isMissing ? 'toss' : 'sandbox') === 'toss') {
    const clientKey = read.text('TOSS_CLIENT_KEY', 'the client key of your Toss Payments account', undefined)
    const secretKey = read.text('TOSS_SECRET_KEY', 'the secret key of your Toss Payments account', undefined)
    requirePair(read, clientKey, secretKey)
    return { kind: 'toss', clientKey, secretKey, apiUrl: readApiUrl(read, production) }
  }
  // Live keys are meant for real payments.
  const live = ['TOSS_CLIENT_KEY', 'TOSS_SECRET_KEY'].filter((name) => read.raw(name)?.startsWith('live_'))
  for (const name of live) read.fault(name, 'no live key with the sandbox: set GATEWAY=toss')
  return {
    kind: 'sandbox',
    clientKey: read.text('TOSS_CLIENT_KEY', 'a key', 'test_ck_sandbox'),
    secretKey: read.text('TOSS_SECRET_KEY', 'a key', 'test_sk_sandbox'),
    // Its control endpoints have no authentication: in production they are reachable from the network only if configured.
    host: read.text(
      'SANDBOX_HOST',
      'an address',
      production ? '127.0.0.1' : (read.raw('INTERNAL_HOST') ?? '127.0.0.1'),
    ),
    port: read.integer('SANDBOX_PORT', 8082, 0, 65_535),
    strict: read.oneOf('SANDBOX_STRICT', ['0', '1'] as const, production ? '1' : '0') === '1',
  }
}

function readPaymentLink(read: Reader): string | undefined {
  const name = 'GATEWAY_PAYMENT_URL'
  if (read.raw(name) === undefined) return undefined
  const url = read.url(name, ['https:', 'http:'], undefined)
  if (url && !/\{(paymentKey|orderId)\}/.test(url)) read.fault(name, 'a URL with {paymentKey} or {orderId}')
  return url
}

/**
 * A pair has one mode (test, live) and one family (widget keys have a g); the gateway refuses a mixed pair only when a customer
 * pays.
 */
function requirePair(read: Reader, clientKey: string, secretKey: string): void {
  const client = /^(test|live)_(g?)ck_./.exec(clientKey)
  const secret = /^(test|live)_(g?)sk_./.exec(secretKey)
  if (clientKey && !client)
    read.fault('TOSS_CLIENT_KEY', 'a client key: test_ck_…, live_ck_…, test_gck_… or live_gck_…')
  if (secretKey && !secret)
    read.fault('TOSS_SECRET_KEY', 'a secret key: test_sk_…, live_sk_…, test_gsk_… or live_gsk_…')
  if (!client || !secret || (client[1] === secret[1] && client[2] === secret[2])) return
  read.fault('TOSS_SECRET_KEY', `the secret key that belongs to TOSS_CLIENT_KEY: ${client[1]}_${client[2]}sk_…`)
}

/** The secret key is sent there: in production over TLS, or only within this machine. */
function readApiUrl(read: Reader, production: boolean): string {
  const url = read.url('TOSS_API_URL', ['https:', 'http:'], 'https://api.tosspayments.com')
  const { protocol, hostname } = URL.parse(url) ?? {}
  const isLoopback = isIP(hostname ?? '') === 4 && hostname?.startsWith('127.')
  const local = hostname === 'localhost' || hostname === '[::1]' || isLoopback
  if (production && protocol === 'http:' && !local) read.fault('TOSS_API_URL', 'https:// for another machine')
  return withoutEnd(url, '/')
}

/** A regular expression would have quadratic running time. */
function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? withoutEnd(text.slice(0, -1), end) : text
}

/** `secret`, or `2:new secret,1:old secret`: the first is for new keys, the others are for older keys. */
function readPeppers(read: Reader, sandbox: boolean): Peppers | undefined {
  const expected = 'a secret of at least 16 characters, or several different ones as "2:secret,1:older secret"'
  const text = read.raw('KEY_PEPPER')
  if (text === undefined) {
    if (!sandbox) read.fault('KEY_PEPPER', expected)
    return undefined
  }
  const peppers = text.split(',').map((part): Pepper => {
    const [, version = '1', secret = ''] = /^(?:(\d{1,9}):)?(.*)$/.exec(part.trim()) ?? []
    return { version: Number(version), secret }
  })
  const [first, ...others] = peppers
  const versions = new Set(peppers.map((pepper) => pepper.version))
  // With a secret twice the log would have one key twice, and verifiers refuse a note with two signatures of one key.
  const secrets = new Set(peppers.map((pepper) => pepper.secret))
  const isRepeated = versions.size < peppers.length || secrets.size < peppers.length
  if (!first || isRepeated || peppers.some((pepper) => pepper.secret.length < 16)) {
    read.fault('KEY_PEPPER', expected)
    return undefined
  }
  return [first, ...others]
}

function readAdjustments(read: Reader): AdjustmentSettings {
  const fallback = 'support=20,finance=500,admin=2000'
  const limits = readAdjustmentLimits(read.text('ADJUSTMENT_LIMITS', 'credits per role', fallback))
  if (!limits) read.fault('ADJUSTMENT_LIMITS', `credits per role and day, such as ${fallback}`)
  return {
    limits: limits ?? noLimits,
    approvalAbove: read.integer('ADJUSTMENT_APPROVAL_ABOVE', 200, 0, 999_999_999),
  }
}

function readRefundRules(read: Reader): Config['refundRules'] {
  const first = {
    from: null,
    fullPriceDays: read.integer('REFUND_FULL_PRICE_DAYS', 7, ...ruleLimits.fullPriceDays),
    smallestAmount: read.integer('REFUND_SMALLEST_AMOUNT', 1_000, ...ruleLimits.smallestAmount),
    sharePercent: 100,
  }
  const later = readLaterRules(read.raw('REFUND_RULES') ?? '[]')
  if (!later) {
    read.fault(
      'REFUND_RULES',
      'a JSON list of rules, the earliest first and one for a day, such as [{"from": "2026-12-01", "fullPriceDays": 7, ' +
        '"smallestAmount": 1000, "sharePercent": 80}], with 0 to 3650 days, 1 to 100000 won and 1 to 100 percent',
    )
  }
  return [first, ...(later ?? [])]
}

/** How long the gateway accepts a confirm after the buyer has authenticated. */
const gatewaySessionMs = 600_000

export function paymentSettings(config: Config): PaymentSettings {
  const { operationLeaseMs, operationWaitMs, pendingOrdersPerCustomer, pendingOrderLifetimeMs } = config
  return {
    operationLeaseMs,
    operationWaitMs,
    pendingOrdersPerCustomer,
    pendingOrderLifetimeMs,
    // A request may arrive as late as its time limit, in a session that is about to end.
    paymentSessionMs: gatewaySessionMs + config.gatewayTimeoutMs,
    retryFirstPauseMs: 1_000,
    retryLongestPauseMs: config.operationRetryMaxMs,
    stuckAfterAttempts: config.operationFlagAttempts,
    firstRefundRule: config.refundRules[0],
    movementsKeptDays: config.movementsKeptDays,
    clientKey: config.gateway.clientKey,
    successUrl: config.successUrl,
    failUrlOf: failUrlOf(config.failUrl),
  }
}

/** Toss Payments, or the sandbox at its address. */
export function gatewayOptions(config: Config, sandboxUrl?: string): OpenGatewayOptions {
  const { gateway } = config
  const apiUrl = gateway.kind === 'toss' ? gateway.apiUrl : sandboxUrl
  if (apiUrl === undefined) throw new Error('GATEWAY=sandbox, and no sandbox is running')
  return { ...config, apiUrl, secretKey: gateway.secretKey }
}

/** The page of a payment at the gateway. */
export function paymentUrlTemplate({ gatewayPaymentUrl }: Config, sandboxUrl?: string): string | undefined {
  return gatewayPaymentUrl ?? (sandboxUrl && `${sandboxUrl}/sandbox?payment={paymentKey}`)
}

export function deliverySettings(config: Config): DeliverySettings {
  return {
    timeoutMs: config.eventTimeoutMs,
    firstPauseMs: config.eventFirstPauseMs,
    longestPauseMs: config.eventRetryMaxMs,
    deadAfterMs: config.eventDeadAfterMs,
  }
}

export function outboundOptions(config: Config): OutboundOptions {
  return { allowPrivate: config.eventPrivateAddresses, timeoutMs: config.eventTimeoutMs }
}
