// The fault table of a test file: every crossing of every scenario in every mode, with every ending. A missing row would
// be detected: each scenario lists its crossings, and a fault is injected at each of them.
import { silentLog } from '../../../harness/silent-log.ts'
import './clock.ts'
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { createDatabase, definedStatements } from '../../../src/db/database.ts'
import { audit } from '../../../src/payments/audit/audit.ts'
import { recordPlayedActions } from '../../../test/support/audit/played-actions.ts'
import { testServer } from '../../../test/support/database/database.ts'
import { isLong } from '../../../test/support/long.ts'
import { type Cell, type Plan, runCell } from './cells.ts'
import { type Mode, modes, type Strike } from './crossings.ts'
import { type CallName, type Ending, endings, type Scenario } from './scenario.ts'
import { inWorlds, openWorld, type World } from './world.ts'

/** The number of concurrent cells: enough to keep the processor busy while one of them pauses. */
const worldCount = 3
/** No call has this many crossings. */
const neverReached = 10_000
/** One in this many pairs is run, so that each strike is used both first and second; a long run includes all pairs. */
const onePairIn = isLong ? 1 : 5

// In a pair, the first strike leaves an intermediate state for the next call. A crash or stall before a crossing is the
// same as after the previous one, and before the very first nothing has happened, so only one of each is used. A read
// has no effect: a crash after it leaves the same state as before it, and a lost answer is the same as an error.
const reads = /^((payments|credits)\.(find|list|count|compare)|gateway\.(find|look|list))/
const firstModes: Mode[] = ['crash-after', 'stall-after']
const secondModes: Mode[] = ['crash-after', 'stall-after', 'lost-answer']
const workerModes: Mode[] = [...secondModes, 'error', 'away']
const withEffectOnly: Mode[] = ['crash-after', 'error']

/** Each crossing in each of the modes that matter there. */
function strikesAt(crossings: string[], chosen: Mode[]): Strike[] {
  return placesOf(crossings).places.flatMap(({ crossing, at }) =>
    chosen.filter((mode) => !reads.test(crossing) || !withEffectOnly.includes(mode)).map((mode) => ({ at, mode })),
  )
}

export function crossingTable() {
  let worlds: World[] = []
  let total = 0
  before(async () => {
    worlds = await Promise.all(Array.from({ length: worldCount }, openWorld))
  })
  after(() => Promise.all(worlds.map((world) => world.close())))

  /** On a cluster a statement about every group is a crossing for each of them. */
  function spread(crossings: string[]): string[] {
    const groups = worlds[0]?.connections.cluster?.anchors.length
    if (groups === undefined) return crossings
    return crossings.map((name) => (definedStatements.get(name)?.about === 'each group' ? `${name} × ${groups}` : name))
  }

  async function report(t: TestContext, cells: Cell[]): Promise<void> {
    const struck = cells.filter((cell) => cell.fired).length
    total += struck
    t.diagnostic(`${struck} cells, and ${cells.length - struck} runs without a fault to list the crossings`)
    const failures = cells.filter((cell) => cell.failure !== null).map((cell) => `${cell.label}: ${cell.failure}`)
    assert.deepEqual(failures, [])
  }

  /** Each listed crossing, in each mode; and a run without a fault shows that the list is complete. */
  function each(scenario: Scenario): void {
    const possible = endings.filter((one) => one === 'called again' || scenario.background)
    for (const ending of scenario.ending ? [scenario.ending] : possible) {
      test(`${scenario.title}, with a fault at each crossing, ${ending}`, async (t) => {
        const crossings = spread(scenario.crossings)
        const { places, past } = placesOf(crossings)
        const plans = modes.flatMap((mode) => places.map(({ at }) => planOf(ending, [scenario.call], [{ at, mode }])))
        const unstruck = planOf(ending, [scenario.call], [{ at: past, mode: 'error' }])
        const cells = await inWorlds(
          worlds,
          [unstruck, ...plans].map((plan) => (world) => runCell(world, scenario, plan)),
        )
        assert.deepEqual(shortened(cells[0]?.crossed[0] ?? []), crossings)
        assert.deepEqual([...new Set(cells.slice(1).map((cell) => cell.fired))], [true])
        await report(t, cells)
      })
    }
  }

  /** Strikes the call, and then its successor: the call made again, or the worker. */
  function pairs(scenario: Scenario, second: CallName): void {
    pairsOf(scenario, [scenario.call, second], scenario.crossings)
  }

  /** Strikes the worker, and then the call after it. */
  function pairsAfter(scenario: Scenario, job: CallName, crossings: string[]): void {
    pairsOf(scenario, [job, scenario.call], crossings)
  }

  function pairsOf(scenario: Scenario, calls: [CallName, CallName], crossings: string[]): void {
    const ending = calls[0] === calls[1] ? 'called again' : 'left to the background'
    const isWorker = calls[1] !== scenario.call
    test(`${scenario.title}, with faults at a crossing of ${calls[0]} and then at one of ${calls[1]}`, async (t) => {
      /** A run without the second strike lists the crossings. */
      async function strikeSecond(world: World, first: Strike, offset: number): Promise<Cell[]> {
        const plan = (strike: Strike) => planOf(ending, calls, [first, strike])
        const unstruck = await runCell(world, scenario, plan({ at: neverReached, mode: 'error' }))
        const cells = [unstruck]
        const crossed = unstruck.crossed[1] ?? []
        const strikes = strikesAt(
          world.connections.cluster ? shortened(crossed) : crossed,
          isWorker ? workerModes : secondModes,
        )
        for (const strike of strikes.filter((_, place) => (place + offset) % onePairIn === 0)) {
          cells.push(await runCell(world, scenario, plan(strike)))
          const mayWake = isWorker && first.mode === 'stall-after'
          if (mayWake) cells.push(await runCell(world, scenario, { ...plan(strike), wakesEarly: true }))
        }
        return cells
      }
      const tasks = strikesAt(spread(crossings), firstModes).map(
        (first, offset) => (world: World) => strikeSecond(world, first, offset),
      )
      await report(t, (await inWorlds(worlds, tasks)).flat())
    })
  }

  /** With the real clock: leases expire by themselves. */
  function inRealTime(title: string, scenarios: Scenario[]): void {
    test(title, async (t) => {
      const dying = (['crash-before', 'crash-after'] as const).flatMap((mode) => [1, 2, 3].map((at) => ({ at, mode })))
      const tasks = scenarios.flatMap((scenario) =>
        dying.map((strike) => (world: World) => {
          const plan = { ...planOf('called again', [scenario.call], [strike]), clock: 'real' } as const
          return runCell(world, scenario, plan)
        }),
      )
      await report(t, await inWorlds(worlds, tasks))
    })
  }

  /** A test that is not a row of the table, in one of its worlds. */
  function story(title: string, run: (world: World) => Promise<void>): void {
    test(title, () => run(worlds[0] as World))
  }

  /** After all others: checks the books of all cells together, and reports the number of cells. */
  function sum(): void {
    test('the books of all cells together are consistent and agree with the gateway', async (t) => {
      for (const world of worlds) await checkWorld(world)
      t.diagnostic(await countAll(total))
    })
  }

  return { each, pairs, pairsAfter, inRealTime, story, sum }
}

/** The calls to strike, and the strikes. */
function planOf(ending: Ending, calls: CallName[], strikes: Strike[]): Plan {
  return { ending, strikes: strikes.map((strike, index) => ({ call: calls[index] as CallName, strike })) }
}

const repeated = / × (\d+)$/

/** Executed once a second: more than once in a slow run. */
const renewal = 'payments.renewReconciliation'

/** Writes three equal names in a row as `a × 3`. */
function shortened(crossed: string[]): string[] {
  const runs: { name: string; times: number }[] = []
  for (const [place, name] of crossed.entries()) {
    const last = runs.at(-1)
    if (name === renewal && crossed.indexOf(renewal) < place) continue
    if (last?.name === name) last.times += 1
    else runs.push({ name, times: 1 })
  }
  return runs.flatMap(({ name, times }) => (times > 2 ? [`${name} × ${times}`] : Array(times).fill(name)))
}

/** The numbers of the crossings to strike: for a repetition the first, the second and the last. */
function placesOf(crossings: string[]): { places: { crossing: string; at: number }[]; past: number } {
  const places: { crossing: string; at: number }[] = []
  let past = 1
  for (const crossing of crossings) {
    const times = Number(repeated.exec(crossing)?.[1] ?? 1)
    const struck = times > 2 ? [past, past + 1, past + times - 1] : [past]
    places.push(...struck.map((at) => ({ crossing, at })))
    past += times
  }
  return { places, past }
}

/** Subjects that were prepared and never used are left out: they are unfinished. */
async function checkWorld({ database, connections, sandbox, stock, retired }: World): Promise<void> {
  await recordPlayedActions(database)
  const { violations } = await audit(createDatabase(connections, silentLog))
  assert.deepEqual(violations, [])
  const left = new Set([...retired, ...[...stock.values()].flat().map(({ orderId }) => orderId)])
  const kept = sandbox.payments().filter(({ status, orderId }) => status === 'DONE' && !left.has(orderId))
  const rows = await database.query<{ orderId: string; amount: number }>(
    `select order_id as "orderId", amount from orders where status = 'CONFIRMED'`,
  )
  const ours = rows.filter(({ orderId }) => !left.has(orderId))
  assert.deepEqual(
    kept.map(({ orderId, balanceAmount }) => `${orderId} ${balanceAmount}`).sort(),
    ours.map(({ orderId, amount }) => `${orderId} ${amount}`).sort(),
  )
}

/** The files of the table run in separate processes; the database server that they share stores the count. */
async function countAll(cells: number): Promise<string> {
  const client = new pg.Client(testServer())
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(1)')
    await client.query('create table if not exists crossing_cells (cells int not null)')
    await client.query('insert into crossing_cells values ($1)', [cells])
    const { rows } = await client.query('select sum(cells)::int as cells, count(*)::int as files from crossing_cells')
    return `${cells} cells here, ${rows[0].cells} in the ${rows[0].files} files of the fault table so far`
  } finally {
    await client.end()
  }
}
