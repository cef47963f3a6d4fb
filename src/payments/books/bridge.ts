// The bridge of a reconciliation: the lines that lead from the net of our books to the net of the gateway. Every movement that no
// operation of ours accounts for is a line, and every operation that the gateway does not confirm: so the lines add up to the
// difference. A RETURN accounts for the capture that it returns, too, and an operation for parts that add up to its amount. A
// run keeps a limited number of lines and the sum of the others.
import type { Movement } from '../../gateway/gateway.ts'
import type { Review } from '../recovery/review.ts'

export type BridgeLine = {
  /** What the gateway has more than our books because of it, KRW; negative: less. */
  amount: number
  /** A movement without an operation, or an operation without a movement. */
  of: 'movement' | 'operation'
  direction: Movement['direction']
  /** The review of our order; else whose order it is: one in our format that we do not have, or one of another service. */
  result: Review | 'unknown order' | 'other service'
  /** When the movement happened, or the operation was opened. */
  at: Date
  orderId: string
  customerId: string | null
  paymentKey: string
  /** Null for an operation. */
  transactionKey: string | null
}

/** With the discrepancy that it belongs to. */
export type LinkedLine = BridgeLine & { discrepancyId: string | null; kind: string | null }

export type Bridge = {
  lines: LinkedLine[]
  /** The lines that were not kept. */
  rest: { lines: number; amount: number }
}

const linesKept = 500

/** Nothing is left to do for these. They are left out first. */
const settledResults: BridgeLine['result'][] = ['agrees', 'repaired', 'other service']

export type BridgeLines = {
  /** `moved`: the amount without its sign. */
  add(line: Omit<BridgeLine, 'amount'> & { moved: number }): void
  /** The lines that are kept, those that need a decision first, by time. */
  kept(): BridgeLine[]
  rest(): Bridge['rest']
}

export function createBridgeLines(): BridgeLines {
  const open: BridgeLine[] = []
  const settled: BridgeLine[] = []
  const all = { lines: 0, amount: 0 }
  const kept = () => [...open.toSorted(byTime), ...settled.toSorted(byTime)].slice(0, linesKept)
  return {
    kept,
    add({ moved, ...line }) {
      // A capture at the gateway alone is more there; one in our books alone is less.
      const isMore = (line.of === 'movement') === (line.direction === 'CAPTURE')
      const amount = isMore ? moved : -moved
      all.lines += 1
      all.amount += amount
      const group = settledResults.includes(line.result) ? settled : open
      if (group.length < linesKept) group.push({ amount, ...line })
    },
    rest() {
      const lines = kept()
      const amount = lines.reduce((sum, line) => sum + line.amount, 0)
      return { lines: all.lines - lines.length, amount: all.amount - amount }
    },
  }
}

function byTime(one: BridgeLine, other: BridgeLine): number {
  return one.at.getTime() - other.at.getTime()
}
