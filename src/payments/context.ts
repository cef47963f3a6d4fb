// What the use cases of this folder work with: the database, the gateway, the limits, and the hot statements behind
// their batches. Built once by whoever starts the service or a test; there is no module-level state.
import { type Batch, createBatch } from '../core/batch.ts'
import { createPace } from '../core/clock.ts'
import { batchSizesOf, type Tallies } from '../core/tallies.ts'
import { inBatchSpan, noTracing, type Tracing } from '../core/tracing.ts'
import type { Credits } from '../credits/credits.ts'
import { blame, type Database, type Log } from '../db/database.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { FailUrlOf } from './fail-url.ts'
import {
  type CancelClaim,
  type CancelClaimed,
  type ConfirmClaim,
  type ConfirmSubject,
  claimCancels,
  claimConfirms,
  findConfirmSubjects,
} from './operations/begin.sql.ts'
import { type Finish, type Finished, finishOperations } from './operations/finish.sql.ts'
import {
  findOrders,
  findOrdersOfKeys,
  insertOrders,
  type NewOrder,
  type Order,
  type OrderKey,
  type OrderOfKey,
  type OrderOfKeyInput,
} from './orders.sql.ts'

export type PaymentSettings = {
  /** How long whoever opened or took over an operation has for it; longer than the gateway calls it makes. */
  operationLeaseMs: number
  /** How long a request waits for an operation that somebody else is working on. */
  operationWaitMs: number
  /** From the last send on, until a payment the gateway does not know cannot come to life any more. */
  paymentSessionMs: number
  /** A settling that found nothing out is tried again after this, then after twice as long, and so on ... */
  settleFirstPauseMs: number
  /** ... up to this. */
  settleLongestPauseMs: number
  /** After so many attempts an operation is shown to a person. */
  stuckAfterAttempts: number
  pendingOrdersPerCustomer: number
  /** A PENDING order that nobody has begun to confirm by then is FAILED. */
  pendingOrderLifetimeMs: number
  clientKey: string
  successUrl: string
  failUrlOf: FailUrlOf
}

/** Looks at the gateway for the sake of notifications, from one process. */
const looksPerSecond = 50

export type PaymentContext = {
  database: Database
  gateway: Gateway
  credits: Credits
  settings: PaymentSettings
  log: Log
  tallies: Tallies
  tracing: Tracing
  batches: PaymentBatches
  /** Waits for a turn to ask the gateway about a notification: whatever arrives, it is asked only so often. */
  noticed: () => Promise<void>
  /** Confirms under way in this process, by customer and order: the others join instead of asking the database. */
  confirming: Map<string, Confirming>
}

export type Confirming = { paymentKey: string; amount: number; answer: Promise<ConfirmAnswer> }
export type ConfirmAnswer = { orderId: string; creditsAdded: number; totalCredits: number }

export type PaymentBatches = {
  insertOrder: Batch<NewOrder, boolean>
  findOrderOfKey: Batch<OrderOfKeyInput, OrderOfKey | null>
  findOrder: Batch<OrderKey, Order | null>
  claimConfirm: Batch<ConfirmClaim, boolean>
  findConfirmSubject: Batch<OrderKey & { paymentKey: string }, ConfirmSubject | null>
  claimCancel: Batch<CancelClaim, CancelClaimed | null>
  finishOperation: Batch<Finish, Finished | null>
}

// Inputs about the same order never share a statement, nor do cancels of one customer: each is judged by the credits that
// the one before has left. Everything else may.
function createBatches(database: Database, tallies: Tallies, tracing: Tracing): PaymentBatches {
  const common = (statementName: string) => ({ blame, sizes: batchSizesOf(tallies, `payments.${statementName}`) })
  const customer = (input: { customerId: string }) => input.customerId
  const order = (input: OrderKey) => `${input.customerId}/${input.orderId}`
  return {
    insertOrder: createBatch({ ...common('insertOrders'), run: (inputs) => insertOrders(database, inputs) }),
    findOrderOfKey: createBatch({ ...common('findOrdersOfKeys'), run: (inputs) => findOrdersOfKeys(database, inputs) }),
    findOrder: createBatch({ ...common('findOrders'), run: (inputs) => findOrders(database, inputs) }),
    claimConfirm: createBatch<ConfirmClaim, boolean>({
      ...common('claimConfirms'),
      conflictKey: order,
      run: (inputs) => inBatchSpan(tracing, 'payments.claimConfirms', inputs, () => claimConfirms(database, inputs)),
    }),
    findConfirmSubject: createBatch({
      ...common('findConfirmSubjects'),
      run: (inputs) => findConfirmSubjects(database, inputs),
    }),
    claimCancel: createBatch<CancelClaim, CancelClaimed | null>({
      ...common('claimCancels'),
      conflictKey: customer,
      run: (inputs) => inBatchSpan(tracing, 'payments.claimCancels', inputs, () => claimCancels(database, inputs)),
    }),
    finishOperation: createBatch<Finish, Finished | null>({
      ...common('finishOperations'),
      conflictKey: order,
      rowKey: customer,
      run: (inputs) =>
        inBatchSpan(tracing, 'payments.finishOperations', inputs, () => finishOperations(database, inputs)),
    }),
  }
}

export function createPaymentContext(
  parts: Pick<PaymentContext, 'database' | 'gateway' | 'credits' | 'settings' | 'log' | 'tallies'> & {
    tracing?: Tracing
  },
): PaymentContext {
  const { tallies, tracing = noTracing } = parts
  return {
    ...parts,
    tracing,
    batches: createBatches(parts.database, tallies, tracing),
    confirming: new Map(),
    noticed: createPace(looksPerSecond),
  }
}
