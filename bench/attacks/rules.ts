// What the rules of the books find about a customer, by the real statements of the audit: an attack that they notice has not
// repaired everything, and says nothing about the log.
import type pg from 'pg'
import { leastUuid } from '../../src/core/ids.ts'
import type { Database } from '../../src/db/database.ts'
import { checkChunk, maxChunkRows, type ScanPlace } from '../../src/payments/audit/audit.sql.ts'
import { rules } from '../../src/payments/audit/rules.ts'
import { type ScanName, scans } from '../../src/payments/audit/scans.sql.ts'

const leastOf: Partial<Record<ScanName, string | number>> = {
  entries: 0,
  holds: leastUuid,
  adjustments: leastUuid,
  orders: '',
  operations: leastUuid,
  events: 0,
}

/** The texts of the rules that the rows of this customer break. */
export async function brokenRulesOf(client: pg.ClientBase, database: Database, customerId: string): Promise<string[]> {
  const broken = new Set<number>()
  for (const scan of ['accounts', ...Object.keys(leastOf)] as ScanName[]) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*) as count from ${scans[scan].table} where customer_id = $1`,
      [customerId],
    )
    const least = leastOf[scan]
    let place: ScanPlace = least === undefined ? [before(customerId)] : [customerId, least]
    for (let left = rows[0]?.count ?? 0; left > 0 && place !== null; ) {
      // The next customer's first row may come along.
      const chunk = await checkChunk(database, scan, {
        from: place,
        rows: Math.min(left, maxChunkRows),
        listPerRule: 0,
      })
      for (const rule of Object.keys(chunk.counts)) broken.add(Number(rule))
      left -= chunk.checked
      place = chunk.next
    }
  }
  return [...broken].flatMap((index) => (rules[index]?.isLiveness ? [] : (rules[index]?.rule ?? [])))
}

/** The id before this one. */
function before(customerId: string): string {
  const number = BigInt(`0x${customerId.replaceAll('-', '')}`)
  const hex = (number > 0n ? number - 1n : 0n).toString(16).padStart(32, '0')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
