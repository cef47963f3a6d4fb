// Timers and clocks in virtual time, for code in a simulated process; the same calls outside of one reach Node. A timer fires
// a little late, as on a real machine, by an amount drawn from the seed.
import { AsyncLocalStorage } from 'node:async_hooks'
import { promisify } from 'node:util'
import { currentLife, type Life } from './processes.ts'
import { real } from './real.ts'
import type { Event } from './scheduler.ts'

type Callback = (...values: unknown[]) => void

/** What `setTimeout` returns in a simulated process; it has the methods of Node's. */
class SimulatedTimer {
  #event: Event | undefined
  readonly #life: Life
  readonly #delayMs: number
  readonly #repeats: boolean
  readonly #fire: () => void
  constructor(life: Life, callback: Callback, delayMs: unknown, values: unknown[], repeats: boolean) {
    const given = Number(delayMs)
    this.#life = life
    this.#delayMs = given >= 1 && given <= 2 ** 31 - 1 ? Math.trunc(given) : 1
    this.#repeats = repeats
    const inContext = AsyncLocalStorage.snapshot()
    this.#fire = () => {
      this.#event = undefined
      if (this.#repeats) this.#arm()
      inContext(callback, ...values)
    }
    this.#arm()
  }
  #arm(): void {
    const { world, process } = this.#life
    const at = world.scheduler.now() + this.#delayMs * 1_000 + world.latenessUs(process, this.#delayMs)
    this.#event = world.scheduler.schedule(this.#life, at, `timer ${this.#delayMs}`, this.#fire)
    this.#event.dueAt = world.scheduler.now() + this.#delayMs * 1_000
  }
  close(): this {
    if (this.#event) this.#event.run = undefined
    this.#event = undefined
    return this
  }
  refresh(): this {
    this.close()
    this.#arm()
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

class SimulatedImmediate {
  #event: Event
  constructor(life: Life, callback: Callback, values: unknown[]) {
    const { scheduler } = life.world
    const inContext = AsyncLocalStorage.snapshot()
    this.#event = scheduler.schedule(life, scheduler.now(), 'immediate', () => inContext(callback, ...values))
  }
  close(): void {
    this.#event.run = undefined
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

function setTimeout(callback: Callback, delayMs?: number, ...values: unknown[]): unknown {
  const life = currentLife()
  if (!life) return real.setTimeout(callback, delayMs, ...values)
  return new SimulatedTimer(life, callback, delayMs, values, false)
}

function setInterval(callback: Callback, delayMs?: number, ...values: unknown[]): unknown {
  const life = currentLife()
  if (!life) return real.setInterval(callback, delayMs, ...values)
  return new SimulatedTimer(life, callback, delayMs, values, true)
}

function setImmediate(callback: Callback, ...values: unknown[]): unknown {
  const life = currentLife()
  if (!life) return real.setImmediate(callback, ...values)
  return new SimulatedImmediate(life, callback, values)
}

function clearTimeout(timer: unknown): void {
  if (timer instanceof SimulatedTimer) timer.close()
  else real.clearTimeout(timer as NodeJS.Timeout)
}

function clearImmediate(immediate: unknown): void {
  if (immediate instanceof SimulatedImmediate) immediate.close()
  else real.clearImmediate(immediate as NodeJS.Immediate)
}

type WaitOptions = { signal?: AbortSignal; ref?: boolean }

function abortError(signal: AbortSignal): Error {
  const error = Object.assign(new Error('The operation was aborted', { cause: signal.reason }), { code: 'ABORT_ERR' })
  error.name = 'AbortError'
  return error
}

/** The promise of a wait that a signal may end. */
function waiting<Value>(
  begin: (done: () => void) => { close(): unknown },
  value: Value,
  { signal }: WaitOptions = {},
): Promise<Value> {
  if (signal?.aborted) return Promise.reject(abortError(signal))
  return new Promise<Value>((resolve, reject) => {
    const timer = begin(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve(value)
    })
    function onAbort(): void {
      timer.close()
      reject(abortError(signal as AbortSignal))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function delay<Value>(delayMs?: number, value?: Value, options?: WaitOptions): Promise<unknown> {
  const life = currentLife()
  if (!life) return real.promises.setTimeout(delayMs, value, options)
  return waiting((done) => new SimulatedTimer(life, done, delayMs, [], false), value, options)
}

function nextImmediate<Value>(value?: Value, options?: WaitOptions): Promise<unknown> {
  const life = currentLife()
  if (!life) return real.promises.setImmediate(value, options)
  return waiting((done) => new SimulatedImmediate(life, done, []), value, options)
}

Object.defineProperty(setTimeout, promisify.custom, { value: delay })
Object.defineProperty(setImmediate, promisify.custom, { value: nextImmediate })

export const timerFunctions = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval: clearTimeout,
  setImmediate,
  clearImmediate,
}

export const timerPromises = {
  setTimeout: delay,
  setImmediate: nextImmediate,
  scheduler: {
    ...real.promises.scheduler,
    wait: (delayMs?: number, options?: WaitOptions) => delay(delayMs, undefined, options),
  },
}

export function abortAfter(delayMs: number): AbortSignal {
  const life = currentLife()
  if (!life) return real.abortTimeout(delayMs)
  const controller = new AbortController()
  const end = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  new SimulatedTimer(life, end, delayMs, [], false)
  return controller.signal
}

/** Milliseconds since 1970 by the clock of the process. */
function wallClock(): number {
  const life = currentLife()
  if (!life) return real.Date.now()
  const { world, process } = life
  return world.epochMs + Math.floor(world.scheduler.now() / 1_000) + process.skewMs
}

/** Callable without `new`, as the real one is. */
export const SimulatedDate = new Proxy(real.Date, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [wallClock()] : values, newTarget),
  apply: (target) => new target(wallClock()).toString(),
  get: (target, name) => (name === 'now' ? wallClock : Reflect.get(target, name)),
})

/** Milliseconds since the process began; no jump of its wall clock changes it. */
export function performanceNow(): number {
  const life = currentLife()
  return life ? (life.world.scheduler.now() - life.startedUs) / 1_000 : real.performanceNow()
}

/** The wall clock at which `performanceNow` is 0. */
export function timeOrigin(): number {
  const life = currentLife()
  return life ? life.world.epochMs + life.startedUs / 1_000 : real.timeOrigin
}

function nanoseconds(): bigint {
  const life = currentLife()
  return life ? BigInt(life.world.scheduler.now()) * 1_000n : real.hrtime.bigint()
}

function hrtimeOf(before?: [number, number]): [number, number] {
  if (!currentLife()) return real.hrtime(before)
  const passed = nanoseconds() - (before ? BigInt(before[0]) * 1_000_000_000n + BigInt(before[1]) : 0n)
  return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)]
}

export const hrtime = Object.assign(hrtimeOf, { bigint: nanoseconds })
