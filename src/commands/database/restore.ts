// `restore`: fills an empty database from a backup file. The whole file is read and checked before the database is touched.
import { checkBackup, openBackup } from '../../db/copy/backup-file.ts'
import { knownMigrations } from '../../db/copy/load.ts'
import { reach } from '../../db/open.ts'
import { markRestoredLog } from '../../transparency/restored/mark.sql.ts'
import type { Confirmation, StandaloneCall } from '../command.ts'
import { secretFindings } from './backup-secrets.ts'
import { fillDatabase } from './fill.ts'
import { listRestoredAccess, readOldAccess } from './restored-access.ts'

/** Asks only where a secret is missing or unknown. */
export async function confirmRestore(call: StandaloneCall): Promise<Confirmation | undefined> {
  const { header, close } = await openBackup(call.resolvePath(call.values.from ?? ''))
  close()
  const findings = secretFindings(header, call.knownPeppers())
  if (Object.keys(findings).length === 0) return undefined
  return { preview: { madeAt: header.madeAt, ...findings }, question: 'Restore it anyway?' }
}

export async function restore(call: StandaloneCall): Promise<object> {
  const { onProgress, positionals, values } = call
  const file = call.resolvePath(values.from ?? '')
  const header = await checkBackup(file, (done, total) => onProgress('checking', done, total))
  knownMigrations(header)
  const findings = secretFindings(header, call.knownPeppers())
  // Read before anything is filled: if the old database cannot be read, nothing is restored.
  const oldAccess = values.old === undefined ? undefined : await readOldAccess(call, values.old)
  const { source, close } = await openBackup(file)
  try {
    const options = { ...call.databaseOptions, use: 'alone' } as const
    const filled = await fillDatabase(call, options, await reach(options), source, {
      name: 'restore',
      // The keys of the log are not known for a backup from elsewhere.
      peppers: Object.keys(findings).length === 0 ? call.knownPeppers() : undefined,
      input: { positionals, values: { ...values, ...(oldAccess && { old: oldAccess.place }) } },
      async beforeService(client) {
        return {
          log: await markRestoredLog(client, { configured: call.logName().origin, old: oldAccess?.logOrigins ?? [] }),
          revived: oldAccess ? await listRestoredAccess(client, oldAccess) : unknownAccessText(header.madeAt),
        }
      },
    })
    return { ...filled, madeAt: header.madeAt, ...findings }
  } finally {
    close()
  }
}

const unknownAccessText = (madeAt: string) =>
  `not known: keys, customers, tokens, operators and endpoints that were suspended or removed after ${madeAt} are active ` +
  'again here. Restore with --old to list them, or find them in the action log of the old database (actions list) or in ' +
  'your tickets, and suspend them again before a service starts on this one: docs/operations.md.'
