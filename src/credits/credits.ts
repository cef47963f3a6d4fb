// What the rest of the service does with credits, in batches: read a balance, spend, reverse, hold, extend, capture or end a
// hold. Built once, when the service or a test starts.
import type { Batch } from '../core/batch.ts'
import type { Tallies } from '../core/tallies.ts'
import { batchStatement } from '../db/batch.ts'
import type { Database } from '../db/database.ts'
import { readBalances } from './accounts.sql.ts'
import type { ReversalInput, ReversalOutput } from './adjustments/reverse.sql.ts'
import { createReverse } from './adjustments/reverse.ts'
import { openRestrictedHold } from './budgets/restricted.sql.ts'
import { createUnbatched } from './budgets/restricted.ts'
import { captureForeignHold, type ForeignCapture, type ForeignCaptured } from './holds/foreign-capture.sql.ts'
import {
  captureParts,
  endHolds,
  extendHolds,
  findHolds,
  type Hold,
  type HoldEnding,
  type HoldExtended,
  type HoldExtension,
  type HoldKey,
  type HoldOpened,
  type HoldOpening,
  type HoldPart,
  type HoldSearch,
  openHolds,
  type PartCaptured,
  withResultOfUsedHolds,
} from './holds/holds.sql.ts'
import { findUses, type ReferenceKey, type ReferenceUse } from './references.sql.ts'
import { retryOnUniqueViolation } from './retry-on-unique-violation.ts'
import type { SpendInput, SpendOutput } from './spend.sql.ts'
import { createSpend } from './spend.ts'

/** A hold expires after this at the latest. */
export const longestHoldSeconds = 7 * 86_400

export type Credits = {
  /** The credits that the customer can spend: section 4.4 `credits`. */
  readBalance: Batch<string, number>
  spend: Batch<SpendInput, SpendOutput>
  reverse: Batch<ReversalInput, ReversalOutput>
  openHold: Batch<HoldOpening, HoldOpened>
  extendHold: Batch<HoldExtension, HoldExtended | null>
  capturePart: Batch<HoldPart, PartCaptured | null>
  captureForeignHold: Batch<ForeignCapture, ForeignCaptured>
  findUse: Batch<ReferenceKey, ReferenceUse | null>
  endHold: Batch<HoldEnding, Hold | null>
  findHold: Batch<HoldSearch, Hold | null>
}

const customer = (input: { customerId: string }) => input.customerId
const holdOf = ({ customerId, holdId }: HoldKey) => `${customerId}/${holdId}`

function createOpenHold(database: Database, tallies: Tallies): Credits['openHold'] {
  const openTogether = batchStatement<HoldOpening, HoldOpened>(database, 'credits.openHolds', {
    tallies,
    conflictKey: ({ customerId, reference }) => `${customerId}/${reference}`,
    rowKey: customer,
    run: async (inputs) => counted(await retryOnUniqueViolation(() => openHolds(database, inputs))),
  })
  const openAlone = createUnbatched((input: HoldOpening) => openRestrictedHold(database, input))

  function counted(opened: HoldOpened[]): HoldOpened[] {
    for (const { isNew, credits } of opened) if (isNew) tallies.credits.held += credits ?? 0
    return opened
  }

  return async (input) => {
    const output = await openTogether(input)
    if (!output.isRestricted) return output
    const [alone] = await withResultOfUsedHolds(database, [input], counted([await openAlone(input)]))
    return alone as HoldOpened
  }
}

/** A hold ends once: two requests to end it do not share a statement. */
export function createEndHold(database: Database, tallies: Tallies): Credits['endHold'] {
  return batchStatement<HoldEnding, Hold | null>(database, 'credits.endHolds', {
    tallies,
    conflictKey: holdOf,
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

/** Requests with one reference, or about one hold, never share a statement: the second must see the first. */
export function createCredits(database: Database, tallies: Tallies): Credits {
  return {
    readBalance: batchStatement(database, 'credits.readBalances', {
      tallies,
      customerOf: (customerId: string) => customerId,
      run: (customerIds) => readBalances(database, customerIds),
    }),
    spend: createSpend(database, tallies),
    reverse: createReverse(database, tallies),
    openHold: createOpenHold(database, tallies),
    extendHold: batchStatement<HoldExtension, HoldExtended | null>(database, 'credits.extendHolds', {
      tallies,
      conflictKey: holdOf,
      rowKey: customer,
      run: (inputs) => extendHolds(database, inputs),
    }),
    // Parts of different holds with one reference may share a statement: the unique index refuses it, and each runs alone.
    capturePart: batchStatement<HoldPart, PartCaptured | null>(database, 'credits.captureParts', {
      tallies,
      conflictKey: holdOf,
      rowKey: customer,
      run: async (inputs) => {
        const captured = await retryOnUniqueViolation(() => captureParts(database, inputs))
        for (const part of captured) tallies.credits.captured += part?.captured ?? 0
        return captured
      },
    }),
    captureForeignHold: createUnbatched(async (input: ForeignCapture) => {
      const output = await captureForeignHold(database, input)
      const { isFound, exceeded, isStale, captured, held } = output
      if (isFound && !exceeded && !isStale) {
        tallies.credits.captured += captured
        if (input.reference === null) tallies.credits.released += held - captured
      }
      return output
    }),
    findUse: batchStatement(database, 'credits.findUses', {
      tallies,
      run: (inputs) => findUses(database, inputs),
    }),
    endHold: createEndHold(database, tallies),
    findHold: batchStatement(database, 'credits.findHolds', {
      tallies,
      run: (inputs) => findHolds(database, inputs),
    }),
  }
}
