// Waits until the database has a primary, and on a cluster every worker too. A failover takes half a minute, and a start or a
// command should not fail in it, whether it begins before or during the start.
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
  const { standbys = 'optional' } = options
  const use = options.use === 'service' ? 'service' : 'command'
  await repeatWhileAway(
    place,
    options,
    async () => {
      const workers = await requireServer(connection, place, use, standbys)
      for (const worker of use === 'service' ? workers : []) {
        const name = `of the worker ${worker.host}:${worker.port}`
        await requireServer(connectionAt(connection, worker), name, use, standbys)
      }
    },
    isPassing,
  )
}

/** What is attempted has to be harmless when it is repeated. It is called with the time that is left. */
export async function repeatWhileAway<Value>(
  place: string,
  { databaseWaitMs = 0, onWait }: Pick<WaitOptions, 'databaseWaitMs' | 'onWait'>,
  attempt: (leftMs: number) => Promise<Value>,
  mayPass = isLost,
): Promise<Value> {
  const endsAt = performance.now() + databaseWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt(Math.max(0, endsAt - performance.now()))
    } catch (error) {
      const { message, cause } = error as Error
      if (!mayPass(cause ?? error) || performance.now() >= endsAt) throw error
      const isNamed = message.startsWith('The database ')
      const reason = isNamed ? message : `The database ${place} is away: ${((cause ?? error) as Error).message}`
      if (isFirst) onWait?.(waitLine(reason, databaseWaitMs))
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
  return `${reason}. Waiting for up to ${Math.round(waitMs / 1_000)} s.`
}

/** The connection was lost, or not made in time. A server that refuses a statement is available: nothing is repeated. */
function isLost(error: unknown): boolean {
  const kind = failureKind(error)
  return kind === 'away' || (kind === 'busy' && !('code' in (error as object)))
}

/** For a connection. Not a wrong password, database, setting or name of a host; of several hosts one may be the primary soon. */
function isPassing(error: unknown): boolean {
  if (error instanceof Misconfigured) return false
  if (error instanceof AggregateError && !('code' in error)) return error.errors.some(isPassing)
  return (error as { code?: string }).code !== 'ENOTFOUND' && ['away', 'busy'].includes(failureKind(error))
}
