// Simulated processes. A process is a domain of asynchronous work: whatever runs in it, and whatever that starts, finds its
// process here. It owns its timers, sockets and listeners; a kill ends all of them between two events, so nothing of it ever
// runs again. The next `run` starts a new life under the same name.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createDraws, type Draws } from './random.ts'
import type { Event, Scheduler } from './scheduler.ts'

/** What the patches ask for time, randomness and sockets. */
export type World = {
  scheduler: Scheduler
  /** The wall clock at the start of the run, in milliseconds. */
  epochMs: number
  /** Microseconds that a timer of this process fires late. */
  latenessUs(process: SimulatedProcess, delayMs: number): number
  network: {
    connect(life: Life, socket: object, port: number): void
    listen(life: Life, server: object, port: number): void
  }
}

/** One life of a process: from its start to its kill. */
export class Life {
  isAlive = true
  /** While the process is paused, its events. */
  heldBack: Event[] | undefined
  /** When its pause ends. */
  resumesAtUs = 0
  readonly startedUs: number
  /** Ends what the process has open, as the kernel does: its sockets and its listeners. */
  readonly open = new Set<{ endByKill(): void }>()
  readonly process: SimulatedProcess
  constructor(process: SimulatedProcess) {
    this.process = process
    this.startedUs = process.world.scheduler.now()
  }
  get name(): string {
    return this.process.name
  }
  get world(): World {
    return this.process.world
  }
}

const lives = new AsyncLocalStorage<Life | undefined>()

/** The life in which this code runs; undefined outside of every simulated process. */
export const currentLife = (): Life | undefined => lives.getStore()

export function runIn<Value>(life: Life | undefined, work: () => Value): Value {
  return lives.run(life, work)
}

export class SimulatedProcess {
  readonly name: string
  readonly world: World
  /** Its wall clock is ahead of the true time by this much. */
  skewMs = 0
  /** Its timers of 100 ms and more fire late, by up to this many times their delay. */
  starvation = 0
  /** Its timers are on time while nothing else happens: for programs that stand for people and for customers. */
  isPunctual = false
  readonly draws: Draws
  /** For the lateness of its timers. */
  readonly timerDraws: Draws
  #life: Life | undefined

  constructor(name: string, world: World, seed: number) {
    this.name = name
    this.world = world
    this.draws = createDraws(seed, `process ${name}`)
    this.timerDraws = createDraws(seed, `timers of ${name}`)
  }

  get isRunning(): boolean {
    return this.#life?.isAlive ?? false
  }

  get isPaused(): boolean {
    return this.#life?.heldBack !== undefined
  }

  /** Runs `work` in this process as the next event. After a kill the process starts anew. */
  run<Value>(work: () => Value | Promise<Value>, what = 'run'): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#life ??= new Life(this)
    const life = this.#life
    const { scheduler } = this.world
    // The caller handles a failure, if it waits for the result at all.
    promise.catch(() => undefined)
    scheduler.schedule(life, scheduler.now(), what, () =>
      runIn(life, () => {
        // Not awaited: it may last for the whole run.
        Promise.try(work).then(resolve, reject)
      }),
    )
    return promise
  }

  /** Nothing of it ever runs again; its connections are reset. */
  kill(): void {
    const life = this.#life
    if (!life) return
    life.isAlive = false
    life.heldBack = undefined
    this.#life = undefined
    for (const each of life.open) each.endByKill()
    life.open.clear()
  }

  /** As SIGSTOP does: its events wait, connections to it stay open. */
  pause(forMs: number = Number.POSITIVE_INFINITY): void {
    const life = this.#life
    if (!life) return
    life.heldBack ??= []
    const { scheduler } = this.world
    life.resumesAtUs = Math.max(life.resumesAtUs, scheduler.now() + forMs * 1_000)
    if (!Number.isFinite(forMs)) return
    scheduler.schedule({ name: this.name, isAlive: true, heldBack: undefined }, life.resumesAtUs, 'resumes', () => {
      if (scheduler.now() >= life.resumesAtUs) this.#resume(life)
    })
  }

  resume(): void {
    if (this.#life) this.#resume(this.#life)
  }

  #resume(life: Life): void {
    const events = life.heldBack
    life.resumesAtUs = 0
    if (!events) return
    life.heldBack = undefined
    this.world.scheduler.release(events)
  }

  /** 0: its timers are on time again. */
  starve(factor: number): void {
    this.starvation = factor
  }
}
