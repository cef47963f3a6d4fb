// The open operations for the home page.
import { type Database, statement } from '../../db/database.ts'

export type OldestOperation = {
  customerId: string
  orderId: string
  kind: string
  openedAt: Date
  ageSeconds: number
  attempts: number
  gatewayCode: string | null
  nextAttemptAt: Date | null
}

/** With more open operations than this, the oldest of these are shown. */
const maxRead = 10_000

// The partial index on settle_at contains open operations only.
const listOldestOperationsStatement = statement(
  'console.listOldestOperations',
  `select p.customer_id as "customerId", p.order_id as "orderId", p.kind, p.opened_at as "openedAt",
    greatest(0, floor(extract(epoch from now() - p.opened_at)))::int as "ageSeconds", p.attempts,
    p.gateway_code as "gatewayCode", greatest(p.settle_at, p.lease_until) as "nextAttemptAt"
  from (select * from payment_operations where state = 'OPEN' order by settle_at limit $2) p
  order by p.opened_at
  limit $1`,
)

export function listOldestOperations(database: Database, limit: number): Promise<OldestOperation[]> {
  return database.run<OldestOperation>(listOldestOperationsStatement, [limit, maxRead])
}
