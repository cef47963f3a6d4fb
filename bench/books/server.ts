// The PostgreSQL for big books: a server of its own with full durability, which ends with the measurement unless it is
// kept.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { databaseUrl } from '../../harness/processes.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/server.ts'

export type BooksServer = Pick<EmbeddedServer, 'connection' | 'dataDirectory'> & {
  /** For files of the commands. */
  directory: string
}

export function newDirectory(): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'prepaid-credits-books-'))
  // As root the server runs as another user, which needs access.
  chmodSync(directory, 0o755)
  return directory
}

export async function startServer({ keep }: { keep: boolean }, parts: AsyncDisposableStack): Promise<BooksServer> {
  const directory = newDirectory()
  const { connection, dataDirectory, stop } = await startEmbedded({ dataDir: join(directory, 'data') })
  async function remove(): Promise<void> {
    await stop()
    // As root the cluster may be outside of our directory, and so may the socket, whose path has to be short.
    for (const place of [dirname(dataDirectory), connection.host, directory]) {
      rmSync(place, { recursive: true, force: true, maxRetries: 3 })
    }
  }
  if (keep) process.stderr.write(`The books stay at ${databaseUrl(connection)}\n`)
  // Interrupted while it started: it would not be stopped otherwise.
  else if (parts.disposed) await remove()
  else parts.defer(remove)
  return { connection, dataDirectory, directory }
}
