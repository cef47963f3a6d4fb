// Fills an empty database with the rows of another one, for restore and move. The rows are compared with the source,
// migrated to this version and audited. Until all of that has passed the target is marked, and no service starts on it.
import type pg from 'pg'
import type { Peppers } from '../../customers/api-keys.ts'
import { withClient } from '../../db/connect.ts'
import { loadInto } from '../../db/copy/load.ts'
import type { Source, TableSum } from '../../db/copy/source.ts'
import { markFinished } from '../../db/copy/unfinished.ts'
import { connectTo, type OpenOptions, type Reached } from '../../db/open.ts'
import { createCommandLog, recordAction } from '../../operators/action-log.ts'
import { recordedAudit } from '../../payments/audit/audit.ts'
import { actionOf } from '../action-log-entry.ts'
import type { CommandInput, StandaloneCall } from '../command.ts'
import { warnUnrecordedAudit } from '../unrecorded-audit.ts'

type FillOptions = {
  /** The command and its input, for the action log. */
  name: string
  input: CommandInput
  /** The secrets that have signed the log of the copy, where they are known. */
  peppers?: Peppers | undefined
  /** Runs before a service can start on the target. */
  onAuditPassed?(): void
  /** Runs as the owner of the copy, whether or not the audit has passed. Returns further fields of the result. */
  beforeService?(client: pg.ClientBase): Promise<object>
}

const violatedText =
  'No service starts on this copy: its audit found violations. Every row is as it was in the original at the time of the ' +
  'copy, so the original has the same violations: run audit there, or use another backup. docs/operations.md explains how ' +
  'to start a service on the copy anyway.'

export const rowCounts = (sums: TableSum[]) => sums.map(({ table, rows }) => ({ table, rows }))

/**
 * Loads, migrates, checks what a start checks, and audits. The mark is removed last, and only after everything has passed:
 * at no moment can services start on both databases. Overdue rows are only counted, since no worker could run on the copy.
 * Closes the target in any case.
 */
export async function fillDatabase(
  { onProgress, print, signal }: StandaloneCall,
  options: OpenOptions,
  { places, leave }: Reached,
  source: Source,
  { name, input, peppers, onAuditPassed, beforeService = async () => ({}) }: FillOptions,
) {
  const { owner, place } = places
  const loading = { source, place, onProgress, signal }
  const sums = await withClient(owner, place, (client) => loadInto(client, loading)).catch(async (error) => {
    await leave()
    throw error
  })
  const { database, close } = await connectTo(options, places, leave, { isCopy: true })
  try {
    const { ok, violations } = await recordedAudit(database, 'COMMAND', {
      signal,
      peppers,
      liveness: 'counted',
      onProgress: (done, total) => onProgress('audit', done, total),
      onUnwritten: warnUnrecordedAudit,
    })
    const further = await withClient(owner, place, beforeService)
    const result = { ok, place, ...(!ok && { next: violatedText }), ...further, tables: rowCounts(sums), violations }
    await recordAction(createCommandLog(database, { print, signal }), actionOf({ name }, input), async () => result, {
      failed: () => !ok,
    })
    if (ok) {
      onAuditPassed?.()
      await withClient(owner, place, markFinished)
    }
    return result
  } finally {
    await close()
  }
}
