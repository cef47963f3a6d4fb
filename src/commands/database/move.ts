// `move`: copies the embedded database to an empty one on a server. The source stays as it is; a note in DATA_DIR keeps it
// from being started again by mistake.
import { forShell } from '../../core/shell-quoting.ts'
import { placeOf, urlsOf, withClient } from '../../db/connect.ts'
import { copiedTables } from '../../db/copy/load.ts'
import { withSnapshot } from '../../db/copy/source.ts'
import { noteMoved } from '../../db/embedded/moved.ts'
import { type OpenOptions, reach } from '../../db/open.ts'
import { prepare } from '../../db/prepare.ts'
import type { Confirmation, StandaloneCall } from '../command.ts'
import { fillDatabase } from './fill.ts'

export async function confirmMove({ databaseOptions, values }: StandaloneCall): Promise<Confirmation> {
  const preview = { from: databaseOptions.dataDir, to: placeOf(values.to ?? '') }
  return { preview, question: 'Move the database there? No service will start on the one here afterwards.' }
}

export async function move(call: StandaloneCall): Promise<object> {
  const { databaseOptions, values } = call
  if (databaseOptions.databaseUrl) {
    throw new Error(
      'Only the embedded database can be moved, and DATABASE_URL is set. From a server use backup and restore.',
    )
  }
  const databaseUrl = values.to ?? ''
  const from = await reach({ ...databaseOptions, use: 'alone' })
  try {
    await prepare(from.places)
    const options: OpenOptions = { ...databaseOptions, databaseUrl, migrationDatabaseUrl: undefined, use: 'alone' }
    const target = await reach(options)
    let note: string | undefined
    const filled = await withClient(from.places.owner, from.places.place, (client) =>
      withSnapshot(client, copiedTables, (source) =>
        fillDatabase(call, options, target, source, {
          name: 'move',
          peppers: call.knownPeppers(),
          input: { positionals: [], values: { ...values, to: placeOf(databaseUrl) } },
          onAuditPassed() {
            note = noteMoved(databaseOptions.dataDir, target.places.place)
          },
        }),
      ),
    )
    if (!filled.ok) return filled
    const dataDir = forShell(databaseOptions.dataDir)
    const start = `DATABASE_URL=${forShell(withoutPassword(databaseUrl))} DATA_DIR=${dataDir} npm start`
    return { ...filled, movedFrom: from.places.place, note, start }
  } finally {
    await from.leave()
  }
}

/** Keeps the password out of the terminal's scrollback. */
export function withoutPassword(databaseUrl: string): string {
  const [url, ...others] = urlsOf(databaseUrl)
  if (!url) return 'the same URL'
  if (url.password) url.password = 'PASSWORD'
  if (url.searchParams.has('password')) url.searchParams.set('password', 'PASSWORD')
  const hosts = [url, ...others].map(({ host }) => host).join(',')
  return url.href.replace(`${url.host}${url.pathname}`, `${hosts}${url.pathname}`)
}
