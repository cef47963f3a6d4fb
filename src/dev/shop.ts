// The example shop beside the service, and its API key. A shop has to know its key, so the key is kept in a file that only
// its owner can read; it is issued again when the file is gone or the database does not know the key. A suspended key stays
// suspended.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type RunningStorefront, startStorefront } from '../../examples/storefront/server.ts'
import type { Config } from '../config.ts'
import { apiKeyPattern, hashKey, type IssuedKey, issueKey, type Peppers } from '../customers/api-keys.ts'
import { countKeys, findKeys } from '../customers/customers.sql.ts'
import type { Database } from '../db/database.ts'
import { explainListen } from '../listeners/listen.ts'

const shopCustomer = 'demo'

export type ShopParts = {
  port: number
  database: Database
  peppers: Peppers
  /** The public listener, which starts after the shop: orders carry the address of the shop. */
  publicUrl: () => string | undefined
  sandboxUrl: string | undefined
}

export async function startShop(config: Config, parts: ShopParts): Promise<RunningStorefront> {
  const { port, database, peppers, publicUrl, sandboxUrl } = parts
  const host = config.internalHost
  const dataDir = join(config.dataDir, 'storefront')
  const apiKey = await readOrIssueKey(database, peppers, join(dataDir, 'api-key'))
  // The buyer's browser returns to these.
  const hostnames = [config.successUrl, config.failUrl].map((url) => new URL(url).hostname)
  return startStorefront({
    host,
    port,
    apiUrl: publicUrl,
    apiKey,
    gatewayScriptUrl: sandboxUrl ? `${sandboxUrl}/v2/standard` : 'https://js.tosspayments.com/v2/standard',
    dataDir,
    hostnames: [...config.internalHostnames, ...hostnames],
  }).catch((error) => {
    throw explainListen(error, 'STOREFRONT_PORT', host, port)
  })
}

/** On the first start: the only key in the database is the shop's own. */
export async function issueDemoKey(database: Database, peppers: Peppers): Promise<IssuedKey | undefined> {
  return (await countKeys(database)) > 1 ? undefined : issueKey(database, peppers, shopCustomer)
}

async function readOrIssueKey(database: Database, peppers: Peppers, file: string): Promise<string> {
  const kept = readKept(file)
  if (kept && (await isKnown(database, peppers, kept))) return kept
  const { apiKey } = await issueKey(database, peppers, shopCustomer)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, apiKey, { mode: 0o600 })
  return apiKey
}

function readKept(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    return apiKeyPattern.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

async function isKnown(database: Database, peppers: Peppers, apiKey: string): Promise<boolean> {
  const found = await findKeys(
    database,
    peppers.map((pepper) => hashKey(apiKey, pepper)),
  )
  return found.some((key) => key !== null)
}
