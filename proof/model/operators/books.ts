// What operators do with the books: read pages, reconcile, resolve a discrepancy with a note. The next reconciliation
// finds again what still disagrees.
import { addDays, koreanDayOf } from '../../../src/core/korean-days.ts'
import type { ConsoleCall } from './console-client.ts'
import { dataOf } from './console-client.ts'
import type { OrderContext } from './orders.ts'

export async function readHome({ console, operator, random }: OrderContext): Promise<void> {
  await console.send(operator, random, 'home', { query: { days: random.pick(['7', '30', '90', '365']) } })
}

const pages = ['days', 'runs', 'discrepancies', 'actionLog', 'orders', 'customers'] as const

export async function readPage({ console, operator, random }: OrderContext): Promise<void> {
  await console.send(operator, random, random.pick(pages), {})
}

export async function readCustomer({ console, operator, random, shop }: OrderContext): Promise<void> {
  const { customerId } = shop.anyCustomer(random)
  await console.send(operator, random, random.pick(['customer', 'statement', 'holds']), { params: { customerId } })
}

/** From yesterday on: for a process whose clock is behind, today may be in the future. */
export async function reconcile({ console, operator, random }: OrderContext): Promise<void> {
  const to = koreanDayOf(new Date())
  await console.send(operator, random, 'reconcile', { body: { from: addDays(to, -1), to } })
}

/** One of those listed, sometimes twice at once. */
export async function resolveOne({ console, operator, random }: OrderContext): Promise<void> {
  const listed = dataOf(await console.send(operator, random, 'discrepancies', { query: { state: 'open' } }))
  const found = listed?.discrepancies ?? []
  const chosen = found[random.integer(0, found.length - 1)]
  if (!chosen) return
  const resolve = (): Promise<ConsoleCall> =>
    console.send(operator, random, 'resolveDiscrepancy', { params: { discrepancyId: chosen.discrepancyId } })
  await Promise.all(random.chance(0.3) ? [resolve(), resolve()] : [resolve()])
}
