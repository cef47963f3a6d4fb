// Lots by their definition, entry by entry: credits are used first in, first out, those of adjustments last. Slow and plain on
// purpose: tests and campaigns compare the projection of src/credits/lots with it.

export type ReplayedEntry = {
  kind: string
  delta: number
  orderId: string | null
}

export type ReplayedLot = {
  /** Null: an adjustment. */
  orderId: string | null
  used: number
  unspent: number
  takenBack: number
}

const isAdjustment = (kind: string) => kind === 'GOODWILL' || kind === 'CORRECTION' || kind === 'REVERSAL'

export function replayLots(entries: Iterable<ReplayedEntry>): ReplayedLot[] {
  const orders: ReplayedLot[] = []
  const adjustments: ReplayedLot[] = []
  function use(credits: number, lots: ReplayedLot[]): void {
    let left = credits
    for (const lot of lots) {
      const taken = Math.min(left, lot.unspent)
      lot.unspent -= taken
      lot.used += taken
      left -= taken
    }
    if (left > 0) throw new Error(`${left} credits of ${credits} are in no lot`)
  }
  for (const { kind, delta, orderId } of entries) {
    if (delta === 0) continue
    if (kind === 'GRANT' || (isAdjustment(kind) && delta > 0)) {
      const lot = { orderId, used: 0, unspent: delta, takenBack: 0 }
      ;(kind === 'GRANT' ? orders : adjustments).push(lot)
    } else if (isAdjustment(kind)) {
      use(-delta, [...adjustments, ...orders])
    } else if (kind === 'ROLLBACK' || kind === 'REFUND') {
      const lot = orders.find((each) => each.orderId === orderId)
      if (!lot) throw new Error(`${kind} of ${orderId}, which has no lot`)
      const own = Math.min(-delta, lot.unspent)
      lot.unspent -= own
      lot.takenBack += -delta
      // What was used of it moves on to the next lots, as if this one had never been.
      const movedOn = -delta - own
      lot.used -= movedOn
      use(movedOn, [...orders.filter((each) => each !== lot), ...adjustments])
    } else use(-delta, [...orders, ...adjustments])
  }
  return [...orders, ...adjustments]
}
