// The shop's own list of its orders: what it has to know before the buyer comes back (above all the amount, which is
// never taken from an address), and the payment key with which an order can be cancelled. An append-only file of JSON
// lines, read once at start. The state of an order is not kept here, but read from the payment service.

import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiCode } from './api.ts'

export type Order = {
  readonly orderId: string
  readonly packageType: string
  readonly amount: number
  readonly purchasedAt: string
  readonly clientKey: string
  readonly successUrl: string
  readonly failUrl: string
  readonly paymentKey: string | null
  /** The answer to the last attempt to cancel; null before the first. */
  readonly cancelAnswer: CancelAnswer | null
}

export type CancelAnswer = {
  readonly code: ApiCode | 'SUCCESS'
  readonly message: string | null
  readonly reason: string
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
    const known = orders.get(line.orderId) ?? { paymentKey: null, cancelAnswer: null }
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
    /** Newest first. */
    list: (limit: number): Order[] => [...orders.values()].slice(-limit).reverse(),
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
