// The secrets that sandbox mode generates: once, written completely, and readable by their owner alone.
import assert from 'node:assert/strict'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDirectory } from '../../harness/processes.ts'
import { readOrMakeSecret } from '../../src/dev/secrets.ts'

const modeOf = (file: string) => statSync(file).mode & 0o777

test('a secret is generated once, readable by its owner alone, and no other file is left', (t) => {
  const directory = newDirectory(t)
  const secret = readOrMakeSecret(directory, 'a-secret')
  assert.match(secret, /^[\w-]{43}$/)
  assert.equal(readOrMakeSecret(directory, 'a-secret'), secret)
  assert.deepEqual(readdirSync(directory), ['a-secret'])
  assert.equal(modeOf(join(directory, 'a-secret')), 0o600)
  assert.notEqual(readOrMakeSecret(directory, 'another'), secret)
})

for (const mode of [0o644, 0o640, 0o604, 0o666]) {
  test(`a file of mode ${mode.toString(8)}, as a copy may have it, is set to 600 before it is used`, (t) => {
    const file = join(newDirectory(t), 'a-secret')
    writeFileSync(file, 'from a copy\n')
    chmodSync(file, mode)
    assert.equal(readOrMakeSecret(join(file, '..'), 'a-secret'), 'from a copy')
    assert.equal(modeOf(file), 0o600)
  })
}

const notRoot = process.getuid?.() === 0 ? false : 'only root can change the effective user'
test('a file of another user that others can read is refused with the command that repairs it', {
  skip: notRoot,
}, (t) => {
  const directory = newDirectory(t)
  const file = join(directory, 'a-secret')
  writeFileSync(file, 'readable', { mode: 0o644 })
  const { seteuid } = process
  assert.ok(seteuid)
  seteuid(65_534)
  try {
    assert.throws(() => readOrMakeSecret(directory, 'a-secret'), {
      message: `${file} can be read by other users, and this user cannot change that: chmod 600 it`,
    })
  } finally {
    seteuid(0)
  }
})
