// Basic authentication as Toss wants it: the secret key as the user, no password, the colon in between mandatory.

import { type ErrorAnswer, errorAnswer } from './errors.ts'

/** Returns the refusal, or null when the header has the key. */
export function refuseWrongKey(authorization: string | undefined, secretKey: string): ErrorAnswer | null {
  const encoded = /^Basic +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return errorAnswer('UNAUTHORIZED_KEY')
  const credentials = Buffer.from(encoded, 'base64').toString('utf8')
  if (!credentials.endsWith(':')) return errorAnswer('INCORRECT_BASIC_AUTH_FORMAT')
  return credentials === `${secretKey}:` ? null : errorAnswer('UNAUTHORIZED_KEY')
}
