// What is left of each order, by the service and by a replay of the ledger; and that what a refund of the unused part returned
// is the value of the credits it took, which were those left then.
import { type ReplayedEntry, replayLots } from '../../../harness/lots-replay.ts'
import { type Lot, listLots } from '../../../src/credits/lots/lots.sql.ts'
import type { Books } from '../../world/postgres.ts'
import { unusedReason } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'
import type { Check, Evidence } from '../evidence.ts'

export async function checkLots(world: World, evidence: Evidence): Promise<Check[]> {
  return [
    {
      id: 'L-1',
      title: 'the lots of every customer, and the credits of adjustments, equal a replay of its ledger',
      violations: await replayed(world, evidence),
    },
    {
      id: 'L-2',
      title: 'a refund of the unused part returned the value of the credits that it took, to the won',
      violations: values(evidence),
    },
    {
      id: 'L-3',
      title: 'a refund of the unused part took what was unspent of its order when it began, by a replay of the ledger',
      violations: await partsOfOtherSize(world),
    },
  ]
}

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

type PartBegun = { customerId: string; orderId: string; credits: number; entryNumber: number }

/** Of an order of which nothing is used the unused part is the whole price. Parts that a person accepted take what was agreed. */
export async function partsOfOtherSize({ books }: Pick<World, 'books'>): Promise<string[]> {
  const begun = await books.query<PartBegun>(
    `select p.customer_id as "customerId", p.order_id as "orderId", p.credits_held::float8 as credits,
      e.entry_number::float8 as "entryNumber"
    from payment_operations p
    join orders o using (customer_id, order_id)
    join ledger_entries e on e.customer_id = p.customer_id and e.hold_id = p.operation_id and e.kind = 'HOLD'
    where p.kind = 'REFUND' and not p.accepted and (p.amount < o.amount or p.reason = $1)
    order by p.customer_id, e.entry_number`,
    [unusedReason],
  )
  const violations: string[] = []
  for (const [customerId, parts] of Map.groupBy(begun, (part) => part.customerId)) {
    const partAt = new Map(parts.map((part) => [part.entryNumber, part]))
    replayLots(await readEntries(books, customerId), ({ entryNumber }, orders) => {
      const part = partAt.get(entryNumber)
      const unspent = orders.find((lot) => lot.orderId === part?.orderId)?.unspent
      if (part && unspent !== part.credits)
        violations.push(`${part.orderId}: ${part.credits} credits taken, ${unspent} were unspent`)
    })
  }
  return violations
}

function values({ orders }: Evidence): string[] {
  return [...orders.values()].flatMap((order) => {
    const { orderId, amount, refundedAmount, refundShortfall, isCancelledAtGateway } = order
    if (refundedAmount === null || refundedAmount === amount || isCancelledAtGateway) return []
    const value = amount - (refundShortfall ?? 0) * 1_000
    return refundedAmount === value ? [] : [`${orderId}: ${refundedAmount} returned, ${value} was its value`]
  })
}
