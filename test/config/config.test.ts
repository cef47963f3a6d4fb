// The settings: allowed values, defaults, and that all faults are reported at once.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import {
  ConfigFaults,
  deliverySettings,
  outboundOptions,
  paymentSettings,
  paymentUrlTemplate,
  readConfig,
} from '../../src/config.ts'
import { readWitnesses } from '../../src/transparency/publication/witnesses.ts'

type Environment = Record<string, string>

function faultsOf(environment: Environment): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigFaults)
    assert.equal(error.message, error.faults.join('\n'))
    return error.faults
  }
}

const pepper = 'sixteen letters!'
const witness = 'https://witness.example/ witness.example/w1+77877cba+BMfofsgk5Rws0Rj4GqDZN2NdxCyx0xfKGvIkD1IRK8y7'
const toss: Environment = {
  GATEWAY: 'toss',
  TOSS_CLIENT_KEY: 'live_ck_1',
  TOSS_SECRET_KEY: 'live_sk_1',
  KEY_PEPPER: pepper,
  WEBHOOK_TOKEN: 'sixteen_letters-',
  SUCCESS_URL: 'https://shop.example/success',
  FAIL_URL: 'https://shop.example/fail',
}

test('nothing has to be set: sandbox mode on the loopback address', () => {
  assert.deepEqual(readConfig({}), {
    production: false,
    host: '127.0.0.1',
    port: 8080,
    internalHost: '127.0.0.1',
    internalPort: 8081,
    internalHostnames: [],
    reference: { publicUrl: undefined, internalUrl: undefined, isPublic: false },
    transparencyLog: { origin: 'prepaid-credits/log', continuedRestore: undefined, isPublic: false },
    webhookPort: 8083,
    webhookToken: undefined,
    dataDir: resolve('data'),
    databaseUrl: undefined,
    migrationDatabaseUrl: undefined,
    databaseConnections: 10,
    databaseWaitMs: 60_000,
    durability: 'server',
    standbys: 'optional',
    keyPeppers: undefined,
    gateway: {
      kind: 'sandbox',
      clientKey: 'test_ck_sandbox',
      secretKey: 'test_sk_sandbox',
      host: '127.0.0.1',
      port: 8082,
      strict: false,
    },
    gatewayConnectTimeoutMs: 2_000,
    gatewayTimeoutMs: 30_000,
    gatewayLookupTimeoutMs: 5_000,
    gatewayListTimeoutMs: 60_000,
    gatewayPaymentUrl: undefined,
    operationLeaseMs: 40_000,
    operationWaitMs: 5_000,
    operationRetryMaxMs: 300_000,
    operationFlagAttempts: 20,
    pendingOrdersPerCustomer: 1_000,
    pendingOrderLifetimeMs: 86_400_000,
    refundRules: [{ from: null, fullPriceDays: 7, smallestAmount: 1_000, sharePercent: 100 }],
    movementsKeptDays: 400,
    successUrl: 'http://127.0.0.1:8084/success',
    failUrl: 'http://127.0.0.1:8084/fail',
    storefront: { port: 8084, hasOwnUrls: true },
    shopTexts: { name: null, seller: null, termsUrl: null, refundRule: null },
    eventPrivateAddresses: true,
    eventTimeoutMs: 15_000,
    eventFirstPauseMs: 5_000,
    eventRetryMaxMs: 3_600_000,
    eventDeadAfterMs: 259_200_000,
    eventsKeptDays: 400,
    eventAttemptsKeptDays: 30,
    firstPasswordHours: 72,
    adjustments: { limits: { viewer: 0, support: 20, finance: 500, admin: 2_000 }, approvalAbove: 200 },
    bodyLimitBytes: 16_384,
    rateLimitPerSecond: 20_000,
    shutdownTimeoutMs: 25_000,
    publication: { witnesses: [], everySeconds: 3_600, file: undefined },
    worker: true,
    logLevel: 'info',
    tracing: undefined,
  })
})

test('every setting is read from its variable', () => {
  const config = readConfig({
    ...toss,
    NODE_ENV: 'production',
    HOST: '0.0.0.0',
    PORT: '0',
    INTERNAL_HOST: '10.0.0.1',
    INTERNAL_PORT: '65535',
    INTERNAL_HOSTNAMES: 'Credits.Internal, service',
    PUBLIC_URL: 'https://credits.example/api/',
    INTERNAL_URL: 'http://credits.internal',
    PUBLIC_REFERENCE: 'on',
    LOG_ORIGIN: 'credits.example/log',
    LOG_CONTINUE_AFTER_RESTORE: '0B1C7F0E-62f5-4a3c-9d55-3a2f2f1f7c11',
    PUBLIC_LOG: 'on',
    WEBHOOK_PORT: '1',
    DATA_DIR: '/var/lib/credits',
    DATABASE_URL: 'postgresql://credits:secret@db.example:5432/credits',
    MIGRATION_DATABASE_URL: 'postgres://owner:secret@db.example:5432/credits',
    DATABASE_CONNECTIONS: '50',
    DATABASE_DURABILITY: 'provider',
    DATABASE_STANDBYS: 'required',
    DATABASE_WAIT_MS: '5000',
    TOSS_API_URL: 'https://proxy.example/toss//',
    GATEWAY_CONNECT_TIMEOUT_MS: '1',
    GATEWAY_TIMEOUT_MS: '2',
    GATEWAY_LOOKUP_TIMEOUT_MS: '3',
    GATEWAY_LIST_TIMEOUT_MS: '4',
    GATEWAY_PAYMENT_URL: 'https://gateway.example/{paymentKey}',
    OPERATION_LEASE_MS: '5',
    OPERATION_WAIT_MS: '6',
    OPERATION_RETRY_MAX_MS: '1000',
    OPERATION_FLAG_ATTEMPTS: '8',
    PENDING_ORDERS_PER_CUSTOMER: '0',
    PENDING_ORDER_LIFETIME_MS: '1001',
    REFUND_FULL_PRICE_DAYS: '14',
    REFUND_SMALLEST_AMOUNT: '5000',
    REFUND_RULES: '[{"from": "2026-12-01", "fullPriceDays": 7, "smallestAmount": 1000, "sharePercent": 80}]',
    MOVEMENTS_KEPT_DAYS: '90',
    SHOP_NAME: 'Acme',
    SHOP_SELLER: 'Acme Inc.',
    SHOP_TERMS_URL: 'https://shop.example/terms',
    SHOP_REFUND_RULE: 'No refunds.',
    EVENT_PRIVATE_ADDRESSES: 'allow',
    EVENT_TIMEOUT_MS: '9',
    EVENT_FIRST_PAUSE_MS: '10',
    EVENT_RETRY_MAX_MS: '11',
    EVENT_DEAD_AFTER_MS: '12',
    EVENTS_KEPT_DAYS: '91',
    EVENT_ATTEMPTS_KEPT_DAYS: '92',
    FIRST_PASSWORD_HOURS: '14',
    ADJUSTMENT_LIMITS: 'admin=7, support=3',
    ADJUSTMENT_APPROVAL_ABOVE: '5',
    BODY_LIMIT_BYTES: '1024',
    RATE_LIMIT_PER_SECOND: '13',
    SHUTDOWN_TIMEOUT_MS: '7',
    CHECKPOINT_SECONDS: '15',
    CHECKPOINT_FILE: '/srv/checkpoint',
    LOG_WITNESSES: witness,
    WORKER: 'off',
    LOG_LEVEL: 'silent',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_SERVICE_NAME: 'credits',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
  })
  assert.deepEqual(config, {
    production: true,
    host: '0.0.0.0',
    port: 0,
    internalHost: '10.0.0.1',
    internalPort: 65_535,
    internalHostnames: ['credits.internal', 'service'],
    reference: { publicUrl: 'https://credits.example/api', internalUrl: 'http://credits.internal', isPublic: true },
    transparencyLog: {
      origin: 'credits.example/log',
      continuedRestore: '0b1c7f0e-62f5-4a3c-9d55-3a2f2f1f7c11',
      isPublic: true,
    },
    webhookPort: 1,
    webhookToken: 'sixteen_letters-',
    dataDir: '/var/lib/credits',
    databaseUrl: 'postgresql://credits:secret@db.example:5432/credits',
    migrationDatabaseUrl: 'postgres://owner:secret@db.example:5432/credits',
    databaseConnections: 50,
    databaseWaitMs: 5_000,
    durability: 'provider',
    standbys: 'required',
    keyPeppers: [{ version: 1, secret: pepper }],
    gateway: { kind: 'toss', clientKey: 'live_ck_1', secretKey: 'live_sk_1', apiUrl: 'https://proxy.example/toss' },
    gatewayConnectTimeoutMs: 1,
    gatewayTimeoutMs: 2,
    gatewayLookupTimeoutMs: 3,
    gatewayListTimeoutMs: 4,
    gatewayPaymentUrl: 'https://gateway.example/{paymentKey}',
    operationLeaseMs: 5,
    operationWaitMs: 6,
    operationRetryMaxMs: 1_000,
    operationFlagAttempts: 8,
    pendingOrdersPerCustomer: 0,
    pendingOrderLifetimeMs: 1_001,
    refundRules: [
      { from: null, fullPriceDays: 14, smallestAmount: 5_000, sharePercent: 100 },
      { from: '2026-12-01', fullPriceDays: 7, smallestAmount: 1_000, sharePercent: 80 },
    ],
    movementsKeptDays: 90,
    storefront: undefined,
    shopTexts: {
      name: 'Acme',
      seller: 'Acme Inc.',
      termsUrl: 'https://shop.example/terms',
      refundRule: 'No refunds.',
    },
    successUrl: 'https://shop.example/success',
    failUrl: 'https://shop.example/fail',
    eventPrivateAddresses: true,
    eventTimeoutMs: 9,
    eventFirstPauseMs: 10,
    eventRetryMaxMs: 11,
    eventDeadAfterMs: 12,
    eventsKeptDays: 91,
    eventAttemptsKeptDays: 92,
    firstPasswordHours: 14,
    adjustments: { limits: { viewer: 0, support: 3, finance: 0, admin: 7 }, approvalAbove: 5 },
    bodyLimitBytes: 1_024,
    rateLimitPerSecond: 13,
    shutdownTimeoutMs: 7,
    publication: { witnesses: readWitnesses(witness), everySeconds: 15, file: '/srv/checkpoint' },
    worker: false,
    logLevel: 'silent',
    tracing: { url: 'http://collector:4318/v1/traces', serviceName: 'credits', ratio: 0.5 },
  })
  const sandbox = { SANDBOX_PORT: '9', SANDBOX_STRICT: '1', TOSS_CLIENT_KEY: 'ck', TOSS_SECRET_KEY: 'sk' }
  const expected = { kind: 'sandbox', clientKey: 'ck', secretKey: 'sk', host: '127.0.0.1', port: 9, strict: true }
  assert.deepEqual(readConfig(sandbox).gateway, expected)
  assert.equal(readConfig({ STOREFRONT_PORT: '99' }).failUrl, 'http://127.0.0.1:99/fail')
  assert.deepEqual(readConfig(toss).gateway, {
    kind: 'toss',
    clientKey: 'live_ck_1',
    secretKey: 'live_sk_1',
    apiUrl: 'https://api.tosspayments.com',
  })
})

test('the payments, the events and the links to the gateway follow their settings', () => {
  const config = readConfig({
    GATEWAY_TIMEOUT_MS: '5000',
    OPERATION_RETRY_MAX_MS: '7000',
    OPERATION_FLAG_ATTEMPTS: '8',
    REFUND_FULL_PRICE_DAYS: '2',
    EVENT_TIMEOUT_MS: '9',
    EVENT_FIRST_PAUSE_MS: '10',
    EVENT_RETRY_MAX_MS: '11',
    EVENT_DEAD_AFTER_MS: '12',
    EVENT_PRIVATE_ADDRESSES: 'refuse',
  })
  const { paymentSessionMs, retryLongestPauseMs, stuckAfterAttempts, firstRefundRule } = paymentSettings(config)
  assert.equal(paymentSessionMs, 605_000, 'ten minutes, and as long as a request may take')
  assert.deepEqual([retryLongestPauseMs, stuckAfterAttempts, firstRefundRule.fullPriceDays], [7_000, 8, 2])
  assert.deepEqual(deliverySettings(config), { timeoutMs: 9, firstPauseMs: 10, longestPauseMs: 11, deadAfterMs: 12 })
  assert.deepEqual(outboundOptions(config), { allowPrivate: false, timeoutMs: 9 })
  const own = readConfig({ GATEWAY_PAYMENT_URL: 'https://gateway.example/{orderId}' })
  const templates = [config, own].map((each) => paymentUrlTemplate(each, 'http://sandbox'))
  assert.deepEqual(templates, ['http://sandbox/sandbox?payment={paymentKey}', 'https://gateway.example/{orderId}'])
  assert.equal(paymentUrlTemplate(config), undefined)
})

test('a name that the internal listener listens on is accepted as its host, an address is none', () => {
  const namesOf = (INTERNAL_HOST: string) =>
    readConfig({ INTERNAL_HOST, INTERNAL_HOSTNAMES: 'service' }).internalHostnames
  assert.deepEqual(namesOf('Credits.Internal'), ['service', 'credits.internal'])
  for (const address of ['10.0.0.1', '::1']) assert.deepEqual(namesOf(address), ['service'])
})

test('the shop is returned to at its own addresses unless either is set', () => {
  const hasOwnUrls = (environment: Environment) => readConfig(environment).storefront?.hasOwnUrls
  const url = 'https://shop.example/'
  assert.deepEqual([{}, { SUCCESS_URL: url }, { FAIL_URL: url }].map(hasOwnUrls), [true, false, false])
})

test('events go to private addresses by default only in sandbox mode with the embedded database, outside production', () => {
  const allowed = (environment: Environment) => readConfig(environment).eventPrivateAddresses
  assert.equal(allowed({}), true)
  assert.equal(allowed({ DATABASE_URL: 'postgresql://credits@db.example/credits' }), false)
  assert.equal(allowed({ NODE_ENV: 'production', GATEWAY: 'sandbox', KEY_PEPPER: pepper }), false)
  assert.equal(allowed(toss), false)
})

test('a variable that is empty or blank counts as not set; blanks around a value do not', () => {
  assert.deepEqual(
    readConfig({ PORT: '', GATEWAY: ' ', DATABASE_URL: '', KEY_PEPPER: '', LOG_LEVEL: '\t' }),
    readConfig({}),
  )
  assert.equal(readConfig({ PORT: ' 80 ' }).port, 80)
})

const integers: [name: string, min: number, max: number][] = [
  ['PORT', 0, 65_535],
  ['INTERNAL_PORT', 0, 65_535],
  ['WEBHOOK_PORT', 0, 65_535],
  ['SANDBOX_PORT', 0, 65_535],
  ['STOREFRONT_PORT', 0, 65_535],
  ['DATABASE_CONNECTIONS', 2, 1_000],
  ['GATEWAY_CONNECT_TIMEOUT_MS', 1, 3_600_000],
  ['GATEWAY_TIMEOUT_MS', 1, 3_600_000],
  ['GATEWAY_LOOKUP_TIMEOUT_MS', 1, 3_600_000],
  ['GATEWAY_LIST_TIMEOUT_MS', 1, 3_600_000],
  ['OPERATION_LEASE_MS', 1, 3_600_000],
  ['OPERATION_WAIT_MS', 1, 3_600_000],
  ['OPERATION_RETRY_MAX_MS', 1_000, 86_400_000],
  ['OPERATION_FLAG_ATTEMPTS', 1, 10_000],
  ['PENDING_ORDERS_PER_CUSTOMER', 0, 1_000_000],
  ['PENDING_ORDER_LIFETIME_MS', 1_000, 31_536_000_000],
  ['REFUND_FULL_PRICE_DAYS', 0, 3_650],
  ['REFUND_SMALLEST_AMOUNT', 1, 100_000],
  ['MOVEMENTS_KEPT_DAYS', 0, 36_500],
  ['EVENT_TIMEOUT_MS', 1, 3_600_000],
  ['EVENT_FIRST_PAUSE_MS', 1, 3_600_000],
  ['EVENT_RETRY_MAX_MS', 1, 86_400_000],
  ['EVENT_DEAD_AFTER_MS', 1, 2_592_000_000],
  ['EVENTS_KEPT_DAYS', 30, 36_500],
  ['EVENT_ATTEMPTS_KEPT_DAYS', 1, 36_500],
  ['CHECKPOINT_SECONDS', 1, 86_400],
  ['ADJUSTMENT_APPROVAL_ABOVE', 0, 999_999_999],
  ['BODY_LIMIT_BYTES', 256, 1_048_576],
  ['RATE_LIMIT_PER_SECOND', 0, 1_000_000],
  ['SHUTDOWN_TIMEOUT_MS', 1, 3_600_000],
]

const inTheLease = ['GATEWAY_TIMEOUT_MS', 'GATEWAY_LOOKUP_TIMEOUT_MS']

for (const [name, min, max] of integers) {
  test(`${name} is a whole number from ${min} to ${max}`, () => {
    const bad = [
      `${min - 1}`,
      `${max + 1}`,
      '1.5',
      '1e3',
      '0x10',
      '80a',
      'NaN',
      '-0',
      '1_000',
      '\u0661',
      '9'.repeat(400),
    ]
    for (const text of bad) {
      const expected = [`${name}: expected a whole number from ${min} to ${max}, got "${text}"`]
      assert.deepEqual(faultsOf({ [name]: text }), expected)
    }
    const limits = { GATEWAY_TIMEOUT_MS: '1', GATEWAY_LOOKUP_TIMEOUT_MS: '1', OPERATION_LEASE_MS: '3600000' }
    for (const value of [Math.max(min, 2), max]) {
      const lease = name === 'OPERATION_LEASE_MS' ? limits : { ...limits, GATEWAY_TIMEOUT_MS: '1000' }
      const tooLong = inTheLease.includes(name) && value === max
      const expected = tooLong ? 1 : 0
      assert.equal(faultsOf({ ...lease, [name]: `${value}` }).length, expected, `${value}`)
    }
  })
}

const rulesOf = (...rules: object[]) =>
  JSON.stringify(
    rules.map((rule) => ({ from: '2026-12-01', fullPriceDays: 7, smallestAmount: 1_000, sharePercent: 80, ...rule })),
  )

const url = 'an absolute URL beginning with https:// or http://'
const oneFault: [environment: Environment, fault: string][] = [
  [{ GATEWAY: 'stripe' }, 'GATEWAY: expected one of sandbox, toss, got "stripe"'],
  [{ GATEWAY: 'TOSS' }, 'GATEWAY: expected one of sandbox, toss, got "TOSS"'],
  [{ SANDBOX_STRICT: 'yes' }, 'SANDBOX_STRICT: expected one of 0, 1, got "yes"'],
  [
    { LOG_WITNESSES: 'https://witness.example' },
    'LOG_WITNESSES: expected "URL VKEY" of each witness, separated by commas, each of them once',
  ],
  [
    { LOG_WITNESSES: witness },
    'LOG_ORIGIN is not set: a name such as credits.example.com/log by which the witnesses of LOG_WITNESSES distinguish this log from others is needed',
  ],
  ...[
    'seven',
    '{}',
    '[1]',
    '[{"from":"2026-12-01","fullPriceDays":7,"smallestAmount":1000}]',
    rulesOf({ from: null }),
    rulesOf({ from: '2026-2-1' }),
    rulesOf({ from: '2026-02-30' }),
    rulesOf({ fullPriceDays: -1 }),
    rulesOf({ fullPriceDays: 3_651 }),
    rulesOf({ smallestAmount: 0 }),
    rulesOf({ smallestAmount: 1_000.5 }),
    rulesOf({ smallestAmount: '1000' }),
    rulesOf({ sharePercent: 0 }),
    rulesOf({ sharePercent: 101 }),
    rulesOf({ share: 80 }),
    rulesOf({}, {}),
    rulesOf({}, { from: '2026-11-30' }),
  ].map((text): (typeof oneFault)[number] => [
    { REFUND_RULES: text },
    'REFUND_RULES: expected a JSON list of rules, the earliest first and one for a day, such as [{"from": "2026-12-01", ' +
      '"fullPriceDays": 7, "smallestAmount": 1000, "sharePercent": 80}], with 0 to 3650 days, 1 to 100000 won and 1 to 100 percent',
  ]),
  [{ WORKER: 'no' }, 'WORKER: expected one of on, off, got "no"'],
  [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, got "loud"'],
  [
    { DATABASE_URL: 'mysql://root@db/credits' },
    'DATABASE_URL: expected postgres://user:password@host:port/database; several hosts are separated by commas',
  ],
  [
    { DATABASE_URL: 'credits' },
    'DATABASE_URL: expected postgres://user:password@host:port/database; several hosts are separated by commas',
  ],
  [
    { DATABASE_URL: 'postgres://a@b/c', MIGRATION_DATABASE_URL: 'owner' },
    'MIGRATION_DATABASE_URL: expected postgres://user:password@host:port/database; several hosts are separated by commas',
  ],
  [
    { MIGRATION_DATABASE_URL: 'postgres://owner@b/c' },
    'MIGRATION_DATABASE_URL: expected DATABASE_URL to be set too: the service connects with it',
  ],
  [
    { DATABASE_STANDBYS: 'required' },
    'DATABASE_STANDBYS: expected DATABASE_URL to be set too: the embedded database has no standby',
  ],
  [
    { LOG_ORIGIN: 'my log' },
    'LOG_ORIGIN: expected a name such as credits.example.com/log: letters, digits and . _ ~ : / -',
  ],
  [{ LOG_CONTINUE_AFTER_RESTORE: 'yes' }, 'LOG_CONTINUE_AFTER_RESTORE: expected the id that `restore` has printed'],
  [{ GATEWAY_PAYMENT_URL: '/{paymentKey}' }, `GATEWAY_PAYMENT_URL: expected ${url}`],
  [
    { GATEWAY_PAYMENT_URL: 'https://gateway.example/payments' },
    'GATEWAY_PAYMENT_URL: expected a URL with {paymentKey} or {orderId}',
  ],
  [{ SUCCESS_URL: '/success' }, `SUCCESS_URL: expected ${url}`],
  [{ FAIL_URL: 'javascript:alert(1)' }, `FAIL_URL: expected ${url}`],
  [{ FAIL_URL: 'shop.example/fail' }, `FAIL_URL: expected ${url}`],
  [{ ...toss, TOSS_API_URL: 'api.tosspayments.com' }, `TOSS_API_URL: expected ${url}`],
  [
    { ...toss, NODE_ENV: 'production', PUBLIC_REFERENCE: 'on' },
    'PUBLIC_URL is not set: the address of the API that PUBLIC_REFERENCE=on shows to customers is needed',
  ],
  [{ ...toss, SUCCESS_URL: '' }, `SUCCESS_URL is not set: ${url} is needed`],
  [{ ...toss, FAIL_URL: '' }, `FAIL_URL is not set: ${url} is needed`],
  [
    { ...toss, TOSS_CLIENT_KEY: '' },
    'TOSS_CLIENT_KEY is not set: the client key of your Toss Payments account is needed',
  ],
  [
    { ...toss, TOSS_SECRET_KEY: '' },
    'TOSS_SECRET_KEY is not set: the secret key of your Toss Payments account is needed',
  ],
  [
    { ...toss, KEY_PEPPER: '' },
    'KEY_PEPPER is not set: a secret of at least 16 characters, or several different ones as "2:secret,1:older secret" is needed',
  ],
  [
    { GATEWAY_TIMEOUT_MS: '40000' },
    'OPERATION_LEASE_MS is not set: at least GATEWAY_TIMEOUT_MS + GATEWAY_LOOKUP_TIMEOUT_MS, which is 45000 is needed',
  ],
  [
    { OPERATION_LEASE_MS: '34999' },
    'OPERATION_LEASE_MS: expected at least GATEWAY_TIMEOUT_MS + GATEWAY_LOOKUP_TIMEOUT_MS, which is 35000',
  ],
]

for (const [environment, fault] of oneFault) {
  test(`the fault is reported as: ${fault}`, () => assert.deepEqual(faultsOf(environment), [fault]))
}

test('limits of adjustments that name a role twice, an unknown one, or no credits are refused; a role that is left out adjusts nothing', () => {
  const { limits } = readConfig({ ADJUSTMENT_LIMITS: 'finance=9' }).adjustments
  assert.deepEqual(limits, { viewer: 0, support: 0, finance: 9, admin: 0 })
  for (const text of ['admin=7,admin=9', 'owner=7', 'admin=', 'admin=-1', 'admin=7,']) {
    const expected = 'ADJUSTMENT_LIMITS: expected credits per role and day, such as support=20,finance=500,admin=2000'
    assert.deepEqual(faultsOf({ ADJUSTMENT_LIMITS: text }), [expected], text)
  }
})

test('a lease as long as the gateway limits is long enough', () => {
  assert.equal(readConfig({ OPERATION_LEASE_MS: '35000' }).operationLeaseMs, 35_000)
})

test('all faults are reported at once', () => {
  const environment = { PORT: 'x', INTERNAL_PORT: '-1', LOG_LEVEL: 'x', FAIL_URL: 'x', KEY_PEPPER: 'x', GATEWAY: 'x' }
  const names = faultsOf(environment).map((fault) => fault.split(':')[0])
  assert.deepEqual(names.sort(), Object.keys(environment).sort())
})
