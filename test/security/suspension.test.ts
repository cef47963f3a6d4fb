// A leaked key is suspended by command while it is used without pause at two processes: from a second after the command has
// returned, both refuse it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  callerOf,
  databaseUrl,
  defer,
  newDataDir,
  type RunningService,
  runCommand,
  startService,
} from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { createTestDatabase } from '../support/database/database.ts'

const wholeFile = { after }
const dataDirs = [newDataDir(wholeFile), newDataDir(wholeFile)] as const
let settings: Record<string, string>
let processes: RunningService[]
before(async () => {
  const database = await createTestDatabase()
  defer(wholeFile, () => database.drop())
  const DATABASE_URL = databaseUrl(database.connection)
  settings = { DATABASE_URL, KEY_PEPPER: 'one pepper for all processes', WORKER: 'off' }
  processes = await Promise.all(dataDirs.map((dataDir) => startService(wholeFile, dataDir, settings)))
})

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(wholeFile, dataDirs[0], args, settings)
  assert.equal(code, 0, stderr)
  return stdout
}

type TimedAnswer = { at: number; code: string }

for (const [command, before, from] of [
  ['suspend', 'SUCCESS', 'AUTH003'],
  ['activate', 'AUTH003', 'SUCCESS'],
] as const) {
  test(`keys ${command} is effective at both processes for every request that begins a second later`, async () => {
    const { apiKey, keyId } = JSON.parse(await run('keys', 'issue', '--customer', command, '--json'))
    if (command === 'activate') await run('keys', 'suspend', keyId)
    const requests = processes.map((): TimedAnswer[] => [])
    let isOver = false
    const loops = processes.map(async ({ publicUrl }, place) => {
      const caller = callerOf(publicUrl, apiKey)
      while (!isOver) {
        const at = performance.now()
        requests[place]?.push({ at, code: await caller.code() })
      }
    })
    let inForceAt = Number.POSITIVE_INFINITY
    const isLater = ({ at }: TimedAnswer) => at > inForceAt
    try {
      await sleep(300)
      await run('keys', command, keyId)
      inForceAt = performance.now() + 1_000
      await until('both have later requests', () => requests.every((answers) => answers.filter(isLater).length >= 20))
    } finally {
      isOver = true
      await Promise.all(loops)
    }
    for (const answers of requests) {
      assert.equal(answers[0]?.code, before)
      assert.deepEqual([...new Set(answers.filter(isLater).map(({ code }) => code))], [from])
    }
  })
}
