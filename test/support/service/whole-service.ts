// The whole service in this process with a database of its own, and keys and tokens for its callers. For tests that need
// all parts.
import assert from 'node:assert/strict'
import { type Cleaner, databaseUrl, defer, newDirectory } from '../../../harness/processes.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { createTestDatabase, type OwnTestDatabase } from '../database/database.ts'
import { secretsIn } from '../leaks.ts'
import { startInProcess } from './in-process.ts'
import { sandboxControl } from './service.ts'

export type Left = { database: OwnTestDatabase; dataDir: string }

const pepper = 'a pepper for the tests only'
const peppers = [{ version: 1, secret: pepper }] as const

/** With `before` it is the next process on the database and files of a closed one. */
export async function startWholeService(t: Cleaner, settings: Record<string, string> = {}, before?: Left) {
  const database = before?.database ?? (await createTestDatabase())
  const dataDir = before?.dataDir ?? newDirectory(t)
  if (!before) defer(t, () => database.drop())
  const service = await startInProcess(t, dataDir, {
    DATABASE_URL: databaseUrl(database.connection),
    KEY_PEPPER: pepper,
    MIGRATION_DATABASE_URL: databaseUrl(database.ownerConnection),
    ...settings,
  })
  const direct = createDatabase(database.pool, silentLog)
  return {
    ...service,
    database,
    dataDir,
    sandbox: sandboxControl(service.sandboxUrl),
    newKey: () => issueKey(direct, peppers, crypto.randomUUID()),
    newToken: () => issueToken(direct, peppers, 'analyses'),
    async scrape(): Promise<string> {
      const text = await (await fetch(`${service.internalUrl}/metrics`)).text()
      assert.deepEqual(secretsIn(text, service.environment), [], 'a secret is in the metrics')
      return text
    },
  }
}
