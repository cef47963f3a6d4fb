// Commands about orders: what happened to one, bringing it in line with the gateway, refunding it.
import { findOrderStory } from '../payments/books/order-story.sql.ts'
import { needsAttention, type OrderReview, reviewOrder } from '../payments/recovery/review-order.ts'
import { refund } from '../payments/refund.ts'
import { quoteRefund } from '../payments/refund-quote.ts'
import type { Call, Command, Confirmation } from './command.ts'
import { orderArgument, reasonOption } from './line/options.ts'

const sampleId = 'ord_01M7ESE34XW2VNK2VVKDN8SK7P3WRY8JPPQT'

async function confirmRefund({ payments, positionals: [orderId = ''] }: Call): Promise<Confirmation | undefined> {
  const quote = await quoteRefund(await payments(), orderId)
  if (!quote) return undefined
  const { gatewayCode, ...rest } = quote
  const will = { ...rest, backToTheCard: quote.backToTheCard ?? `not known: the gateway says ${gatewayCode}` }
  return { will, question: 'Give the money back and take the credits? This cannot be undone.' }
}

export const orderCommands: Command[] = [
  {
    name: 'orders show',
    does: 'Shows all that happened to an order: operations at the gateway, ledger entries, discrepancies, notifications.',
    arguments: [orderArgument],
    examples: [{ line: `orders show ${sampleId}`, does: 'all that happened to it' }],
    changes: false,
    async run({ database, positionals: [orderId = ''] }) {
      const story = await findOrderStory(database, orderId)
      if (!story) throw new Error(`There is no order ${orderId}.`)
      return story
    },
  },
  {
    name: 'orders settle',
    does: 'Asks the gateway about an order now and brings it in line: agrees, repaired, disagrees, under way, unknown.',
    more: [
      'It finishes what is open on the order, and gives back what was captured for one that is FAILED. The worker does the ' +
        'same by itself, later.',
    ],
    arguments: [orderArgument],
    examples: [{ line: `orders settle ${sampleId}`, does: 'what came of it, and the status now' }],
    failsWhen: 'the order neither agrees nor was repaired',
    changes: true,
    run: async ({ payments, positionals: [orderId = ''] }) => reviewOrder(await payments(), orderId),
    failed: (result) => needsAttention(result as OrderReview),
  },
  {
    name: 'orders refund',
    does: 'Gives the money back and takes what is left of the credits. Tells what was spent already.',
    more: [
      'On a terminal it first shows what would go back to the card and what would be taken from the customer, and asks. ' +
        'A script is not asked.',
      'A refund that has happened gives the same answer again. One of which the gateway says nothing goes on in the ' +
        'background; orders settle finds out at once.',
    ],
    arguments: [orderArgument],
    options: { reason: reasonOption('why, for the gateway and the trail') },
    examples: [
      { line: `orders refund ${sampleId} --reason "paid twice"`, does: 'asks on a terminal' },
      { line: `orders refund ${sampleId} --reason "paid twice" --yes`, does: 'does not ask' },
    ],
    failsWhen: 'the answer of the gateway is not known yet',
    changes: true,
    confirm: confirmRefund,
    async run({ payments, positionals: [orderId = ''], values }) {
      return refund(await payments(), { orderId, reason: values.reason?.trim() ?? '' })
    },
  },
]
