// The open operations for the home page.
import { type Database, statement } from '../../db/database.ts'

export type OldestOperation = {
  customerId: string
  orderId: string
  kind: string
  openedAt: Date
  ageSeconds: number
  /** Those of requests and of the worker that have reported an end without an outcome: not that of a killed process. */
  attempts: number
  gatewayCode: string | null
  nextAttemptAt: Date | null
}

/** With more open operations than this, the oldest of these are shown. */
const maxRead = 10_000

// The partial index on settle_at contains open operations only.
const listOldestOperationsStatement = statement.ofEachGroup(
  'console.listOldestOperations',
  `select p.customer_id as "customerId", p.order_id as "orderId", p.kind, p.opened_at as "openedAt",
    greatest(0, floor(extract(epoch from now() - p.opened_at)))::int as "ageSeconds",
    (select count(*) from payment_attempts a
     where a.customer_id = p.customer_id and a.operation_id = p.operation_id) as "attempts",
    p.gateway_code as "gatewayCode", greatest(p.settle_at, p.lease_until) as "nextAttemptAt"
  from (select * from payment_operations where state = 'OPEN' order by settle_at limit $2) p
  order by p.opened_at
  limit $1`,
)

export async function listOldestOperations(database: Database, limit: number): Promise<OldestOperation[]> {
  const rows = await database.run<OldestOperation>(listOldestOperationsStatement, [limit, maxRead])
  return rows.sort((one, other) => one.openedAt.getTime() - other.openedAt.getTime()).slice(0, limit)
}
