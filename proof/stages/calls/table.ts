// The fault table: every call of every scenario with every kind of fault, with every ending; and pairs of faults. A missing row
// would be noticed: each scenario lists its calls, a fault is applied at each of them, and a run without one shows that the list
// is complete.
import './clock.ts'
import assert from 'node:assert/strict'
import { silentLog } from '../../../harness/silent-log.ts'
import { createDatabase, definedStatements } from '../../../src/db/database.ts'
import { audit } from '../../../src/payments/audit/audit.ts'
import { recordPlayedActions } from '../../../test/support/audit/played-actions.ts'
import { type CallFault, faults } from '../../faults.ts'
import { type Case, type Plan, runCase } from './cases.ts'
import type { FaultAt } from './faulty-calls.ts'
import { type ActionName, type Ending, endings, type Scenario } from './scenario.ts'
import type { World } from './world.ts'

/** Runs in a world in which no other one runs. */
export type Task = (world: World) => Promise<Case[]>

export type Unit = { title: string; tasks(groups: number | undefined): Task[] }

/** No action has this many calls. */
const neverReached = 10_000

// In a pair, the first fault leaves an intermediate state for the next action. Killed or paused before a call is the same as
// after the previous one, and before the very first nothing has happened, so only one of each is used. A read has no effect:
// killed after it leaves the same state as before it, and a lost answer is the same as no effect.
const reads = /^((payments|credits)\.(find|list|count|compare)|gateway\.(find|look|list))/
const kinds = Object.keys(faults.call) as CallFault[]
const firstKinds: CallFault[] = ['killed-after', 'paused-after']
const secondKinds: CallFault[] = ['killed-after', 'paused-after', 'reset-after']
const workerKinds: CallFault[] = [...secondKinds, 'reset-before', 'away']
const withEffectOnly: CallFault[] = ['killed-after', 'reset-before']

/** Each call with each of the kinds that matter there. */
function faultsAt(calls: string[], chosen: CallFault[]): FaultAt[] {
  return placesOf(calls).places.flatMap(({ call, at }) =>
    chosen.filter((kind) => !reads.test(call) || !withEffectOnly.includes(kind)).map((kind) => ({ at, kind })),
  )
}

/** On a cluster a statement about every group is a call for each of them. */
function spread(calls: string[], groups: number | undefined): string[] {
  if (groups === undefined) return calls
  return calls.map((name) => (definedStatements.get(name)?.about === 'each group' ? `${name} × ${groups}` : name))
}

/** A fault at each listed call; and a run without one. */
export function singleFaults(scenario: Scenario): Unit[] {
  const possible = endings.filter((one) => one === 'called again' || scenario.background)
  return (scenario.ending ? [scenario.ending] : possible).map((ending) => ({
    title: `${scenario.title}, with a fault at each call, ${ending}`,
    tasks(groups) {
      const calls = spread(scenario.calls, groups)
      const { places, past } = placesOf(calls)
      const run = (fault: FaultAt) => (world: World) =>
        runCase(world, scenario, planOf(ending, [scenario.action], [fault]))
      const each = kinds.flatMap((kind) => places.map(({ at }) => run({ at, kind })))
      return [
        async (world) => {
          const whole = await run({ at: past, kind: 'reset-before' })(world)
          return [failing(whole, () => assert.deepEqual(shortened(whole.made[0] ?? []), calls))]
        },
        ...each.map(
          (task): Task =>
            async (world) => {
              const one = await task(world)
              return [failing(one, () => assert.ok(one.tookEffect, 'the fault did not take effect'))]
            },
        ),
      ]
    },
  }))
}

function failing(one: Case, check: () => void): Case {
  try {
    check()
    return one
  } catch (error) {
    return { ...one, failure: one.failure ?? (error as Error).message }
  }
}

/** One in `onePairIn` second faults is run, another one after each first fault, beginning at `offset`. */
export type Share = { onePairIn: number; offset?: number }

/** A fault in the action and then in its successor, the action again or the worker; or in a job and then in the action. */
export function pairsOfFaults(scenario: Scenario, share: Share): Unit[] {
  const { action, calls, followedBy = [], after } = scenario
  const pairs = followedBy.map((second): [[ActionName, ActionName], string[]] => [[action, second], calls])
  if (after) pairs.push([[after.job, action], after.calls])
  return pairs.map(([actions, ofFirst]) => ({
    title: `${scenario.title}, with faults at a call of ${actions[0]} and then at one of ${actions[1]}`,
    tasks: (groups) =>
      faultsAt(spread(ofFirst, groups), firstKinds).map(
        (first, place) => (world) => secondFaults(world, scenario, actions, first, { ...share, place }),
      ),
  }))
}

/** A run without the second fault lists the calls. */
async function secondFaults(
  world: World,
  scenario: Scenario,
  actions: [ActionName, ActionName],
  first: FaultAt,
  { onePairIn, offset = 0, place }: Share & { place: number },
): Promise<Case[]> {
  const isWorker = actions[1] !== scenario.action
  const ending: Ending = actions[0] === actions[1] ? 'called again' : 'left to the background'
  const plan = (fault: FaultAt) => planOf(ending, actions, [first, fault])
  const without = await runCase(world, scenario, plan({ at: neverReached, kind: 'reset-before' }))
  const made = without.made[1] ?? []
  const second = faultsAt(world.connections.cluster ? shortened(made) : made, isWorker ? workerKinds : secondKinds)
  const cases = [without]
  for (const fault of second.filter((_, index) => (index + place + offset) % onePairIn === 0)) {
    cases.push(await runCase(world, scenario, plan(fault)))
    const mayWake = isWorker && first.kind === 'paused-after'
    if (mayWake) cases.push(await runCase(world, scenario, { ...plan(fault), wakesEarly: true }))
  }
  return cases
}

/** With the real clock: leases expire by themselves. */
export function inRealTime(scenario: Scenario): Unit[] {
  if (!scenario.inRealTime) return []
  const killed = (['killed-before', 'killed-after'] as const).flatMap((kind) => [1, 2, 3].map((at) => ({ at, kind })))
  const plans = killed.map((fault) => ({
    ...planOf('called again', [scenario.action], [fault]),
    clock: 'real' as const,
  }))
  const tasks = plans.map(
    (plan): Task =>
      async (world) => [await runCase(world, scenario, plan)],
  )
  return [{ title: scenario.inRealTime, tasks: () => tasks }]
}

function planOf(ending: Ending, actions: ActionName[], chosen: FaultAt[]): Plan {
  return { ending, faults: chosen.map((fault, index) => ({ action: actions[index] as ActionName, fault })) }
}

const repeated = / × (\d+)$/

/** Executed once a second: more than once in a slow run. */
const renewal = 'payments.renewReconciliation'

/** Writes three equal names in a row as `a × 3`. */
function shortened(made: string[]): string[] {
  const runs: { name: string; times: number }[] = []
  for (const [place, name] of made.entries()) {
    const last = runs.at(-1)
    if (name === renewal && made.indexOf(renewal) < place) continue
    if (last?.name === name) last.times += 1
    else runs.push({ name, times: 1 })
  }
  return runs.flatMap(({ name, times }) => (times > 2 ? [`${name} × ${times}`] : Array(times).fill(name)))
}

/** The numbers of the calls to which faults are applied: of a repetition the first, the second and the last. */
function placesOf(calls: string[]): { places: { call: string; at: number }[]; past: number } {
  const places: { call: string; at: number }[] = []
  let past = 1
  for (const call of calls) {
    const times = Number(repeated.exec(call)?.[1] ?? 1)
    const chosen = times > 2 ? [past, past + 1, past + times - 1] : [past]
    places.push(...chosen.map((at) => ({ call, at })))
    past += times
  }
  return { places, past }
}

/** Runs one task per world at a time, since concurrent tasks in one world would affect each other. */
export async function inWorlds(worlds: World[], tasks: Iterable<Task>): Promise<Case[]> {
  const cases: Case[] = []
  const queue = tasks[Symbol.iterator]()
  await Promise.all(
    worlds.map(async (world) => {
      for (let next = queue.next(); !next.done; next = queue.next()) cases.push(...(await next.value(world)))
    }),
  )
  return cases
}

/** The books of all cases of a world together. Subjects that were prepared and never used are left out: they are unfinished. */
export async function checkWorld({ database, connections, sandbox, stock, retired }: World): Promise<void> {
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
