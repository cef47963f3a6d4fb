// Results and target of the pages. The table is made from the results alone.
import type { Counts } from '../books/generate.ts'
import { short, table } from '../report/table.ts'
import { describeMachine, type Machine } from '../stage/machine.ts'

/** The target. */
export const mostMs = 200
export const crowd = 16

export type Spent = { p50Ms: number; p95Ms: number; mostMs: number }
export type PageFigures = { page: string; alone: Spent; crowded: Spent }

export type Results = {
  machine: Machine
  counts: Counts
  options: { requests: number }
  /** The first adding up of the figures; null where it had been done before. */
  addedUp: { seconds: number; slices: number } | null
  pages: PageFigures[]
  failures: string[]
}

export function spentOf(tookMs: number[]): Spent {
  const sorted = tookMs.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  return { p50Ms: at(0.5), p95Ms: at(0.95), mostMs: at(1) }
}

const thousands = new Intl.NumberFormat('en-US')

export function tablesOf({ machine, counts, options, addedUp, pages, failures }: Results): string {
  const { orders, entries, customers } = counts
  const sizes = `${thousands.format(orders)} orders, ${thousands.format(entries)} ledger entries, ${thousands.format(customers)} customers`
  const first = addedUp ? ` The first adding up took ${addedUp.seconds.toFixed(0)} s in ${addedUp.slices} slices.` : ''
  const head = [
    'page',
    'p50',
    'p95',
    'most',
    `p50 of ${crowd}`,
    `p95 of ${crowd}`,
    `most of ${crowd}`,
    `p95 alone within ${mostMs} ms`,
  ]
  const rows = pages.map(({ page, alone, crowded }) => [
    page,
    ...[alone, crowded].flatMap((spent) => [spent.p50Ms, spent.p95Ms, spent.mostMs]).map((ms) => `${short(ms)} ms`),
    alone.p95Ms <= mostMs ? 'met' : 'missed',
  ])
  return [
    `${describeMachine(machine)}; ${sizes}; ${options.requests} requests of each page one after the other, and as many ${crowd} at a time.${first}\n`,
    table(head, rows),
    failures.map((failure) => `- FAILED: ${failure}\n`).join(''),
  ]
    .filter((text) => text !== '')
    .join('\n')
}
