// The API key of the example shop: a shop has to know its key, so it is kept in a file that only its owner can read, and
// issued again when the file is gone or the database does not know the key. A suspended key stays suspended.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from '../db/database.ts'
import { apiKeyPattern, hashKey, issueKey, type Peppers } from './api-keys.ts'
import { findKeys } from './customers.sql.ts'

export const storefrontCustomer = 'demo'

export async function readOrIssueKey(database: Database, peppers: Peppers, file: string): Promise<string> {
  const kept = readKept(file)
  if (kept && (await isKnown(database, peppers, kept))) return kept
  const { apiKey } = await issueKey(database, peppers, storefrontCustomer)
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
