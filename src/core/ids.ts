// Identifiers. Order ids are generated here, sortable by time and unguessable: the milliseconds in 10 characters, then 130
// random bits in 26, of Crockford's base 32 behind `ord_`. Sorting by time keeps new rows together at the right edge of
// the primary key's index within a customer.
import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'

const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The form of our order ids; anything else is answered NOT000 without a query. */
export const orderIdPattern = /^ord_[0-9A-HJKMNP-TV-Z]{36}$/

/** In either case. */
export const uuidPattern = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
/** The smallest UUID: where an iteration by key begins. */
export const leastUuid = '00000000-0000-0000-0000-000000000000'
export const greatestUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Ids that stand for something else where a customer is named. No customer has one; the schema refuses it. */
const reservedIds: Record<string, string> = { [leastUuid]: 'all customers', [greatestUuid]: 'the platform' }

/** In either case; undefined for any other text. */
export function meaningOfReserved(customer: string): string | undefined {
  return reservedIds[customer.toLowerCase()]
}

/** A UUID that can be a customer's, in either case. */
export const customerIdPattern = new RegExp(`^(?![-0]+$|[-fF]+$)${uuidPattern.source.slice(1)}`)
export const customerIdRule = `the UUID of a customer; ${leastUuid} stands for all customers, ${greatestUuid} for the platform`

export function newOrderId(now = Date.now()): string {
  let id = orderIdPrefixAt(now)
  const bytes = takeRandomBytes(26)
  for (let index = 0; index < 26; index += 1) id += base32[(bytes[index] as number) % 32]
  return id
}

function orderIdPrefixAt(ms: number): string {
  let prefix = 'ord_'
  for (let shift = 45; shift >= 0; shift -= 5) prefix += base32[Math.floor(ms / 2 ** shift) % 32]
  return prefix
}

/** The smallest order id of a moment: ids that were generated before it are smaller. */
export function orderIdAt(ms: number): string {
  return `${orderIdPrefixAt(ms)}${'0'.repeat(26)}`
}

/** Sorts after every order id in any collation. */
export const afterAllOrderIds = `ord_${'Z'.repeat(37)}`

/** Random bytes for many ids: a call for each would take longer than all the rest. Each byte is used once. */
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

/** The next id takes fresh ones. */
export function discardRandomBytes(): void {
  poolTaken = randomPool.length
}

/** Request ids, to find a request in the log: a random prefix for this process, then a number. */
export function newRequestIds(): () => string {
  const start = randomLettersAndDigits(10)
  let count = 0
  return () => {
    count += 1
    return `${start}-${count}`
  }
}

/** Never shown to a caller, and not sorted by time: version 4 is enough. */
export function newOperationId(): string {
  return randomUUID()
}

/** Shown only to services of the platform. Random, so not sorted by time, like customer ids. */
export function newHoldId(): string {
  return randomUUID()
}

export function newCustomerId(): string {
  return randomUUID()
}

export function newBudgetId(): string {
  return randomUUID()
}

/** A secret: its prefix and 43 letters and digits, 256 random bits. */
export function newSecretText(prefix: string): string {
  return `${prefix}${randomLettersAndDigits(43)}`
}

/** Each character has the same probability: bytes past the last multiple of 62 are discarded. */
export function randomLettersAndDigits(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}
