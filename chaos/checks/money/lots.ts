// What is left of each order, by the service and by a replay of the ledger; and that what a refund of the unused part returned
// is the value of the credits it took.
import { replayLots } from '../../../harness/lots-replay.ts'
import { type Lot, listLots } from '../../../src/credits/lots/lots.sql.ts'
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
  ]
}

async function replayed({ books }: World, { shop }: Evidence): Promise<string[]> {
  const violations: string[] = []
  for (const { customerId } of shop.customers) {
    const entries = await books.query<{ kind: string; delta: number; orderId: string | null }>(
      `select kind, delta::float8 as delta, order_id as "orderId" from ledger_entries
      where customer_id = $1 order by entry_number`,
      [customerId],
    )
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

function values({ orders }: Evidence): string[] {
  return [...orders.values()].flatMap((order) => {
    const { orderId, amount, refundedAmount, refundShortfall, isCancelledAtGateway } = order
    if (refundedAmount === null || refundedAmount === amount || isCancelledAtGateway) return []
    const value = amount - (refundShortfall ?? 0) * 1_000
    return refundedAmount === value ? [] : [`${orderId}: ${refundedAmount} returned, ${value} was its value`]
  })
}
