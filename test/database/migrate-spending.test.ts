// Migration 0003 on books that are in use: the hashes of entries stay the same, and cancels under way hold credits from
// before holds had an entry. Later movements continue the chain, and the audit finds nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { bookkeeper, endHold, hold, spend } from '../support/database/books.ts'
import { migrateOldBooks } from '../support/database/old-books.ts'

let books: Awaited<ReturnType<typeof migrateOldBooks>>

before(async () => {
  books = await migrateOldBooks()
})
after(() => books.database.drop())

async function assertRight(): Promise<void> {
  for (const chunkRows of [1, 10_000]) {
    const { violations } = await audit(createDatabase(books.database.pool, silentLog), { chunkRows })
    assert.deepEqual(violations, [])
  }
}

type Entry = { kind: string; delta: number; balance: number; heldDelta: number; held: number; holdId: string }

function entriesFrom(number: number): Promise<Entry[]> {
  return books.database.query<Entry>(
    `select kind, delta, balance_after as balance, held_delta as "heldDelta", held_after as held, hold_id as "holdId"
    from ledger_entries where customer_id = $1 and entry_number >= $2 order by entry_number`,
    [books.customerId, number],
  )
}

const [oldEntries, sold] = [6, 21]

test('entries from before the migration have the hash they had, and the audit finds nothing', async () => {
  const entries = await entriesFrom(1)
  assert.equal(entries.length, oldEntries)
  assert.ok(entries.every(({ held, heldDelta, holdId }) => held === null && heldDelta === null && holdId === null))
  await assertRight()
})

test('the first entry after the migration includes the credits held by cancels under way, and later entries continue the chain', async () => {
  const context = bookkeeper(books.database.pool)
  await spend(context, books.customerId, 2)
  await endHold(context, books.customerId, await hold(context, books.customerId, 4), 1)
  const balance = 3 * sold - 3
  assert.deepEqual(
    (await entriesFrom(oldEntries + 1)).map(({ holdId, ...entry }) => entry),
    [
      { kind: 'SPEND', delta: -2, balance: balance - 2, heldDelta: 0, held: 2 * sold },
      { kind: 'HOLD', delta: 0, balance: balance - 2, heldDelta: 4, held: 2 * sold + 4 },
      { kind: 'CAPTURE', delta: -1, balance: balance - 3, heldDelta: -4, held: 2 * sold },
    ],
  )
  await assertRight()
})

test('a reference that was spent before the migration is not spent again', async () => {
  const context = bookkeeper(books.database.pool)
  const { spent, available } = await spend(context, books.customerId, 3, 'spent before')
  assert.deepEqual({ spent, available }, { spent: 3, available: sold - 3 })
  assert.equal((await entriesFrom(oldEntries + 4)).length, 0)
})

test('cancels from before the migration end with an entry, approved or refused', async () => {
  const context = bookkeeper(books.database.pool)
  await recover(context)
  const endings = await entriesFrom(oldEntries + 4)
  assert.deepEqual(
    new Map(endings.map(({ kind, delta, heldDelta, holdId }) => [holdId, { kind, delta, heldDelta }])),
    new Map([
      [books.approved.operationId, { kind: 'ROLLBACK', delta: -sold, heldDelta: -sold }],
      [books.refused.operationId, { kind: 'RELEASE', delta: 0, heldDelta: -sold }],
    ]),
  )
  assert.equal(endings.at(-1)?.held, 0)
  await assertRight()
})

test('an order from before the migration is refunded with the remaining credits', async () => {
  const context = bookkeeper(books.database.pool)
  await refund(context, { orderId: books.bought.orderId, reason: 'by the platform' })
  await recordPlayedActions(books.database)
  assert.deepEqual(
    (await entriesFrom(oldEntries + 6)).map(({ kind, delta, heldDelta, held }) => [kind, delta, heldDelta, held]),
    [
      ['HOLD', 0, sold, sold],
      ['REFUND', -sold, -sold, 0],
    ],
  )
  await assertRight()
})
