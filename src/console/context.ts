// What the handlers of the console depend on.
import type { Peppers } from '../customers/api-keys.ts'
import type { Database, Log } from '../db/database.ts'
import type { DeliveryContext } from '../events/deliver.ts'
import type { AdjustmentSettings } from '../operators/adjustment-limits.ts'
import type { PaymentContext } from '../payments/context.ts'
import type { LogSigner } from '../transparency/note.ts'
import type { Witness } from '../transparency/publication/witnesses.ts'
import type { PaymentUrlOf } from './orders/payment-link.ts'

export type ConsoleContext = {
  database: Database
  payments: PaymentContext
  /** For work that reads many rows, on connections that no request waits for. */
  background: PaymentContext
  deliveries: DeliveryContext
  peppers: Peppers
  /** Zero: no limit. */
  limits: { pendingOrdersPerCustomer: number; requestsPerSecond: number }
  adjustments: AdjustmentSettings
  /** Keys of the transparency log, newest first. */
  signer: LogSigner
  /** Witnesses of the transparency log. */
  witnesses: readonly Witness[]
  /** The payment on a page of the gateway; null: none is known. */
  paymentUrlOf: PaymentUrlOf
  /** Whether the circuit breaker holds calls to the gateway back. */
  isHeldBack(): boolean
  /** How long a first password can be used to sign in. */
  firstPasswordHours: number
  /** Cookies are sent over encrypted connections only. */
  secureCookies: boolean
  log: Log
}
