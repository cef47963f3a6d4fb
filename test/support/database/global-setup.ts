// Before any test file: one real PostgreSQL for the whole run, with a template database that has all migrations and the role
// that serves with its rights. After the last: the server is stopped and its directory removed.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { serviceLogin } from '../../../src/db/embedded/role.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/db/embedded/server.ts'
import { prepare } from '../../../src/db/prepare.ts'
import { serverVariable, type TestServer, templateName } from './database.ts'

let server: EmbeddedServer | undefined
let dataDir: string | undefined

export async function globalSetup(): Promise<void> {
  dataDir = mkdtempSync(join(tmpdir(), 'prepaid-credits-test-'))
  // As root the server runs as another user, who has to get in; otherwise it would move to a place of its own.
  chmodSync(dataDir, 0o755)
  server = await startEmbedded({ dataDir: join(dataDir, 'data') })
  try {
    await fillTemplate(server, join(dataDir, 'data'))
  } catch (error) {
    // A set-up that fails is not torn down by the runner.
    await globalTeardown()
    throw error
  }
}

async function fillTemplate(server: EmbeddedServer, dataDir: string): Promise<void> {
  await query({ ...server.connection }, `create database ${templateName}`)
  const owner = { ...server.connection, database: templateName }
  const serving = serviceLogin(dataDir)
  const embedded = { ...owner, ...serving }
  await prepare({ place: 'of the tests', owner, serving: embedded, embedded })
  process.env[serverVariable] = JSON.stringify({ owner: server.connection, serving } satisfies TestServer)
}

export async function globalTeardown(): Promise<void> {
  try {
    await server?.stop()
  } finally {
    if (dataDir) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function query(connection: EmbeddedServer['connection'], text: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
