// The fault table of a test file: every crossing of every scenario in every mode, each ended in every way. A row that was
// left out would be noticed: what a scenario crosses is written down beside it, and each crossing of that is struck.
import './clock.ts'
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { createDatabase } from '../../../src/db/database.ts'
import { audit } from '../../../src/payments/audit/audit.ts'
import { silentLog, testServer } from '../database/database.ts'
import { isLong } from '../long.ts'
import { type Cell, type Plan, runCell } from './cells.ts'
import { type Mode, modes, type Strike } from './crossings.ts'
import { type CallName, type Ending, endings, type Scenario } from './scenario.ts'
import { inWorlds, openWorld, type World } from './world.ts'

/** As many cells at a time: enough for the processor to have something to do while one of them pauses. */
const worldCount = 3
/** No call crosses as often. */
const neverReached = 10_000
/** Of the pairs one in so many is struck, so that each strike comes both first and second; in a long run all of them are. */
const onePairIn = isLong ? 1 : 5

// Of two strikes the first leaves something behind for whoever comes next. Dying or standing still before a crossing is
// the same as after the one before it, and before the very first nothing has happened: so of these one of each. Reading
// has no effect: who dies after it leaves the same behind as before it, and an answer that is lost is as good as none.
const reads = /^((payments|credits)\.(find|list|count|compare)|gateway\.(find|look|list))/
const firstModes: Mode[] = ['crash-after', 'stall-after']
const secondModes: Mode[] = ['crash-after', 'stall-after', 'lost-answer']
const workerModes: Mode[] = [...secondModes, 'error', 'away']
const withEffectOnly: Mode[] = ['crash-after', 'error']

/** Each crossing in each of the modes that make a difference there. */
function strikesAt(crossings: string[], chosen: Mode[]): Strike[] {
  return crossings.flatMap((crossing, place) =>
    chosen
      .filter((mode) => !reads.test(crossing) || !withEffectOnly.includes(mode))
      .map((mode) => ({ at: place + 1, mode })),
  )
}

export function crossingTable() {
  let worlds: World[] = []
  let total = 0
  before(async () => {
    worlds = await Promise.all(Array.from({ length: worldCount }, openWorld))
  })
  after(() => Promise.all(worlds.map((world) => world.close())))

  async function report(t: TestContext, cells: Cell[]): Promise<void> {
    const struck = cells.filter((cell) => cell.fired).length
    total += struck
    t.diagnostic(`${struck} cells, and ${cells.length - struck} runs to see what there is to strike`)
    const failures = cells.filter((cell) => cell.failure !== null).map((cell) => `${cell.label}: ${cell.failure}`)
    assert.deepEqual(failures, [])
  }

  /** Each crossing that is written down, in each mode; and a run that is not struck shows that those are all. */
  function each(scenario: Scenario): void {
    const possible = endings.filter((one) => one === 'called again' || scenario.background)
    for (const ending of scenario.ending ? [scenario.ending] : possible) {
      test(`${scenario.title}, whichever crossing is struck, ${ending}`, async (t) => {
        const { places, past } = placesOf(scenario)
        const plans = modes.flatMap((mode) => places.map((at) => planOf(ending, [scenario.call], [{ at, mode }])))
        const unstruck = planOf(ending, [scenario.call], [{ at: past, mode: 'error' }])
        const cells = await inWorlds(
          worlds,
          [unstruck, ...plans].map((plan) => (world) => runCell(world, scenario, plan)),
        )
        assert.deepEqual(shortened(cells[0]?.crossed[0] ?? []), scenario.crossings)
        assert.deepEqual([...new Set(cells.slice(1).map((cell) => cell.fired))], [true])
        await report(t, cells)
      })
    }
  }

  /** The call is struck, and then whoever comes after it: the call made again, or the worker. */
  function pairs(scenario: Scenario, second: CallName): void {
    pairsOf(scenario, [scenario.call, second], scenario.crossings)
  }

  /** The worker is struck, and then the call that comes after it. */
  function pairsAfter(scenario: Scenario, job: CallName, crossings: string[]): void {
    pairsOf(scenario, [job, scenario.call], crossings)
  }

  function pairsOf(scenario: Scenario, calls: [CallName, CallName], crossings: string[]): void {
    const ending = calls[0] === calls[1] ? 'called again' : 'left to the background'
    const isWorker = calls[1] !== scenario.call
    test(`${scenario.title}, whichever two crossings of ${calls[0]} and then ${calls[1]} are struck`, async (t) => {
      /** A run in which the second is not struck shows what there is to strike. */
      async function strikeSecond(world: World, first: Strike, turn: number): Promise<Cell[]> {
        const plan = (strike: Strike) => planOf(ending, calls, [first, strike])
        const unstruck = await runCell(world, scenario, plan({ at: neverReached, mode: 'error' }))
        const cells = [unstruck]
        const strikes = strikesAt(unstruck.crossed[1] ?? [], isWorker ? workerModes : secondModes)
        for (const strike of strikes.filter((_, place) => (place + turn) % onePairIn === 0)) {
          cells.push(await runCell(world, scenario, plan(strike)))
          const mayWake = isWorker && first.mode === 'stall-after'
          if (mayWake) cells.push(await runCell(world, scenario, { ...plan(strike), wakesEarly: true }))
        }
        return cells
      }
      const tasks = strikesAt(crossings, firstModes).map(
        (first, turn) => (world: World) => strikeSecond(world, first, turn),
      )
      await report(t, (await inWorlds(worlds, tasks)).flat())
    })
  }

  /** The clock on the wall: leases run out by themselves. */
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

  /** One story that is not a row of the table, in a world of it. */
  function story(title: string, tell: (world: World) => Promise<void>): void {
    test(title, () => tell(worlds[0] as World))
  }

  /** After all others: the books of all cells together, and how many cells there were. */
  function sum(): void {
    test('all cells together leave books that agree with themselves and with the gateway', async (t) => {
      for (const world of worlds) await checkWorld(world)
      t.diagnostic(await countAll(total))
    })
  }

  return { each, pairs, pairsAfter, inRealTime, story, sum }
}

/** Who is struck, and how. */
function planOf(ending: Ending, calls: CallName[], strikes: Strike[]): Plan {
  return { ending, strikes: strikes.map((strike, index) => ({ call: calls[index] as CallName, strike })) }
}

const repeated = / × (\d+)$/

/** Done once a second: by a slow run more than once. */
const renewal = 'payments.renewReconciliation'

/** `a × 3` for three in a row. */
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

/** The numbers of the crossings to strike: of many in a row the first, the second and the last. */
function placesOf({ crossings }: Scenario): { places: number[]; past: number } {
  const places: number[] = []
  let past = 1
  for (const crossing of crossings) {
    const times = Number(repeated.exec(crossing)?.[1] ?? 1)
    places.push(...(times > 2 ? [past, past + 1, past + times - 1] : [past]))
    past += times
  }
  return { places, past }
}

/** What waited for a cell that never came is left out: it was in the middle of its way. */
async function checkWorld({ database, connections, sandbox, stock, retired }: World): Promise<void> {
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

/** The files of the table run in processes of their own; the server they share keeps the count. */
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
