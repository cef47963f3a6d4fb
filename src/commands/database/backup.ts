// `backup`: writes the whole database into a file while the service runs: in one snapshot, on a cluster one of each group.
import { withClient } from '../../db/connect.ts'
import { requireNew, writeBackup } from '../../db/copy/backup-file.ts'
import { withClusterSnapshot } from '../../db/copy/cluster-source.ts'
import { copiedTables } from '../../db/copy/load.ts'
import { type Source, withSnapshot } from '../../db/copy/source.ts'
import { compareSchema } from '../../db/migrate.ts'
import { openDatabase } from '../../db/open.ts'
import { createCommandLog, recordAction } from '../../operators/action-log.ts'
import { actionOf } from '../action-log-entry.ts'
import type { StandaloneCall } from '../command.ts'
import { secretChecksOf, uncheckedSecretsText } from './backup-secrets.ts'
import { rowCounts } from './fill.ts'

export async function backup(call: StandaloneCall): Promise<object> {
  const { databaseOptions, onProgress, signal } = call
  const file = call.resolvePath(call.values.to ?? '')
  requireNew(file)
  const startedAt = performance.now()
  const opened = await openDatabase({ ...databaseOptions, use: 'command' })
  try {
    if ((await compareSchema(opened.database)).isAhead) {
      throw new Error('The database is of a newer version: take the backup with that version.')
    }
    const secretChecks = secretChecksOf(call.knownPeppers())
    const { serving, place, database } = opened
    const actionLog = createCommandLog(database, call)
    // In the action log after the snapshot was taken: restored, it would be an action that never ended.
    const write = (source: Source) =>
      recordAction(actionLog, actionOf({ name: 'backup' }, call), async () => ({
        version: source.migrations.at(-1)?.version ?? 0,
        ...(await writeBackup({
          file,
          source,
          secretChecks,
          signal,
          onProgress: (done, total) => onProgress('rows', done, total),
        })),
      }))
    const { bytes, sums, version } = database.groups
      ? await withClusterSnapshot(serving, place, copiedTables, write)
      : await withClient(serving, place, (client) => withSnapshot(client, copiedTables, write))
    return {
      file,
      bytes,
      schemaVersion: version,
      tookMs: Math.round(performance.now() - startedAt),
      ...(secretChecks === 'not known' && { secrets: uncheckedSecretsText }),
      tables: rowCounts(sums),
    }
  } finally {
    await opened.close()
  }
}
