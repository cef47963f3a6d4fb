// What the rest of the service does with credits, behind batches: read a balance, spend, hold, end a hold. Built once by
// whoever starts the service or a test.
import { type Batch, createBatch } from '../core/batch.ts'
import { batchSizesOf, type Tallies } from '../core/tallies.ts'
import { type Database, retryScopeOf, statement } from '../db/database.ts'
import {
  endHolds,
  findHolds,
  type Hold,
  type HoldEnding,
  type HoldKey,
  type HoldOpened,
  type HoldOpening,
  openHolds,
} from './holds.sql.ts'
import { retryOnUniqueViolation } from './once-more.ts'
import { createSpend, type SpendInput, type SpendOutput } from './spend.ts'

/** A hold expires after that at the latest. */
export const longestHoldSeconds = 7 * 86_400

const readBalances = statement(
  'credits.readBalances',
  `select i.ordinal, coalesce(a.balance - a.held, 0) as "available"
  from unnest($1::uuid[]) with ordinality as i (customer_id, ordinal)
  left join lateral (select * from accounts a where a.customer_id = i.customer_id limit 1) a on true
  order by i.ordinal`,
)

export type Credits = {
  /** What the customer can spend: section 4.4 `credits`. */
  readBalance: Batch<string, number>
  spend: Batch<SpendInput, SpendOutput>
  openHold: Batch<HoldOpening, HoldOpened>
  endHold: Batch<HoldEnding, Hold | null>
  findHold: Batch<HoldKey, Hold | null>
}

const customer = (input: { customerId: string }) => input.customerId

/** A hold ends once: two that want to end it do not share a statement. */
export function createEndHold(database: Database, tallies: Tallies): Credits['endHold'] {
  return createBatch<HoldEnding, Hold | null>({
    retryScopeOf,
    sizes: batchSizesOf(tallies, 'credits.endHolds'),
    conflictKey: ({ customerId, holdId }) => `${customerId}/${holdId}`,
    rowKey: customer,
    run: async (inputs) => {
      const ended = await endHolds(database, inputs)
      for (const hold of ended) if (hold) countEnd(tallies, hold)
      return ended
    },
  })
}

function countEnd({ credits }: Tallies, hold: Hold): void {
  const captured = hold.captured ?? 0
  credits.captured += captured
  credits.released += hold.credits - captured
}

/** Twins never share a statement: one reference, one hold. */
export function createCredits(database: Database, tallies: Tallies): Credits {
  return {
    readBalance: createBatch({
      retryScopeOf,
      sizes: batchSizesOf(tallies, readBalances.name),
      run: async (customerIds) => {
        const rows = await database.run<{ available: number }>(readBalances, [customerIds])
        return rows.map((row) => row.available)
      },
    }),
    spend: createSpend(database, tallies),
    openHold: createBatch<HoldOpening, HoldOpened>({
      retryScopeOf,
      sizes: batchSizesOf(tallies, 'credits.openHolds'),
      conflictKey: ({ customerId, reference }) => `${customerId}/${reference}`,
      rowKey: customer,
      run: async (inputs) => {
        const opened = await retryOnUniqueViolation(() => openHolds(database, inputs))
        for (const { isNew, credits } of opened) if (isNew) tallies.credits.held += credits ?? 0
        return opened
      },
    }),
    endHold: createEndHold(database, tallies),
    findHold: createBatch({
      retryScopeOf,
      sizes: batchSizesOf(tallies, 'credits.findHolds'),
      run: (inputs) => findHolds(database, inputs),
    }),
  }
}
