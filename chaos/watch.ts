// Looks at the books every two seconds while everything happens: what must be true at any moment is true in every
// snapshot, and an entry of the ledger that was seen once never changes.
import { setTimeout as sleep } from 'node:timers/promises'
import { invariants } from '../test/support/invariants.ts'
import type { Books } from './postgres.ts'

const rhythmMs = 2_000
const keptViolations = 20

export type Watch = ReturnType<typeof startWatch>

export function startWatch(books: Books) {
  /** By invariant; the first ones found. */
  const violations = new Map<string, string[]>(Object.keys(invariants).map((name) => [name, []]))
  const digests = new Map<string, string>()
  const counts = { looks: 0, missed: 0 }
  let over = false

  /** In one snapshot, and in no transaction for long. */
  async function look(): Promise<void> {
    const client = await books.pool.connect()
    client.on('error', () => undefined)
    try {
      await client.query('begin isolation level repeatable read read only')
      for (const [name, text] of Object.entries(invariants)) {
        const { rows } = await client.query(text)
        note(name, rows)
      }
      const { rows } = await client.query(
        `select customer_id || '/' || entry_number as entry, md5(e::text) as digest
        from ledger_entries e tablesample bernoulli (5) limit 300`,
      )
      for (const { entry, digest } of rows) if (!digests.has(entry)) digests.set(entry, digest)
      await client.query('commit')
      counts.looks += 1
      client.release()
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }

  function note(name: string, rows: object[]): void {
    const known = violations.get(name) ?? []
    const when = `${Math.round(performance.now() / 1_000)} s`
    for (const row of rows) if (known.length < keptViolations) known.push(`at ${when}: ${JSON.stringify(row)}`)
  }

  async function work(): Promise<void> {
    while (!over) {
      await look().catch(() => {
        // The database is away, again.
        counts.missed += 1
      })
      await sleep(rhythmMs)
    }
  }

  const done = work()
  return {
    counts,
    violations,
    digests,
    /** The last look must not be missed. */
    async finish(): Promise<void> {
      over = true
      await done
      await look()
    },
  }
}
