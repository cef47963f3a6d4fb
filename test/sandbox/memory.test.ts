// The storage of the sandbox: data survives a restart, a torn line and kill -9, one process may use a directory, and the
// journal is the oracle of tests.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readMovements } from '../../sandbox/journal.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { openSandboxes, secretKey, shop } from '../support/gateway/sandbox-shop.ts'

const { directory, start } = openSandboxes()

test('payments, cancels and idempotency records survive a restart', async () => {
  const first = await start({ name: 'restart' })
  const one = shop(first.url)
  const checkout = await one.checkout()
  const confirmed = await one.confirm(checkout, 'confirm-key')
  const refused = await one.cancel(checkout.paymentKey, { cancelAmount: 1 }, 'refused-key')
  const cancelled = await one.cancel(checkout.paymentKey, { cancelReason: 'a part', cancelAmount: 1000 })
  await first.close()

  const second = await start({ name: 'restart' })
  const two = shop(second.url)
  assert.equal((await two.lookup(checkout.paymentKey)).text, cancelled.text)
  assert.equal((await two.confirm(checkout, 'confirm-key')).text, confirmed.text)
  assert.equal((await two.cancel(checkout.paymentKey, { cancelReason: 'x' }, 'refused-key')).text, refused.text)
  await second.close()
})

test('a torn last line is cut, and writing continues after the cut', async () => {
  const first = await start({ name: 'torn' })
  const kept = await shop(first.url).paid()
  await first.close()
  appendFileSync(join(directory, 'torn', 'journal.jsonl'), '{"changed":[{"paymentKey":"torn')

  const second = await start({ name: 'torn' })
  const added = await shop(second.url).paid()
  await second.close()

  const third = await start({ name: 'torn' })
  for (const { paymentKey } of [kept, added]) assert.equal(await shop(third.url).statusOf(paymentKey), 'DONE')
  await third.close()
})

test('a damaged line in the middle fails the start with a readable message', async () => {
  const first = await start({ name: 'damaged' })
  await shop(first.url).paid()
  await first.close()
  appendFileSync(join(directory, 'damaged', 'journal.jsonl'), 'not json\n')
  await assert.rejects(start({ name: 'damaged' }), /journal is damaged: .*journal\.jsonl at byte \d+ is not JSON/)
})

test('everything answered before kill -9 is there afterwards', async () => {
  const options = {
    host: '127.0.0.1',
    port: 0,
    clientKey: '',
    secretKey,
    dataDir: join(directory, 'killed'),
    strict: true,
  }
  const script = `import { startSandbox } from ${JSON.stringify(new URL('../../sandbox/server.ts', import.meta.url).href)}
    process.stdout.write((await startSandbox(${JSON.stringify(options)})).url)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [address] = await once(child.stdout, 'data')
  const paid = await shop(String(address)).paid()
  child.kill('SIGKILL')
  await once(child, 'exit')

  const next = await start({ name: 'killed' })
  assert.equal(await shop(next.url).statusOf(paid.paymentKey), 'DONE')
  await next.close()
})

test('a port in use fails the start', async () => {
  const first = await start()
  const options = { host: '127.0.0.1', port: first.port, clientKey: '', secretKey, strict: true }
  await assert.rejects(startSandbox({ ...options, dataDir: join(directory, 'taken') }), { code: 'EADDRINUSE' })
})

test('every movement of money is in the journal before its answer is sent', async () => {
  const journal = join(directory, 'oracle', 'journal.jsonl')
  const there = shop((await start({ name: 'oracle' })).url)
  const declined = await there.checkout(1000, 'decline')
  await there.confirm(declined)
  const checkout = await there.checkout(1000)
  const confirmed = (await there.confirm(checkout, 'key')).body
  await there.confirm(checkout, 'key')
  const { paymentKey, orderId } = checkout
  const at = confirmed.approvedAt
  const capture = {
    paymentKey,
    orderId,
    kind: 'capture',
    amount: 1000,
    transactionKey: confirmed.lastTransactionKey,
    at,
  }
  assert.deepEqual(readMovements(journal), [capture])

  const cancelled = (await there.cancel(paymentKey, { cancelReason: 'a part', cancelAmount: 300 })).body
  const [item] = cancelled.cancels as Record<string, unknown>[]
  const cancel = {
    ...capture,
    kind: 'cancel',
    amount: 300,
    transactionKey: item?.transactionKey,
    at: item?.canceledAt,
  }
  assert.deepEqual(readMovements(journal), [capture, cancel])
})

test('a second sandbox in the same directory is refused, with the process that holds it', async () => {
  const first = await start({ name: 'locked' })
  const holder = new RegExp(`^The sandbox data in .*locked is in use by process ${process.pid}: stop it`)
  await assert.rejects(start({ name: 'locked' }), { message: holder })
  await first.close()
  assert.equal(existsSync(join(directory, 'locked', 'sandbox.lock')), false)
  await (await start({ name: 'locked' })).close()
})

test('the lock of a dead process is taken over, and so is one whose process id now belongs to another process', async () => {
  const lock = join(directory, 'stale', 'sandbox.lock')
  mkdirSync(join(directory, 'stale'))
  // Process ids end below 2^22 on Linux.
  const stale = ['4194305 12345', '4194305 ', ...(process.platform === 'linux' ? [`${process.pid} 1`] : [])]
  for (const content of stale) {
    writeFileSync(lock, content)
    const sandbox = await start({ name: 'stale' })
    assert.match(readFileSync(lock, 'utf8'), new RegExp(`^${process.pid} `))
    await sandbox.close()
  }
})

test('a start that fails leaves no lock behind', async () => {
  mkdirSync(join(directory, 'unlocked'))
  writeFileSync(join(directory, 'unlocked', 'journal.jsonl'), 'not json\n')
  await assert.rejects(start({ name: 'unlocked' }), /journal is damaged/)
  assert.deepEqual(existsSync(join(directory, 'unlocked', 'sandbox.lock')), false)
})
