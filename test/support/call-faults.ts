// The fault table of an action (proof/stages/calls) as tests: a test for each scenario and ending, and for each pair of faults.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import type { Case } from '../../proof/stages/calls/cases.ts'
import type { Scenario, Scenarios } from '../../proof/stages/calls/scenario.ts'
import { checkWorld, inRealTime, inWorlds, pairsOfFaults, singleFaults } from '../../proof/stages/calls/table.ts'
import { openWorld, type World, worldCount } from '../../proof/stages/calls/world.ts'
import { testServer } from './database/database.ts'
import { longOnly } from './long.ts'

const all = { onePairIn: 1 }

export function testCallFaults({ scenarios, stories = [] }: Scenarios): void {
  let worlds: World[] = []
  let total = 0
  before(async () => {
    worlds = await Promise.all(Array.from({ length: worldCount }, openWorld))
  })
  after(() => Promise.all(worlds.map((world) => world.close())))

  function report(t: TestContext, cases: Case[]): void {
    const withFault = cases.filter(({ tookEffect }) => tookEffect).length
    total += withFault
    t.diagnostic(`${withFault} cases, and ${cases.length - withFault} runs without a fault to list the calls`)
    const failures = cases.filter(({ failure }) => failure !== null).map(({ label, failure }) => `${label}: ${failure}`)
    assert.deepEqual(failures, [])
  }

  const every = Object.values<Scenario>(scenarios)
  const pairs = every.flatMap((scenario) => pairsOfFaults(scenario, all))
  for (const unit of [...every.flatMap(singleFaults), ...pairs, ...every.flatMap(inRealTime)])
    test(unit.title, { skip: pairs.includes(unit) && longOnly }, async (t) => {
      const tasks = unit.tasks(worlds[0]?.connections.cluster?.anchors.length)
      report(t, await inWorlds(worlds, tasks))
    })
  for (const { title, run } of stories) test(title, () => run(worlds[0] as World))

  test('the books of all cases together are consistent and agree with the gateway', async (t) => {
    for (const world of worlds) await checkWorld(world)
    t.diagnostic(await countAll(total))
  })
}

/** The files of the table run in separate processes; the database server that they share keeps the count. */
async function countAll(cases: number): Promise<string> {
  const client = new pg.Client(testServer())
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(1)')
    await client.query('create table if not exists call_cases (cases int not null)')
    await client.query('insert into call_cases values ($1)', [cases])
    const { rows } = await client.query('select sum(cases)::int as cases, count(*)::int as files from call_cases')
    return `${cases} cases here, ${rows[0].cases} in the ${rows[0].files} files of the fault table so far`
  } finally {
    await client.end()
  }
}
