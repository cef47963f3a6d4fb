// The database of a run: a simulated listener that passes each statement on to a real PostgreSQL, one at a time. The scheduler
// waits for the real answer before anything else runs, and the client reads it as a later event. Each simulated connection
// has a real session; before each statement the session's clock is set to the run's.
import type { Socket } from 'node:net'
import pg from 'pg'
import { databaseName, type Network, type ServiceLink } from './network.ts'
import { createDraws, type Draws } from './random.ts'
import { real } from './real.ts'
import type { Scheduler } from './scheduler.ts'
import type { Template } from './template.ts'

/** Where DATABASE_URL of a simulated process leads. */
const port = 5_432
const answerUs = [100, 1_500] as const
/** In real time. Nothing else runs meanwhile, so a lock that it waits for is never released. */
const answerLimitMs = 120_000

/** bigint as a number, as the service reads it: its audit is one of the checks. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
}

export type SimulatedDatabase = Awaited<ReturnType<typeof openDatabase>>

type Parts = { scheduler: Scheduler; network: Network; template: Template; seed: number; epochMs: number }

export async function openDatabase({ scheduler, network, template, seed, epochMs }: Parts) {
  const name = await template.clone()
  const draws = createDraws(seed, databaseName)
  const sessions = new Set<Session>()
  const pool = new pg.Pool({ ...template.owner, database: name, max: 2, application_name: 'checks', types })
  pool.on('error', () => undefined)
  let awayUntil = 0
  let statements = 0
  /** Its clock is ahead of the true time by so much. */
  const clock = { skewMs: 0 }

  const clockText = () => {
    const us = scheduler.now() + clock.skewMs * 1_000
    const seconds = new real.Date(epochMs + Math.floor(us / 1_000)).toISOString().slice(0, 19)
    return `${seconds}.${String((((epochMs * 1_000) % 1e6) + us) % 1e6).padStart(6, '0')}+00`
  }

  network.serve(port, databaseName, {
    accept(link) {
      const session = createSession({
        link,
        path: template.socketPath,
        database: name,
        seed,
        draws,
        clockText,
        onStatement,
      })
      sessions.add(session)
      if (scheduler.now() < awayUntil) link.reset()
      return {
        receive: (bytes: Buffer) => session.receive(bytes),
        closed: async () => {
          sessions.delete(session)
          await session.close()
        },
      }
    },
  })
  function onStatement(link: ServiceLink, what: string, answer: Buffer | string): void {
    statements += 1
    scheduler.note(databaseName, `#${link.number} ${link.from} ${what}`, answer)
  }

  return {
    name,
    clock,
    /** For DATABASE_URL of a simulated process. */
    url: `postgres://${template.servingRole}@127.0.0.1:${port}/${name}`,
    ownerUrl: `postgres://${template.owner.user}@127.0.0.1:${port}/${name}`,
    statements: () => statements,
    /** Outside of simulated time, as the owner: for checks between events. */
    async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
      const client = await pool.connect()
      try {
        const setClock = `set simulation.now = '${clockText()}'`
        if (values.length === 0) {
          const results: unknown = await client.query(`${setClock};${text}`)
          return (results as { rows: Row[] }[])[1]?.rows ?? []
        }
        await client.query(setClock)
        return (await client.query(text, values)).rows as Row[]
      } finally {
        client.release()
      }
    },
    /** The rows of several texts, sent at once: a check after every step is one exchange with the server. */
    async queryAll(texts: string[]): Promise<object[][]> {
      const client = await pool.connect()
      try {
        const results: unknown = await client.query([`set simulation.now = '${clockText()}'`, ...texts].join(';'))
        return (results as { rows: object[] }[]).slice(1).map(({ rows }) => rows)
      } finally {
        client.release()
      }
    },
    /** All connections are lost, and new ones refused for a time. */
    away(forMs: number): void {
      network.resetConnections(undefined, databaseName)
      awayUntil = Math.max(awayUntil, scheduler.now() + forMs * 1_000)
    },
    async close(): Promise<void> {
      await Promise.all([...sessions].map((session) => session.close()))
      await pool.end()
      await template.drop(name)
    },
  }
}

type SessionParts = {
  link: ServiceLink
  path: string
  database: string
  seed: number
  draws: Draws
  clockText(): string
  onStatement(link: ServiceLink, what: string, answer: Buffer | string): void
}

type Session = ReturnType<typeof createSession>

const protocolVersion = 196_608
const code = (letter: string) => letter.charCodeAt(0)
/** The types of messages of PostgreSQL's protocol that are looked at. */
const [readyForQuery, sync, query] = [code('Z'), code('S'), code('Q')]
const [terminate, bind, parse] = [code('X'), code('B'), code('P')]

/** One session of the real server, for one simulated connection. */
function createSession({ link, path, database, seed, draws, clockText, onStatement }: SessionParts) {
  let received: Buffer = Buffer.alloc(0)
  let socket: Socket | undefined
  let isClosed = false
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

  async function start(parameters: string[]): Promise<void> {
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
    const own = replaced(parameters, 'database', database)
    const greeting = await ask(startupMessage(own), 1)
    await ask(
      queryMessage(`set simulation.seed = '${seed} '; set simulation.session = ${link.number}; ${prepareClock}`),
      1,
    )
    onStatement(link, 'begins a session', greeting ? '' : 'refused')
    deliver(greeting)
  }

  function deliver(bytes: Buffer | undefined): void {
    if (!bytes) link.end()
    else link.reply(bytes, draws.integer(...answerUs))
  }

  /** The clock is set in the same exchange: a wait for a second one would double the cost of a statement. */
  async function runStatement(unit: Buffer): Promise<void> {
    const isPlain = unit[0] === query
    const clock = isPlain ? queryMessage(`set simulation.now = '${clockText()}'`) : setClockMessages(clockText())
    const both = await ask(Buffer.concat([clock, unit]), isPlain ? 2 : 1)
    const own = both && withoutClock(both, isPlain)
    onStatement(link, labelOf(unit), own ? contentOf(own) : 'the session ended')
    deliver(own)
  }

  /** One statement after the other, in the order in which they arrived. */
  async function receive(bytes: Buffer): Promise<void> {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes])
    while (!isClosed) {
      if (!socket) {
        const length = received.length >= 8 ? received.readInt32BE(0) : 8
        if (received.length < length) return
        const message = received.subarray(0, length)
        received = received.subarray(length)
        if (message.readInt32BE(4) !== protocolVersion)
          throw new Error('the simulated database speaks plain protocol 3')
        await start(message.subarray(8).toString('utf8').split('\0'))
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

  return { receive, close }
}

function replaced(parameters: string[], name: string, value: string): string[] {
  const index = parameters.indexOf(name)
  return parameters.map((each, place) => (index >= 0 && place === index + 1 ? value : each))
}

function startupMessage(parameters: string[]): Buffer {
  const text = Buffer.from(parameters.join('\0'))
  const head = Buffer.alloc(8)
  head.writeInt32BE(text.length + 8, 0)
  head.writeInt32BE(protocolVersion, 4)
  return Buffer.concat([head, text])
}

function queryMessage(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const message = Buffer.alloc(length + 6)
  message[0] = query
  message.writeInt32BE(length + 5, 1)
  message.write(text, 5)
  return message
}

const clockStatement = 'simulation.clock'
const prepareClock = `prepare "${clockStatement}" (text) as select set_config('simulation.now', $1, false)`

/** Bind and Execute: the answer waits for the Sync of the client's own statement, so it is one exchange. */
function setClockMessages(text: string): Buffer {
  const body = Buffer.alloc(1 + clockStatement.length + 1 + 2 + 2 + 4 + text.length + 2)
  body.write(clockStatement, 1)
  let place = clockStatement.length + 4
  body.writeInt16BE(1, place)
  body.writeInt32BE(text.length, place + 2)
  place += 6 + body.write(text, place + 6)
  const head = Buffer.from([bind, 0, 0, 0, 0])
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body, executeAll])
}

const executeAll = Buffer.from([code('E'), 0, 0, 0, 9, 0, 0, 0, 0, 0])

/** What is left for the client. In a transaction that has failed, setting the clock fails as its own statement would. */
function withoutClock(answer: Buffer, isPlain: boolean): Buffer {
  if (isPlain) return answer.subarray(endOf(answer, 1))
  let place = 0
  // BindComplete, DataRow, CommandComplete.
  for (const type of ['2', 'D', 'C']) {
    if (answer[place] !== code(type)) return answer
    place += 1 + answer.readInt32BE(place + 1)
  }
  return answer.subarray(place)
}

/** The end of the n-th ReadyForQuery; undefined while it has not come. */
function endOf(bytes: Buffer, readies: number): number | undefined {
  let place = 0
  let left = readies
  while (place + 5 <= bytes.length) {
    const end = place + 1 + bytes.readInt32BE(place + 1)
    if (end > bytes.length) return undefined
    if (bytes[place] === readyForQuery) left -= 1
    place = end
    if (left === 0) return place
  }
  return undefined
}

/** Messages of a client up to the one that asks for an answer. */
function unitLength(bytes: Buffer): number | undefined {
  let place = 0
  while (place + 5 <= bytes.length) {
    const type = bytes[place]
    const end = place + 1 + bytes.readInt32BE(place + 1)
    if (end > bytes.length) return undefined
    if (type === sync || type === query || type === terminate) return end
    place = end
  }
  return undefined
}

/** The name of a prepared statement, or the beginning of another's text. */
function labelOf(unit: Buffer): string {
  let place = 0
  let label = ''
  while (place + 5 <= unit.length) {
    const end = place + 1 + unit.readInt32BE(place + 1)
    const body = unit.subarray(place + 5, end)
    if (unit[place] === query) return oneLine(body.toString('utf8'))
    const texts = () => body.toString('latin1').split('\0', 2)
    if (unit[place] === parse) label = texts()[0] || oneLine(texts()[1] ?? '')
    if (unit[place] === bind && label === '') label = texts()[1] ?? ''
    place = end
  }
  return label
}

const oneLine = (text: string) => text.replace(/\0/g, '').replace(/\s+/g, ' ').slice(0, 60)

const contents = new Set(['D', 'C', 'E'].map(code))

/** Rows, tags and errors: what the descriptions contain (object ids) depends on the server, not on the run. */
function contentOf(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  let place = 0
  while (place + 5 <= answer.length) {
    const end = place + 1 + answer.readInt32BE(place + 1)
    if (contents.has(answer[place] as number)) parts.push(answer.subarray(place, end))
    place = end
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}
