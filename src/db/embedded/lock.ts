// One service per DATA_DIR: an advisory lock in the embedded server, on a connection of its own. It ends with the connection, and
// so with the process, however that ends; there is no lock file that could be left behind.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { readIfThere } from './files.ts'
import { isAlive } from './postmaster.ts'
import { connect, disconnect, type EmbeddedServer } from './server.ts'

/** How long the session of a killed service may take to end. */
const abandonedLockRetryMs = 2_000
const lockPollMs = 20
const reconnectPauseMs = 250

const serviceLock = `hashtextextended('prepaid-credits: one service per directory', 0)`
const usersLock = `hashtextextended('prepaid-credits: users of this server', 0)`

class DirectoryInUse extends Error {}

/** Another process has exclusive use of the server, for longer than a stop takes. */
export class AloneElsewhere extends Error {}

type Users = { requireAlone(): Promise<void>; leave(): Promise<void> }

/** What the service does after the loss of its connection. */
type Losses = {
  /** Another service has the lock by now: it is not taken again. */
  onLost?: (error: Error) => void
  /** The server did not answer; it is tried again after this. */
  onAway?: () => Promise<void>
}

/** `end` returns the present connection, which the caller closes; it is not made again then. */
type Session = { client(): pg.Client; end(): pg.Client }

/**
 * A connection with its lock. The server ends all sessions when one of its processes crashes, and is back a moment later: the
 * connection is made again until `isOver` is true of an error.
 */
async function keepSession(
  open: () => Promise<pg.Client>,
  isOver: (error: unknown) => boolean | Promise<boolean>,
): Promise<Session> {
  let hasEnded = false

  async function acquire(): Promise<pg.Client> {
    const opened = await open()
    if (hasEnded) await disconnect(opened)
    else opened.once('end', () => hasEnded || void acquireAgain())
    return opened
  }

  async function acquireAgain(): Promise<void> {
    while (!hasEnded) {
      try {
        client = await acquire()
        return
      } catch (error) {
        if (await isOver(error)) return
        await sleep(reconnectPauseMs, undefined, { ref: false })
      }
    }
  }

  let client = await acquire()
  return {
    client: () => client,
    end: () => {
      hasEnded = true
      return client
    },
  }
}

/** Refused at once if the process of service.pid is alive. */
export async function lockDataDirectory(
  server: EmbeddedServer,
  dataDir: string,
  { onLost, onAway }: Losses = {},
): Promise<{ release(): Promise<void> }> {
  const session = await keepSession(
    () => takeLock(server, dataDir),
    async (error) => {
      if (error instanceof DirectoryInUse) onLost?.(error)
      else await onAway?.()
      return error instanceof DirectoryInUse
    },
  )
  return { release: () => disconnect(session.end()) }
}

async function takeLock(server: EmbeddedServer, dataDir: string): Promise<pg.Client> {
  const client = connect(server.connection)
  const deadline = Date.now() + abandonedLockRetryMs
  try {
    await client.connect()
    for (;;) {
      if (await tryLock(client, serviceLock)) return client
      const holder = livingService(dataDir)
      if (holder || Date.now() > deadline) throw inUse(dataDir, holder)
      await sleep(lockPollMs)
    }
  } catch (error) {
    await disconnect(client)
    throw error
  }
}

async function tryLock(client: pg.Client, quotedLock: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(`select pg_try_advisory_lock(${quotedLock}) as locked`)
  return rows[0]?.locked === true
}

/**
 * Registers a user of the server: the service, and any number of commands. The last `leave` stops the server; a process that
 * comes while it stops waits for the lock until its connection ends, and starts the server again.
 */
export async function joinUsers(server: EmbeddedServer, dataDir: string): Promise<Users> {
  let isAlone = false
  const session = await keepSession(
    () => takeUse(server, isAlone),
    () => false,
  ).catch((error) => {
    throw isTimeout(error) ? aloneElsewhere(server) : error
  })
  return {
    // The session's own shared lock does not block its exclusive one.
    async requireAlone() {
      const deadline = Date.now() + abandonedLockRetryMs
      while (!(await tryLock(session.client(), usersLock))) {
        const holder = livingService(dataDir)
        if (holder) throw inUse(dataDir, holder)
        if (Date.now() > deadline) throw notAlone(dataDir)
        await sleep(lockPollMs)
      }
      isAlone = true
    },
    async leave() {
      const client = session.end()
      try {
        await client.query(`select pg_advisory_unlock_shared(${usersLock})`)
        const isLast = (await tryLock(client, usersLock)) && (await isWithoutService(client, dataDir))
        if (isLast) await server.stop()
      } catch {
        // The server has stopped already.
      } finally {
        await disconnect(client)
      }
    },
  }
}

async function takeUse(server: EmbeddedServer, isAlone: boolean): Promise<pg.Client> {
  const client = connect(server.connection)
  try {
    await client.connect()
    await client.query(`select pg_advisory_lock_shared(${usersLock})`)
    if (isAlone) await client.query(`select pg_advisory_lock(${usersLock})`)
    return client
  } catch (error) {
    await disconnect(client)
    throw error
  }
}

/** A service has the lock from its start and a process id when it is ready; it has no lock for a moment after the end of its session. */
async function isWithoutService(client: pg.Client, dataDir: string): Promise<boolean> {
  return livingService(dataDir) === null && tryLock(client, serviceLock)
}

function livingService(dataDir: string): number | null {
  const holder = Number(readIfThere(join(dataDir, 'service.pid')))
  return holder > 0 && holder !== process.pid && isAlive(holder) ? holder : null
}

const isTimeout = (error: unknown) => (error as Error).message === 'Query read timeout'

function aloneElsewhere({ dataDirectory }: EmbeddedServer): AloneElsewhere {
  return new AloneElsewhere(`The database in ${dataDirectory} is being restored or moved: wait until that has ended.`)
}

function notAlone(dataDir: string): Error {
  return new Error(`Another command is using the database in ${dataDir}: wait until it has ended, or stop it.`)
}

function inUse(dataDir: string, holder: number | null): DirectoryInUse {
  const who = holder ? `process ${holder}: stop it first (kill ${holder})` : 'another process: stop it first'
  return new DirectoryInUse(`The data directory ${dataDir} is in use by ${who}, or set DATA_DIR to another one.`)
}
