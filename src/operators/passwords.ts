// Passwords of operators, stored as scrypt hashes: each guess costs an attacker 64 MB and CPU time. The text of a hash contains
// its costs, so that they can be raised; a password is hashed again at the next sign-in of its owner.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { assert } from '../core/assert.ts'
import { randomLettersAndDigits } from '../core/ids.ts'

/** How long a first password is valid, unless FIRST_PASSWORD_HOURS says otherwise. */
export const defaultFirstPasswordHours = 72

type Costs = { N: number; r: number; p: number }

const currentCosts: Costs = { N: 2 ** 16, r: 8, p: 2 }
const saltBytes = 16
const hashBytes = 32

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

function keyOf(password: string, salt: Buffer, { N, r, p }: Costs): Promise<Buffer> {
  // Different keyboards type the same letter as different code points. scrypt needs a little more than 128 N r bytes.
  return derive(password.normalize('NFKC'), salt, hashBytes, { N, r, p, maxmem: 256 * N * r })
}

function encode({ N, r, p }: Costs, salt: Buffer, key: Buffer): string {
  return `$scrypt$n=${N},r=${r},p=${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
}

const encodedPattern = /^\$scrypt\$n=(\d{1,7}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/

function decode(encoded: string): { costs: Costs; salt: Buffer; key: Buffer } {
  const [, n, r, p, salt = '', key = ''] = encodedPattern.exec(encoded) ?? []
  assert(n !== undefined, 'a password hash has an unknown format')
  return {
    costs: { N: Number(n), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}

export type Passwords = ReturnType<typeof createPasswords>

/** Hashes at the given costs; checks hashes of any costs. */
export function createPasswords(costs = currentCosts) {
  /** Matches no password: an unknown operator name costs the same work as a known one. */
  const unmatchedHash = encode(costs, randomBytes(saltBytes), randomBytes(hashBytes))

  return {
    async hash(password: string): Promise<string> {
      const salt = randomBytes(saltBytes)
      return encode(costs, salt, await keyOf(password, salt, costs))
    },

    async matches(password: string, encoded = unmatchedHash): Promise<boolean> {
      const { salt, key, costs: hashedAt } = decode(encoded)
      return timingSafeEqual(await keyOf(password, salt, hashedAt), key)
    },

    /** Whether it was hashed at other costs. */
    isOutdated(encoded: string): boolean {
      const { N, r, p } = decode(encoded).costs
      return N !== costs.N || r !== costs.r || p !== costs.p
    },
  }
}

/** For the first sign-in: 20 letters and digits, to be typed once. */
export function newFirstPassword(): string {
  return (randomLettersAndDigits(20).match(/.{5}/g) ?? []).join('-')
}
