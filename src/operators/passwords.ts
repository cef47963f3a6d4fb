// Passwords of operators. They are kept as scrypt hashes, which cost whoever tries many of them 64 MB and the time of a core
// for each; the text of a hash carries what it was made with, so that the costs can be raised and a password is hashed anew
// when its owner signs in the next time.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { assert } from '../core/assert.ts'
import { randomLettersAndDigits } from '../core/ids.ts'

type Costs = { N: number; r: number; p: number }

const costs: Costs = { N: 2 ** 16, r: 8, p: 2 }
const saltBytes = 16
const hashBytes = 32

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

function keyOf(password: string, salt: Buffer, { N, r, p }: Costs): Promise<Buffer> {
  // The same letters can be typed as different characters, by different keyboards. What it needs is 128 N r and a little.
  return derive(password.normalize('NFKC'), salt, hashBytes, { N, r, p, maxmem: 256 * N * r })
}

function encode({ N, r, p }: Costs, salt: Buffer, key: Buffer): string {
  return `$scrypt$n=${N},r=${r},p=${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
}

const encodedPattern = /^\$scrypt\$n=(\d{1,7}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/

function decode(encoded: string): { costs: Costs; salt: Buffer; key: Buffer } {
  const [, n, r, p, salt = '', key = ''] = encodedPattern.exec(encoded) ?? []
  assert(n !== undefined, 'the hash of a password is written in another way than any version has')
  return {
    costs: { N: Number(n), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  return encode(costs, salt, await keyOf(password, salt, costs))
}

/** No password has it: where there is no operator the same work is done as where there is one. */
const nobodysHash = encode(costs, randomBytes(saltBytes), randomBytes(hashBytes))

export async function isPassword(password: string, encoded = nobodysHash): Promise<boolean> {
  const made = decode(encoded)
  return timingSafeEqual(await keyOf(password, made.salt, made.costs), made.key)
}

/** Made at other costs than those of now. */
export function isOutdated(encoded: string): boolean {
  const { N, r, p } = decode(encoded).costs
  return N !== costs.N || r !== costs.r || p !== costs.p
}

/** For the first sign-in: 20 letters and digits, to be typed once. */
export function newFirstPassword(): string {
  return (randomLettersAndDigits(20).match(/.{5}/g) ?? []).join('-')
}
