// The shop's own list of its orders: what it has to know before the buyer comes back (above all the amount, which is
// never taken from an address), and the payment key with which an order can be cancelled. An append-only file of JSON
// lines, read once at start. The state of an order is not kept here, but read from the payment service.

import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RefusalReason } from '../../client/src/index.ts'
import type { ApiCode } from './api.ts'

export type Order = {
  readonly orderId: string
  readonly packageType: string
  readonly amount: number
  /** Null: the catalogue could not be read at the purchase. */
  readonly credits: number | null
  readonly purchasedAt: string
  readonly clientKey: string
  readonly successUrl: string
  readonly failUrl: string
  readonly paymentKey: string | null
  /** The answer to the last attempt to cancel; null before the first. */
  readonly cancelAnswer: CancelAnswer | null
}

export type CancelReason = Extract<
  RefusalReason,
  'credits-spent' | 'already-cancelled' | 'already-refunded' | 'not-captured' | 'refused-by-gateway'
>

export type CancelAnswer = {
  readonly code: ApiCode | 'SUCCESS'
  /** Why it was refused. */
  readonly refusalReason: RefusalReason | null
  /** The buyer's own text. */
  readonly reason: string
  readonly at: string
  /** The balance right after it; null: not known. */
  readonly balance: number | null
}

type Line = { orderId: string } & Partial<Order>

export type Orders = ReturnType<typeof openOrders>

export function openOrders(dataDir: string) {
  mkdirSync(dataDir, { recursive: true })
  const path = join(dataDir, 'orders.jsonl')
  const file = openSync(path, 'a+', 0o600)
  const content = readFileSync(path, 'utf8')
  // The process died while it wrote the bytes after the last newline.
  const whole = content.slice(0, content.lastIndexOf('\n') + 1)
  ftruncateSync(file, Buffer.byteLength(whole))
  closeSync(file)

  const orders = new Map<string, Order>()
  const apply = (line: Line) => {
    const known = orders.get(line.orderId) ?? { credits: null, paymentKey: null, cancelAnswer: null }
    orders.set(line.orderId, { ...known, ...line } as Order)
  }
  for (const [index, line] of whole.split('\n').entries()) if (line !== '') apply(parseLine(line, path, index + 1))

  /** The file first: what is in memory only would be lost with the process. */
  function write(line: Line): void {
    appendFileSync(path, `${JSON.stringify(line)}\n`)
    apply(line)
  }

  return {
    find: (orderId: string): Order | undefined => orders.get(orderId),
    /**
     * Newest first, from the one before the order `before` on. An order is unpaid until its buyer comes back from the
     * payment window.
     */
    list(
      which: 'paid' | 'unpaid',
      limit: number,
      before?: string,
    ): { listed: Order[]; hasMore: boolean; count: number } {
      const all = [...orders.values()]
      const isListed = ({ paymentKey }: Order) => (paymentKey === null) === (which === 'unpaid')
      const end = all.findIndex(({ orderId }) => orderId === before)
      const older = (end < 0 ? all : all.slice(0, end)).filter(isListed).reverse()
      return { listed: older.slice(0, limit), hasMore: older.length > limit, count: all.filter(isListed).length }
    },
    purchased: (order: Omit<Order, 'paymentKey' | 'cancelAnswer'>): void => write(order),
    paidWith: (orderId: string, paymentKey: string | null): void => write({ orderId, paymentKey }),
    cancelAnswered: (orderId: string, cancelAnswer: CancelAnswer): void => write({ orderId, cancelAnswer }),
  }
}

function parseLine(line: string, path: string, number: number): Line {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`${path}, line ${number} is not JSON: move the file away to start without the shop's old orders.`)
  }
}
