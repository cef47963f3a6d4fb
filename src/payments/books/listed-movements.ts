// The movements that the gateway has listed in this run, to recognise their rows in our copy. The database role of the
// service may insert and delete rows there, so only what is in this list counts as evidence. 8 bytes of memory for each
// movement: a digest of all its fields under a key of this list, for which no row can be made that is not listed.
import { createHmac, randomBytes } from 'node:crypto'
import type { Movement } from '../../gateway/gateway.ts'

export type ListedMovements = {
  add(movements: Movement[]): void
  has(movement: Movement): boolean
  /** Each movement once, however often it was listed. */
  count(): number
}

/** How many bytes of a digest are kept: as many as a number has exactly. */
const digestBytes = 6

export function createListedMovements(): ListedMovements {
  const key = randomBytes(32)
  let digests = new Float64Array(1_000)
  let used = 0
  let isSorted = true

  function digestOf({ transactionKey, paymentKey, orderId, direction, amount, movedAt }: Movement): number {
    const text = JSON.stringify([transactionKey, paymentKey, orderId, direction, amount, movedAt.getTime()])
    return createHmac('sha256', key).update(text).digest().readUIntBE(0, digestBytes)
  }

  function sort(): void {
    if (isSorted) return
    const distinct = digests.subarray(0, used).sort()
    used = distinct.reduce((count, digest, index) => {
      if (index > 0 && digest === distinct[count - 1]) return count
      distinct[count] = digest
      return count + 1
    }, 0)
    isSorted = true
  }

  return {
    add(movements) {
      for (const movement of movements) {
        if (used === digests.length) {
          const larger = new Float64Array(2 * used)
          larger.set(digests)
          digests = larger
        }
        digests[used] = digestOf(movement)
        used += 1
      }
      isSorted = false
    },
    has(movement) {
      sort()
      const digest = digestOf(movement)
      let low = 0
      let high = used
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((digests[middle] as number) < digest) low = middle + 1
        else high = middle
      }
      return low < used && digests[low] === digest
    },
    count() {
      sort()
      return used
    },
  }
}
