// The API key of the example shop, in a file that only its owner can read. A new key is issued when the file is missing or the
// database does not know the key. A suspended key stays suspended.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from '../db/database.ts'
import { apiKeyPattern, hashKey, issueKey, type Peppers } from './api-keys.ts'
import { findKeys } from './customers.sql.ts'

export const storefrontCustomer = 'demo'

export async function readOrIssueKey(database: Database, peppers: Peppers, file: string): Promise<string> {
  const stored = readKeyFile(file)
  if (stored && (await isKnown(database, peppers, stored))) return stored
  const { apiKey } = await issueKey(database, peppers, storefrontCustomer)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, apiKey, { mode: 0o600 })
  return apiKey
}

function readKeyFile(file: string): string | undefined {
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
