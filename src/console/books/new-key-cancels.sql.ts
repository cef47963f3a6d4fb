// Cancels made with an API key younger than a day, newest first. Most cancels use older keys and no index separates them, so a
// page reads a limited number of cancels and the next page continues after them.
import { leastUuid } from '../../core/ids.ts'
import { type Database, statement } from '../../db/database.ts'

export type NewKeyCancel = {
  operationId: string
  openedAt: Date
  state: 'OPEN' | 'APPROVED' | 'REJECTED'
  orderId: string
  customerId: string
  customerName: string | null
  amount: number
  keyId: string
  lastFour: string
  keyAgeSeconds: number
  /** `openedAt` to the microsecond, for the cursor. */
  atMicroseconds: number
}

/** A cancel to continue after. */
export type CancelPosition = { atMicroseconds: string; operationId: string }

const newKeySeconds = 86_400
const maxCancelsScanned = 20_000

const listNewKeyCancelsStatement = statement.ofEachGroup(
  'console.listNewKeyCancels',
  `select p.operation_id as "operationId", s.opened_at as "openedAt", p.state, p.order_id as "orderId",
    p.customer_id as "customerId", c.name as "customerName", p.amount, k.key_id as "keyId", k.last_four as "lastFour",
    greatest(0, floor(extract(epoch from s.opened_at - k.created_at)))::int as "keyAgeSeconds",
    (extract(epoch from s.opened_at) * 1000000)::bigint as "atMicroseconds"
  from (
    select * from cancel_keys s
    where (s.opened_at, s.operation_id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid)
      and (s.opened_at, s.operation_id) >= (timestamptz 'epoch' + $6 * interval '1 microsecond', $7::uuid)
    order by s.opened_at desc, s.operation_id desc
    limit $4
  ) s
  cross join lateral (
    select * from payment_operations p
    where p.customer_id = s.customer_id and p.operation_id = s.operation_id limit 1
  ) p
  cross join lateral (select * from api_keys where key_id = s.key_id limit 1) k
  left join lateral (select name from customers where customer_id = p.customer_id limit 1) c on true
  where s.opened_at < k.created_at + $5 * interval '1 second'
  order by s.opened_at desc, s.operation_id desc
  limit $3`,
)

type CancelRange = { after: CancelPosition; last: CancelPosition | undefined }

/** The cancels between `after` and `last`. A full page has one cancel more than the limit. */
export async function listNewKeyCancels(
  database: Database,
  { after, last }: CancelRange,
  limit: number,
): Promise<NewKeyCancel[]> {
  // With `last` the number of scanned cancels is not limited: cancels made since then would push it out.
  const most = last ? null : maxCancelsScanned
  const { atMicroseconds, operationId } = last ?? firstCancel
  const bounds = [atMicroseconds, operationId]
  const values = [after.atMicroseconds, after.operationId, limit + 1, most, newKeySeconds, ...bounds]
  const rows = await database.run<NewKeyCancel>(listNewKeyCancelsStatement, values)
  return rows.sort(newestFirst).slice(0, limit + 1)
}

const firstCancel: CancelPosition = { atMicroseconds: '0', operationId: leastUuid }

function newestFirst(one: NewKeyCancel, other: NewKeyCancel): number {
  return other.atMicroseconds - one.atMicroseconds || (other.operationId < one.operationId ? -1 : 1)
}

const findLastScannedStatement = statement.global(
  'console.findLastScannedCancel',
  `select p.operation_id as "operationId", (extract(epoch from p.opened_at) * 1000000)::bigint as "atMicroseconds"
  from cancel_keys p
  where (p.opened_at, p.operation_id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid)
  order by p.opened_at desc, p.operation_id desc
  offset $3
  limit 1`,
)

/** The last cancel that a page reads; undefined when there are fewer. */
export async function findLastScanned(
  database: Database,
  { atMicroseconds, operationId }: CancelPosition,
): Promise<CancelPosition | undefined> {
  const values = [atMicroseconds, operationId, maxCancelsScanned - 1]
  const [last] = await database.run<NewKeyCancel>(findLastScannedStatement, values)
  return last && { operationId: last.operationId, atMicroseconds: `${last.atMicroseconds}` }
}
