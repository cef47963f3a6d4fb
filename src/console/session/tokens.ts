// The tokens of sessions: 256 random bits that nobody can guess, and behind them a mark that only this service can make, under a
// pepper. What was made up is told from what was given before the database is asked. The pepper of a new one is the first; one
// that was made under another pepper is good for as long as that is known. Kept is the hash of all of it.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { newSecretText } from '../../core/ids.ts'
import type { Pepper, Peppers } from '../../customers/api-keys.ts'

const tokenPattern = /^([0-9A-Za-z]{43})\.([0-9A-Za-z_-]{43})$/

/** What the browser gets, and what is kept. */
export type NewToken = { token: string; sessionHash: Buffer }

/** What it is for is in it: the same secret marks keys, too. */
function markOf(text: string, { secret }: Pepper): string {
  return createHmac('sha256', secret).update(`session of the console ${text}`).digest('base64url')
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function createTokens(peppers: Peppers) {
  return {
    newToken(): NewToken {
      const text = newSecretText('')
      const token = `${text}.${markOf(text, peppers[0])}`
      return { token, sessionHash: hashOf(token) }
    },
    /** Undefined: it was not given here. */
    hashOf(token: string): Buffer | undefined {
      const [, text, mark] = tokenPattern.exec(token) ?? []
      if (text === undefined || mark === undefined) return undefined
      const told = Buffer.from(mark)
      const isOurs = peppers.some((pepper) => timingSafeEqual(told, Buffer.from(markOf(text, pepper))))
      return isOurs ? hashOf(token) : undefined
    },
  }
}
