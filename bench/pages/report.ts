// The pages of the console beside their target: by their requests one after the other.
import type { Counts } from '../books/generate.ts'
import { type Percentiles, percentilesOf } from '../report/figures.ts'
import { type Report, short, table, thousands, verdict } from '../report/report.ts'

/** The target. */
const mostMs = 200
export const crowd = 16

/** Milliseconds of the requests of a page, one after the other and `crowd` at a time. */
export type PageTimes = { page: string; alone: number[]; crowded: number[] }

export type Measured = {
  counts: Counts
  requests: number
  /** The first adding up of the figures; null where it had been done before. */
  addedUp: { seconds: number; slices: number } | null
  pages: PageTimes[]
}

export function reportOf({ counts, requests, addedUp, pages }: Measured): Pick<Report, 'how' | 'tables'> {
  const { orders, entries, customers } = counts
  const sizes = `${thousands(orders)} orders, ${thousands(entries)} ledger entries, ${thousands(customers)} customers`
  const first = addedUp ? ` The first adding up took ${addedUp.seconds.toFixed(0)} s in ${addedUp.slices} slices.` : ''
  const names = ['p50', 'p95', 'most']
  const head = ['milliseconds', ...names, ...names.map((name) => `${name} of ${crowd}`)]
  const cells = ({ p50, p95, most }: Percentiles) => [p50, p95, most].map(short)
  const rows = pages.map((each) => {
    const [alone, crowded] = [percentilesOf(each.alone), percentilesOf(each.crowded)]
    return [each.page, ...cells(alone), ...cells(crowded)]
  })
  const missed = pages.filter(({ alone }) => percentilesOf(alone).p95 > mostMs).map(({ page }) => page)
  const by = missed.length > 0 ? ` by ${missed.join('; ')}` : ''
  const target = `p95 alone within ${mostMs} ms: ${verdict(missed.length === 0)}${by}.`
  return {
    how: `${sizes}; ${requests} requests of each page one after the other, and as many ${crowd} at a time.${first} ${target}`,
    tables: [table(head, rows)],
  }
}
