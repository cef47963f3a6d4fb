// The sandbox as its own process: settings from the environment, its output, a clean stop, and a readable line when it
// cannot start.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, type Cleaner, launch, newDataDir, repository, takePort } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { basic, call, shop } from '../support/gateway/sandbox-shop.ts'

const script = ['sandbox/main.ts']

function run(t: Cleaner, settings: Record<string, string>) {
  const env = bareEnvironment({ SANDBOX_PORT: '0', ...settings })
  return launch(t, process.execPath, script, { cwd: repository, env })
}

test('starts with only a directory, prints its address and its usage, and stops cleanly', async (t) => {
  const dataDir = newDataDir(t)
  const launched = run(t, { DATA_DIR: dataDir })
  await until('the banner', () => launched.output.stdout.includes('webhooks/resend'))
  const url = /address +(http:\S+)/.exec(launched.output.stdout)?.[1] ?? ''
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)

  const checkout = await shop(url).checkout(1000)
  const headers = { authorization: basic('test_sk_sandbox:') }
  const confirmed = await call(`${url}/v1/payments/confirm`, 'POST', checkout, headers)
  assert.equal(confirmed.body.status, 'DONE')
  assert.match(readFileSync(join(dataDir, 'sandbox', 'journal.jsonl'), 'utf8'), /"DONE"/)

  const second = await run(t, { DATA_DIR: dataDir }).ended
  assert.deepEqual([second.code, second.stdout], [1, ''])
  assert.match(second.stderr, new RegExp(`^The sandbox data in .* is in use by process ${launched.pid}: [^\n]+\n$`))

  launched.child.kill('SIGTERM')
  const { code, stderr } = await launched.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(existsSync(join(dataDir, 'sandbox', 'sandbox.lock')), false)
})

test('a directory whose sandbox was killed is taken over, with its own keys and strictness', async (t) => {
  const settings = { DATA_DIR: newDataDir(t), TOSS_SECRET_KEY: 'test_sk_own', SANDBOX_STRICT: '1' }
  const started = async () => {
    const launched = run(t, settings)
    await until('the banner', () => launched.output.stdout.includes('webhooks/resend'))
    return { ...launched, url: /address +(http:\S+)/.exec(launched.output.stdout)?.[1] ?? '' }
  }
  const first = await started()
  assert.doesNotMatch(first.output.stdout, /test_sk_own/)
  first.child.kill('SIGKILL')
  await first.ended
  const { url } = await started()
  const made = { paymentKey: 'made_up', orderId: 'order-1', amount: 1000 }
  const headers = { authorization: basic('test_sk_own:') }
  assert.equal((await call(`${url}/v1/payments/confirm`, 'POST', made, headers)).body.code, 'NOT_FOUND_PAYMENT_SESSION')
})

test('a wrong setting is one line and exit code 1', async (t) => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ SANDBOX_PORT: 'http' }, /^SANDBOX_PORT: expected a whole number from 0 to 65535, got "http"\n$/],
    [{ SANDBOX_STRICT: 'yes' }, /^SANDBOX_STRICT: expected one of 0, 1, got "yes"\n$/],
    [{ SANDBOX_WEBHOOK_URL: 'http://example.com/' }, /^The webhook URL leads to example\.com: [^\n]+\n$/],
    [{ SANDBOX_PORT: await takePort(t) }, /^Port \d+ on 127\.0\.0\.1 is taken: [^\n]+\n$/],
  ]
  for (const [settings, line] of wrong) {
    const { code, stdout, stderr } = await run(t, { DATA_DIR: newDataDir(t), ...settings }).ended
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, line)
  }
})
