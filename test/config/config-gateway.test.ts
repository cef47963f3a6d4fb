// The settings that decide about real payments: the gateway keys, the shop, and where the secret key is sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigFaults, readConfig } from '../../src/config.ts'
import { reportMoney } from '../../src/service.ts'

const toss = {
  GATEWAY: 'toss',
  TOSS_CLIENT_KEY: 'live_ck_1',
  TOSS_SECRET_KEY: 'live_sk_1',
  KEY_PEPPER: 'a pepper of more than sixteen characters',
  WEBHOOK_TOKEN: 'a-token-of-more-than-sixteen-characters',
  SUCCESS_URL: 'https://shop.example/success',
  FAIL_URL: 'https://shop.example/fail',
}

function faultsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigFaults)
    return error.faults
  }
}

test('the two keys are a pair: same mode and same family', () => {
  const pairs = ['test_ck_1 test_sk_1', 'live_ck_1 live_sk_1', 'test_gck_1 test_gsk_1', 'live_gck_1 live_gsk_1']
  for (const pair of pairs) {
    const [TOSS_CLIENT_KEY = '', TOSS_SECRET_KEY = ''] = pair.split(' ')
    assert.equal(readConfig({ ...toss, TOSS_CLIENT_KEY, TOSS_SECRET_KEY }).gateway.secretKey, TOSS_SECRET_KEY)
  }
  for (const [clientKey, secretKey, wanted] of [
    ['test_ck_1', 'live_sk_1', 'test_sk_…'],
    ['live_ck_1', 'test_sk_1', 'live_sk_…'],
    ['test_gck_1', 'test_sk_1', 'test_gsk_…'],
    ['test_ck_1', 'test_gsk_1', 'test_sk_…'],
  ] as const) {
    assert.deepEqual(faultsOf({ ...toss, TOSS_CLIENT_KEY: clientKey, TOSS_SECRET_KEY: secretKey }), [
      `TOSS_SECRET_KEY: expected the secret key that belongs to TOSS_CLIENT_KEY: ${wanted}`,
    ])
  }
})

test('swapped keys and texts that are no key are recognised by their prefix', () => {
  const swapped = faultsOf({ ...toss, TOSS_CLIENT_KEY: 'live_sk_1', TOSS_SECRET_KEY: 'live_ck_1' })
  assert.deepEqual(
    swapped.map((fault) => fault.split(':')[0]),
    ['TOSS_CLIENT_KEY', 'TOSS_SECRET_KEY'],
  )
})

test('a live key with the sandbox is refused: the operator wants real payments', () => {
  const keys = { TOSS_CLIENT_KEY: 'live_ck_1', TOSS_SECRET_KEY: 'live_gsk_1' }
  const faults = ['TOSS_CLIENT_KEY', 'TOSS_SECRET_KEY'].map(
    (name) => `${name}: expected no live key with the sandbox: set GATEWAY=toss`,
  )
  for (const mode of [{}, { GATEWAY: 'sandbox' }, { GATEWAY: 'sandbox', NODE_ENV: 'production' }]) {
    assert.deepEqual(faultsOf({ ...keys, ...mode }), faults)
  }
  assert.deepEqual(faultsOf({ TOSS_SECRET_KEY: 'live_sk_1' }), faults.slice(1))
  assert.equal(readConfig({ TOSS_SECRET_KEY: 'test_sk_1' }).gateway.secretKey, 'test_sk_1')
})

test('production with test keys or with the sandbox logs a warning at the start: no money moves', () => {
  const testKeys = { TOSS_CLIENT_KEY: 'test_ck_1', TOSS_SECRET_KEY: 'test_sk_1' }
  const production = { NODE_ENV: 'production' }
  const sandbox = { ...production, GATEWAY: 'sandbox', SANDBOX_PORT: '0' }
  const warnings: [environment: object, why: string | null][] = [
    [{ ...toss, ...production, ...testKeys }, 'test keys of the gateway'],
    [{ ...toss, ...production }, null],
    [{ ...toss, ...testKeys }, null],
    [sandbox, 'the sandbox as the gateway'],
    [{ ...sandbox, NODE_ENV: 'development' }, null],
  ]
  for (const [environment, why] of warnings) {
    const logged: string[] = []
    const log = { warn: (_: object, message: string) => logged.push(message), error: () => undefined }
    reportMoney(readConfig({ ...environment }), log)
    assert.deepEqual(logged, why ? [`production with ${why}: no money moves`] : [])
  }
})

test('in production the sandbox accepts only its own payment keys and listens on this machine alone, unless configured otherwise', () => {
  const environment = { INTERNAL_HOST: '0.0.0.0', GATEWAY: 'sandbox' }
  const production = { ...environment, NODE_ENV: 'production' }
  const configured = { SANDBOX_HOST: '10.0.0.1', SANDBOX_STRICT: '0' }
  const expected: [environment: Record<string, string>, host: string, strict: boolean][] = [
    [environment, '0.0.0.0', false],
    [production, '127.0.0.1', true],
    [{ ...production, ...configured }, '10.0.0.1', false],
  ]
  for (const [given, host, strict] of expected) {
    assert.partialDeepStrictEqual(readConfig(given).gateway, { host, strict })
  }
})

test('the shop runs in sandbox mode and with test keys, never in production or with live keys', () => {
  const testKeys = { ...toss, TOSS_CLIENT_KEY: 'test_ck_1', TOSS_SECRET_KEY: 'test_sk_1' }
  assert.deepEqual(readConfig({ STOREFRONT_PORT: '9000' }).storefront, { port: 9000, hasOwnUrls: true })
  assert.deepEqual(readConfig(testKeys).storefront, { port: 8084, hasOwnUrls: false })
  assert.equal(readConfig(toss).storefront, undefined)
  assert.equal(readConfig({ ...testKeys, NODE_ENV: 'production' }).storefront, undefined)
  assert.equal(readConfig({ GATEWAY: 'sandbox', NODE_ENV: 'production' }).storefront, undefined)
})

test('in production the secret key leaves the machine over TLS only', () => {
  const production = { ...toss, NODE_ENV: 'production' }
  for (const TOSS_API_URL of ['http://gateway.example', 'http://10.0.0.1', 'http://127.example']) {
    assert.deepEqual(faultsOf({ ...production, TOSS_API_URL }), ['TOSS_API_URL: expected https:// for another machine'])
  }
  for (const TOSS_API_URL of ['http://127.0.0.1:8082', 'http://localhost:8082', 'http://[::1]:8082']) {
    assert.deepEqual(faultsOf({ ...production, TOSS_API_URL }), [])
  }
})

test('in production the gateway has no default; the sandbox is allowed when it is named', () => {
  const fault = 'GATEWAY is not set: toss (or sandbox, to run without real payments in production mode) is needed'
  assert.deepEqual(faultsOf({ ...toss, GATEWAY: '', NODE_ENV: 'production' }), [fault])
  assert.equal(readConfig({ NODE_ENV: 'production', GATEWAY: 'sandbox' }).gateway.kind, 'sandbox')
  assert.equal(readConfig({ NODE_ENV: 'production', ...toss }).gateway.kind, 'toss')
})

test('with toss nothing has a default: keys, pepper and addresses have to be set, and all missing ones are reported at once', () => {
  const names = (faults: string[]) => faults.map((fault) => fault.split(' ')[0]).sort()
  const needed = ['FAIL_URL', 'KEY_PEPPER', 'SUCCESS_URL', 'TOSS_CLIENT_KEY', 'TOSS_SECRET_KEY']
  assert.deepEqual(names(faultsOf({ NODE_ENV: 'development', GATEWAY: 'toss' })), needed)
  assert.deepEqual(names(faultsOf({ NODE_ENV: 'production', GATEWAY: 'toss' })), [...needed, 'WEBHOOK_TOKEN'])
  const inProduction = ['FAIL_URL', 'GATEWAY', ...needed.slice(1), 'WEBHOOK_TOKEN']
  assert.deepEqual(names(faultsOf({ NODE_ENV: 'production' })), inProduction)
})
