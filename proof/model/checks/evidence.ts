// The evidence for the checks: the recorded answers, and the books and the gateway's journal at the end. Gathered once,
// when everything is settled.
import { readMovements } from '../../../sandbox/journal.ts'
import type { Movement } from '../../../sandbox/payments/movements.ts'
import type { PaidColumns } from '../../../src/core/paid-with.ts'
import type { OrderStatus } from '../../../src/payments/kinds.ts'
import type { PackageType } from '../../../src/payments/packages.ts'
import type { Books } from '../../world/postgres.ts'
import type { Shop } from '../../world/shop.ts'
import type { World } from '../../world/world.ts'
import type { AdjustmentCall, Suspension } from '../actions/account-actions.ts'
import type { Reversal } from '../actions/outside-actions.ts'
import type { Call, Request } from '../history.ts'
import type { ConsoleCall } from '../operators/console-client.ts'
import {
  type AdjustmentDay,
  type BookedAdjustment,
  type BookedHold,
  type BookedUse,
  type CountedUsage,
  keyOfUse,
  readAdjustmentDays,
  readAdjustments,
  readCountedUsage,
  readCourses,
  readHolds,
  readUsage,
  readUsedCredits,
  readUses,
  type Step,
  type UsageEntry,
  type UsedStep,
} from './money/booked.ts'

export type Check = {
  id: string
  title: string
  violations: string[]
  /** The rule of the audit that is broken: each is a failure of its own. */
  rule?: string
}

/** A check that is made in more than one place has this for its name. */
export const checkName = ({ id, title }: Pick<Check, 'id' | 'title'>) => `${id} ${title}`

/** By id and title, each with its violations. */
export function checksOf(named: Record<string, string[]>): Check[] {
  return Object.entries(named).map(([name, violations]) => {
    const [id = ''] = name.split(' ', 1)
    return { id, title: name.slice(id.length + 1), violations }
  })
}

export type BookedOrder = {
  customer: number
  orderId: string
  packageType: PackageType
  amount: number
  credits: number
  status: OrderStatus
  idempotencyKey: string | null
  refundShortfall: number | null
  /** Null unless it is REFUNDED. */
  refundedAmount: number | null
  /** The refund adopts a cancellation that was made at the gateway. */
  isCancelledAtGateway: boolean
  /** The key of the approved confirm; null when the order was never confirmed. */
  paymentKey: string | null
  /** How it was paid; null when the order was never confirmed. */
  paidWith: PaidColumns | null
  /** The last transaction of the payment when that confirm was approved. */
  transactionKey: string | null
  /** KRW of accepted parts, and the credits that were taken for them. */
  partsAmount: number
  partsCredits: number
  totalCredits: number | null
  balanceAfterGrant: number | null
}

/** It is open, or an operator has resolved it: then it does not come back, although the two sides still differ. */
export type KnownDiscrepancy = { kind: string; subject: string; orderId: string | null; isOpen: boolean }

export type Evidence = {
  shop: Shop
  calls: Call[]
  callsOf: { [Op in Request['op']]: Call<Extract<Request, { op: Op }>>[] }
  reversals: Reversal[]
  adjustmentCalls: AdjustmentCall[]
  suspensions: Suspension[]
  /** Calls by operators. */
  consoleCalls: ConsoleCall[]
  orders: Map<string, BookedOrder>
  /** By customer and reference, see `keyOfUse`. */
  uses: Map<string, BookedUse>
  /** By holdId. */
  holds: Map<string, BookedHold>
  /** By customerId. */
  courses: Map<string, Step[]>
  /** By customerId. */
  usedCredits: Map<string, UsedStep[]>
  adjustments: BookedAdjustment[]
  adjustmentDays: AdjustmentDay[]
  /** The entries of accepted parts that took credits. */
  parts: { customerId: string; delta: number; available: number }[]
  /** What spends and holds took and gave back, in order. */
  usage: UsageEntry[]
  countedUsage: CountedUsage[]
  /** Available credits, by customer. */
  available: number[]
  discrepancies: KnownDiscrepancy[]
  movements: Movement[]
}

export type Recorded = Pick<Evidence, 'calls' | 'reversals' | 'adjustmentCalls' | 'suspensions' | 'consoleCalls'>

const operations =
  'purchase confirm cancel status balance packages invalid spend hold part extend capture release reverse receipt'

export async function gatherEvidence(world: World, shop: Shop, recorded: Recorded): Promise<Evidence> {
  const { books, gateway } = world
  const places = new Map(shop.customers.map(({ customerId, index }) => [customerId, index]))
  const ofOperation = Map.groupBy(recorded.calls, ({ request }) => request.op)
  const accounts = await books.query<{ customerId: string; available: number }>(
    `select customer_id as "customerId", (balance - held)::float8 as available from accounts`,
  )
  const available = new Map(accounts.map((account) => [account.customerId, account.available]))
  return {
    shop,
    ...recorded,
    callsOf: Object.fromEntries(
      operations.split(' ').map((op) => [op, ofOperation.get(op as Request['op']) ?? []]),
    ) as Evidence['callsOf'],
    orders: await readOrders(books, places),
    uses: new Map((await readUses(books)).map((use) => [keyOfUse(use), use])),
    courses: await readCourses(books),
    usedCredits: await readUsedCredits(books),
    adjustments: await readAdjustments(books),
    adjustmentDays: await readAdjustmentDays(books),
    parts: await books.query(
      `select e.customer_id as "customerId", e.delta::float8 as delta, (e.balance_after - e.held_after)::float8 as available
      from payment_operations p
      join ledger_entries e on e.customer_id = p.customer_id and e.hold_id = p.operation_id and e.kind = 'REFUND'
      where p.kind = 'PART'`,
    ),
    usage: await readUsage(books),
    countedUsage: await readCountedUsage(books),
    holds: new Map((await readHolds(books)).map((hold) => [hold.holdId, hold])),
    available: shop.customers.map(({ customerId }) => available.get(customerId) ?? Number.NaN),
    discrepancies: await books.query<KnownDiscrepancy>(
      `select d.kind, d.subject, d.order_id as "orderId", d.resolved_at is null as "isOpen"
      from discrepancies d
      where d.resolved_at is null or exists (
        select from operator_actions b
        join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED' and e.outcome = 'ok'
        where b.subject = d.discrepancy_id::text and b.step = 'BEGUN' and b.command = 'discrepancies resolve')
      order by d.found_at`,
    ),
    movements: readMovements(gateway.journalFile),
  }
}

async function readOrders(books: Books, places: Map<string, number>): Promise<Map<string, BookedOrder>> {
  const rows = await books.query<Omit<BookedOrder, 'customer'> & { customerId: string }>(
    `select o.customer_id as "customerId", o.order_id as "orderId", o.package_type as "packageType",
      o.amount::float8 as amount, o.credits::float8 as credits, o.status, o.idempotency_key as "idempotencyKey",
      o.refund_shortfall::float8 as "refundShortfall", o.refunded_amount::float8 as "refundedAmount",
      coalesce(r.gateway_code = 'CANCELLED_AT_GATEWAY', false) as "isCancelledAtGateway", p.payment_key as "paymentKey",
      case when p.operation_id is not null then json_build_object(
        'paidMethod', p.paid_method, 'paidProvider', p.paid_provider, 'cardAmount', p.card_amount,
        'walletAmount', p.wallet_amount, 'pointsAmount', p.points_amount) end as "paidWith",
      p.transaction_key as "transactionKey", p.total_credits::float8 as "totalCredits",
      e.balance_after::float8 as "balanceAfterGrant", part.amount as "partsAmount", part.credits as "partsCredits"
    from orders o
    cross join lateral (
      select coalesce(sum(amount), 0)::float8 as amount, coalesce(sum(credits_held), 0)::float8 as credits
      from payment_operations
      where customer_id = o.customer_id and order_id = o.order_id and kind = 'PART') part
    left join payment_operations p
      on p.customer_id = o.customer_id and p.order_id = o.order_id and p.kind = 'CONFIRM' and p.state = 'APPROVED'
    left join payment_operations r
      on r.customer_id = o.customer_id and r.order_id = o.order_id and r.kind = 'REFUND' and r.state = 'APPROVED'
    left join ledger_entries e on e.customer_id = o.customer_id and e.entry_number = o.grant_entry`,
  )
  return new Map(rows.map((row) => [row.orderId, { ...row, customer: places.get(row.customerId) ?? -1 }]))
}

/** Its credits were granted, whatever came later. */
export function wasConfirmed({ status }: BookedOrder): boolean {
  return status === 'CONFIRMED' || status === 'CANCELLED' || status === 'REFUNDED'
}

/** To find it in the history. */
export function at({ number }: { number: number }): string {
  return `call ${number}`
}
