// An upgrade as in the runbook: the previous version serves, the new one starts beside it and migrates, both serve, the old
// one stops; then one of the new processes is stopped under load. No request fails, every operation is completed, and the
// audit passes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, test } from 'node:test'
import {
  bareEnvironment,
  callerOf,
  databaseUrl,
  defer,
  launch,
  newDataDir,
  type RunningService,
  startService,
  waitUntilReady,
} from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createDatabase } from '../../src/db/database.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { emptyDatabase } from '../support/database/copying.ts'
import type { TestDatabase } from '../support/database/database.ts'
import { previousVersion } from '../support/database/previous-version.ts'
import { sandboxControl, secretKey, startTestSandbox, testSettings } from '../support/service/service.ts'

const wholeFile = { after }
const dataDirOfOld = newDataDir(wholeFile)
let database: TestDatabase
let sandboxUrl: string
let settings: Record<string, string>
before(async () => {
  database = await emptyDatabase(wholeFile)
  const sandbox = await startTestSandbox()
  defer(wholeFile, () => sandbox.close())
  sandboxUrl = sandbox.url
  settings = {
    DATABASE_URL: databaseUrl(database.connection),
    KEY_PEPPER: 'one pepper for both versions',
    GATEWAY: 'toss',
    TOSS_API_URL: sandboxUrl,
    TOSS_SECRET_KEY: secretKey,
    TOSS_CLIENT_KEY: testSettings.clientKey,
    GATEWAY_TIMEOUT_MS: '3000',
    GATEWAY_LOOKUP_TIMEOUT_MS: '1000',
    OPERATION_LEASE_MS: '4000',
  }
})

/** Starts the previous version with the command of its npm start. */
function startPrevious(directory: string): Promise<RunningService> {
  const ports = { PORT: '0', INTERNAL_PORT: '0', WEBHOOK_PORT: '0', STOREFRONT_PORT: '0', SANDBOX_PORT: '0' }
  const env = bareEnvironment({ ...ports, ...settings, DATA_DIR: dataDirOfOld })
  const start = () =>
    launch(wholeFile, process.execPath, ['--disable-proto=delete', 'src/main.ts'], { cwd: directory, env })
  return waitUntilReady(start)
}

/** By its own command: this version may need the migrations of this version. */
function issueByPrevious(directory: string, customer: string): { apiKey: string } {
  const args = ['src/cli.ts', 'keys', 'issue', '--customer', customer, '--json']
  const env = bareEnvironment({ ...settings, DATA_DIR: dataDirOfOld })
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' })
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

type Caller = ReturnType<typeof callerOf>

/** Nothing was sent: the connection was refused, or aborted before it was established. */
function isRefusedConnection(error: unknown): boolean {
  const { code, syscall } = (error as { cause?: { code?: string; syscall?: string } }).cause ?? {}
  return code === 'ECONNREFUSED' || (code === 'ECONNRESET' && syscall === 'connect')
}

/** Like a load balancer: uses the first one while it accepts connections, then the next. Nothing else is retried. */
async function balanced<Answer>(callers: Caller[], send: (caller: Caller) => Promise<Answer>): Promise<Answer> {
  const [first, ...others] = callers
  assert.ok(first)
  try {
    return await send(first)
  } catch (error) {
    if (!isRefusedConnection(error) || others.length === 0) throw error
    return balanced(others, send)
  }
}

async function buyAndCancel(callers: Caller[]): Promise<void> {
  const bought = await balanced(callers, (caller) => caller.purchase('STANDARD'))
  assert.equal(bought.status, 201, JSON.stringify(bought.body))
  const { orderId, amount } = bought.body.data
  const paymentKey = await sandboxControl(sandboxUrl).pay(orderId, amount)
  const confirmed = await balanced(callers, (caller) => caller.call('confirm', { orderId, paymentKey, amount }))
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.equal((await balanced(callers, (caller) => caller.call('credits'))).status, 200)
  const cancelled = await balanced(callers, (caller) =>
    caller.call('cancel', { paymentKey, reason: 'changed my mind' }),
  )
  assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body))
}

test('two versions serve one database while it is upgraded, one is stopped under load, and no request fails', async (t) => {
  const previous = previousVersion(t)
  const old = await startPrevious(previous.directory)
  const keys = Array.from({ length: 4 }, (_, index) => issueByPrevious(previous.directory, `buyer ${index}`))
  const rounds = keys.map(() => 0)
  let services = [old]
  let running = true
  const traffic = Promise.all(
    keys.map(async ({ apiKey }, index) => {
      while (running) {
        await buyAndCancel(services.map(({ publicUrl }) => callerOf(publicUrl, apiKey)))
        rounds[index] = (rounds[index] ?? 0) + 1
      }
    }),
  )
  traffic.catch(() => undefined)
  /** Waits until every buyer has done as many waitForRounds rounds. */
  async function waitForRounds(times: number): Promise<void> {
    const goal = Math.max(...rounds) + times
    await Promise.race([traffic, until(`round ${goal}`, () => rounds.every((each) => each >= goal), 60_000)])
  }
  await waitForRounds(2)
  const [first, second] = await Promise.all([1, 2].map(() => startService(t, newDataDir(t), settings)))
  assert.ok(first && second)
  await waitForRounds(2)
  services = [first, second]
  await waitForRounds(2)
  await old.stop()

  await waitForRounds(2)
  await first.stop()
  await waitForRounds(2)
  running = false
  await traffic

  const open = () => database.query(`select from payment_operations where state = 'OPEN'`)
  await until('all operations are completed', async () => (await open()).length === 0)
  assert.deepEqual((await audit(createDatabase(database.pool, silentLog))).violations, [])
  const statuses = await database.query('select distinct status from orders order by 1')
  assert.deepEqual(statuses, [{ status: 'CANCELLED' }])
  await second.stop()
})
