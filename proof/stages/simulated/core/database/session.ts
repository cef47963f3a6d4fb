// One session of the real PostgreSQL, for one simulated connection. Its clock is set before each statement, and it runs one
// statement after the other.
import type { Socket } from 'node:net'
import type { EndpointLink } from '../network/listening.ts'
import { real } from '../real.ts'
import {
  clockMessages,
  contentOf,
  endOf,
  failingMessage,
  fatalError,
  labelOf,
  prepareClock,
  protocolVersion,
  query,
  queryMessage,
  terminate,
  textOf,
  unitLength,
  withoutClock,
} from './protocol.ts'

const answerUs = [100, 1_500] as const
/** In real time. Nothing else runs meanwhile, so a lock that it waits for is never released. */
const answerLimitMs = 120_000

/** `ended`: the session is ended instead of running it. `locked`: it waits for a lock until its limit. */
export type StatementFaultKind = 'ended' | 'locked'

/** As long as a statement of the service waits for a lock. */
const lockTimeoutUs = 2_000_000
const ended = fatalError('57P01', 'terminating connection due to administrator command')
const locked = failingMessage('55P03', 'canceling statement due to lock timeout')

type SessionParts = {
  link: EndpointLink
  path: string
  seed: number
  clockText(): string
  /** For a statement that has arrived. */
  faultFor(from: string, text: string): StatementFaultKind | undefined
  onStatement(link: EndpointLink, what: string, answer: Buffer | string): void
}

export type Session = ReturnType<typeof createSession>

export function createSession({ link, path, seed, clockText, faultFor, onStatement }: SessionParts) {
  let received: Buffer = Buffer.alloc(0)
  let socket: Socket | undefined
  let isClosed = false
  const prepared = new Map<string, string>()
  /** What the server has sent since the last question, and who waits for it. */
  let answer: Buffer = Buffer.alloc(0)
  let waiting: { readies: number; resolve(answer: Buffer | undefined): void } | undefined

  function onData(bytes: Buffer): void {
    answer = answer.length === 0 ? bytes : Buffer.concat([answer, bytes])
    const end = waiting && endOf(answer, waiting.readies)
    if (end === undefined || !waiting) return
    const whole = answer.subarray(0, end)
    answer = answer.subarray(end)
    const { resolve } = waiting
    waiting = undefined
    resolve(whole)
  }

  /** Undefined: the server has ended the session. */
  async function ask(bytes: Buffer, readies: number): Promise<Buffer | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
    waiting = { readies, resolve }
    const late = () =>
      reject(new Error('a statement waits for a lock of another simulated session, or runs for too long'))
    const limit = real.setTimeout(late, answerLimitMs)
    socket?.write(bytes)
    try {
      return await promise
    } finally {
      real.clearTimeout(limit)
    }
  }

  async function start(message: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const opened = new real.Socket()
    socket = opened
    opened.on('data', onData)
    opened.on('error', reject)
    opened.on('close', () => {
      waiting?.resolve(undefined)
      waiting = undefined
    })
    opened.connect(path, resolve)
    await promise
    const greeting = await ask(message, 1)
    await ask(
      queryMessage(`set simulation.seed = '${seed} '; set simulation.session = ${link.number}; ${prepareClock}`),
      1,
    )
    onStatement(link, 'begins a session', greeting ? '' : 'refused')
    deliver(greeting)
  }

  function deliver(bytes: Buffer | undefined, afterUs = 0): void {
    if (!bytes) link.end()
    else link.reply(bytes, afterUs + link.draws.integer(...answerUs))
  }

  /** The clock is set in the same exchange: a wait for a second one would double the cost of a statement. */
  async function runStatement(unit: Buffer): Promise<void> {
    const label = labelOf(unit)
    const given = textOf(unit)
    if (given) prepared.set(given.name, given.text)
    const fault = faultFor(link.from, given?.text ?? prepared.get(label) ?? '')
    if (fault === 'ended') return end(label)
    const isLocked = fault === 'locked'
    const isPlain = isLocked || unit[0] === query
    const clock = isPlain ? queryMessage(`set simulation.now = '${clockText()}'`) : clockMessages(clockText())
    const both = await ask(Buffer.concat([clock, isLocked ? locked : unit]), isPlain ? 2 : 1)
    const own = both && withoutClock(both, isPlain)
    onStatement(link, label, own ? contentOf(own) : 'the session ended')
    deliver(own, isLocked ? lockTimeoutUs : 0)
  }

  /** By the server, as its administrator may. */
  async function end(label = 'the session ends'): Promise<void> {
    onStatement(link, label, ended)
    deliver(ended)
    await close()
    link.end()
  }

  /** One statement after the other, in the order in which they arrived. */
  async function receive(bytes: Buffer): Promise<void> {
    // Sent before its end has arrived.
    if (isClosed) link.reset()
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes])
    while (!isClosed) {
      if (!socket) {
        const length = received.length >= 8 ? received.readInt32BE(0) : 8
        if (received.length < length) return
        const message = received.subarray(0, length)
        received = received.subarray(length)
        if (message.readInt32BE(4) !== protocolVersion)
          throw new Error('the simulated database speaks plain protocol 3')
        await start(message)
        continue
      }
      const length = unitLength(received)
      if (length === undefined) return
      const unit = received.subarray(0, length)
      received = received.subarray(length)
      if (unit[0] === terminate) {
        await close()
        link.end()
        return
      }
      await runStatement(unit)
    }
  }

  /** When the server has ended the session: then its locks are free and its rows visible as they will stay. */
  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    const open = socket
    if (!open || open.destroyed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    open.once('close', () => resolve())
    open.end(Buffer.from([terminate, 0, 0, 0, 4]))
    await promise
  }

  return { from: link.from, receive, end, close }
}
