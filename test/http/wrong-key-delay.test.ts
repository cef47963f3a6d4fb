// Slower answers for whoever guesses: by the network they come from, and only when they are wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { refuse } from '../../src/core/errors.ts'
import { createWrongKeyDelay, networkOf } from '../../src/http/limits/wrong-key-delay.ts'

const networks: Record<string, string> = {
  '192.0.2.7': '192.0.2.7',
  '::ffff:192.0.2.7': '192.0.2.7',
  '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
  '2001:db8:1:2::6': '2001:db8:1:2',
  '2001:db8::1': '2001:db8:0:0',
  '2001:db8::2:3:4:5:6': '2001:db8:0:2',
  '::1': '0:0:0:0',
  '': '',
}

for (const [address, network] of Object.entries(networks)) {
  test(`wrong keys from ${address || 'an unknown address'} count for ${network || 'all such'}`, () => {
    assert.equal(networkOf(address), network)
  })
}

test('who has gone meanwhile, and has no address any more, is refused like everybody', async () => {
  const wrong = refuse('AUTH001')
  assert.equal(await createWrongKeyDelay()(undefined, wrong), wrong)
})

test('past a hundred wrong keys of one network the next is told late, another network and another refusal at once', async () => {
  const slowDown = createWrongKeyDelay(() => 0)
  const wrong = refuse('AUTH001')
  for (let tried = 0; tried < 100; tried += 1) await slowDown(`2001:db8::${tried.toString(16)}`, wrong)
  assert.equal(await isAtOnce(slowDown('2001:db8::ffff', wrong)), false)
  assert.equal(await isAtOnce(slowDown('2001:db8:0:1::1', wrong)), true)
  assert.equal(await isAtOnce(slowDown('2001:db8::1', refuse('AUTH003'))), true)
})

test('no more than ten thousand wait to be told: past them one costs nothing but its answer', async () => {
  const slowDown = createWrongKeyDelay(() => 0)
  const wrong = refuse('AUTH001')
  const told = Array.from({ length: 100 + 10_000 }, () => slowDown('192.0.2.7', wrong))
  assert.equal(await isAtOnce(told.at(-1) as Promise<Error>), false)
  assert.equal(await isAtOnce(slowDown('192.0.2.7', wrong)), true)
})

async function isAtOnce(told: Promise<Error>): Promise<boolean> {
  let isTold = false
  told.then(() => {
    isTold = true
  })
  await turn()
  return isTold
}
