// Opens connections to the database: to one server, or to the one of several that accepts writes. Where commits wait for a
// standby, a service reads nothing from a new connection before all commits of its server have reached one.
import { connect } from 'node:net'
import pg from 'pg'
import { sql } from './sql.ts'

export type Connection =
  | { connectionString: string }
  | { host: string; port: number; user: string; password: string | (() => string); database: string }

/** A host has no @, a password may have a comma. */
const severalHosts = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^@/?]*,[^@/?]*)((?:[/?].*)?)$/

/** One connection for each host of a URL such as postgres://user@one:5432,two:5432/credits. pg itself knows only one. */
export function hostsOf(connection: Connection): Connection[] {
  if (!('connectionString' in connection)) return [connection]
  const [, before, hosts, after] = severalHosts.exec(connection.connectionString) ?? []
  if (hosts === undefined) return [connection]
  return hosts.split(',').map((host) => ({ connectionString: `${before}${host}${after}` }))
}

/** One for each host; none where a URL cannot be parsed. */
export function urlsOf(databaseUrl: string): URL[] {
  const hosts = hostsOf({ connectionString: databaseUrl }) as { connectionString: string }[]
  return hosts.flatMap(({ connectionString }) => URL.parse(connectionString) ?? [])
}

/** The same role and database on another server. */
export function connectionAt(connection: Connection, { host, port }: { host: string; port: number }): Connection {
  const [first] = hostsOf(connection)
  if (!first || !('connectionString' in first))
    return { ...(first as Exclude<Connection, { connectionString: string }>), host, port }
  const url = new URL(first.connectionString)
  // They come before those of the URL's authority, which may have none.
  url.searchParams.set('host', host)
  url.searchParams.set('port', `${port}`)
  return { connectionString: url.href }
}

/** For people: without user and password. */
export function placeOf(databaseUrl: string): string {
  const urls = urlsOf(databaseUrl)
  const [first] = urls
  if (!first) return 'of DATABASE_URL'
  const hosts = urls.map(({ hostname, port }) => `${hostname || 'the local socket'}${port && `:${port}`}`)
  return `${first.pathname.slice(1)} at ${hosts.join(',')}`
}

/** The SQLSTATE of a write that a standby or a read-only database refuses. */
export const readOnly = '25006'
/** The code of a server that cannot be used now. */
const notNow = '57P03'
/** The code of a commit that may be lost. */
const commitUnknown = '08007'

/**
 * True. Where commits wait for a standby, that of this statement does too, also if it writes nothing else; the log is confirmed
 * in order, so what the statement has read will survive the loss of the server. For statements that answer a repeated request
 * with what the first has written: its own wait may have been cancelled.
 */
export const confirmed = sql`coalesce(case when current_setting('synchronous_standby_names') <> ''
      and current_setting('transaction_read_only') = 'off'
    then pg_logical_emit_message(true, 'prepaid-credits', '') > '0/0' end, true)`

type ServerState = {
  isStandby: boolean
  acceptsWrites: boolean
  hasStandbys: boolean
  synchronousCommit: string
  clientMinMessages: string
}

const stateText = `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'off' as "acceptsWrites",
  current_setting('synchronous_standby_names') <> '' as "hasStandbys",
  current_setting('synchronous_commit') as "synchronousCommit", current_setting('client_min_messages') as "clientMinMessages"`

export const confirmCommitsText = sql`select ${confirmed} as "confirmed"`

/** The server's own limit for a statement does not end its wait for the standbys. */
const answerLimitMs = 4_000

/** PostgreSQL's function that waits for the standbys. The texts of its messages are translated. */
const waitForStandbys = 'SyncRepWaitForLSN'

/**
 * The clients of this program, in a pool or alone. An error can arrive at any moment, also while a pool passes a client on: the
 * server's last message may come in one piece with the answer before it. Without a listener it would end the process. Those of
 * the pool and of its users are there for a while only, so a client has one from its beginning to its end; the next statement
 * on a lost connection fails.
 */
export class Client extends pg.Client {
  constructor(settings?: pg.ClientConfig) {
    super(settings)
    this.on('error', () => undefined)
    failUnconfirmedCommits(this)
  }
}

/**
 * A wait for the standbys that is cancelled ends with success and a warning: the commit is on this server alone, and a failover
 * would lose it. The warning ends the connection before the success is read.
 */
function failUnconfirmedCommits(client: Client): void {
  client.on('notice', ({ routine }) => {
    if (routine === waitForStandbys) client.connection.emit('error', unknownCommit())
  })
}

function unknownCommit(): Error {
  const message = 'the wait for the standbys was cancelled: a failover would lose this commit'
  return Object.assign(new Error(message), { code: commitUnknown })
}

/**
 * Returns when everything that is committed on this server by now will survive its loss. On a new connection of a service this
 * comes first: a server that has just recovered shows commits that its standby may not have yet.
 */
async function waitForConfirmedCommits(client: pg.Client): Promise<void> {
  try {
    await client.query({ text: confirmCommitsText, query_timeout: answerLimitMs } as pg.QueryConfig)
  } catch (error) {
    if (!/Query read timeout/.test((error as Error).message)) throw error
    cancelWait(client)
    throw unusable('does not confirm commits: no synchronous standby answers')
  }
}

const cancelRequestCode = 80_877_102

/**
 * Ends the wait of a commit that has changed nothing. PostgreSQL does not notice during the wait that its client is gone, and
 * the sessions would add up.
 */
function cancelWait(client: pg.Client): void {
  const { host, port, processID, secretKey } = client as pg.Client & { processID: number | null; secretKey: number }
  if (processID === null) return
  const request = Buffer.alloc(16)
  for (const [index, value] of [16, cancelRequestCode, processID, secretKey].entries())
    request.writeInt32BE(value, index * 4)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.on('error', () => undefined)
  socket.setTimeout(answerLimitMs, () => socket.destroy())
  socket.end(request)
}

/** A service has to find a primary that keeps what it acknowledges. A command may read what is not confirmed yet. */
export type Use = 'service' | 'command'

/** Whether a primary without a synchronous standby may be used. */
export type Standbys = 'optional' | 'required'

type Wanted = { use: Use; standbys: Standbys; isOneOfSeveral: boolean }

/** Throws why a server cannot be used, and what to do: continues "The database …". */
async function requireUsable(client: pg.Client, wanted: Wanted): Promise<ServerState> {
  const { rows } = await client.query<ServerState>({ text: stateText, query_timeout: answerLimitMs } as pg.QueryConfig)
  const state = rows[0] as ServerState
  const { isStandby, acceptsWrites, hasStandbys, synchronousCommit, clientMinMessages } = state
  // A database that is read-only by its settings can still be read.
  const mustWrite = wanted.isOneOfSeveral || (wanted.use === 'service' && isStandby)
  if (!acceptsWrites && mustWrite) throw unusable(noWrites)
  if (wanted.use === 'command') return state
  if (!hasStandbys && wanted.standbys === 'required') throw new NoStandby(noStandby)
  if (hasStandbys && !waitingLevels.includes(synchronousCommit)) {
    const risk = 'a failover would lose payments that were answered'
    throw misconfigured(`synchronous_commit = ${synchronousCommit}, ${risk}`)
  }
  if (hasStandbys && clientMinMessages === 'error') {
    throw misconfigured('client_min_messages = error, which hides that a commit is not on its standby')
  }
  return state
}

/** A start fails where a service could not write, or would acknowledge what can be lost. */
export async function requirePrimary(client: pg.Client, use: Use, standbys: Standbys): Promise<void> {
  const state = await requireUsable(client, { use, standbys, isOneOfSeveral: false })
  if (use === 'command') return
  if (!state.acceptsWrites) throw unusable(noWrites)
  if (state.hasStandbys) await waitForConfirmedCommits(client)
}

/** The levels of synchronous_commit at which a commit is on the disk of a standby. */
const waitingLevels = ['on', 'remote_apply']

const noWrites = 'accepts no writes (a standby, or default_transaction_read_only): use the primary'
const noStandby =
  'has no synchronous standby (synchronous_standby_names is empty), and DATABASE_STANDBYS is required: set one up (Patroni: ' +
  'synchronous_mode), or unset DATABASE_STANDBYS'

function unusable(reason: string): Error {
  return Object.assign(new Error(reason), { code: notNow })
}

/** It may have one soon. */
export class NoStandby extends Error {
  readonly code = notNow
}

/** Waiting does not help. */
export class Misconfigured extends Error {
  readonly code = notNow
}

function misconfigured(setting: string): Error {
  return new Misconfigured(`has ${setting}: take it out of postgresql.conf, the database, the role and the URL`)
}

/** The clients of a pool: each connects to the host that the last one found to be the primary, or to the one after it. */
export function createHosts(connection: Connection, use: Use, standbys: Standbys) {
  const hosts = hostsOf(connection)
  let used = 0
  // One after the other, and those in line fail with the one before them: where commits wait, each would leave a session on
  // the server that waits too.
  let line: Promise<unknown> = Promise.resolve()

  class HostClient extends Client {
    readonly #host = used
    constructor(settings?: pg.ClientConfig) {
      super({ ...settings, ...hosts[used] })
    }
    /** Once for a host, however many connections to it fail. */
    leaveHost(): void {
      if (used === this.#host) used = (used + 1) % hosts.length
    }
    override connect(): Promise<pg.Client>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): unknown {
      if (!callback) return super.connect()
      return super.connect((error: Error) => {
        if (error) this.leaveHost()
        callback(error)
      })
    }
    async accept(): Promise<void> {
      const { hasStandbys } = await requireUsable(this, { use, standbys, isOneOfSeveral: hosts.length > 1 })
      if (use === 'command' || !hasStandbys) return
      const confirming = line.then(() => waitForConfirmedCommits(this))
      line = confirming
      confirming.catch(() => {
        if (line === confirming) line = Promise.resolve()
      })
      await confirming
    }
  }

  return {
    Client: HostClient,
    /** For a new connection of the pool. */
    async accept(client: pg.ClientBase): Promise<void> {
      const own = client as HostClient
      await own.accept().catch((error) => {
        own.leaveHost()
        // The pool ends a client that was refused, and waits for a server that may not answer.
        own.connection.stream.destroy()
        throw error
      })
    },
  }
}

/** A separate connection, without the time limits of the pools. */
export async function withClient<Value>(
  connection: Connection,
  place: string,
  work: (client: pg.Client) => Promise<Value>,
): Promise<Value> {
  const client = await connectToPrimary(hostsOf(connection)).catch((error) => {
    throw new Error(`The database ${place} cannot be reached: ${messageOf(error)}`, { cause: error })
  })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const connectLimitMs = 5_000

/** A single server may be read-only: commands that only read work there. */
async function connectToPrimary(hosts: Connection[]): Promise<pg.Client> {
  const errors: Error[] = []
  for (const host of hosts) {
    const client = new Client({ ...host, connectionTimeoutMillis: connectLimitMs })
    try {
      await client.connect()
      await requireUsable(client, { use: 'command', standbys: 'optional', isOneOfSeveral: hosts.length > 1 })
      return client
    } catch (error) {
      // Not awaited: a server that does not answer does not end its session either.
      client.end().catch(() => undefined)
      errors.push(error as Error)
    }
  }
  if (errors.length === 1) throw errors[0]
  throw new AggregateError(errors)
}

/** A refused connection to a name with several addresses is an AggregateError without a message, and so are several hosts. */
function messageOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : (error as Error).message
}
