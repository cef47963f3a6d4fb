// The example shop beside the service, with its API key and a service token for the statement. A shop has to know them, so
// they are kept in files that only their owner can read; each is issued again when its file is gone or the database does not
// know it. A suspended one stays suspended.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ShopInfo } from '../../examples/storefront/pages/layout.ts'
import { type RunningStorefront, startStorefront } from '../../examples/storefront/server.ts'
import type { Config } from '../config.ts'
import { koreanDayOf } from '../core/korean-days.ts'
import { apiKeyPattern, hashKey, type IssuedKey, issueKey, type Peppers } from '../customers/api-keys.ts'
import { countKeys, findKeys } from '../customers/customers.sql.ts'
import { findTokens } from '../customers/service-tokens.sql.ts'
import { issueToken, tokenPattern } from '../customers/service-tokens.ts'
import type { Database } from '../db/database.ts'
import { explainListen } from '../listeners/listen.ts'
import { ruleOn } from '../payments/refunds/dated-rules.ts'

const shopCustomer = 'demo'
const shopService = 'example shop'

export type ShopParts = {
  port: number
  database: Database
  peppers: Peppers
  /** The public listener, which starts after the shop: orders carry the address of the shop. */
  publicUrl: () => string | undefined
  /** The internal listener, which starts after the shop as well. */
  internalUrl: () => string | undefined
  sandboxUrl: string | undefined
}

export async function startShop(config: Config, parts: ShopParts): Promise<RunningStorefront> {
  const { port, database, peppers, publicUrl, internalUrl, sandboxUrl } = parts
  const host = config.internalHost
  const dataDir = join(config.dataDir, 'storefront')
  const apiKey = await readOrIssue(join(dataDir, 'api-key'), {
    pattern: apiKeyPattern,
    find: async (key) => findKeys(database, hashesOf(key, peppers)),
    issue: async () => (await issueKey(database, peppers, shopCustomer)).apiKey,
  })
  const token = await readOrIssue(join(dataDir, 'service-token'), {
    pattern: tokenPattern,
    find: async (kept) => findTokens(database, hashesOf(kept, peppers)),
    issue: async () => (await issueToken(database, peppers, shopService, ['read'])).token,
  })
  // The buyer's browser returns to these.
  const hostnames = [config.successUrl, config.failUrl].map((url) => new URL(url).hostname)
  return startStorefront({
    host,
    port,
    apiUrl: publicUrl,
    apiKey,
    gatewayScriptUrl: sandboxUrl ? `${sandboxUrl}/v2/standard` : 'https://js.tosspayments.com/v2/standard',
    dataDir,
    statement: { apiUrl: internalUrl, token },
    shop: shopInfo(config),
    hostnames: [...config.internalHostnames, ...hostnames],
  }).catch((error) => {
    throw explainListen(error, 'STOREFRONT_PORT', host, port)
  })
}

/** On the first start: the only key in the database is the shop's own. */
export async function issueDemoKey(database: Database, peppers: Peppers): Promise<IssuedKey | undefined> {
  return (await countKeys(database)) > 1 ? undefined : issueKey(database, peppers, shopCustomer)
}

/** The rule of refunds is that of an order that is bought now. */
export function shopInfo({
  shopTexts,
  refundRules,
  gateway,
}: Pick<Config, 'shopTexts' | 'refundRules' | 'gateway'>): ShopInfo {
  const rule = () => ruleOn(koreanDayOf(new Date()), refundRules)
  return {
    ...shopTexts,
    get smallestRefund() {
      return rule().smallestAmount
    },
    get refundShare() {
      return rule().sharePercent
    },
    customer: shopCustomer,
    isTest: gateway.kind === 'sandbox' || gateway.clientKey.startsWith('test_'),
  }
}

type Secret = {
  pattern: RegExp
  find(secret: string): Promise<(object | null)[]>
  issue(): Promise<string>
}

async function readOrIssue(file: string, { pattern, find, issue }: Secret): Promise<string> {
  const kept = readKept(file, pattern)
  if (kept && (await find(kept)).some((found) => found !== null)) return kept
  const secret = await issue()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, secret, { mode: 0o600 })
  return secret
}

function readKept(file: string, pattern: RegExp): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    return pattern.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

function hashesOf(secret: string, peppers: Peppers) {
  return peppers.map((pepper) => hashKey(secret, pepper))
}
