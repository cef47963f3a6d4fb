// The same load as in concurrency.test.ts, at two processes that are killed again and again: 10,000 requests under 50 budgets of
// ten customers and one of the service. SPENDS sets another number of requests.
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
} from '../../../harness/processes.ts'
import { createRandom } from '../../../harness/random.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { assertInvariants } from '../../support/audit/invariants.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { longOnly } from '../../support/long.ts'
import { clientOf } from '../../support/service/clients.ts'
import {
  assertBudgetsKept,
  inTurns,
  type Moved,
  type Sender,
  setBudgets,
  spendOrHold,
} from '../../support/spending/budget-load.ts'
import { spendingCalls } from '../../support/spending/spending.ts'

const count = Number(process.env.SPENDS ?? 10_000)
const wholeFile = { after }
const peppers = [{ version: 1, secret: 'one pepper for all processes' }] as const
const dataDirs = [newDataDir(wholeFile), newDataDir(wholeFile)] as const
let database: TestDatabase
let settings: Record<string, string>

before(async () => {
  database = await createTestDatabase()
  defer(wholeFile, () => database.drop())
  settings = { DATABASE_URL: databaseUrl(database.connection), KEY_PEPPER: peppers[0].secret }
})

test(`${count} requests at two processes that are killed, under 51 budgets: none is exceeded by a credit`, {
  skip: longOnly,
}, async (t) => {
  const random = createRandom(count)
  const processes: RunningService[] = []
  for (const dataDir of dataDirs) processes.push(await startService(wholeFile, dataDir, settings))
  const issued = await runCommand(
    wholeFile,
    dataDirs[0],
    ['services', 'issue', '--name', 'analyses', '--json'],
    settings,
  )
  const { token } = JSON.parse(issued.stdout)
  const own = createDatabase(database.pool, silentLog)
  const customerIds: string[] = []
  for (let index = 0; index < 10; index += 1) {
    const { apiKey, customerId } = await issueKey(own, peppers, `customer ${index}`)
    for (let bought = 0; bought < 5; bought += 1) await clientOf(processes[0]?.publicUrl ?? '', apiKey).buy('PRO')
    customerIds.push(customerId)
  }
  const budgets = await setBudgets(own, customerIds, 'analyses', 400)

  /** To the other process when one is gone, until the outcome is known. */
  const senderAt =
    (index: number): Sender =>
    async (path, body) => {
      for (let attempt = 0; ; attempt += 1) {
        assert.ok(attempt < 1_000, 'no answer without end')
        const { internalUrl } = processes[(index + attempt) % 2] ?? assert.fail('no process')
        const answer = await spendingCalls(internalUrl, token)
          .call<Record<string, string>>(path, { body })
          .catch(() => null)
        if (answer && answer.body.code !== 'SVC001') return answer
        await sleep(50)
      }
    }

  let isOver = false
  let kills = 0
  async function killInTurns(): Promise<void> {
    while (!isOver) {
      await sleep(random.integer(2_000, 5_000))
      if (isOver) return
      const place = kills % 2
      await processes[place]?.kill()
      processes[place] = await startService(wholeFile, dataDirs[place] ?? '', settings)
      kills += 1
    }
  }
  const killing = killInTurns()
  let sent: Moved[]
  try {
    sent = await inTurns(count, 200, (index) => spendOrHold(random, customerIds, senderAt(index)))
  } finally {
    isOver = true
    await killing
  }
  const full = await assertBudgetsKept(database, budgets, 'analyses', sent)
  t.diagnostic(JSON.stringify({ count, kills, full }))
  assert.ok(kills > 0 && full > 0)
  for (const each of processes) await each.stop()
  await assertInvariants(database)
})
