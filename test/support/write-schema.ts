// `npm run schema`: applies all migrations to an empty database on a PostgreSQL of its own, and writes schema.sql.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { dumpSchema } from './dump-schema.ts'

const file = fileURLToPath(new URL('../../schema.sql', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'prepaid-credits-schema-'))
try {
  // As root the server runs as another user, who has to get in.
  chmodSync(directory, 0o755)
  const server = await startEmbedded({ dataDir: join(directory, 'data') })
  try {
    const client = new pg.Client(server.connection)
    await client.connect()
    await migrate(client)
    writeFileSync(file, await dumpSchema(client))
    await client.end()
  } finally {
    await server.stop()
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
process.stderr.write(`Wrote ${file}\n`)
