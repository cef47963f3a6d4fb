// What the rest of the service does with credits, behind batches: read a balance, spend, hold, end a hold. Built once by
// whoever starts the service or a test.
import { type Batch, createBatch } from '../core/batch.ts'
import { blame, type Database, statement } from '../db/database.ts'
import {
  endHolds,
  findHolds,
  type Hold,
  type HoldEnding,
  type HoldKey,
  type HoldOpened,
  type HoldOpening,
  openHolds,
} from './holds-sql.ts'
import { onceMore } from './once-more.ts'
import { createSpend, type SpendInput, type SpendOutput } from './spend.ts'

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
export function createEndHold(database: Database): Credits['endHold'] {
  return createBatch<HoldEnding, Hold | null>({
    blame,
    conflictKey: ({ customerId, holdId }) => `${customerId}/${holdId}`,
    rowKey: customer,
    run: (inputs) => endHolds(database, inputs),
  })
}

/** Twins never share a statement: one reference, one hold. */
export function createCredits(database: Database): Credits {
  return {
    readBalance: createBatch({
      blame,
      run: async (customerIds) => {
        const rows = await database.run<{ available: number }>(readBalances, [customerIds])
        return rows.map((row) => row.available)
      },
    }),
    spend: createSpend(database),
    openHold: createBatch<HoldOpening, HoldOpened>({
      blame,
      conflictKey: ({ customerId, reference }) => `${customerId}/${reference}`,
      rowKey: customer,
      run: (inputs) => onceMore(() => openHolds(database, inputs)),
    }),
    endHold: createEndHold(database),
    findHold: createBatch({ blame, run: (inputs) => findHolds(database, inputs) }),
  }
}
