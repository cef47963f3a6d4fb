// A simulated run: the scheduler, its processes, their network and the database, all from one seed. Several runs may follow
// one another in one program; two at once would share the service's modules.
import './patches.ts'
import { discardRandomBytes } from '../../../../src/core/ids.ts'
import { effectPrefix } from '../../../faults.ts'
import { openDatabase } from './database/database.ts'
import { createNetwork } from './network/network.ts'
import { runIn, SimulatedProcess, type World } from './processes.ts'
import { createDraws, type Draws } from './random.ts'
import { createScheduler } from './scheduler.ts'
import { startsAt, type Template } from './template.ts'

export type SimulationOptions = {
  seed: number
  template: Template
  /** Each line of the history, with the time in microseconds. */
  onLine?: (line: string) => void
}

export type Simulation = Awaited<ReturnType<typeof createSimulation>>

/**
 * A machine on which nothing happens: when no process has received anything for `afterMs`, timers of at least `fromMs` fire
 * late, by up to `factor` times their delay and at most `mostMs`. Otherwise the polls of idle workers are nearly all events.
 */
const idle = { afterMs: 3_000, fromMs: 100, factor: 200, mostMs: 120_000 }
/** Timers of a starved process are late from this delay on. */
const starvedFromMs = 100
/** As long as Node's timers are late on a machine with little to do. */
const timerLatenessUs = 1_000

export async function createSimulation(options: SimulationOptions) {
  const { seed, template, onLine } = options
  const epochMs = Date.parse(startsAt)
  const scheduler = createScheduler({ onLine })
  const processes = new Map<string, SimulatedProcess>()
  const generators = new Map<string, Draws>()
  let activeUs = 0
  let mayIdle = true
  const effects = new Map<string, number>()
  const onEffect = (from: string, to: string, kind: string) => {
    // Commands have a number each.
    const name = `${effectPrefix}${from.replace(/ \d+$/, '')}>${to} ${kind}`
    effects.set(name, (effects.get(name) ?? 0) + 1)
  }
  const onActivity = () => {
    activeUs = scheduler.now()
  }
  const network = createNetwork({ scheduler, seed, onActivity, onEffect })
  const world: World = { scheduler, epochMs, latenessUs, network }
  const database = await openDatabase({ scheduler, network, template, seed, epochMs, onEffect })
  const kernel = { name: 'simulation', isAlive: true, heldBack: undefined }

  function latenessUs({ timerDraws, starvation, isPunctual }: SimulatedProcess, delayMs: number): number {
    const idleUs = scheduler.now() - activeUs
    const isIdle = mayIdle && !isPunctual && delayMs >= idle.fromMs && idleUs >= idle.afterMs * 1_000
    const most = Math.max(
      delayMs >= starvedFromMs ? delayMs * starvation : 0,
      isIdle ? Math.min(delayMs * idle.factor, idle.mostMs) : 0,
    )
    return timerDraws.integer(0, timerLatenessUs + most * 1_000)
  }

  function process(name: string): SimulatedProcess {
    let found = processes.get(name)
    if (!found) {
      found = new SimulatedProcess(name, world, seed)
      processes.set(name, found)
    }
    return found
  }

  // The service takes random bytes for ids from a stock of its own, which may hold bytes of an earlier run.
  discardRandomBytes()

  return {
    seed,
    process,
    network,
    database,
    /** Milliseconds since the start of the run. */
    now: () => scheduler.now() / 1_000,
    /** The true time, in milliseconds since 1970. */
    wallClock: () => epochMs + scheduler.now() / 1_000,
    /** A generator of its own for each name. */
    random(name: string): Draws {
      let found = generators.get(name)
      if (!found) {
        found = createDraws(seed, name)
        generators.set(name, found)
      }
      return found
    },
    /** Runs `work` at this time, outside of every process; the next event waits for what it returns. */
    at(ms: number, work: () => unknown, what = 'step'): void {
      scheduler.schedule(kernel, ms * 1_000, what, () => runIn(undefined, work))
    },
    /** Until this time; returns at once after a failure. */
    run: (untilMs: number) => scheduler.run(untilMs * 1_000),
    /** Until the promise of a process is settled; rejects when it is not by then. */
    async until<Value>(promise: Promise<Value>, limitMs = 60_000): Promise<Value> {
      let isSettled = false
      const settle = () => {
        isSettled = true
      }
      promise.then(settle, settle)
      await scheduler.run(scheduler.now() + limitMs * 1_000, () => isSettled)
      if (!isSettled) throw new Error(`not settled within ${limitMs} simulated milliseconds`)
      return promise
    },
    /** Whether timers are late when nothing happens; false: those that are late already fire now. */
    setIdle(isAllowed: boolean): void {
      mayIdle = isAllowed
      if (!isAllowed) scheduler.fireLateTimers()
    },
    /** After a time in which timers were late, because nothing happened. */
    fireLateTimers: () => scheduler.fireLateTimers(),
    note: (line: string) => scheduler.note('note', line),
    digest: () => scheduler.digest(),
    /** With how often each fault of the network and of the database took effect, by who sent to whom. */
    figures: (): Record<string, number> => ({
      events: scheduler.count(),
      statements: database.statements(),
      ...Object.fromEntries([...effects].sort()),
    }),
    /** Nothing of the run is left: no process, no session, no database. */
    async close(): Promise<void> {
      for (const each of processes.values()) each.kill()
      scheduler.clear()
      await database.close()
    },
  }
}
