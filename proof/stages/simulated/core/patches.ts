// Puts the scheduler under Node: timers, clocks, randomness, sockets, names and files of code in a simulated process lead to
// its world; the same calls outside of one reach Node as before. Importing this file installs them, for the rest of this
// program. It has to be imported before the service: what a module takes from Node while it is loaded stays as it was then.
import crypto from 'node:crypto'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { currentLife, type Life, runIn } from './processes.ts'
import { real } from './real.ts'
import { SimulatedSocket } from './socket.ts'
import {
  abortAfter,
  hrtime,
  performanceNow,
  SimulatedDate,
  timeOrigin,
  timerFunctions,
  timerPromises,
} from './timers.ts'

function patchTime(): void {
  Object.assign(globalThis, timerFunctions, { Date: SimulatedDate })
  Object.assign(timers, timerFunctions)
  Object.assign(timersPromises, timerPromises)
  Object.assign(AbortSignal, { timeout: abortAfter })
  Object.defineProperty(performance, 'now', { value: performanceNow, configurable: true, writable: true })
  Object.defineProperty(performance, 'timeOrigin', { get: timeOrigin, configurable: true })
  Object.assign(process, { hrtime })
}

type Bytes = (count: number) => Buffer

/** The random bytes of the process in which it is called; undefined outside of one. */
const ownBytes = (): Bytes | undefined => currentLife()?.process.draws.bytes

function uuidOf(bytes: Bytes): string {
  const drawn = Buffer.from(bytes(16))
  drawn[6] = ((drawn[6] as number) & 0x0f) | 0x40
  drawn[8] = ((drawn[8] as number) & 0x3f) | 0x80
  const hex = drawn.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function fill<View extends NodeJS.ArrayBufferView>(view: View, bytes: Bytes, from = 0, size?: number): View {
  const target = Buffer.from(view.buffer, view.byteOffset, view.byteLength)
  bytes(size ?? target.length - from).copy(target, from)
  return view
}

type Done<Value> = (error: Error | null, value: Value) => void

function patchRandomness(): void {
  Math.random = () => currentLife()?.process.draws.fraction() ?? real.mathRandom()
  const randomUUID = () => {
    const bytes = ownBytes()
    return bytes ? uuidOf(bytes) : real.crypto.randomUUID()
  }
  Object.assign(crypto, {
    randomUUID,
    randomBytes(count: number, done?: Done<Buffer>) {
      const bytes = ownBytes()
      if (!bytes) return done ? real.crypto.randomBytes(count, done) : real.crypto.randomBytes(count)
      const drawn = Buffer.from(bytes(count))
      return done ? process.nextTick(done, null, drawn) : drawn
    },
    randomFillSync(view: NodeJS.ArrayBufferView, from?: number, size?: number) {
      const bytes = ownBytes()
      if (bytes) return fill(view, bytes, from, size)
      return real.crypto.randomFillSync(view, from as number, size as number)
    },
    randomInt(first: number, second?: number | Done<number>, done?: Done<number>) {
      const draws = currentLife()?.process.draws
      if (!draws) return (real.crypto.randomInt as (...values: unknown[]) => number)(first, second, done)
      const [least, below] = typeof second === 'number' ? [first, second] : [0, first]
      const callback = typeof second === 'function' ? second : done
      const drawn = least + Math.floor(draws.fraction() * (below - least))
      return callback ? process.nextTick(callback, null, drawn) : drawn
    },
  })
  const define = (name: string, value: unknown) =>
    Object.defineProperty(globalThis.crypto, name, { value, configurable: true, writable: true })
  define('randomUUID', randomUUID)
  define('getRandomValues', <View extends NodeJS.ArrayBufferView>(view: View) => {
    const bytes = ownBytes()
    return bytes ? fill(view, bytes) : real.webRandomValues(view as never)
  })
}

const newSocket = (life: Life) =>
  new SimulatedSocket(life, (socket, port) => life.world.network.connect(life, socket, port))

function patchSockets(): void {
  function Socket(this: unknown, ...values: unknown[]): unknown {
    const life = currentLife()
    return life ? newSocket(life) : Reflect.construct(real.Socket, values, new.target ?? real.Socket)
  }
  Socket.prototype = real.Socket.prototype
  function connect(...values: unknown[]): unknown {
    const life = currentLife()
    if (!life) return Reflect.apply(real.connect, net, values)
    return newSocket(life).connect(...values)
  }
  Object.assign(net, { Socket, Stream: Socket, connect, createConnection: connect })
  Object.assign(http.Agent.prototype, {
    createConnection(...values: unknown[]): unknown {
      return currentLife() ? connect(...values) : Reflect.apply(real.agentConnection, this, values)
    },
  })
  Object.assign(net.Server.prototype, { listen })
  Object.assign(dns, { lookup })
}

function listen(this: net.Server, ...values: unknown[]): net.Server {
  const life = currentLife()
  if (!life) return Reflect.apply(real.listen, this, values)
  const [first] = values
  const port = typeof first === 'object' && first !== null ? (first as { port?: number }).port : first
  const onListening = values.find((value) => typeof value === 'function') as (() => void) | undefined
  if (onListening) this.once('listening', onListening)
  life.world.network.listen(life, this, Number(port ?? 0))
  this.once('listening', () => ownHttp(this))
  return this
}

type Parsers = { socket: SimulatedSocket }[]

/** Node's own bookkeeping of connections is by real time. */
function ownHttp(server: net.Server): void {
  const inside = server as unknown as Record<symbol, unknown>
  for (const symbol of Object.getOwnPropertySymbols(server)) {
    // Its limits; those of the service are timers of its own.
    if (symbol.description === 'http.server.connectionsCheckingInterval') {
      real.clearInterval(inside[symbol] as NodeJS.Timeout)
    }
    // In this order the connections are closed.
    if (symbol.description === 'http.server.connections') {
      const list = inside[symbol] as Record<'all' | 'idle', () => Parsers>
      for (const name of ['all', 'idle'] as const) {
        const parsers = list[name].bind(list)
        list[name] = () => parsers().sort((one, other) => one.socket.number - other.socket.number)
      }
    }
  }
}

/** Every name is this machine. */
function lookup(name: string, ...values: unknown[]): void {
  if (!currentLife()) return void Reflect.apply(real.lookup, dns, [name, ...values])
  const options = values.find((value) => typeof value === 'object' && value !== null) as { all?: boolean } | undefined
  const done = values.findLast((value) => typeof value === 'function') as (...results: unknown[]) => void
  const found = { address: net.isIP(name) ? name : '127.0.0.1', family: 4 }
  if (options?.all) process.nextTick(done, null, [found])
  else process.nextTick(done, null, found.address, found.family)
}

function patchHttp(): void {
  // Node writes this header from its own clock.
  Object.defineProperty(http.OutgoingMessage.prototype, 'sendDate', { get: () => false, set: () => undefined })
  // undici has one timer for all its limits, which would be the timer of one process.
  const require = createRequire(import.meta.url)
  const limits = require('undici/lib/util/timers.js') as Record<string, unknown>
  const original = { ...limits } as Record<string, (...values: unknown[]) => unknown>
  for (const [set, clear] of [
    ['setTimeout', 'clearTimeout'],
    ['setFastTimeout', 'clearFastTimeout'],
  ] as const) {
    limits[set] = (callback: () => void, delayMs: number, value: unknown) =>
      currentLife()
        ? setTimeout(callback as (value: unknown) => void, delayMs, value)
        : original[set]?.(callback, delayMs, value)
    limits[clear] = (timer: object) =>
      'refresh' in timer && 'close' in timer ? clearTimeout(timer as NodeJS.Timeout) : original[clear]?.(timer)
  }
  const { fetch, Agent } = require('undici') as typeof import('undici')
  const agents = new WeakMap<Life, InstanceType<typeof Agent>>()
  // Node's own has its limits out of reach.
  globalThis.fetch = ((input: never, options: object = {}) => {
    const life = currentLife()
    if (!life) return real.fetch(input, options)
    const dispatcher = agents.get(life) ?? new Agent()
    agents.set(life, dispatcher)
    return fetch(input, { dispatcher, ...options })
  }) as typeof globalThis.fetch
}

/** How long it takes in virtual time: a hash of a password, or a file. */
const hashUs = 60_000
const fileUs = 200

function patchOtherThreads(): void {
  const { scrypt, hkdfSync } = real.crypto
  crypto.scrypt = ((...values: Parameters<typeof scrypt>) => {
    const life = currentLife()
    if (!life) return scrypt(...values)
    const done = values.at(-1) as Done<Buffer>
    // Its cost is not simulated: a third of a second for each sign-in would be most of a run.
    const [password, salt, length] = values
    const key = Buffer.from(hkdfSync('sha256', password, salt, 'scrypt', length))
    const { scheduler } = life.world
    scheduler.schedule(life, scheduler.now() + hashUs, 'scrypt', () => runIn(life, () => done(null, key)))
  }) as typeof scrypt
  for (const [name, work] of Object.entries(real.files)) {
    if (typeof work !== 'function') continue
    Object.assign(fs.promises, {
      [name](...values: unknown[]): unknown {
        const life = currentLife()
        if (!life) return Reflect.apply(work, fs.promises, values)
        const outside = () => runIn(undefined, () => Reflect.apply(work, fs.promises, values) as Promise<unknown>)
        return life.world.scheduler.fromOutside(life, `file ${name}`, fileUs, outside)
      },
    })
  }
}

/** Nothing of the service uses them. What does would differ from run to run, so it fails. */
function refuseOthers(): void {
  const refuse = (place: object, names: string[]) => {
    for (const name of names) {
      const original = Reflect.get(place, name) as (...values: unknown[]) => unknown
      const refused = function (this: unknown, ...values: unknown[]): unknown {
        if (currentLife()) throw new Error(`${name} is not simulated: a run with it would not repeat`)
        return Reflect.apply(original, this, values)
      }
      // How `promisify` treats it.
      for (const symbol of Object.getOwnPropertySymbols(original)) {
        Object.defineProperty(refused, symbol, { value: Reflect.get(original, symbol) })
      }
      Object.defineProperty(place, name, { value: refused, configurable: true, writable: true })
    }
  }
  refuse(timersPromises, ['setInterval'])
  refuse(crypto, ['randomFill', 'generateKeyPair', 'generateKeyPairSync', 'generateKey', 'generateKeySync'])
  refuse(crypto, ['generatePrime', 'generatePrimeSync', 'pbkdf2', 'hkdf'])
  refuse(globalThis.crypto.subtle, ['generateKey', 'deriveBits', 'digest', 'sign', 'verify', 'encrypt', 'decrypt'])
}

patchTime()
refuseOthers()
patchRandomness()
patchSockets()
patchHttp()
patchOtherThreads()
syncBuiltinESMExports()
