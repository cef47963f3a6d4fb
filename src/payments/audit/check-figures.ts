// The audit of the console's figures: those of every hour and of every customer are counted again in the books. The clock of the
// database may have been wrong when they were added up.
import { leastUuid } from '../../core/ids.ts'
import { dayMs } from '../../core/korean-days.ts'
import { type Database, isTooSlow } from '../../db/database.ts'
import { groupsOf } from '../../db/groups.ts'
import { compareCustomers, compareFigures, compareSums, findAddedUp, type WrongFigure } from '../books/figures.sql.ts'

export type FigureRule = { invariant: string; rule: string; isLiveness?: never }

const rule = (text: string): FigureRule => ({ invariant: 'F-1', rule: text })

export const figureRules = {
  hour: rule('the figures of each hour are those of orders, payments and the ledger'),
  sum: rule('a figure of all time is the sum of its hours'),
  customer: rule('the figures of each customer are those of their payments'),
} satisfies Record<string, FigureRule>

export type FigureCheckOptions = {
  /** The most customers of a page. */
  pageRows: number
  found(broken: FigureRule, detail: object, subject: { customerId?: string }): void
  /** After each page. */
  onPage(): Promise<void>
}

const hourMs = 3_600_000

export async function checkFigures(database: Database, options: FigureCheckOptions): Promise<void> {
  for (const group of groupsOf(database)) {
    await checkHours(group, options)
    await checkCustomers(group, options)
  }
}

async function checkHours(group: Database, { found, onPage }: FigureCheckOptions): Promise<void> {
  const addedUp = await findAddedUp(group)
  if (!addedUp) return
  let lengthMs = dayMs
  for (let from = addedUp.from.getTime(); from < addedUp.to.getTime(); ) {
    const to = Math.min(from + lengthMs, addedUp.to.getTime())
    const wrong = await compareFigures(group, new Date(from), new Date(to)).catch((error) => {
      if (!isTooSlow(error) || lengthMs === hourMs) throw error
    })
    for (const each of wrong ?? []) found(figureRules.hour, each, {})
    if (wrong) from = to
    else lengthMs = hourMs
    await onPage()
  }
  const sums: WrongFigure[] = await compareSums(group)
  for (const { hour: _, ...each } of sums) found(figureRules.sum, each, {})
}

async function checkCustomers(group: Database, { pageRows, found, onPage }: FigureCheckOptions): Promise<void> {
  for (let after: string | null = leastUuid; after !== null; ) {
    const { read, last, wrong } = await compareCustomers(group, after, pageRows)
    for (const { customerId, ...detail } of wrong) found(figureRules.customer, detail, { customerId })
    await onPage()
    after = read < pageRows ? null : last
  }
}
