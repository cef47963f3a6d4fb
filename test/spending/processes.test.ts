// Spending at two services that are separate processes on one database, with the commands beside them: the guarantees within
// a process hold between processes, and after one of them was killed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  databaseUrl,
  defer,
  newDataDir,
  type RunningService,
  runCommand,
  startService,
} from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { createDatabase } from '../../src/db/database.ts'
import type { PackageType } from '../../src/payments/packages.ts'
import { assertInvariants } from '../support/audit/invariants.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'
import { clientOf } from '../support/service/clients.ts'
import { countCodes } from '../support/service/cluster.ts'
import { assertSuccess } from '../support/service/service.ts'
import { readCsv } from '../support/spending/csv.ts'
import { assertLack, atOnce, spendingCalls } from '../support/spending/spending.ts'

const wholeFile = { after }
const peppers = [{ version: 1, secret: 'one pepper for all processes' }] as const
const dataDirs = [newDataDir(wholeFile), newDataDir(wholeFile)] as const
let database: TestDatabase
let settings: Record<string, string>
let processes: [RunningService, RunningService]
let token: string
before(async () => {
  database = await createTestDatabase()
  defer(wholeFile, () => database.drop())
  settings = { DATABASE_URL: databaseUrl(database.connection), KEY_PEPPER: peppers[0].secret }
  const start = (dataDir: string) => startService(wholeFile, dataDir, settings)
  processes = await Promise.all([start(dataDirs[0]), start(dataDirs[1])])
  token = JSON.parse(await run('services', 'issue', '--name', 'analyses', '--json')).token
})

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(wholeFile, dataDirs[0], args, settings)
  assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  return stdout
}

/** A customer of the first process, whose sandbox accepts any payment key. */
async function newCustomer(name: string, ...packageTypes: PackageType[]) {
  const { apiKey, customerId } = await issueKey(createDatabase(database.pool, silentLog), peppers, name)
  const client = clientOf(processes[0].publicUrl, apiKey)
  for (const packageType of packageTypes) await client.buy(packageType)
  return { client, customerId }
}

const at = (index: number) => spendingCalls(processes[index % 2]?.internalUrl ?? '', token)

test('200 spends at once on 50 credits, at two processes: exactly 50 succeed', async () => {
  const { client, customerId } = await newCustomer('fifty', 'PRO')
  assertSuccess(await at(0).spend(customerId, 60), 200)
  const answers = await atOnce(200, (index) => at(index).spend(customerId, 1))
  assert.deepEqual(countCodes(answers), { SUCCESS: 50, BUS002: 150 })
  for (const answer of answers.filter(({ body }) => body.code === 'BUS002')) assertLack(answer, 1, 0)
  assert.equal(await client.credits(), 0)
  await assertInvariants(database)
})

test('duplicates at two processes are one entry and one answer', async () => {
  const { client, customerId } = await newCustomer('duplicates', 'BASIC')
  const spends = await atOnce(32, (index) => at(index).spend(customerId, 1, 'the-last'))
  assert.equal(new Set(spends.map(({ text }) => text)).size, 1)
  assertSuccess(spends[0] ?? assert.fail('no answer'), 200)
  assert.equal(await client.credits(), 0)
})

test('statements export writes the CSV, balances show prints the balance of a customer at a moment', async () => {
  const { customerId } = await newCustomer('a customer', 'STANDARD')
  assertSuccess(await at(0).spend(customerId, 4, '=1+1,"quoted"'), 200)
  await sleep(5)
  const moment = new Date().toISOString()
  await sleep(5)
  const { holdId } = (await at(1).hold(customerId, 10, { reference: 'the-hold' })).body.data
  const csv = await run('statements', 'export', '--customer', 'a customer')
  assert.deepEqual(
    readCsv(csv).map((row) => [row.kind, row.delta, row.availableAfter, row.reference, row.holdId, row.service]),
    [
      ['GRANT', '21', '21', '', '', ''],
      ['SPEND', '-4', '17', `'=1+1,"quoted"`, '', 'analyses'],
      ['HOLD', '0', '7', 'the-hold', holdId, 'analyses'],
    ],
  )
  const shown = JSON.parse(await run('balances', 'show', '--customer', 'a customer', '--at', moment, '--json'))
  assert.deepEqual(shown, { customerId, at: moment, balance: 17, held: 0, available: 17 })
})

test('services suspend is effective at both processes within a second', async () => {
  const { customerId } = await newCustomer('suspended')
  const other = JSON.parse(await run('services', 'issue', '--name', 'suspended', '--json'))
  const spend = (index: number) => spendingCalls(processes[index]?.internalUrl ?? '', other.token).spend(customerId, 1)
  assert.deepEqual(countCodes(await atOnce(2, spend)), { BUS002: 2 })
  await run('services', 'suspend', other.serviceId)
  await sleep(1_000)
  assert.deepEqual(countCodes(await atOnce(2, spend)), { AUTH003: 2 })
})

test('a hold whose process was killed expires by itself: another process releases the credits', async () => {
  const { customerId } = await newCustomer('held', 'STANDARD')
  const hold = await at(0).hold(customerId, 21, { expiresInSeconds: 1, reference: 'killed' })
  assertSuccess(hold, 201)
  await processes[0].kill()
  assertLack(await at(1).spend(customerId, 1), 1, 0)
  assert.equal((await at(1).hold(customerId, 21, { reference: 'killed' })).text, hold.text)
  const available = async () => (await at(1).statement(customerId)).body.data.balance.available
  await until('the credits are available again', async () => (await available()) === 21)
  const late = await at(1).capture(customerId, hold.body.data.holdId)
  assert.match(late.text, /the hold is EXPIRED/)
  assertSuccess(await at(1).spend(customerId, 21), 200)
  await processes[1].stop()
  await assertInvariants(database)
})
