// The movements of money: one for each approval, one for each cancel, in the order of time. A payment is written once
// for each movement, so a payment value represents its last movement. One that represents the movement before takes the
// last one back.

import type { Payment } from './payments.ts'

export type Movement = {
  paymentKey: string
  orderId: string
  kind: 'capture' | 'cancel'
  amount: number
  transactionKey: string
  at: string
}

/** The last movement of the payment, null while no money has moved. */
export function movementOf(payment: Payment): Movement | null {
  const { paymentKey, orderId, approvedAt, lastTransactionKey } = payment
  const cancel = payment.cancels.at(-1)
  if (cancel !== undefined) {
    const { cancelAmount: amount, transactionKey, canceledAt: at } = cancel
    return { paymentKey, orderId, kind: 'cancel', amount, transactionKey, at }
  }
  if (approvedAt === null || lastTransactionKey === null) return null
  const { amount } = payment
  return { paymentKey, orderId, kind: 'capture', amount, transactionKey: lastTransactionKey, at: approvedAt }
}

/** Times have seconds; `payment` is the value right after the movement. */
export type Moved = { atMs: number; movement: Movement; payment: Payment }

export type Movements = ReturnType<typeof createMovements>

export function createMovements() {
  const inOrder: Moved[] = []
  const byTransactionKey = new Map<string, Moved>()
  const ofPayment = new Map<string, Moved[]>()

  /** The index of the first movement at or after that time. */
  function lowerBound(atMs: number): number {
    let [low, high] = [0, inOrder.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((inOrder[middle] as Moved).atMs < atMs) low = middle + 1
      else high = middle
    }
    return low
  }

  function takeBack(moved: Moved): void {
    byTransactionKey.delete(moved.movement.transactionKey)
    inOrder.splice(inOrder.indexOf(moved, lowerBound(moved.atMs)), 1)
  }

  return {
    put(payment: Payment): void {
      const movement = movementOf(payment)
      if (movement === null) return
      const { paymentKey, transactionKey } = movement
      const before = ofPayment.get(paymentKey) ?? []
      if (byTransactionKey.has(transactionKey)) {
        if (before.at(-1)?.movement.transactionKey !== transactionKey) takeBack(before.pop() as Moved)
        return
      }
      const moved = { atMs: Date.parse(movement.at), movement, payment }
      byTransactionKey.set(transactionKey, moved)
      before.push(moved)
      ofPayment.set(paymentKey, before)
      const last = inOrder.at(-1)
      // After all others, unless the machine's clock was set back.
      if (last === undefined || last.atMs <= moved.atMs) inOrder.push(moved)
      else inOrder.splice(lowerBound(moved.atMs + 1), 0, moved)
    },
    find: (transactionKey: string): Moved | undefined => byTransactionKey.get(transactionKey),
    /** As they were recorded, whatever their times. */
    all: (): Movement[] => [...byTransactionKey.values()].map(({ movement }) => movement),
    /** The payment before its last movement. */
    findPrevious: (paymentKey: string): Payment | undefined => ofPayment.get(paymentKey)?.at(-2)?.payment,
    /** From one second to another, both included, at most `limit` of those that follow `after`. */
    between(fromMs: number, toMs: number, after: Moved | undefined, limit: number): Moved[] {
      let first = lowerBound(fromMs)
      if (after !== undefined) first = Math.max(first, inOrder.indexOf(after, lowerBound(after.atMs)) + 1)
      return inOrder.slice(first, Math.min(first + limit, lowerBound(toMs + 1)))
    },
  }
}
