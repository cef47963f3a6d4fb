// The stage `calls`: every scenario with a fault at each of its calls, then pairs of faults, in an order that follows from the
// seed, until the minutes are over; at the end the books of all cases together.
import { createRandom } from '../../../harness/random.ts'
import { globalSetup, globalTeardown } from '../../../test/support/database/global-setup.ts'
import { faults } from '../../faults.ts'
import type { CallsResult } from '../../report/report.ts'
import type { Case } from './cases.ts'
import type { Scenarios } from './scenario.ts'
import * as cancel from './scenarios/cancel.ts'
import * as confirm from './scenarios/confirm.ts'
import * as notifications from './scenarios/notifications.ts'
import * as orders from './scenarios/orders.ts'
import * as reconcile from './scenarios/reconcile.ts'
import * as refund from './scenarios/refund.ts'
import * as returned from './scenarios/return.ts'
import { checkWorld, inRealTime, inWorlds, pairsOfFaults, singleFaults, type Task, type Unit } from './table.ts'
import { openWorld } from './world.ts'

export type CallsOptions = {
  seed: number
  minutes: number
  logLine(line: string): void
  stopped: AbortSignal
}

const files: Scenarios[] = [cancel, confirm, notifications, orders, reconcile, refund, returned]

const onePairIn = 5
const logEveryMs = 5_000

export async function runCalls({ seed, minutes, logLine, stopped }: CallsOptions): Promise<CallsResult> {
  await using parts = new AsyncDisposableStack()
  logLine('Starting the database ...')
  parts.defer(globalTeardown)
  await globalSetup()
  const random = createRandom(seed)
  const share = { onePairIn, offset: random.integer(0, onePairIn - 1) }
  const startedAt = performance.now()
  const leftMs = () => (stopped.aborted ? 0 : startedAt + minutes * 60_000 - performance.now())
  const [begun, planned] = [
    { singles: 0, pairs: 0 },
    { singles: 0, pairs: 0 },
  ]
  function* untilOver(units: Unit[], of: keyof typeof begun): Generator<Task> {
    const tasks = random.shuffled(units.flatMap((unit) => unit.tasks(undefined)))
    planned[of] += tasks.length
    for (const task of tasks) {
      if (leftMs() <= 0) return
      begun[of] += 1
      yield task
    }
  }
  const cases: Case[] = []
  const failures: string[] = []
  /** In a world of its own: what one file needs may disturb another. */
  async function runFile({ scenarios: ofFile, stories = [] }: Scenarios): Promise<void> {
    const world = await openWorld()
    parts.defer(() => world.close())
    const scenarios = Object.values(ofFile)
    const check = async (title: string, work: () => Promise<void>) =>
      work().catch((error) => void failures.push(`${title}: ${(error as Error).message}`))
    const singles = untilOver(
      scenarios.flatMap((each) => [...singleFaults(each), ...inRealTime(each)]),
      'singles',
    )
    cases.push(...(await inWorlds([world], singles)))
    for (const { title, run } of stories) await check(title, () => run(world))
    const pairs = untilOver(
      scenarios.flatMap((each) => pairsOfFaults(each, share)),
      'pairs',
    )
    cases.push(...(await inWorlds([world], pairs)))
    await check('the books of all cases together', () => checkWorld(world))
  }
  const progress = setInterval(() => {
    const { singles, pairs } = begun
    logLine(
      `${Math.ceil(leftMs() / 1_000)} s left: ${singles} of ${planned.singles} single faults, ${pairs} first faults of pairs`,
    )
  }, logEveryMs)
  parts.defer(async () => clearInterval(progress))
  await Promise.all(files.map(runFile))
  failures.push(...cases.flatMap(({ label, failure }) => (failure === null ? [] : [`${label}: ${failure}`])))
  const isShort = begun.singles < planned.singles
  return {
    verdict: failures.length > 0 ? 'FAILED' : isShort ? 'INVALID' : 'PASSED',
    seed,
    minutes,
    ...counted(cases),
    failures,
    missing: isShort ? [`single faults: ${begun.singles} of ${planned.singles}`] : [],
  }
}

/** By kind, and by the call at which they were. */
function counted(cases: Case[]): Pick<CallsResult, 'fired' | 'calls' | 'figures'> {
  const withFault = cases.filter(({ tookEffect }) => tookEffect)
  const fired = Object.fromEntries(Object.keys(faults.call).map((kind) => [`call: ${kind}`, 0]))
  const calls: Record<string, number> = {}
  for (const { fault, call } of withFault.flatMap(({ places }) => places)) {
    fired[`call: ${fault.kind}`] = (fired[`call: ${fault.kind}`] ?? 0) + 1
    calls[call] = (calls[call] ?? 0) + 1
  }
  const figures = {
    'cases with one fault': withFault.filter(({ places }) => places.length === 1).length,
    'cases with two faults': withFault.filter(({ places }) => places.length === 2).length,
    'runs without a fault, which list the calls': cases.length - withFault.length,
  }
  return { fired, calls, figures }
}
