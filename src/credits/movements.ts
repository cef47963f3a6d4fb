// The one table of movements: the kind of the ledger entry that each one writes, and the type of the event that it causes. The
// statements take both from here. The database has a check constraint for either; audit rules and tests have lists of their own.
import type { EventType } from '../events/outbox.sql.ts'

/** `event`: besides credits.low and credits.empty, which any movement may cause. */
export type CreditMovement = { entry: string | null; event: EventType | null }

/** In the order of the entry kinds in documents. */
export const movements = {
  confirm: { entry: 'GRANT', event: 'order.confirmed' },
  cancel: { entry: 'ROLLBACK', event: 'order.cancelled' },
  refund: { entry: 'REFUND', event: 'order.refunded' },
  part: { entry: 'REFUND', event: 'credits.adjusted' },
  spend: { entry: 'SPEND', event: null },
  hold: { entry: 'HOLD', event: null },
  capture: { entry: 'CAPTURE', event: null },
  release: { entry: 'RELEASE', event: null },
  expire: { entry: 'EXPIRE', event: null },
  goodwill: { entry: 'GOODWILL', event: 'credits.adjusted' },
  correction: { entry: 'CORRECTION', event: 'credits.adjusted' },
  reversal: { entry: 'REVERSAL', event: 'credits.reversed' },
  fail: { entry: null, event: 'order.failed' },
  nothing: { entry: null, event: null },
} as const satisfies Record<string, CreditMovement>

export type EntryKind = NonNullable<(typeof movements)[keyof typeof movements]['entry']>
export const entryKinds = [...new Set(Object.values(movements).flatMap(({ entry }) => entry ?? []))]
