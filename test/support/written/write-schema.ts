// `npm run schema`: applies all migrations to an empty database on a PostgreSQL of its own, and writes schema.sql
// and the definitions that src/db/guards.ts compares a database with.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { silentLog } from '../../../harness/silent-log.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { startEmbedded } from '../../../src/db/embedded/server.ts'
import { readGuards, writeGuards } from '../../../src/db/guards.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { dumpSchema } from './dump-schema.ts'

const fileOf = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
const [schemaFile, guardsFile] = [fileOf('schema.sql'), fileOf('src/db/guards.json')]
const directory = mkdtempSync(join(tmpdir(), 'prepaid-credits-schema-'))
try {
  // As root the server runs as another user, which needs access.
  chmodSync(directory, 0o755)
  const server = await startEmbedded({ dataDir: join(directory, 'data') })
  try {
    const client = new pg.Client(server.connection)
    await client.connect()
    await migrate(client)
    writeFileSync(schemaFile, await dumpSchema(client))
    writeFileSync(guardsFile, writeGuards(await readGuards(createDatabase(client, silentLog))))
    await client.end()
  } finally {
    await server.stop()
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
process.stderr.write(`Wrote ${schemaFile} and ${guardsFile}\n`)
