// A database of its own for a test file: a clone of the migrated template, dropped afterwards.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { createPool } from '../../src/db/database.ts'

export const serverVariable = 'TEST_POSTGRES_SERVER'
export const templateName = 'credits_template'

export type ServerConnection = { host: string; port: number; user: string; password: string; database: string }

/** The server that the global set-up started. */
export function testServer(): ServerConnection {
  const text = process.env[serverVariable]
  if (!text)
    throw new Error('Run the tests with `npm test`: their PostgreSQL is started by test/support/global-setup.ts.')
  return JSON.parse(text)
}

export type TestDatabase = {
  connection: ServerConnection
  pool: pg.Pool
  /** One statement as an operator would type it, for what no endpoint shows. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  drop(): Promise<void>
}

export const silentLog = { warn: () => undefined, error: () => undefined }

async function onServer(text: string): Promise<void> {
  const client = new pg.Client(testServer())
  await client.connect()
  await client.query(text)
  await client.end()
}

export async function createTestDatabase({ template = templateName, maxConnections = 10 } = {}): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`
  await onServer(`create database ${database} template ${template}`)
  const connection = { ...testServer(), database }
  // As requests have them: every statement of the tests runs by the plan it has in production.
  const pool = createPool({ connection, maxConnections, plans: 'once', log: silentLog })
  return {
    connection,
    pool,
    async query(text, values = []) {
      const { rows } = await pool.query(text, values)
      return rows
    },
    async drop() {
      await pool.end()
      await onServer(`drop database ${database} with (force)`)
    },
  }
}
