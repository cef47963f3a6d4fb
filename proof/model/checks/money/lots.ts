// What is left of each order, by the service and by a replay of the ledger; and that money went back for credits that were paid
// for and not used, once each.
import { type ReplayedEntry, replayLots } from '../../../../harness/lots-replay.ts'
import { type Lot, listLots } from '../../../../src/credits/lots/lots.sql.ts'
import type { Books } from '../../../world/postgres.ts'
import { unusedReason } from '../../../world/settings.ts'
import type { World } from '../../../world/world.ts'
import { type Check, checksOf, type Evidence } from '../evidence.ts'

export async function checkLots(world: World, evidence: Evidence): Promise<Check[]> {
  return checksOf({
    'L-1 the lots of every customer, and the credits of adjustments, equal a replay of its ledger': await replayed(
      world,
      evidence,
    ),
    'L-2 a refund of the unused part returned the value of the credits that it took, to the won': values(evidence),
    [unusedOnlyCheck]: await creditsTakenTwice(world),
  })
}

const unusedOnlyCheck =
  'L-3 no customer got back more than was paid less the value of what was used: a cancel took paid credits that were unspent ' +
  'when it began, and a refund of the unused part those of its order, by a replay of the ledger'

type Entry = ReplayedEntry & { entryNumber: number }

/** In order. */
async function readEntries(books: Books, customerId: string): Promise<Entry[]> {
  return books.query<Entry>(
    `select entry_number::float8 as "entryNumber", kind, delta::float8 as delta, order_id as "orderId" from ledger_entries
    where customer_id = $1 order by entry_number`,
    [customerId],
  )
}

async function replayed({ books }: World, { shop }: Evidence): Promise<string[]> {
  const violations: string[] = []
  for (const { customerId } of shop.customers) {
    const entries = await readEntries(books, customerId)
    const lots = await listLots(shop.database, customerId, { below: null, limit: 1_000_000 })
    const [account] = await books.query<{ adjusted: number }>(
      'select adjusted::float8 as adjusted from accounts where customer_id = $1',
      [customerId],
    )
    const found = [...lots.map(shownLot), `adjusted ${account?.adjusted}`].sort()
    const lotsByReplay = replayLots(entries)
    const adjusted = lotsByReplay.reduce((sum, { orderId, unspent }) => sum + (orderId === null ? unspent : 0), 0)
    const ofOrders = lotsByReplay
      .filter(({ orderId }) => orderId !== null)
      .map(({ orderId, used, unspent, takenBack }) => `${orderId} used ${used} unspent ${unspent} taken ${takenBack}`)
    const expected = [...ofOrders, `adjusted ${adjusted}`].sort()
    if (`${found}` !== `${expected}`)
      violations.push(`${customerId}: ${found.join('; ')} instead of ${expected.join('; ')}`)
  }
  return violations
}

function shownLot({ orderId, used, held, unused, takenBack }: Lot): string {
  return `${orderId} used ${used} unspent ${unused + held} taken ${takenBack}`
}

type Moved = Entry & {
  operationId: string | null
  /** The credits that the operation takes, when the entry begins or ends one. */
  taken: number
  operationKind: string | null
  isPart: boolean
}

/** The unused part of an unused order is its whole price. A part that a person accepted takes what was agreed. */
export async function creditsTakenTwice({ books }: Pick<World, 'books'>): Promise<string[]> {
  const entries = await books.query<Moved & { customerId: string }>(
    `select e.customer_id as "customerId", e.entry_number::float8 as "entryNumber", e.kind, e.delta::float8 as delta,
      e.order_id as "orderId", p.operation_id as "operationId", p.credits_held::float8 as taken, p.kind as "operationKind",
      coalesce(p.kind = 'REFUND' and (p.amount < o.amount - part.amount or p.reason = $1), false) as "isPart"
    from ledger_entries e
    left join payment_operations p on p.customer_id = e.customer_id and p.operation_id = e.hold_id
    left join orders o on o.customer_id = p.customer_id and o.order_id = p.order_id
    cross join lateral (
      select coalesce(sum(amount), 0) as amount from payment_operations
      where customer_id = o.customer_id and order_id = o.order_id and kind = 'PART') part
    order by e.customer_id, e.entry_number`,
    [unusedReason],
  )
  return [...Map.groupBy(entries, ({ customerId }) => customerId).values()].flatMap(takenTwice)
}

/** Each operation is compared with what is left when those that began before it count as done. */
function takenTwice(entries: Moved[]): string[] {
  const violations: string[] = []
  const underWay = new Map<string, ReplayedEntry>()
  const closed = new Set<string | null>()
  for (const [index, { kind, orderId, operationId, operationKind, taken, isPart }] of entries.entries()) {
    if (operationId === null) continue
    if (kind !== 'HOLD') {
      underWay.delete(operationId)
      if (kind !== 'RELEASE' && operationKind !== 'PART') closed.add(orderId)
      continue
    }
    const lots = replayLots([...entries.slice(0, index), ...underWay.values()])
    const taking = new Set([...underWay.values()].map((each) => each.orderId))
    const refundable = lots.filter(
      (lot) => lot.orderId !== null && !taking.has(lot.orderId) && !closed.has(lot.orderId),
    )
    const unspent = refundable.reduce((sum, lot) => sum + lot.unspent, 0)
    const ofOrder = lots.find((lot) => lot.orderId === orderId)?.unspent
    if (operationKind === 'CANCEL' && unspent < taken)
      violations.push(`${orderId}: a cancel took ${taken} credits, ${unspent} were paid for and unspent`)
    if (isPart && ofOrder !== taken)
      violations.push(`${orderId}: a refund took ${taken} credits, ${ofOrder} were unspent`)
    if (operationKind === 'PART' && (ofOrder ?? 0) < taken)
      violations.push(`${orderId}: an accepted part took ${taken} credits, ${ofOrder} were unspent`)
    underWay.set(operationId, { kind: operationKind === 'CANCEL' ? 'ROLLBACK' : 'REFUND', delta: -taken, orderId })
  }
  return violations
}

function values({ orders }: Evidence): string[] {
  return [...orders.values()].flatMap((order) => {
    const { orderId, amount, refundedAmount, refundShortfall, isCancelledAtGateway, partsAmount, partsCredits } = order
    if (refundedAmount === null || refundedAmount === amount - partsAmount || isCancelledAtGateway) return []
    const value = amount - partsAmount - ((refundShortfall ?? 0) - partsCredits) * 1_000
    return refundedAmount === value ? [] : [`${orderId}: ${refundedAmount} returned, ${value} was its value`]
  })
}
