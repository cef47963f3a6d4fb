// The search for secrets in logs and in the output of processes finds each kind of secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cardNumbersIn } from '../../harness/card-numbers.ts'
import { newDirectory } from '../../harness/processes.ts'
import { newSecretText } from '../../src/core/ids.ts'
import { readOrMakeSecret } from '../../src/dev/secrets.ts'
import { assertNoSecretPrinted, createWatchedLog, secretsIn } from '../support/leaks.ts'

const shapes = {
  'an API key': newSecretText('cpk_'),
  'a token of a service': newSecretText('cst_'),
  'a signing secret': `whsec_${'A'.repeat(32)}`,
  'a secret key of the gateway': 'test_sk_of_the_sandbox',
  'a card number': '4242424242424242',
  'a card number in groups': '4000-0566-5566-5556',
}

for (const [name, secret] of Object.entries(shapes)) {
  test(`${name} in a log is found`, () => {
    assert.deepEqual(secretsIn(`{"level":30,"msg":"for ${secret}"}`), [secret])
    const { log, assertNoSecret } = createWatchedLog()
    log.debug({ detail: `for ${secret}` }, 'something')
    assert.throws(assertNoSecret, /a secret was logged/)
  })
}

const settings = {
  KEY_PEPPER: '2:a pepper of some length,1: an older one of some length',
  WEBHOOK_TOKEN: 'a-token-of-some-length',
  DATABASE_URL: 'postgres://credits:hunter2%2Fhush@localhost/credits',
  MIGRATION_DATABASE_URL: 'postgres:///credits?host=/tmp&user=owner&password=hush-hush-two',
  PORT: '8080',
}
for (const [secret, name] of [
  ['a pepper of some length', 'KEY_PEPPER'],
  ['an older one of some length', 'KEY_PEPPER'],
  ['a-token-of-some-length', 'WEBHOOK_TOKEN'],
  ['hunter2/hush', 'DATABASE_URL'],
  ['hunter2%2Fhush', 'DATABASE_URL'],
  ['hush-hush-two', 'MIGRATION_DATABASE_URL'],
] as const) {
  test(`"${secret}" of ${name} is found in a log and in the output of a process`, () => {
    assert.deepEqual(secretsIn(`for ${secret}`, settings), [`the secret of ${name}`])
    const { log, assertNoSecret } = createWatchedLog(settings)
    log.info({ detail: `for ${secret}` }, 'something')
    assert.throws(assertNoSecret, /a secret was logged/)
    for (const output of [
      { stdout: `for people: ${secret}\n`, stderr: '' },
      { stdout: '', stderr: `Error: ${secret}\n` },
    ]) {
      assert.throws(() => assertNoSecretPrinted(output, ['keys', 'list'], settings), /a secret was printed/)
    }
  })
}

test('generated secrets of a service in DATA_DIR are found too', (t) => {
  const DATA_DIR = newDirectory(t)
  const pepper = readOrMakeSecret(DATA_DIR, 'key-pepper')
  assert.equal(secretsIn(`{"msg":"${pepper}"}`, { DATA_DIR }).length, 1)
})

test('a new secret may be in the output of the command that issues it, and in two lines of the banner', () => {
  const shown = `your key: ${shapes['an API key']}\n`
  assertNoSecretPrinted({ stdout: shown, stderr: '' }, ['src/cli.ts', 'keys', 'issue', '--customer', 'a'], settings)
  assert.throws(() => assertNoSecretPrinted({ stdout: shown, stderr: '' }, ['src/cli.ts', 'keys', 'list'], settings))
  assert.throws(() => assertNoSecretPrinted({ stdout: '', stderr: shown }, ['src/cli.ts', 'keys', 'issue'], settings))
  const { WEBHOOK_TOKEN: token } = settings
  const banner = `  webhooks   http://127.0.0.1:8083/webhooks/toss/${token}   (for the gateway alone)\n`
  assertNoSecretPrinted({ stdout: `${banner}  KEY=${shapes['an API key']}\n`, stderr: '' }, ['src/main.ts'], settings)
  assert.throws(() => assertNoSecretPrinted({ stdout: `listening at ${token}`, stderr: '' }, ['src/main.ts'], settings))
})

test('a number that is no card number is not reported', () => {
  const others = [
    '4242424242424241',
    'ord_4242424242424242',
    'x4242424242424242',
    '4242424242424242abc',
    '424242424242',
    '"time":1763230000000',
    '"time":1763230000008',
    '2026-11-15 18:33:22.625+00',
    '0000000000000000',
    '00000000-0000-4000-8000-000000000000',
  ]
  assert.deepEqual(others.flatMap(cardNumbersIn), [])
})
