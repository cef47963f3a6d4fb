// The rehearsal of the runbook, with the commands of an operator: a service with payments in every state is backed up while
// it takes more payments, restored into another directory a week later, and accepts the old keys; then its embedded
// database, on which no worker has run meanwhile, moves to a server.
import assert from 'node:assert/strict'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  assertNothingRuns,
  callerOf,
  databaseUrl,
  newDataDir,
  newDirectory,
  openBooks,
  startService,
} from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { emptyDatabase, pastItsTime } from '../support/database/copying.ts'
import { callCli } from '../support/service/cli-call.ts'
import { type ServiceInProcess, startInProcess } from '../support/service/in-process.ts'
import { sandboxControl } from '../support/service/service.ts'
import { spendingCalls } from '../support/spending/spending.ts'

const wholeFile = { after }
const dataDir = newDataDir(wholeFile)
const file = join(newDirectory(wholeFile), 'credits.backup')
const settings = { GATEWAY_TIMEOUT_MS: '3000', GATEWAY_LOOKUP_TIMEOUT_MS: '1000', OPERATION_LEASE_MS: '4000' }
const cancellation = (orderId: string) => ({ paymentKey: `pay_${orderId}`, reason: 'changed my mind' })

async function credits(from: string, args: string[], environment = {}) {
  const { code, stdout, stderr } = await callCli(wholeFile, from, [...args, '--json'], {
    ...settings,
    ...environment,
  })
  // On a slow machine a command reports that it is still running.
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"progress":'))
  assert.deepEqual([code, lines], [0, []], args.join(' '))
  return JSON.parse(stdout)
}

async function bought(caller: ReturnType<typeof callerOf>, packageType = 'STANDARD'): Promise<string> {
  const { orderId, amount } = (await caller.purchase(packageType)).body.data
  assert.equal((await caller.confirm(orderId, amount)).status, 200)
  return orderId
}

/** Confirmed, cancelled, spent, held and open payments, and events for an endpoint that does not answer. */
async function paymentsOfEveryKind(service: ServiceInProcess) {
  await credits(dataDir, ['endpoints', 'add', '--url', 'http://127.0.0.1:9/events'])
  const { token } = await credits(dataDir, ['services', 'issue', '--name', 'analyses'])
  const { customerId, apiKey, keyId } = await credits(dataDir, ['keys', 'issue', '--customer', 'quiet'])
  const caller = callerOf(service.publicUrl, apiKey)
  await bought(caller, 'PRO')
  const cancelled = await bought(caller)
  assert.equal((await caller.call('cancel', cancellation(cancelled))).status, 200)
  const spending = spendingCalls(service.internalUrl, token)
  assert.equal((await spending.spend(customerId, 7)).status, 200)
  assert.equal((await spending.hold(customerId, 20)).status, 201)
  const control = sandboxControl(service.sandboxUrl)
  await control.setFaults([
    { on: 'confirm', kind: 'hang-after', times: 1 },
    { on: 'webhook', kind: 'drop', times: 99 },
  ])
  const { orderId, amount } = (await caller.purchase('BASIC')).body.data
  const open = caller.confirm(orderId, amount).catch(() => undefined)
  await until('the money has moved', async () => (await control.paymentsOf(orderId))[0]?.status === 'DONE')
  await open
  return { apiKey, keyId, token, customerId, openOrder: orderId, demo: callerOf(service.publicUrl, service.demoKey) }
}

test('a backup taken during payments is restored in another directory a week later: the audit passes, old keys work, open operations are completed', async (t) => {
  const service = await startInProcess(t, dataDir, { ...settings, WORKER: 'off' })
  const before = await paymentsOfEveryKind(service)
  const books = await openBooks(t, dataDir)
  await books.query(pastItsTime('7 days'))
  await books.drop()
  let busy = true
  const traffic = Promise.all(
    Array.from({ length: 4 }, async () => {
      let payments = 0
      for (; busy; payments += 1) await bought(before.demo)
      return payments
    }),
  )
  const made = await credits(dataDir, ['backup', '--to', file])
  busy = false
  assert.ok(
    (await traffic).every((payments) => payments > 0),
    'payments continued during the backup',
  )
  assert.ok(made.tables.every(({ rows }: { rows: number }) => Number.isInteger(rows)))
  await service.close()
  await credits(dataDir, ['keys', 'suspend', before.keyId])

  const restored = newDataDir(t)
  cpSync(join(dataDir, 'sandbox'), join(restored, 'sandbox'), { recursive: true })
  cpSync(join(dataDir, 'key-pepper'), join(restored, 'key-pepper'))
  const result = await credits(restored, ['restore', '--from', file, '--old', dataDir])
  assert.deepEqual([result.ok, result.lacks], [true, undefined])
  const command = `credits keys suspend ${before.keyId}`
  assert.deepEqual(result.revived, [{ what: 'API key', id: before.keyId, since: 'suspended', command }])
  assert.deepEqual(result.tables, made.tables)
  const { ok, stranded } = await credits(restored, ['audit'])
  assert.deepEqual([ok, stranded], [true, 2], 'the hold and the confirm')

  const next = await startInProcess(t, restored, settings)
  const caller = callerOf(next.publicUrl, before.apiKey)
  await until('the open order is completed', async () => (await caller.status(before.openOrder)) === 'CONFIRMED')
  await until('the hold has expired', async () => (await caller.credits()) === 104)
  assert.equal((await credits(restored, ['audit'])).stranded, 0)
  assert.equal((await spendingCalls(next.internalUrl, before.token).spend(before.customerId, 1)).status, 200)
  await bought(caller)
  await next.close()
})

test('the embedded database moves to a server with one command; the original is not served again by mistake', async (t) => {
  const target = await emptyDatabase(t)
  const to = databaseUrl(target.connection)
  const running = await startService(t, dataDir, { ...settings, WORKER: 'off' })
  const refused = await callCli(t, dataDir, ['move', '--to', to], settings)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /is in use by process \d+: stop it first/)
  const apiKey = (await credits(dataDir, ['keys', 'issue', '--customer', 'mover'])).apiKey
  await bought(callerOf(running.publicUrl, apiKey))
  await running.stop()

  const moved = await credits(dataDir, ['move', '--to', to])
  assert.equal(moved.ok, true)
  assert.doesNotMatch(JSON.stringify(moved), new RegExp(target.connection.password))
  assert.match(moved.start, /^DATABASE_URL='postgres:.*' DATA_DIR='.*' npm start$/)
  assertNothingRuns(dataDir)

  const message = /^The database of this directory has moved to .*\. Set DATABASE_URL to it\. To go back/
  await assert.rejects(startInProcess(t, dataDir, settings), { message })
  const listed = await callCli(t, dataDir, ['keys', 'list'], settings)
  assert.equal(listed.code, 1)
  assert.match(listed.stderr, message)
  const service = await startInProcess(t, dataDir, { ...settings, DATABASE_URL: to })
  const caller = callerOf(service.publicUrl, apiKey)
  assert.equal(await caller.credits(), 21)
  await bought(caller)
  const open = `select from holds where state = 'ACTIVE' union all select from payment_operations where state = 'OPEN'`
  await until('the overdue holds and operations have ended', async () => (await target.query(open)).length === 0)
  assert.equal((await credits(dataDir, ['audit'], { DATABASE_URL: to })).ok, true)
  // One audit of the move, one of the command.
  assert.equal((await target.query(`select from audits where cause = 'COMMAND' and violation_count = 0`)).length, 2)
  await service.close()
  const actions = await target.query<{ arguments: string[] }>(
    `select arguments from operator_actions where command = 'move'`,
  )
  assert.equal(actions.length, 1)
  assert.ok(!JSON.stringify(actions).includes(target.connection.password))

  const note = join(dataDir, 'postgres.moved')
  assert.ok(existsSync(note) && readFileSync(note, 'utf8').includes(target.connection.database))
  const books = await openBooks(t, dataDir)
  assert.equal((await books.query('select from api_keys')).length > 0, true, 'the original is unchanged')
})
