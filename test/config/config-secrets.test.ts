// The settings that are secrets: allowed values, and that no fault message contains one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigFaults, readConfig } from '../../src/config.ts'

const pepper = 'sixteen letters!'

function faultsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigFaults)
    return error.faults
  }
}

test('WEBHOOK_TOKEN is a path segment that cannot be guessed: 16 to 200 letters, digits, - and _', () => {
  const fault = 'WEBHOOK_TOKEN: expected 16 to 200 letters, digits, - and _'
  for (const text of [
    'a'.repeat(15),
    'a'.repeat(201),
    `${'a'.repeat(16)}/b`,
    `${'a'.repeat(16)}?`,
    'sixteen letters!',
  ]) {
    assert.deepEqual(faultsOf({ WEBHOOK_TOKEN: text }), [fault], text)
  }
  for (const text of ['a'.repeat(16), 'Z'.repeat(200)])
    assert.equal(readConfig({ WEBHOOK_TOKEN: text }).webhookToken, text)
})

test('KEY_PEPPER is one secret or several with versions: the first is for new keys', () => {
  const other = 'another sixteen letters'
  for (const [text, peppers] of [
    [pepper, [{ version: 1, secret: pepper }]],
    [`7:${pepper}`, [{ version: 7, secret: pepper }]],
    [
      `2:${other},1:${pepper}`,
      [
        { version: 2, secret: other },
        { version: 1, secret: pepper },
      ],
    ],
    [
      `2:${other}, ${pepper}`,
      [
        { version: 2, secret: other },
        { version: 1, secret: pepper },
      ],
    ],
    [`a:${other}`, [{ version: 1, secret: `a:${other}` }]],
  ] as const) {
    assert.deepEqual(readConfig({ KEY_PEPPER: text }).keyPeppers, peppers)
  }
  const expected =
    'KEY_PEPPER: expected a secret of at least 16 characters, or several different ones as "2:secret,1:older secret"'
  for (const text of [
    'short',
    '1:short',
    `${pepper},short`,
    `${pepper},${other}`,
    `2:${pepper},2:${other}`,
    `2:${pepper},1:${pepper}`,
    `${pepper},`,
  ]) {
    assert.deepEqual(faultsOf({ KEY_PEPPER: text }), [expected], text)
  }
})

test('no fault message contains a secret', () => {
  const secrets = {
    KEY_PEPPER: 'hush-1',
    DATABASE_URL: 'mysql://root:hush-2@db',
    TOSS_SECRET_KEY: 'hush-3',
    PORT: 'x',
    WEBHOOK_TOKEN: 'hush-4',
  }
  assert.ok(
    !faultsOf({ ...secrets, GATEWAY: 'toss' })
      .join('\n')
      .includes('hush'),
  )
})
