// The statements on service tokens.

import { type TokenScope, tokenScopes } from '../core/token-scopes.ts'
import { type Database, statement } from '../db/database.ts'
import { byOrdinal, inputs } from '../db/inputs.ts'
import { quoted, sql } from '../db/sql.ts'
import type { KeyHash, KeyStatus } from './customers.sql.ts'

const insertTokenStatement = statement.global(
  'customers.insertToken',
  `insert into service_tokens (service_id, name, pepper_version, token_hash, last_four, scopes)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (service_id) do nothing`,
)

export async function insertToken(
  database: Database,
  token: KeyHash & { serviceId: string; name: string; lastFour: string; scopes: TokenScope[] },
): Promise<void> {
  const { serviceId, name, pepperVersion, keyHash, lastFour, scopes } = token
  await database.run(insertTokenStatement, [serviceId, name, pepperVersion, keyHash, lastFour, scopes])
}

/** A token from before there were scopes has all of them: it keeps what it could do. */
const scopesColumn = sql`coalesce(t.scopes, ${quoted(`{${tokenScopes.join()}}`)}) as "scopes"`

export type FoundToken = { serviceId: string; keyHash: Buffer; status: KeyStatus; scopes: TokenScope[] }

const hashes = inputs<KeyHash>({ pepperVersion: 'int', keyHash: ['bytea', 'token_hash'] })

const findTokensStatement = statement.global(
  'customers.findTokens',
  sql`select i.ordinal, t.service_id as "serviceId", t.token_hash as "keyHash", t.status, ${scopesColumn}
  from unnest(${hashes.arrays}) with ordinality as i (${hashes.columns}, ordinal)
  join service_tokens t using (pepper_version, token_hash)`,
)

/** The tokens with these hashes, one per input, null where there is none. */
export async function findTokens(database: Database, all: KeyHash[]): Promise<(FoundToken | null)[]> {
  return byOrdinal(all, await database.run<FoundToken & { ordinal: number }>(findTokensStatement, hashes.valuesOf(all)))
}

const findSuspendedTokensStatement = statement.global(
  'customers.findSuspendedTokens',
  `select service_id as "serviceId" from service_tokens
  where status = 'SUSPENDED' and suspended_at > now() - $1 * interval '1 ms'
  limit $2`,
)

/** The tokens that were suspended within that time and still are. */
export async function findSuspendedTokens(database: Database, withinMs: number, limit: number): Promise<string[]> {
  const rows = await database.run<{ serviceId: string }>(findSuspendedTokensStatement, [withinMs, limit])
  return rows.map((row) => row.serviceId)
}

const renewTokenHashStatement = statement.global(
  'customers.renewTokenHash',
  'update service_tokens set pepper_version = $2, token_hash = $3 where service_id = $1 and pepper_version < $2',
)

export async function renewTokenHash(database: Database, serviceId: string, hash: KeyHash): Promise<void> {
  await database.run(renewTokenHashStatement, [serviceId, hash.pepperVersion, hash.keyHash])
}

const updateTokenStatusStatement = statement.global(
  'customers.updateTokenStatus',
  'update service_tokens set status = $2 where service_id = $1 returning service_id',
)

/** Whether there is such a token. */
export async function updateTokenStatus(database: Database, serviceId: string, status: KeyStatus): Promise<boolean> {
  return (await database.run(updateTokenStatusStatement, [serviceId, status])).length > 0
}

export type ListedToken = {
  serviceId: string
  name: string
  lastFour: string
  status: KeyStatus
  scopes: TokenScope[]
  /** The version of the pepper that it is hashed under. */
  secretVersion: number
  createdAt: Date
}

const listTokensStatement = statement.global(
  'customers.listTokens',
  sql`select t.service_id as "serviceId", t.name, t.last_four as "lastFour", t.status, ${scopesColumn},
    t.pepper_version as "secretVersion", t.created_at as "createdAt"
  from service_tokens t
  order by t.created_at desc, t.service_id
  limit $1`,
)

export function listTokens(database: Database, limit: number): Promise<ListedToken[]> {
  return database.run<ListedToken>(listTokensStatement, [limit])
}
