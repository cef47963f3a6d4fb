// Tokens of the platform's own services: `cst_` and 43 letters and digits, stored as a keyed hash like API keys. They give access
// to the internal API only, to the routes of their scopes, and API keys give none to it.

import { newSecretText, randomLettersAndDigits } from '../core/ids.ts'
import { defaultScopes, type TokenScope } from '../core/token-scopes.ts'
import type { Database } from '../db/database.ts'
import { hashKey, type Peppers } from './api-keys.ts'
import { createKeyCheck } from './key-check.ts'
import { type FoundToken, findSuspendedTokens, findTokens, insertToken, renewTokenHash } from './service-tokens.sql.ts'

/** Gets every value of the header as it was sent. */
export type AuthenticateService = (headers: string[]) => ServiceCaller | Promise<ServiceCaller>
export type ServiceCaller = Pick<FoundToken, 'serviceId' | 'scopes'>

/** An id identifies a token and gives no access. */
export const serviceIdPattern = /^svc_[0-9A-Za-z]{20}$/

export const tokenPattern = /^cst_[0-9A-Za-z]{43}$/

/** Instead of the catalogue's texts, which are about API keys. */
export const tokenTexts = {
  INVALID_API_KEY: 'The Authorization header is missing or has no token of a service.',
  AUTH001: 'The token is not recognised.',
  AUTH003: 'The token is suspended.',
} as const

export type IssuedToken = { serviceId: string; name: string; scopes: TokenScope[]; token: string }

/** A token for the service of that name. To rotate, issue a second one: both work. */
export async function issueToken(
  database: Database,
  peppers: Peppers,
  name: string,
  scopes: TokenScope[] = [...defaultScopes],
): Promise<IssuedToken> {
  const token = newSecretText('cst_')
  const serviceId = `svc_${randomLettersAndDigits(20)}`
  await insertToken(database, { serviceId, name, scopes, lastFour: token.slice(-4), ...hashKey(token, peppers[0]) })
  return { serviceId, name, scopes, token }
}

/** Exactly one Authorization header with a token; another scheme is as malformed as another token. */
export function createAuthenticateService(database: Database, peppers: Peppers): AuthenticateService {
  const checkToken = createKeyCheck<FoundToken>({
    peppers,
    pattern: tokenPattern,
    texts: tokenTexts,
    idOf: ({ serviceId }) => serviceId,
    find: (hashes) => findTokens(database, hashes),
    findSuspended: (withinMs, limit) => findSuspendedTokens(database, withinMs, limit),
    renew: ({ serviceId }, hash) => renewTokenHash(database, serviceId, hash),
  })
  return (headers) => {
    const [, token] = /^Bearer ([^\s,]+)$/i.exec(headers[0] ?? '') ?? []
    return checkToken(headers.length === 1 ? token : undefined)
  }
}
