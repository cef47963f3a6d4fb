// Waits until the database has a primary, and on a cluster every worker too. A failover takes half a minute, and a start or a
// command should not fail in it.
import { sleep } from '../core/clock.ts'
import { isCoordinator } from './cluster/distribute.ts'
import { type Address, listWorkers } from './cluster/layout.ts'
import {
  type Connection,
  connectionAt,
  Misconfigured,
  requirePrimary,
  type Standbys,
  type Use,
  withClient,
} from './connect.ts'
import { failureKind } from './database.ts'

const pauseMs = 500

export type WaitOptions = {
  databaseWaitMs?: number
  /** A service needs one that accepts writes, with its standbys; some commands only read. */
  use: 'service' | 'command' | 'alone'
  standbys?: Standbys
  /** Once, with the reason, when the wait begins. */
  onWait?: ((line: string) => void) | undefined
}

export async function waitForPrimary(connection: Connection, place: string, options: WaitOptions): Promise<void> {
  const { databaseWaitMs = 0, standbys = 'optional', onWait } = options
  const use = options.use === 'service' ? 'service' : 'command'
  const endsAt = performance.now() + databaseWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      const workers = await requireServer(connection, place, use, standbys)
      for (const worker of use === 'service' ? workers : []) {
        const name = `of the worker ${worker.host}:${worker.port}`
        await requireServer(connectionAt(connection, worker), name, use, standbys)
      }
      return
    } catch (error) {
      const { message, cause } = error as Error
      if (!isPassing(cause) || performance.now() >= endsAt) throw error
      if (isFirst) onWait?.(waitLine(message, databaseWaitMs))
      await sleep(pauseMs)
    }
  }
}

/** Returns the workers that it knows. */
async function requireServer(connection: Connection, place: string, use: Use, standbys: Standbys): Promise<Address[]> {
  try {
    return await withClient(connection, place, async (client) => {
      await requirePrimary(client, use, standbys)
      return (await isCoordinator(client)) ? listWorkers(client) : []
    })
  } catch (error) {
    const { message, cause } = error as Error
    throw cause ? error : new Error(`The database ${place} ${message}`, { cause: error })
  }
}

export function waitLine(reason: string, waitMs: number): string {
  return `${reason}. Waiting for up to ${waitMs / 1_000} s.`
}

/** Not a wrong password, database, setting or name of a host; of several hosts one may be the primary soon. */
function isPassing(error: unknown): boolean {
  if (error instanceof Misconfigured) return false
  if (error instanceof AggregateError && !('code' in error)) return error.errors.some(isPassing)
  return (error as { code?: string }).code !== 'ENOTFOUND' && ['away', 'busy'].includes(failureKind(error))
}
