// Delayed answers to clients that guess keys: by network, and only for wrong keys.
import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
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
  test(`wrong keys from ${address || 'an unknown address'} count for the network ${network || 'of all unknown addresses'}`, () => {
    assert.equal(networkOf(address), network)
  })
}

test('a client that has disconnected and has no address any more is refused like any other', async () => {
  const wrong = refuse('AUTH001')
  assert.equal(await createWrongKeyDelay()(undefined, wrong), wrong)
})

test('after a hundred wrong keys from one network the next answer is delayed; other networks and other refusals are not', async () => {
  const slowDown = createWrongKeyDelay(() => 0)
  const wrong = refuse('AUTH001')
  for (let tried = 0; tried < 100; tried += 1) await slowDown(`2001:db8::${tried.toString(16)}`, wrong)
  assert.equal(await isAtOnce(slowDown('2001:db8::ffff', wrong)), false)
  assert.equal(await isAtOnce(slowDown('2001:db8:0:1::1', wrong)), true)
  assert.equal(await isAtOnce(slowDown('2001:db8::1', refuse('AUTH003'))), true)
})

test('at most ten thousand answers are delayed at a time: above that an answer is sent at once', async (t) => {
  // No delay ends while they are created.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.timers.reset()
    syncBuiltinESMExports()
  })
  const slowDown = createWrongKeyDelay(() => 0)
  const wrong = refuse('AUTH001')
  const delayed = Array.from({ length: 100 + 10_000 }, () => slowDown('192.0.2.7', wrong))
  assert.equal(await isAtOnce(delayed.at(-1) as Promise<Error>), false)
  assert.equal(await isAtOnce(slowDown('192.0.2.7', wrong)), true)
})

async function isAtOnce(refusal: Promise<Error>): Promise<boolean> {
  let isSettled = false
  refusal.then(() => {
    isSettled = true
  })
  await nextTurn()
  return isSettled
}
