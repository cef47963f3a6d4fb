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

const usersLock = `hashtextextended('prepaid-credits: users of this server', 0)`

class DirectoryInUse extends Error {}

/** Another process has exclusive use of the server, for longer than a stop takes. */
export class AloneElsewhere extends Error {}

type Users = { requireAlone(dataDir: string): Promise<void>; leave(): Promise<void> }

/**
 * Refused at once if the process of service.pid is alive. `onLost` is called if the connection is lost later and another service
 * has the lock by then; otherwise the connection is made again.
 */
export async function lockDataDirectory(
  server: EmbeddedServer,
  dataDir: string,
  onLost: (error: Error) => void = () => undefined,
): Promise<{ release(): Promise<void> }> {
  let client: pg.Client | null = null
  let released = false

  async function acquire(): Promise<void> {
    client = await takeLock(server, dataDir)
    if (released) await disconnect(client)
    else client.once('end', () => released || void acquireAgain())
  }

  // The server ends all sessions when one of its processes crashes, and is back a moment later.
  async function acquireAgain(): Promise<void> {
    while (!released) {
      try {
        return await acquire()
      } catch (error) {
        if (error instanceof DirectoryInUse) return onLost(error)
        await sleep(reconnectPauseMs, undefined, { ref: false })
      }
    }
  }

  await acquire()
  return {
    release: async () => {
      released = true
      if (client) await disconnect(client)
    },
  }
}

async function takeLock(server: EmbeddedServer, dataDir: string): Promise<pg.Client> {
  const client = connect(server.connection)
  const deadline = Date.now() + abandonedLockRetryMs
  try {
    await client.connect()
    for (;;) {
      const { rows } = await client.query<{ locked: boolean }>(
        `select pg_try_advisory_lock(hashtextextended('prepaid-credits: one service per directory', 0)) as locked`,
      )
      if (rows[0]?.locked) return client
      const holder = livingService(dataDir)
      if (holder || Date.now() > deadline) throw inUse(dataDir, holder)
      await sleep(lockPollMs)
    }
  } catch (error) {
    await disconnect(client)
    throw error
  }
}

/**
 * Registers a user of the server: the service, and any number of commands. The last `leave` stops the server; a process that
 * comes while it stops waits for the lock until its connection ends, and starts the server again.
 */
export async function joinUsers(server: EmbeddedServer): Promise<Users> {
  const client = connect(server.connection)
  try {
    await client.connect()
    await client.query(`select pg_advisory_lock_shared(${usersLock})`)
  } catch (error) {
    await disconnect(client)
    throw isTimeout(error) ? aloneElsewhere(server) : error
  }
  return {
    // The session's own shared lock does not block its exclusive one.
    async requireAlone(dataDir) {
      const deadline = Date.now() + abandonedLockRetryMs
      for (;;) {
        const { rows } = await client.query<{ alone: boolean }>(`select pg_try_advisory_lock(${usersLock}) as alone`)
        if (rows[0]?.alone) return
        const holder = livingService(dataDir)
        if (holder) throw inUse(dataDir, holder)
        if (Date.now() > deadline) throw notAlone(dataDir)
        await sleep(lockPollMs)
      }
    },
    async leave() {
      try {
        await client.query(`select pg_advisory_unlock_shared(${usersLock})`)
        const { rows } = await client.query<{ last: boolean }>(`select pg_try_advisory_lock(${usersLock}) as last`)
        if (rows[0]?.last) await server.stop()
      } catch {
        // The server has stopped already.
      } finally {
        await disconnect(client)
      }
    },
  }
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
