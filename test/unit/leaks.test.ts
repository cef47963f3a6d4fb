// The look for secrets in logs would find one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecretText } from '../../src/core/ids.ts'
import { assertLogsNoSecret, createWatchedLog, secretsIn } from '../support/leaks.ts'

const shapes = {
  'an API key': newSecretText('cpk_'),
  'a token of a service': newSecretText('cst_'),
  'a signing secret': `whsec_${'A'.repeat(32)}`,
  'a secret key of the gateway': 'test_sk_of_the_sandbox',
}

for (const [name, secret] of Object.entries(shapes)) {
  test(`${name} in a log is found`, () => {
    assert.deepEqual(secretsIn(`{"level":30,"msg":"for ${secret}"}`), [secret])
    const { log, assertNoSecret } = createWatchedLog()
    log.debug({ detail: `for ${secret}` }, 'something')
    assert.throws(assertNoSecret, /a secret was logged/)
  })
}

test('a pepper of the settings in a log is found, and in what is shown to people it is not looked for', () => {
  const settings = { KEY_PEPPER: 'a pepper of some length', PORT: '8080' }
  const line = '{"level":30,"msg":"a pepper of some length"}'
  assert.throws(() => assertLogsNoSecret(`banner\n${line}\n`, settings), /a secret was logged/)
  assertLogsNoSecret(`your key: ${shapes['an API key']}\n{"level":30,"msg":"ready on 8080"}\n`, settings)
})
