// Before any test file: one real PostgreSQL for the whole run, with a template database that has all migrations. After
// the last: the server is stopped and its directory removed.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { serverVariable, templateName } from './database.ts'

let server: EmbeddedServer | undefined
let dataDir: string | undefined

export async function globalSetup(): Promise<void> {
  dataDir = mkdtempSync(join(tmpdir(), 'prepaid-credits-test-'))
  // As root the server runs as another user, who has to get in; otherwise it would move to a place of its own.
  chmodSync(dataDir, 0o755)
  server = await startEmbedded({ dataDir: join(dataDir, 'data') })
  await query({ ...server.connection }, `create database ${templateName}`)
  const client = new pg.Client({ ...server.connection, database: templateName })
  await client.connect()
  await migrate(client)
  await client.end()
  process.env[serverVariable] = JSON.stringify(server.connection)
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
  if (dataDir) rmSync(dataDir, { recursive: true, force: true })
}

async function query(connection: EmbeddedServer['connection'], text: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(text)
  await client.end()
}
