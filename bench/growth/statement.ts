// The statement of the customer with the most entries, page after page: does a page far down take longer than the
// first?
import type pg from 'pg'
import type { Stage } from '../stage/stage.ts'

export const pageEntries = 1_000
const mostEntries = 100_000
/** The share of the pages that counts as the first ones: 10,000 entries of 100,000. */
const firstShare = 0.1

/** Milliseconds for 1,000 entries: of the first pages, and of all. */
export type Reading = { entries: number; firstMs: number; allMs: number }

type Page = { data: { entries: object[]; nextCursor: string | null } }

export async function busiestCustomer(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ customer_id: string }>(
    'select customer_id from accounts order by last_entry desc limit 1',
  )
  return rows[0]?.customer_id ?? ''
}

export async function readStatement({ books, contenders }: Stage, customerId: string): Promise<Reading> {
  const address = `http://127.0.0.1:${contenders.service?.listening.internalPort}/internal/v1/customers/${customerId}`
  const pagesMs: number[] = []
  let entries = 0
  for (let cursor: string | null = ''; cursor !== null && entries < mostEntries; ) {
    const startedAt = performance.now()
    const response = await fetch(`${address}/statement?limit=${pageEntries}${cursor && `&cursor=${cursor}`}`, {
      headers: { authorization: `Bearer ${books.token}` },
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`the statement was answered with ${response.status} ${text}`)
    const { data } = JSON.parse(text) as Page
    entries += data.entries.length
    cursor = data.nextCursor
    // The last page may be short, and would look fast.
    if (data.entries.length === pageEntries) pagesMs.push(performance.now() - startedAt)
  }
  return { entries, ...readingOf(pagesMs) }
}

export function readingOf(pagesMs: number[]): Pick<Reading, 'firstMs' | 'allMs'> {
  const first = pagesMs.slice(0, Math.max(1, Math.round(pagesMs.length * firstShare)))
  return { firstMs: mean(first), allMs: mean(pagesMs) }
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
