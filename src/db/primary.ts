// Waits until the database has a primary. A failover takes half a minute, and a start or a command should not fail in it,
// whether it begins before or during the start.
import { sleep } from '../core/clock.ts'
import { type Connection, Misconfigured, requirePrimary, type Standbys, withClient } from './connect.ts'
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
  await repeatWhileAway(place, options, async () => {
    try {
      await withClient(connection, place, (client) => requirePrimary(client, use, standbys))
    } catch (error) {
      const { message, cause } = error as Error
      throw new Error(cause ? message : `The database ${place} ${message}`, { cause: cause ?? error })
    }
  })
}

/** What is attempted has to be harmless when it is repeated. It is called with the time that is left. */
export async function repeatWhileAway<Value>(
  place: string,
  { databaseWaitMs = 0, onWait }: Pick<WaitOptions, 'databaseWaitMs' | 'onWait'>,
  attempt: (leftMs: number) => Promise<Value>,
): Promise<Value> {
  const endsAt = performance.now() + databaseWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await attempt(Math.max(0, endsAt - performance.now()))
    } catch (error) {
      const { message, cause } = error as Error
      if (!isPassing(cause ?? error) || performance.now() >= endsAt) throw error
      const reason = cause ? message : `The database ${place} is away: ${message}`
      if (isFirst) onWait?.(waitLine(reason, databaseWaitMs))
      await sleep(pauseMs)
    }
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
