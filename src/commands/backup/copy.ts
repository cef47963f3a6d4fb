// A whole database goes into a file, out of a file into an empty database, or from the embedded server to another one. What
// arrives is held against what was sent, migrated to now and audited before anything is said to be done; until then the
// target is marked, and no service starts on it.
import type pg from 'pg'
import { seal, unseal } from '../../core/seal.ts'
import type { Peppers } from '../../customers/api-keys.ts'
import {
  checkBackup,
  type Header,
  openBackup,
  requireNew,
  type SecretChecks,
  writeBackup,
} from '../../db/copy/backup-file.ts'
import { copiedTables, knownMigrations, loadInto } from '../../db/copy/load.ts'
import { type Source, type TableSum, withSnapshot } from '../../db/copy/source.ts'
import { markFinished } from '../../db/copy/unfinished.ts'
import { noteMoved } from '../../db/embedded/moved.ts'
import { compareSchema } from '../../db/migrate.ts'
import { connectTo, type OpenOptions, openDatabase, placeOf, type Reached, reach } from '../../db/open.ts'
import { prepare, withClient } from '../../db/prepare.ts'
import { recordAction } from '../../operators/action-log.ts'
import { recordedAudit } from '../../payments/audit/audit.ts'
import { actionOf } from '../action.ts'
import type { BareCall, Words } from '../command.ts'
import { listRevived, readWithdrawn } from './revived.ts'
import { tellUnwritten } from './unwritten.ts'

const secretText = 'the secrets of this service'
const secretAbout = 'backup'

const shown = (sums: TableSum[]) => sums.map(({ table, rows }) => ({ table, rows }))

/** Beside a running service, in one snapshot. */
export async function backup(call: BareCall): Promise<object> {
  const { place, onProgress, signal } = call
  const file = call.pathOf(call.values.to ?? '')
  requireNew(file)
  const startedAt = performance.now()
  const opened = await openDatabase({ ...place, use: 'command' })
  try {
    if ((await compareSchema(opened.database)).isAhead) {
      throw new Error('The database is of a newer version: take the backup with that one.')
    }
    const secretChecks = secretChecksOf(call.knownPeppers())
    const { bytes, sums, version } = await withClient(opened.serving, opened.place, (client) =>
      withSnapshot(client, copiedTables, async (source) => ({
        version: source.migrations.at(-1)?.version ?? 0,
        ...(await writeBackup({
          file,
          source,
          secretChecks,
          signal,
          onProgress: (done, total) => onProgress('rows', done, total),
        })),
      })),
    )
    return {
      file,
      bytes,
      schemaVersion: version,
      tookMs: Math.round(performance.now() - startedAt),
      ...(secretChecks === 'not known' && { secrets: uncheckedText }),
      tables: shown(sums),
    }
  } finally {
    await opened.close()
  }
}

const secretChecksOf = (peppers: Peppers | undefined): SecretChecks =>
  peppers?.map((pepper) => seal(secretText, secretAbout, pepper)) ?? 'not known'

const uncheckedText =
  'not known: where the backup was taken there was neither KEY_PEPPER nor the file key-pepper in DATA_DIR, so a restore ' +
  'cannot tell whether it has the secret that keys were hashed under. Without that secret no key of the backup works.'

/** The versions of those that are lacking: keys hashed under them would not be recognised. */
function lackingSecrets(secretChecks: string[], peppers: Peppers | undefined): string[] {
  return secretChecks.flatMap((check) => {
    try {
      unseal(check, secretAbout, peppers ?? [])
      return []
    } catch {
      return [check.split('.')[0] ?? '']
    }
  })
}

const lackingText = (versions: string[]) =>
  `The secret that keys were hashed under there (version ${versions.join(', ')}) is not here: no API key, no service token ` +
  'and no signing secret of the backup will work. Give KEY_PEPPER, or copy the file key-pepper into DATA_DIR.'

/** What there is to say about the secrets of the backup here, if anything. */
function aboutSecrets({ secretChecks }: Header, peppers: Peppers | undefined): { lacks?: string; secrets?: string } {
  // An earlier version wrote none where it knew none.
  if (secretChecks === 'not known' || secretChecks.length === 0) return { secrets: uncheckedText }
  const lacking = lackingSecrets(secretChecks, peppers)
  return lacking.length > 0 ? { lacks: lackingText(lacking) } : {}
}

/** Asked before, where somebody is there to ask. */
export async function confirmRestore(call: BareCall) {
  const { header, close } = await openBackup(call.pathOf(call.values.from ?? ''))
  close()
  const about = aboutSecrets(header, call.knownPeppers())
  if (Object.keys(about).length === 0) return undefined
  return { will: { madeAt: header.madeAt, ...about }, question: 'Restore it all the same?' }
}

export async function restore(call: BareCall): Promise<object> {
  const { onProgress } = call
  const file = call.pathOf(call.values.from ?? '')
  // All of it is read before anything is touched.
  const header = await checkBackup(file, (done, total) => onProgress('checking', done, total))
  knownMigrations(header)
  const about = aboutSecrets(header, call.knownPeppers())
  const { old } = call.values
  const withdrawn = old === undefined ? undefined : await readWithdrawn(call, old)
  const { source, close } = await openBackup(file)
  try {
    const reached = await reach({ ...call.place, use: 'alone' })
    const values = { ...call.values, ...(withdrawn && { old: withdrawn.place }) }
    const filling = { name: 'restore', words: { positionals: call.positionals, values }, onGood: () => undefined }
    const filled = await fill(call, { ...call.place, use: 'alone' }, reached, source, {
      ...filling,
      async look(client) {
        return { revived: withdrawn ? await listRevived(client, withdrawn) : unknownRevivedText(header.madeAt) }
      },
    })
    return { ...filled, madeAt: header.madeAt, ...about }
  } finally {
    close()
  }
}

const unknownRevivedText = (madeAt: string) =>
  `not known: keys, tokens, operators and endpoints that were suspended or removed after ${madeAt} work again here. Restore ` +
  'with --old to have them listed, or look them up in the trail of the old database (actions list) or in your tickets, and ' +
  'suspend them again before this one is served: docs/operations.md.'

/** The source stays as it is, and says that it has moved. */
export async function move(call: BareCall): Promise<object> {
  const { place, values } = call
  if (place.databaseUrl) {
    throw new Error(
      'It is the embedded database that moves: DATABASE_URL is set. From a server take backup and restore.',
    )
  }
  const databaseUrl = values.to ?? ''
  const from = await reach({ ...place, use: 'alone' })
  try {
    await prepare(from.places)
    const options: OpenOptions = { ...place, databaseUrl, migrationDatabaseUrl: undefined, use: 'alone' }
    const target = await reach(options)
    const words = { positionals: [], values: { ...values, to: placeOf(databaseUrl) } }
    let note: string | undefined
    const onGood = () => {
      note = noteMoved(place.dataDir, target.places.place)
    }
    const filled = await withClient(from.places.owner, from.places.place, (client) =>
      withSnapshot(client, copiedTables, (source) =>
        fill(call, options, target, source, { name: 'move', words, onGood }),
      ),
    )
    if (!filled.ok) return filled
    const start = `DATABASE_URL=${quoted(withoutPassword(databaseUrl))} DATA_DIR=${quoted(place.dataDir)} npm start`
    return { ...filled, movedFrom: from.places.place, note, start }
  } finally {
    await from.leave()
  }
}

/** It has been typed once, and is in nobody's scrollback for our sake. */
export function withoutPassword(databaseUrl: string): string {
  const url = URL.parse(databaseUrl)
  if (!url) return 'the same URL'
  if (url.password) url.password = 'PASSWORD'
  if (url.searchParams.has('password')) url.searchParams.set('password', 'PASSWORD')
  return url.href
}

/** For the shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

type Filling = {
  /** Of the command, for the trail, with its words. */
  name: string
  words: Words
  /** What has to be done before the target can be served. */
  onGood(): void
  /** Reads from the copy what the result says besides, whatever the audit has found. */
  look?(client: pg.ClientBase): Promise<object>
}

const violatedText =
  'No service starts on what was filled: its audit found violations. Every row is as it was in the original at the time of ' +
  'the copy, so what is wrong with a row was wrong there: see it with audit, or take another backup. docs/operations.md says ' +
  'how to serve it all the same.'

/**
 * Loads, migrates to now, checks everything a start checks, audits. The mark goes last, and only when all was good: at no
 * moment can two be served. How late the rows are says nothing about a copy: no worker could work on it. Leaves the target
 * in any case.
 */
async function fill(
  { onProgress, signal }: BareCall,
  options: OpenOptions,
  { places, leave }: Reached,
  source: Source,
  { name, words, onGood, look = async () => ({}) }: Filling,
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
      liveness: 'counted',
      onProgress: (done, total) => onProgress('audit', done, total),
      onUnwritten: tellUnwritten,
    })
    const looked = await withClient(owner, place, look)
    const result = { ok, place, ...(!ok && { next: violatedText }), ...looked, tables: shown(sums), violations }
    const onUnwritten = (text: string) => process.stderr.write(`${text}\n`)
    await recordAction(
      { database, onUnwritten },
      actionOf({ name }, words),
      async () => result,
      () => !ok,
    )
    if (ok) {
      onGood()
      await withClient(owner, place, markFinished)
    }
    return result
  } finally {
    await close()
  }
}
