// The end of a run: waits until everything is settled without intervention, reconciles, and reads everything over HTTP, some
// receipts once more too.
import { createRandom } from '../../harness/random.ts'
import type { World } from '../world/world.ts'
import { type ClientParts, createClient } from './actions/client.ts'
import { runReconciliation } from './actions/reconciliation.ts'
import type { Ended } from './checks/all.ts'
import { findIgnoredNotifications } from './checks/notifications.ts'
import { awaitQuiet } from './checks/quiet.ts'
import { keyOfReceipt } from './checks/receipts.ts'
import type { History, ReceiptRequest } from './history.ts'

export type Settled = Omit<Ended, 'finalPages'>

type SettleParts = { world: World; history: History; stopped: AbortSignal; logLine(line: string): void }

/** A reconciliation with the gateway's own list finds what no notification reported. */
export async function settleDown({ world, history, stopped, logLine }: SettleParts): Promise<Settled> {
  const first = await awaitQuiet(world, stopped)
  history.note('quiet', first)
  if (first.stranded.length > 0) return { ...first, ignoredNotifications: [] }
  const ignoredNotifications = await findIgnoredNotifications(world)
  const { code, stdout, stderr } = await runReconciliation(world)
  // 1 with a result: some of the orders it reviewed need a person.
  if (code === null || code > 1 || stdout === '')
    return { ...first, ignoredNotifications, stranded: [`reconcile ended with ${code}: ${stderr}`] }
  history.note('reconciled', { result: stdout })
  const second = await awaitQuiet(world, stopped)
  logLine(`quiet after ${Math.round(first.tookMs / 1_000)} s, reconciled: reading everything once more`)
  return { ...second, tookMs: first.tookMs, ignoredNotifications }
}

type ReadParts = Omit<ClientParts, 'random' | 'mayDrop'> & { seed: number; clients: number }
type Listed = { orderId: string; customerId: string; status: string }

/** Every order and every balance, over HTTP; without the orders that were read in their present state before. */
export async function readEverything(parts: ReadParts, wasRead = (_: Listed) => false): Promise<void> {
  const { shop, world, seed, clients } = parts
  const rows = await world.books.query<Listed>(
    `select order_id as "orderId", customer_id as "customerId", status from orders order by created_at, order_id`,
  )
  const places = new Map(shop.customers.map(({ customerId, index }) => [customerId, index]))
  const client = createClient({ ...parts, random: createRandom(seed), mayDrop: () => false })
  const queue = rows.filter((row) => !wasRead(row)).values()
  async function work(): Promise<void> {
    for (const { orderId, customerId } of queue) {
      await client.sendUntilAnswered({ op: 'status', customer: places.get(customerId) ?? 0, orderId, foreign: false })
    }
  }
  await Promise.all(Array.from({ length: clients }, work))
  for (const { index } of shop.customers) await client.sendUntilAnswered({ op: 'balance', customer: index })
  for (const request of receiptsToRepeat(parts.history)) await client.sendUntilAnswered(request)
}

const receiptsRepeated = 50

/** The last ones, and all that were never given: a service gives up while the faults last. Each once. */
function receiptsToRepeat({ calls }: History): ReceiptRequest[] {
  const last = new Map<string, { request: ReceiptRequest; isOpen: boolean }>()
  for (const { request, outcome } of calls) {
    if (request.op === 'receipt') last.set(keyOfReceipt(request), { request, isOpen: outcome.kind === 'info' })
  }
  const open = [...last.values()].slice(0, -receiptsRepeated).filter(({ isOpen }) => isOpen)
  return [...open, ...[...last.values()].slice(-receiptsRepeated)].map(({ request }) => request)
}
