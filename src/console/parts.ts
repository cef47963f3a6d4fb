// What the console works with, given by whoever puts the service together.
import type { Peppers } from '../customers/api-keys.ts'
import type { Database, Log } from '../db/database.ts'
import type { DeliveryContext } from '../events/deliver.ts'
import type { PaymentContext } from '../payments/context.ts'

export type ConsoleParts = {
  database: Database
  payments: PaymentContext
  /** For what walks over many rows, on connections that no request waits for. */
  background: PaymentContext
  deliveries: DeliveryContext
  peppers: Peppers
  /** Zero: none. */
  limits: { pendingOrdersPerCustomer: number; requestsPerSecond: number }
  /** Calls to the gateway are held back after too many failures. */
  isHeldBack(): boolean
  /** How long a first password is good for. */
  firstPasswordHours: number
  /** Cookies are for encrypted connections alone. */
  secureCookies: boolean
  log: Log
}
