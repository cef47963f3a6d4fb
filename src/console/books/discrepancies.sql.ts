// The statements of the lists and the page of discrepancies. One statement reads what is not keyed by customer: the discrepancy,
// the actions of operators, and other discrepancies of the same order. The order and the name of its customer are read after it.
import { findCustomerName, withCustomerNames } from '../../customers/names.sql.ts'
import { type Database, statement } from '../../db/database.ts'
import { iso, sql } from '../../db/sql.ts'
import { quotedEnd } from '../../operators/action-log.sql.ts'
import type { StoryAction } from '../../payments/books/order-story.sql.ts'
import type { OrderStatus } from '../../payments/kinds.ts'
import { findOrders, type OrderKey } from '../../payments/orders.sql.ts'
import { amountOf, type RecordedDiscrepancy } from '../../payments/recovery/discrepancy-amount.ts'

export type DiscrepancyRow = {
  discrepancyId: string
  kind: string
  subject: string
  customerId: string | null
  orderId: string | null
  detail: Record<string, unknown>
  foundAt: Date
  lastSeenAt: Date
  resolvedAt: Date | null
  resolution: string | null
}

export const discrepancyColumns = `d.discrepancy_id as "discrepancyId", d.kind, d.subject, d.customer_id as "customerId",
    d.order_id as "orderId", d.detail, d.found_at as "foundAt", d.last_seen_at as "lastSeenAt",
    d.resolved_at as "resolvedAt", d.resolution`

export type DiscrepancyState = 'open' | 'resolved'

/** Found until one time and last seen since another. */
export type SeenPeriod = { seenSince: Date | '-infinity'; foundUntil: Date | 'infinity' }
const always: SeenPeriod = { seenSince: '-infinity', foundUntil: 'infinity' }
const inSight = `d.last_seen_at >= $2::timestamptz and d.found_at <= $3::timestamptz`

const listDiscrepanciesStatements = {
  open: {
    first: statement.global(
      'console.listOpenDiscrepancies',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is null and ${inSight} order by d.found_at, d.discrepancy_id limit $1`,
    ),
    behind: statement.global(
      'console.listOpenDiscrepanciesBehind',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is null and ${inSight} and (d.found_at, d.discrepancy_id) > (
        select c.found_at, c.discrepancy_id from discrepancies c where c.discrepancy_id = $4)
      order by d.found_at, d.discrepancy_id
      limit $1`,
    ),
  },
  resolved: {
    first: statement.global(
      'console.listResolvedDiscrepancies',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is not null and ${inSight} order by d.resolved_at desc, d.discrepancy_id desc limit $1`,
    ),
    behind: statement.global(
      'console.listResolvedDiscrepanciesBehind',
      `select ${discrepancyColumns}
      from discrepancies d
      where d.resolved_at is not null and ${inSight} and (d.resolved_at, d.discrepancy_id) < (
        select c.resolved_at, c.discrepancy_id from discrepancies c where c.discrepancy_id = $4)
      order by d.resolved_at desc, d.discrepancy_id desc
      limit $1`,
    ),
  },
}

/** Open ones oldest first, resolved ones newest first. */
export function listDiscrepancies(
  database: Database,
  state: DiscrepancyState,
  after: string | null,
  limit: number,
  { seenSince, foundUntil } = always,
): Promise<DiscrepancyRow[]> {
  const { first, behind: next } = listDiscrepanciesStatements[state]
  return after === null
    ? database.run<DiscrepancyRow>(first, [limit, seenSince, foundUntil])
    : database.run<DiscrepancyRow>(next, [limit, seenSince, foundUntil, after])
}

/** With the amount of each, and the name of its customer. */
export async function withAmountsAndNames<Row extends RecordedDiscrepancy & { customerId: string | null }>(
  database: Database,
  rows: Row[],
): Promise<(Row & { amount: number | null; customerName: string | null })[]> {
  return (await withCustomerNames(database, rows)).map((row) => ({ ...row, amount: amountOf(row) }))
}

const findResolvedStatement = statement.global(
  'console.findResolvedTimes',
  `select discrepancy_id as "discrepancyId", resolved_at as "resolvedAt"
  from discrepancies
  where discrepancy_id = any ($1::uuid[]) and resolved_at is not null`,
)

/** When each of these was resolved; no entry for an open one. */
export async function findResolvedTimes(database: Database, discrepancyIds: string[]): Promise<Map<string, Date>> {
  if (discrepancyIds.length === 0) return new Map()
  const rows = await database.run<{ discrepancyId: string; resolvedAt: Date }>(findResolvedStatement, [discrepancyIds])
  return new Map(rows.map(({ discrepancyId, resolvedAt }) => [discrepancyId, resolvedAt]))
}

const findCustomersStatement = statement.global(
  'console.findDiscrepancyCustomers',
  `select discrepancy_id as "discrepancyId", customer_id as "customerId"
  from discrepancies
  where discrepancy_id = any ($1::uuid[]) and customer_id is not null`,
)

/** By discrepancy; no entry for one that is about no customer. */
export async function findDiscrepancyCustomers(database: Database, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await database.run<{ discrepancyId: string; customerId: string }>(findCustomersStatement, [ids])
  return new Map(rows.map(({ discrepancyId, customerId }) => [discrepancyId, customerId]))
}

type DiscrepancyRecord = DiscrepancyRow & {
  /** About the discrepancy, and about its order while it was open. */
  acts: StoryAction[]
  others: {
    discrepancyId: string
    kind: string
    foundAt: string
    resolvedAt: string | null
    resolution: string | null
  }[]
}
export type DiscrepancyPage = DiscrepancyRecord & {
  amount: number | null
  customerName: string | null
  order: { orderId: string; status: OrderStatus; amount: number; credits: number } | null
}

const findDiscrepancyStatement = statement.global(
  'console.findDiscrepancy',
  sql`select ${discrepancyColumns},
    (select coalesce(json_agg(json_build_object(
       'actionId', b.action_id, 'actor', b.actor, 'command', b.command, 'reason', b.reason, 'at', ${iso(sql`b.happened_at`)},
       'outcome', e.outcome, 'refusal', e.about ->> 'refusal', 'endedAt', ${iso(sql`e.ended_at`)}) order by b.happened_at), '[]')
     from (select * from operator_actions a
           where a.step = 'BEGUN' and a.subject in (d.discrepancy_id::text, d.order_id)
             and (a.subject = d.discrepancy_id::text
                  or a.happened_at between d.found_at and coalesce(d.resolved_at, 'infinity'))
           order by a.happened_at limit 1000) b
     ${quotedEnd}) as "acts",
    (select coalesce(json_agg(json_build_object(
       'discrepancyId', s.discrepancy_id, 'kind', s.kind, 'foundAt', ${iso(sql`s.found_at`)},
       'resolvedAt', ${iso(sql`s.resolved_at`)}, 'resolution', s.resolution) order by s.found_at desc), '[]')
     from (select * from discrepancies a
           where (a.subject = d.subject or a.customer_id = d.customer_id and a.order_id = d.order_id)
             and a.discrepancy_id <> d.discrepancy_id
           order by a.found_at desc limit 20) s) as "others"
  from discrepancies d
  where d.discrepancy_id = $1`,
)

export async function findDiscrepancy(database: Database, discrepancyId: string): Promise<DiscrepancyPage | undefined> {
  const [found] = await database.run<DiscrepancyRecord>(findDiscrepancyStatement, [discrepancyId])
  if (!found) return undefined
  const { customerId, orderId } = found
  const customerName = customerId && (await findCustomerName(database, customerId))
  const order = customerId && orderId ? await findNamedOrder(database, { customerId, orderId }) : null
  return { ...found, amount: amountOf(found), customerName, order }
}

async function findNamedOrder(database: Database, key: OrderKey): Promise<DiscrepancyPage['order']> {
  const [order] = await findOrders(database, [key])
  if (!order) return null
  const { orderId, status, amount, credits } = order
  return { orderId, status, amount, credits }
}
