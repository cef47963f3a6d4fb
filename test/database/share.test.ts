// How processes share out the groups of a cluster. The claims are made on one server: the statement needs no cluster.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createShare } from '../../src/db/cluster/share.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { takeFromGroups } from '../../src/db/groups.ts'
import { clusterJobs } from '../../src/worker/jobs.ts'
import { createTestDatabase } from '../support/database/database.ts'

const testDatabase = await createTestDatabase()
after(() => testDatabase.drop())
beforeEach(() => testDatabase.query('delete from sweeping_processes'))

/** So long that the share of a process does not change during a test. */
const endless = 1e15

/** A process with its own view of eight groups. */
function newProcess({ turnMs = endless } = {}) {
  const groups = Array.from({ length: 8 }, (): Database => ({ run: async () => assert.fail('not by this test') }))
  const { run } = createDatabase(testDatabase.pool, silentLog)
  const database: Database = { run, groups }
  const share = createShare(database, groups, { turnMs })
  return {
    database,
    ...share,
    async claimed() {
      await share.claim()
      return this.swept()
    },
    /** The groups that a sweep goes through. */
    async swept() {
      const numbers = await takeFromGroups(database, 100, async (group) => [groups.indexOf(group)])
      return numbers.sort()
    },
  }
}

const allGroups = [0, 1, 2, 3, 4, 5, 6, 7]

/** The shares after two rounds: in the first, processes do not know of those that come after them. */
async function sharesOf(...processes: ReturnType<typeof newProcess>[]): Promise<number[][]> {
  for (const each of processes) await each.claim()
  const shares: number[][] = []
  for (const each of processes) shares.push(await each.claimed())
  return shares
}

test('every group is swept by one process, and no process has two groups more than another', async () => {
  const all = Array.from({ length: 9 }, () => newProcess())
  for (const count of [1, 2, 3, 5, 9]) {
    const shares = await sharesOf(...all.slice(0, count))
    assert.deepEqual(shares.flat().sort(), allGroups)
    const sizes = shares.map(({ length }) => length)
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${sizes}`)
  }
})

test('a process sweeps all groups before its first claim, and one that comes later is given its share at once', async () => {
  const [first, second] = [newProcess(), newProcess()]
  assert.deepEqual(await first.swept(), allGroups)
  assert.deepEqual(await first.claimed(), allGroups)
  assert.equal((await second.claimed()).length, 4)
})

test('groups go from process to process, so that one that fails keeps none of them', async () => {
  const [first, second] = [newProcess({ turnMs: 50 }), newProcess({ turnMs: 50 })]
  await sharesOf(first, second)
  const seen = new Set<number>()
  await until('one process had all groups', async () => {
    const share = await first.claimed()
    for (const group of share) seen.add(group)
    assert.equal(share.length, 4)
    return seen.size === 8
  })
})

test('the groups of a process that is gone are shared out when its lease is over by the clock of the database', async () => {
  const [first, second, third] = [newProcess(), newProcess(), newProcess()]
  await sharesOf(first, second, third)
  const [row] = await testDatabase.query(`
    select bool_and(lease_until between now() + interval '5 s' and now() + interval '10 s') as "isLease"
    from sweeping_processes`)
  assert.deepEqual(row, { isLease: true })
  await testDatabase.query(`update sweeping_processes set lease_until = now()`)
  assert.deepEqual(await first.claimed(), allGroups)
  assert.equal((await testDatabase.query('select from sweeping_processes')).length, 1)
  // It had only stood still.
  const shares = await sharesOf(first, second)
  assert.deepEqual(
    shares.map(({ length }) => length),
    [4, 4],
  )
})

test('a process that stops gives its groups up', async () => {
  const [first, second] = [newProcess(), newProcess()]
  await sharesOf(first, second)
  await second.giveUp()
  assert.deepEqual(await first.claimed(), allGroups)
})

test('claims of many processes at once do not disturb one another', async () => {
  const all = Array.from({ length: 8 }, () => newProcess())
  for (let round = 0; round < 5; round += 1) {
    await testDatabase.query(`
      insert into sweeping_processes select gen_random_uuid(), now() from generate_series(1, 20)`)
    await Promise.all(all.map(({ claim }) => claim()))
  }
  assert.equal((await testDatabase.query('select from sweeping_processes')).length, 8)
  const shares = await Promise.all(all.map((each) => each.claimed()))
  assert.deepEqual(shares.flat().sort(), allGroups)
})

test('a process that cannot claim sweeps all groups, and can still stop', async () => {
  const [first, second] = [newProcess(), newProcess()]
  await sharesOf(first, second)
  assert.equal((await first.swept()).length, 4)
  first.database.run = async () => {
    throw new Error('the coordinator is away')
  }
  await assert.rejects(first.claim(), { message: 'the coordinator is away' })
  assert.deepEqual(await first.swept(), allGroups)
  await first.giveUp()
})

test('on one server nothing is shared out', () => {
  assert.deepEqual(clusterJobs(createDatabase(testDatabase.pool, silentLog)), [])
})
