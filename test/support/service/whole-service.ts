// The whole service in this process, composed as by `npm start`: all listeners on free ports, the sandbox as the gateway, the
// worker, and a database of its own. For tests that need all parts; its log is kept line by line.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type Cleaner, databaseUrl, defer, newDirectory } from '../../../harness/processes.ts'
import { readConfig } from '../../../src/config.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { startDevelopment } from '../../../src/dev/start.ts'
import { createLog } from '../../../src/log.ts'
import { createTestDatabase, type OwnTestDatabase, silentLog } from '../database/database.ts'
import { secretsIn } from '../leaks.ts'
import { sandboxControl } from './service.ts'

export type LogLine = Record<string, unknown> & { msg: string; level: number }
export type Left = { database: OwnTestDatabase; dataDir: string }

const pepper = 'a pepper for the tests only'
const peppers = [{ version: 1, secret: pepper }] as const

/** With `before` it is the next process on the database and files of a closed one. */
export async function startWholeService(t: Cleaner, settings: Record<string, string> = {}, before?: Left) {
  const database = before?.database ?? (await createTestDatabase())
  const dataDir = before?.dataDir ?? newDirectory(t)
  if (!before) defer(t, () => database.drop())
  const environment = {
    PORT: '0',
    INTERNAL_PORT: '0',
    WEBHOOK_PORT: '0',
    SANDBOX_PORT: '0',
    STOREFRONT_PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl(database.connection),
    KEY_PEPPER: pepper,
    MIGRATION_DATABASE_URL: databaseUrl(database.ownerConnection),
    ...settings,
  }
  const config = readConfig(environment)
  const lines: LogLine[] = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...`${chunk}`.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : [])))
      done()
    },
  })
  const service = await startDevelopment(config, createLog(config.logLevel, destination))
  let isOpen = true
  const close = async () => {
    if (isOpen) await service.close()
    isOpen = false
    assert.deepEqual(secretsIn(JSON.stringify(lines), environment), [], 'a secret was logged')
  }
  defer(t, close)
  const direct = createDatabase(database.pool, silentLog)
  return {
    ...service,
    close,
    database,
    dataDir,
    lines,
    sandbox: sandboxControl(service.sandboxUrl as string),
    newKey: () => issueKey(direct, peppers, crypto.randomUUID()),
    newToken: () => issueToken(direct, peppers, 'analyses'),
    async scrape(): Promise<string> {
      const text = await (await fetch(`${service.internalUrl}/metrics`)).text()
      assert.deepEqual(secretsIn(text, environment), [], 'a secret is in the metrics')
      return text
    },
  }
}
