// Waits until the database has a primary. A failover takes half a minute, and a start or a command should not fail in it.
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
  const { databaseWaitMs = 0, standbys = 'optional', onWait } = options
  const use = options.use === 'service' ? 'service' : 'command'
  const endsAt = performance.now() + databaseWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await withClient(connection, place, (client) => requirePrimary(client, use, standbys))
    } catch (error) {
      const { message, cause } = error as Error
      const reason = cause ? message : `The database ${place} ${message}`
      if (!isPassing(cause ?? error) || performance.now() >= endsAt) throw new Error(reason, { cause: cause ?? error })
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
