// What the use cases of this folder need: the database, the gateway, the limits, and the statements that requests share.
// Built once for the service, and once for each test; there is no module-level state.
import type { Batch } from '../core/batch.ts'
import { createPacer } from '../core/limit.ts'
import type { Tallies } from '../core/tallies.ts'
import { noTracing, type Tracing } from '../core/tracing.ts'
import type { Credits } from '../credits/credits.ts'
import type { Database, Log } from '../db/database.ts'
import type { CardSlip, Gateway } from '../gateway/gateway.ts'
import type { FailUrlOf } from './fail-url.ts'
import {
  type CancelClaim,
  type CancelClaimed,
  type ConfirmClaim,
  createClaimCancel,
  createClaimConfirm,
} from './operations/begin.sql.ts'
import { createFinishOperation, type Finish, type Finished } from './operations/finish.sql.ts'
import { type ConfirmKey, createFindOrderForConfirm, type OrderForConfirm } from './operations/read.sql.ts'
import {
  createFindOrder,
  createFindOrderOfKey,
  createInsertOrder,
  type NewOrder,
  type OrderKey,
  type OrderOfKey,
  type OrderOfKeyInput,
  type OrderWithOutcome,
} from './orders.sql.ts'
import type { RefundRule } from './refunds/dated-rules.ts'

export type PaymentSettings = {
  /** How long a holder has for an operation; longer than the gateway calls it makes. */
  operationLeaseMs: number
  /** How long a request waits for an operation whose lease another holder has. */
  operationWaitMs: number
  /** How long after the last send a payment that the gateway does not know may still be captured. */
  paymentSessionMs: number
  /** The pause before the worker's first try; it doubles with each attempt without an outcome, also of a request ... */
  retryFirstPauseMs: number
  /** ... up to this. */
  retryLongestPauseMs: number
  /** After this many attempts without an outcome, and the time that they take the worker alone, an operation is a discrepancy. */
  stuckAfterAttempts: number
  pendingOrdersPerCustomer: number
  /** A PENDING order without a confirm by then is FAILED. */
  pendingOrderLifetimeMs: number
  /** For orders while no start of a service has stored rules. */
  firstRefundRule: RefundRule
  /** Copies of the gateway's movements, after their day was reconciled; 0: for ever. */
  movementsKeptDays: number
  clientKey: string
  successUrl: string
  failUrlOf: FailUrlOf
}

/** Lookups because of notifications, for one process. */
const lookupsPerSecond = 50

export type PaymentContext = {
  database: Database
  gateway: Gateway
  credits: Credits
  settings: PaymentSettings
  log: Log
  tallies: Tallies
  tracing: Tracing
  batches: PaymentBatches
  /** Limits the rate of lookups that notifications cause, however many arrive. */
  waitForLookupSlot: () => Promise<void>
  /** Confirms that run in this process, by customer and order: others join them instead of querying the database. */
  confirming: Map<string, Confirming>
}

export type Confirming = { paymentKey: string; amount: number; answer: Promise<ConfirmAnswer> }
export type ConfirmAnswer = { orderId: string; creditsAdded: number; totalCredits: number; slip: CardSlip }

export type PaymentBatches = {
  insertOrder: Batch<NewOrder, boolean>
  findOrderOfKey: Batch<OrderOfKeyInput, OrderOfKey | null>
  findOrder: Batch<OrderKey, OrderWithOutcome | null>
  claimConfirm: Batch<ConfirmClaim, boolean>
  findOrderForConfirm: Batch<ConfirmKey, OrderForConfirm | null>
  claimCancel: Batch<CancelClaim, CancelClaimed | null>
  finishOperation: Batch<Finish, Finished | null>
}

export function createPaymentContext(
  parts: Pick<PaymentContext, 'database' | 'gateway' | 'credits' | 'settings' | 'log' | 'tallies'> & {
    tracing?: Tracing
  },
): PaymentContext {
  const { database, tallies, tracing = noTracing } = parts
  return {
    ...parts,
    tracing,
    batches: {
      insertOrder: createInsertOrder(database, tallies),
      findOrderOfKey: createFindOrderOfKey(database, tallies),
      findOrder: createFindOrder(database, tallies),
      claimConfirm: createClaimConfirm(database, tallies, tracing),
      findOrderForConfirm: createFindOrderForConfirm(database, tallies),
      claimCancel: createClaimCancel(database, tallies, tracing),
      finishOperation: createFinishOperation(database, tallies, tracing),
    },
    confirming: new Map(),
    waitForLookupSlot: createPacer(lookupsPerSecond),
  }
}
