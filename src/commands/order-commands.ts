// Commands about orders: what happened to one, bringing it in line with the gateway, refunding it.
import { findOrderKeys } from '../payments/order-sql.ts'
import { findOrderStory } from '../payments/order-story-sql.ts'
import { refund } from '../payments/refund.ts'
import { review } from '../payments/review.ts'
import { type Call, type Command, needsOne, reasonPattern } from './command.ts'

const needsOrderId = needsOne('ORDERID', '')

function noSuchOrder(orderId: string): Error {
  return new Error(`There is no order ${orderId}.`)
}

async function settle({ database, payments, positionals: [orderId = ''] }: Call): Promise<object> {
  const key = (await findOrderKeys(database, [orderId])).get(orderId)
  if (!key) throw noSuchOrder(orderId)
  const result = await review(await payments(), key)
  const { status, discrepancies } = (await findOrderStory(database, orderId)) ?? {}
  const open = (discrepancies ?? []).filter((each) => (each as { resolvedAt: unknown }).resolvedAt === null)
  return { orderId, result, status, discrepancies: open }
}

export const orderCommands: Command[] = [
  {
    name: 'orders show',
    takes: 'ORDERID',
    does: 'Shows an order with its operations at the gateway, ledger entries, notifications and discrepancies.',
    changes: false,
    check: needsOrderId,
    async run({ database, positionals: [orderId = ''] }) {
      const story = await findOrderStory(database, orderId)
      if (!story) throw noSuchOrder(orderId)
      return story
    },
  },
  {
    name: 'orders settle',
    takes: 'ORDERID',
    does: 'Asks the gateway about an order now and brings it in line: agrees, repaired, disagrees, under way, unknown.',
    changes: true,
    check: needsOrderId,
    run: settle,
    failed: (result) =>
      (result as { result: string }).result !== 'agrees' && (result as { result: string }).result !== 'repaired',
  },
  {
    name: 'orders refund',
    takes: 'ORDERID --reason TEXT',
    does: 'Gives the money back and takes back what is left of the credits; tells what was spent already.',
    changes: true,
    check: (words) => {
      const fault = needsOrderId(words)
      if (fault) return words.positionals.length > 1 ? `${fault}; a reason of several words needs quotes` : fault
      if (!reasonPattern.test(words.values.reason ?? '')) return '--reason TEXT is needed, 1 to 200 characters'
    },
    async run({ payments, positionals: [orderId = ''], values }) {
      return refund(await payments(), { orderId, reason: values.reason?.trim() ?? '' })
    },
  },
]
