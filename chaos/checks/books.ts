// The books by themselves: what the watch has seen on the way, a last look, and that no entry of the ledger has changed
// since it was first seen.
import type { Books } from '../postgres.ts'
import type { Watch } from '../watch.ts'
import type { Check } from './evidence.ts'

export async function checkBooks(books: Books, watch: Watch): Promise<Check[]> {
  const invariants = [...watch.violations].map(([title, violations]) => ({ id: 'I-1…12', title, violations }))
  return [...invariants, await appendOnly(books, watch)]
}

async function appendOnly(books: Books, { digests }: Watch): Promise<Check> {
  const rows = await books.query<{ entry: string; digest: string }>(
    `select customer_id || '/' || entry_number as entry, md5(e::text) as digest from ledger_entries e`,
  )
  const now = new Map(rows.map(({ entry, digest }) => [entry, digest]))
  const changed = [...digests].filter(([entry, digest]) => now.get(entry) !== digest)
  return {
    id: 'I-15',
    title: 'no entry of the ledger has changed since it was first seen',
    violations: changed.map(([entry]) => `${entry} ${now.has(entry) ? 'has changed' : 'is gone'}`),
  }
}
