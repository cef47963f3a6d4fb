// Identifiers. Order ids are generated here, sortable by time and unguessable: the milliseconds in 10 characters, then 130
// random bits in 26, of Crockford's base 32 behind `ord_`. Sorting by time keeps new rows together at the right edge of
// the primary key's index within a customer.
import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'

const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** What an order id of ours looks like; anything else is answered NOT000 without a look into the database. */
export const orderIdPattern = /^ord_[0-9A-HJKMNP-TV-Z]{36}$/

/** As people write it. */
export const uuidPattern = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
/** No other UUID comes before it: where a walk by key begins. */
export const leastUuid = '00000000-0000-0000-0000-000000000000'

export function newOrderId(now = Date.now()): string {
  let id = 'ord_'
  for (let shift = 45; shift >= 0; shift -= 5) id += base32[Math.floor(now / 2 ** shift) % 32]
  const bytes = takeRandomBytes(26)
  for (let place = 0; place < 26; place += 1) id += base32[(bytes[place] as number) % 32]
  return id
}

/** Drawn for many ids at once: to draw for each takes longer than all the rest of it. Each byte is given out once. */
const randomPool = Buffer.alloc(4_096)
let poolTaken = randomPool.length

function takeRandomBytes(count: number): Buffer {
  if (poolTaken + count > randomPool.length) {
    randomFillSync(randomPool)
    poolTaken = 0
  }
  poolTaken += count
  return randomPool.subarray(poolTaken - count, poolTaken)
}

/** For requests, to find one again in the log: random for this process, then counted. */
export function newRequestIds(): () => string {
  const start = randomLettersAndDigits(10)
  let count = 0
  return () => {
    count += 1
    return `${start}-${count}`
  }
}

/** Operations are never shown to a caller; version 4 is enough. */
export function newOperationId(): string {
  return randomUUID()
}

/** Shown to the services of the platform alone. */
export function newHoldId(): string {
  return randomUUID()
}

export function newCustomerId(): string {
  return randomUUID()
}

/** Something to present as proof: its prefix and 43 letters and digits, 256 random bits. */
export function newSecretText(prefix: string): string {
  return `${prefix}${randomLettersAndDigits(43)}`
}

/** `length` letters and digits, each with the same probability: bytes past the last multiple of 62 are thrown away. */
export function randomLettersAndDigits(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}
