// Session tokens: 256 random bits and an HMAC of them under a pepper, so that a made-up token is refused without a query. New
// tokens use the first pepper; a token stays valid as long as its pepper is configured. The database stores the hash of the token.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { newSecretText } from '../../core/ids.ts'
import type { Pepper, Peppers } from '../../customers/api-keys.ts'

const tokenPattern = /^([0-9A-Za-z]{43})\.([0-9A-Za-z_-]{43})$/

/** The token is for the browser, the hash for the database. */
export type NewToken = { token: string; sessionHash: Buffer }

/** The text names the purpose: the same pepper hashes API keys. */
function signatureOf(text: string, { secret }: Pepper): string {
  return createHmac('sha256', secret).update(`session of the console ${text}`).digest('base64url')
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function createTokens(peppers: Peppers) {
  return {
    newToken(): NewToken {
      const text = newSecretText('')
      const token = `${text}.${signatureOf(text, peppers[0])}`
      return { token, sessionHash: hashOf(token) }
    },
    /** Undefined: the token was not issued by this service. */
    hashOf(token: string): Buffer | undefined {
      const [, text, signature] = tokenPattern.exec(token) ?? []
      if (text === undefined || signature === undefined) return undefined
      const given = Buffer.from(signature)
      const isOurs = peppers.some((pepper) => timingSafeEqual(given, Buffer.from(signatureOf(text, pepper))))
      return isOurs ? hashOf(token) : undefined
    },
  }
}
