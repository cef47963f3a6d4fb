// Discrepancies: the gateway and our books disagree, no rule decides which of them is right, and a person has to look. At most
// one is open for each kind and subject. It is resolved by an operator, or by a review that finds that the two agree again. What
// an operator has resolved stays resolved as long as the gateway says the same.
import { type Database, statement } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Operation } from '../operations/begin.sql.ts'
import type { OrderKey } from '../orders.sql.ts'
import { amountOf, type RecordedDiscrepancy } from './discrepancy-amount.ts'

const findOrderOfOperationStatement = statement.ofCustomer(
  'payments.findOrderOfOperation',
  `select order_id as "orderId"
  from payment_operations
  where customer_id = $1 and operation_id = $2 and state = $3`,
)

/** Which movement was looked at, and which answer of several was the last, make no difference to a person. */
const sameDetail = (one: Sql, other: Sql) =>
  sql`${one} - '{direction,amount,movedAt,code}'::text[] = ${other} - '{direction,amount,movedAt,code}'::text[]`

/** The last one of this kind and subject was resolved by an operator, and had this detail. */
const isResolvedByPerson = (kind: Sql, subject: Sql, detail: Sql) => sql`exists (
    select from (
      select discrepancy_id, detail from discrepancies
      where kind = ${kind} and subject = ${subject} and resolved_at is not null
      order by resolved_at desc
      limit 1
    ) last
    join operator_actions b on b.subject = last.discrepancy_id::text and b.step = 'BEGUN' and b.command = 'discrepancies resolve'
    join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED' and e.outcome = 'ok'
    where ${sameDetail(sql`last.detail`, detail)})`

const resolvedOfOperation = isResolvedByPerson(sql`$3`, sql`$2`, sql`$4::jsonb`)
const insertOfOperationStatement = statement.global(
  'payments.insertDiscrepancyOfOperation',
  sql`insert into discrepancies (customer_id, order_id, subject, kind, detail)
  select $1, $2, $2, $3, $4::jsonb
  where not ${resolvedOfOperation}
  on conflict do nothing
  returning order_id`,
)

/**
 * True when it is new: the operation was in that state, and none of this kind is open. An operation that is closed between the
 * two statements leaves an extra discrepancy, which the next review of its order resolves. A process that dies between them
 * has saved nothing, as if it had died before.
 */
export async function insertDiscrepancyOfOperation(
  database: Database,
  { customerId, operationId, kind: operationKind, amount: operationAmount }: Operation,
  state: Operation['state'],
  kind: string,
  detail: object,
): Promise<boolean> {
  const found = [customerId, operationId, state]
  const [order] = await database.run<{ orderId: string }>(findOrderOfOperationStatement, found)
  if (!order) return false
  const text = JSON.stringify({ operationId, operationKind, operationAmount, ...detail })
  const rows = await database.run(insertOfOperationStatement, [customerId, order.orderId, kind, text])
  return rows.length > 0
}

export type Discrepancy = {
  kind: string
  /** An order id of ours, or a payment key or transaction key of the gateway's. */
  subject: string
  order: OrderKey | null
  detail: object
}

const resolvedBefore = isResolvedByPerson(sql`$4`, sql`$3`, sql`$5::jsonb`)
const saveStatement = statement.global(
  'payments.saveDiscrepancy',
  sql`insert into discrepancies as d (customer_id, order_id, subject, kind, detail)
  select $1, $2, $3, $4, $5::jsonb
  where not ${resolvedBefore}
  on conflict (kind, subject) where resolved_at is null
  do update set last_seen_at = now(), detail = excluded.detail
  returning d.found_at = now() as "isNew"`,
)

/** True when it is new; one that is open already gets the present time and detail, one that an operator has resolved does not. */
export async function saveDiscrepancy(database: Database, discrepancy: Discrepancy): Promise<boolean> {
  const { kind, subject, order, detail } = discrepancy
  const values = [order?.customerId ?? null, order?.orderId ?? null, subject, kind, JSON.stringify(detail)]
  const [row] = await database.run<{ isNew: boolean }>(saveStatement, values)
  return row?.isNew ?? false
}

const resolveStatement = statement.global(
  'payments.resolveDiscrepancies',
  `update discrepancies
  set resolved_at = now(), resolution = $2
  where discrepancy_id = any ($1::uuid[]) and resolved_at is null
  returning kind`,
)

/** Resolves those that are still open, and returns their kinds. */
export async function resolveDiscrepancies(
  database: Database,
  discrepancyIds: string[],
  resolution: string,
): Promise<string[]> {
  const rows = await database.run<{ kind: string }>(resolveStatement, [discrepancyIds, resolution])
  return rows.map((row) => row.kind)
}

const findResolvedStatement = statement.global(
  'payments.findResolvedDiscrepancy',
  (replicated) => sql`select kind from discrepancies where discrepancy_id = $1 and resolution = $2 and ${replicated}`,
)

/**
 * By an operator. Returns the kind, or undefined when it is not open. A repetition with the same resolution, perhaps because
 * the answer was lost, returns the same.
 */
export async function resolveDiscrepancy(
  database: Database,
  discrepancyId: string,
  resolution: string,
): Promise<string | undefined> {
  const [kind] = await resolveDiscrepancies(database, [discrepancyId], resolution)
  if (kind) return kind
  const [resolved] = await database.run<{ kind: string }>(findResolvedStatement, [discrepancyId, resolution])
  return resolved?.kind
}

const findOrderStatement = statement.global(
  'payments.findDiscrepancyOrder',
  `select customer_id as "customerId", order_id as "orderId"
  from discrepancies
  where discrepancy_id = $1 and order_id is not null`,
)

/** Undefined when there is no such discrepancy, or it is about no order of ours. */
export async function findDiscrepancyOrder(database: Database, discrepancyId: string): Promise<OrderKey | undefined> {
  const [row] = await database.run<OrderKey>(findOrderStatement, [discrepancyId])
  return row
}

/** An open discrepancy of an order, and the payment that it is about. */
export type Doubt = { discrepancyId: string; kind: string; paymentKey: string | null }

const findDoubtsStatement = statement.global(
  'payments.findDoubtsOfOrder',
  `select discrepancy_id as "discrepancyId", kind, detail ->> 'paymentKey' as "paymentKey"
  from discrepancies
  where customer_id = $1 and order_id = $2 and resolved_at is null
  order by found_at`,
)

export function findDoubtsOfOrder(database: Database, { customerId, orderId }: OrderKey): Promise<Doubt[]> {
  return database.run<Doubt>(findDoubtsStatement, [customerId, orderId])
}

const resolveOfOrderStatement = statement.global(
  'payments.resolveDiscrepanciesOfOrder',
  `update discrepancies
  set resolved_at = now(), resolution = $4
  where customer_id = $1 and order_id = $2 and kind = $3 and resolved_at is null`,
)

const resolveOfPaymentStatement = statement.global(
  'payments.resolveDiscrepancyOfPayment',
  `update discrepancies
  set resolved_at = now(), resolution = $3
  where kind = $1 and subject = $2 and resolved_at is null`,
)

/** Resolves an open one about a payment that is not of an order of ours. */
export async function resolveDiscrepancyOfPayment(
  database: Database,
  { kind, subject }: Pick<Discrepancy, 'kind' | 'subject'>,
  resolution: string,
): Promise<void> {
  await database.run(resolveOfPaymentStatement, [kind, subject, resolution])
}

/** Resolves the open ones of an order and of one kind. */
export async function resolveDiscrepanciesOfOrder(
  database: Database,
  { customerId, orderId }: OrderKey,
  kind: string,
  resolution: string,
): Promise<void> {
  await database.run(resolveOfOrderStatement, [customerId, orderId, kind, resolution])
}

// The times in `detail` are written by one function, so they can be compared as texts.
const resolveMovementsStatement = statement.global(
  'payments.resolveMovementDiscrepancies',
  `update discrepancies
  set resolved_at = now(), resolution = 'the list of the gateway and our copy of it agree'
  where kind in ('MOVEMENT_NOT_LISTED', 'MOVEMENT_DIFFERS') and resolved_at is null and subject <> all ($3::text[])
    and coalesce(detail #>> '{gateway,movedAt}', detail #>> '{stored,movedAt}') >= $1
    and coalesce(detail #>> '{gateway,movedAt}', detail #>> '{stored,movedAt}') < $2`,
)

/** Resolves the open ones about the copy of the gateway's list in a span, except those of these transaction keys. */
export async function resolveMovementDiscrepancies(
  database: Database,
  { from, to }: { from: Date; to: Date },
  stillThere: string[],
): Promise<void> {
  await database.run(resolveMovementsStatement, [from.toISOString(), to.toISOString(), stillThere])
}

const listDoubtedOrdersStatement = statement.global(
  'payments.listDoubtedOrders',
  `select customer_id as "customerId", order_id as "orderId"
  from discrepancies
  where resolved_at is null and order_id is not null
  group by customer_id, order_id
  order by max(last_seen_at)
  limit $1`,
)

/** Orders with open discrepancies. Those that were looked at longest ago come first, so that none is starved. */
export function listDoubtedOrders(database: Database, limit: number): Promise<OrderKey[]> {
  return database.run<OrderKey>(listDoubtedOrdersStatement, [limit])
}

export type OpenDiscrepancy = {
  discrepancyId: string
  kind: string
  subject: string
  customerId: string | null
  orderId: string | null
  foundAt: Date
  lastSeenAt: Date
  ageSeconds: number
  detail: object
}

const listOpenStatement = statement.global(
  'payments.listOpenDiscrepancies',
  `select discrepancy_id as "discrepancyId", kind, subject, customer_id as "customerId", order_id as "orderId",
    found_at as "foundAt", last_seen_at as "lastSeenAt",
    floor(extract(epoch from now() - found_at))::int as "ageSeconds", detail
  from discrepancies
  where resolved_at is null
  order by found_at
  limit $1`,
)

/** The oldest first. */
export function listOpenDiscrepancies(database: Database, limit: number): Promise<OpenDiscrepancy[]> {
  return database.run<OpenDiscrepancy>(listOpenStatement, [limit])
}

const listRecordedStatement = statement.global(
  'payments.listRecordedDiscrepancies',
  'select kind, subject, detail from discrepancies where resolved_at is null order by found_at limit $1',
)

/** With more open discrepancies than this there is no sum. */
const maxSummed = 1_000

export type OpenSum = {
  /** The sum of the amounts that are known, KRW; null: too many are open. */
  amount: number | null
  /** How many have no known amount. */
  withoutAmount: number
}

/** The sum of the amounts of all open discrepancies, without their signs: opposite errors do not cancel out. */
export async function sumOpenDiscrepancies(database: Database): Promise<OpenSum> {
  const rows = await database.run<RecordedDiscrepancy>(listRecordedStatement, [maxSummed + 1])
  if (rows.length > maxSummed) return { amount: null, withoutAmount: 0 }
  const amounts = rows.map(amountOf)
  const known = amounts.filter((amount) => amount !== null)
  return {
    amount: known.reduce((sum, amount) => sum + Math.abs(amount), 0),
    withoutAmount: amounts.length - known.length,
  }
}
