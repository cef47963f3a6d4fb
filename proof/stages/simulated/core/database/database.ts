// The database of a run: a simulated listener that passes each statement on to a real PostgreSQL, one at a time. The scheduler
// waits for the real answer before anything else runs, and the client reads it as a later event. Each simulated connection
// has a real session; before each statement the session's clock is set to the run's.
import pg from 'pg'
import { databaseName } from '../network/connections.ts'
import type { OnEffect } from '../network/faults.ts'
import type { EndpointLink } from '../network/listening.ts'
import type { Network } from '../network/network.ts'
import { runIn } from '../processes.ts'
import { real } from '../real.ts'
import type { Scheduler } from '../scheduler.ts'
import { runName, type Template } from '../template.ts'
import { createSession, type Session, type StatementFaultKind } from './session.ts'

/** Where DATABASE_URL of a simulated process leads. */
const port = 5_432

/** bigint as a number, as the service reads it: its audit is one of the checks. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
}

/** What happens to the next statements of a process: `times` of them, those whose text is `about` something. */
export type StatementFault = { kind: StatementFaultKind; from: string; times: number; about?: RegExp }

type Parts = {
  scheduler: Scheduler
  network: Network
  template: Template
  seed: number
  epochMs: number
  onEffect: OnEffect
}

export async function openDatabase({ scheduler, network, template, seed, epochMs, onEffect }: Parts) {
  await template.clone()
  const sessions = new Set<Session>()
  const pool = new pg.Pool({ ...template.owner, database: runName, max: 2, application_name: 'checks', types })
  pool.on('error', () => undefined)
  const faults: StatementFault[] = []
  const administrator = { name: 'administrator', isAlive: true, heldBack: undefined }
  let awayUntil = 0
  let statements = 0
  /** Its clock is ahead of the true time by so much. */
  const clock = { skewMs: 0 }

  const clockText = () => {
    // Since 1970: never negative, also before the start of the run.
    const us = Math.floor((epochMs + clock.skewMs) * 1_000 + scheduler.now())
    const milliseconds = new real.Date(Math.floor(us / 1_000)).toISOString().slice(0, -1)
    return `${milliseconds}${String(us % 1_000).padStart(3, '0')}+00`
  }

  network.serve(port, databaseName, {
    accept(link) {
      const session = createSession({
        link,
        path: template.socketPath,
        seed,
        clockText,
        faultFor,
        onStatement,
      })
      sessions.add(session)
      if (scheduler.now() < awayUntil) {
        onEffect(link.from, databaseName, 'away')
        link.reset()
      }
      return {
        receive: (bytes: Buffer) => session.receive(bytes),
        closed: async () => {
          sessions.delete(session)
          await session.close()
        },
      }
    },
  })
  function faultFor(from: string, text: string): StatementFaultKind | undefined {
    const fault = faults.find((each) => each.from === from && (each.about?.test(text) ?? true))
    if (!fault) return undefined
    fault.times -= 1
    if (fault.times === 0) faults.splice(faults.indexOf(fault), 1)
    onEffect(from, databaseName, fault.kind)
    return fault.kind
  }
  function onStatement(link: EndpointLink, what: string, answer: Buffer | string): void {
    statements += 1
    scheduler.note(databaseName, `#${link.number} ${link.from} ${what}`, answer)
  }

  return {
    clock,
    /** For DATABASE_URL of a simulated process. */
    url: `postgres://${template.servingRole}@127.0.0.1:${port}/${runName}`,
    ownerUrl: `postgres://${template.owner.user}@127.0.0.1:${port}/${runName}`,
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
    /** Returns a function that removes it. */
    fault(fault: StatementFault): () => void {
      const active = { ...fault }
      faults.push(active)
      return () => {
        const index = faults.indexOf(active)
        if (index >= 0) faults.splice(index, 1)
      }
    },
    /** One session of the process is ended while it has nothing to do; `place` chooses. */
    endSession(from: string, place: number): void {
      const own = [...sessions].filter((session) => session.from === from)
      const session = own[place % own.length]
      if (!session) return
      sessions.delete(session)
      onEffect(from, databaseName, 'ended')
      // The next event waits for the real server.
      scheduler.schedule(administrator, scheduler.now(), 'ends a session', () => runIn(undefined, () => session.end()))
    },
    /** All connections are lost, and new ones refused for a time. */
    away(forMs: number): void {
      for (const { from } of sessions) onEffect(from, databaseName, 'away')
      network.resetConnections(databaseName)
      awayUntil = Math.max(awayUntil, scheduler.now() + forMs * 1_000)
    },
    async close(): Promise<void> {
      await Promise.all([...sessions].map((session) => session.close()))
      await pool.end()
      await template.drop()
    },
  }
}
