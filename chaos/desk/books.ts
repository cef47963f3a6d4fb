// What operators look at and do about the books: the pages, a reconciliation, a discrepancy that is closed with a note. What
// still disagrees is found again by the next reconciliation.
import { addDays, koreanDayOf } from '../../src/core/korean-days.ts'
import type { DeskCall } from './console.ts'
import { dataOf } from './console.ts'
import type { OrderTurn } from './orders.ts'

export async function readHome({ console, operator, random }: OrderTurn): Promise<void> {
  await console.ask(operator, random, 'home', { query: { days: random.pick(['7', '30', '90', '365']) } })
}

const pages = ['days', 'runs', 'discrepancies', 'actionLog', 'orders', 'customers'] as const

export async function readPage({ console, operator, random }: OrderTurn): Promise<void> {
  await console.ask(operator, random, random.pick(pages), {})
}

export async function readCustomer({ console, operator, random, shop }: OrderTurn): Promise<void> {
  const { customerId } = shop.anyCustomer(random)
  await console.ask(operator, random, random.pick(['customer', 'statement', 'holds']), { params: { customerId } })
}

/** From yesterday on: a process whose clock is behind may not know of today. */
export async function reconcile({ console, operator, random }: OrderTurn): Promise<void> {
  const to = koreanDayOf(new Date())
  await console.ask(operator, random, 'reconcile', { body: { from: addDays(to, -1), to } })
}

/** One that is listed, now and then by two at once. */
export async function resolveOne({ console, operator, random }: OrderTurn): Promise<void> {
  const listed = dataOf(await console.ask(operator, random, 'discrepancies', { query: { state: 'open' } }))
  const found = listed?.discrepancies ?? []
  const chosen = found[random.integer(0, found.length - 1)]
  if (!chosen) return
  const resolve = (): Promise<DeskCall> =>
    console.ask(operator, random, 'resolveDiscrepancy', { params: { discrepancyId: chosen.discrepancyId } })
  await Promise.all(random.chance(0.3) ? [resolve(), resolve()] : [resolve()])
}
