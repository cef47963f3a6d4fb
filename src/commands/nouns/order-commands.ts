// Commands about orders: list them, show one with its history, review it at the gateway, refund it.
import { Refusal } from '../../core/errors.ts'
import type { PaidWith } from '../../core/paid-with.ts'
import type { Database } from '../../db/database.ts'
import { findOrderStory } from '../../payments/books/order-story.sql.ts'
import { failureOf } from '../../payments/failure-reasons.ts'
import { type OrderStatus, orderStatuses } from '../../payments/kinds.ts'
import { everyOrder, type ListedOrder, type OrdersFilter } from '../../payments/order-list.sql.ts'
import { createdBetween, findPaidOrders, ofOneOrder, readOrderPages } from '../../payments/order-list.ts'
import { findOrderKeys, type OrderKey } from '../../payments/orders.sql.ts'
import { findDoubtsOfOrder } from '../../payments/recovery/discrepancies.sql.ts'
import { partlyCancelled } from '../../payments/recovery/review.ts'
import { needsAttention, type OrderReview, reviewOrder } from '../../payments/recovery/review-order.ts'
import { ruleInWords } from '../../payments/refunds/dated-rules.ts'
import { quoteRefund, quoteUnused, type UnusedQuote } from '../../payments/refunds/quote.ts'
import { refund } from '../../payments/refunds/refund.ts'
import { orderNotFound, type RefundRefusal } from '../../payments/refusals.ts'
import type { Call, Command, Confirmation } from '../command.ts'
import { customerOption, dateOption, limitOption, orderArgument, reasonOption } from '../line/options.ts'
import { readBounds } from '../line/times.ts'
import { requireCustomerId } from './customer-option.ts'

const listLimit = 1_000
const sampleId = 'ord_01M7ESE34XW2VNK2VVKDN8SK7P3WRY8JPPQT'

async function confirmRefund(call: Call): Promise<Confirmation | undefined> {
  const {
    payments,
    positionals: [orderId = ''],
    values,
  } = call
  if (values.unused) {
    const quote = await readQuote(call)
    const preview = { ...quote, terms: ruleInWords(quote.terms) }
    return { preview, question: 'Return this amount? This cannot be undone.' }
  }
  const quote = await quoteRefund(await payments(), orderId)
  if (!quote) return undefined
  const { gatewayCode, unused: _, unusedRefusal: __, shortfall: creditsNotTakenBack, ...rest } = quote
  const preview = {
    ...rest,
    creditsNotTakenBack,
    backToTheCard: quote.backToTheCard ?? `unknown: the gateway answered ${gatewayCode}`,
  }
  return { preview, question: 'Return the money and take back the credits? This cannot be undone.' }
}

type Quoted = Pick<UnusedQuote, 'amount' | 'credits'>

async function readQuote({ database, payments, positionals: [orderId = ''] }: Call): Promise<UnusedQuote> {
  const key = (await findOrderKeys(database, [orderId])).get(orderId)
  if (!key) throw orderNotFound(orderId)
  return quoteUnused(await payments(), key).catch(async (error) => {
    throw await withNextCommand(database, key, error)
  })
}

/** What was cancelled at the gateway is accepted before the rest is refunded. */
async function withNextCommand(database: Database, key: OrderKey, error: Error): Promise<Error> {
  const refusal: RefundRefusal = 'cancelled in part at the gateway'
  if (!(error instanceof Refusal) || error.metadata?.reason !== refusal) return error
  const part = (await findDoubtsOfOrder(database, key)).find(({ kind }) => kind === partlyCancelled)
  const next = part ? `discrepancies accept ${part.discrepancyId}` : `orders settle ${key.orderId}, which records it`
  return new Error(`${error.message} First: ${next}.`)
}

function shownOf({
  orderId,
  createdAt,
  status,
  customerId,
  customerName,
  failed,
  paidWith,
  ...rest
}: ListedOrder): object {
  const order = { orderId, createdAt, status, customerId, customerName, ...rest }
  return {
    ...order,
    paidWith: paidWith && (paidWith.provider ?? paidWith.method),
    failure: failed && failureOf(failed),
  }
}

function paidInWords({ method, provider, cardAmount, walletAmount, pointsAmount }: PaidWith): string {
  const won = (amount: number) => `₩${amount.toLocaleString('en-US')}`
  const parts = [
    cardAmount && `${won(cardAmount)} by card`,
    walletAmount && `${won(walletAmount)} from its balance`,
    pointsAmount && `${won(pointsAmount)} points`,
  ]
  if (method === 'CARD') return 'card'
  return [provider ?? method, ...parts.filter((part) => !!part)].join(', ')
}

async function listRequestedOrders(call: Call): Promise<object[]> {
  const { database, values } = call
  const { since, before } = readBounds(values)
  const filter = {
    ...everyOrder,
    ...createdBetween(since, before),
    customerId: values.customer === undefined ? null : await requireCustomerId(call),
    status: (values.status ?? null) as OrderStatus | null,
  }
  const limit = Number(values.limit ?? listLimit)
  if (values.payment === undefined) return readUpTo(database, filter, limit)
  const paid = (await findPaidOrders(database, values.payment.trim())).filter(
    ({ customerId }) => filter.customerId === null || filter.customerId === customerId,
  )
  const listed = await Promise.all(paid.map((order) => readUpTo(database, ofOneOrder(filter, order), 1)))
  return listed.flat().slice(0, limit)
}

async function readUpTo(database: Database, filter: OrdersFilter, limit: number): Promise<object[]> {
  const orders: ListedOrder[] = []
  for await (const page of readOrderPages(database, filter, limit)) {
    orders.push(...page)
    if (orders.length >= limit) break
  }
  return orders.slice(0, limit).map(shownOf)
}

export const orderCommands: Command[] = [
  {
    name: 'orders list',
    summary: `Lists orders, newest first, at most ${listLimit}.`,
    details: ['With several options, orders to which all of them apply.'],
    options: {
      customer: { ...customerOption, description: 'only of this customer, by name or UUID', required: false },
      status: {
        value: 'STATUS',
        description: `only with this status: ${orderStatuses.join(', ')}`,
        choices: orderStatuses,
      },
      payment: { value: 'KEY', description: 'only of this payment: its key, or the approval number on the card slip' },
      from: dateOption('the first day or time'),
      to: dateOption('the last day or time'),
      limit: limitOption(listLimit),
    },
    examples: [
      { line: 'orders list --customer acme --status CONFIRMED', description: 'what acme has paid for' },
      { line: 'orders list --payment 12345678', description: 'the order whose card slip has this approval number' },
    ],
    changesData: false,
    run: listRequestedOrders,
  },
  {
    name: 'orders show',
    summary: 'Shows an order with its history: gateway operations, ledger entries, discrepancies, notifications.',
    arguments: [orderArgument],
    examples: [{ line: `orders show ${sampleId}`, description: 'the order and its history' }],
    changesData: false,
    async run({ database, positionals: [orderId = ''], values }) {
      const story = await findOrderStory(database, orderId)
      if (!story) throw new Error(`There is no order ${orderId}.`)
      const { paidWith } = story
      const operations = story.operations.map(({ refundRule, ...operation }) => ({
        ...operation,
        ...(refundRule && { refundRule: ruleInWords(refundRule) }),
      }))
      return { ...story, paidWith: values.json ? paidWith : paidWith && paidInWords(paidWith), operations }
    },
  },
  {
    name: 'orders settle',
    summary:
      'Looks an order up at the gateway now and repairs differences. Result: agrees, repaired, disagrees, under way or unknown.',
    details: [
      'It finishes the open operation of the order, and returns a payment that was captured for a FAILED order. The worker ' +
        'does the same later, without this command.',
    ],
    arguments: [orderArgument],
    examples: [{ line: `orders settle ${sampleId}`, description: 'the result, and the status now' }],
    failsWhen: 'the order neither agrees nor was repaired',
    changesData: true,
    run: async ({ payments, positionals: [orderId = ''] }) => reviewOrder(await payments(), orderId),
    failed: (result) => needsAttention(result as OrderReview),
  },
  {
    name: 'orders refund',
    summary:
      'Returns the money of an order and takes back its unspent credits. Shows the credits that were already spent.',
    details: [
      'On a terminal it first shows the amount that would go back to the card and the credits that would be taken back, and ' +
        'asks for confirmation. A script is not asked.',
      'With --unused it returns the value of what is left of the order and takes its unspent credits, bonus included: 1,000 ' +
        'won for each base credit that is not used, or the share of it that the rule of the order has. If credits move after ' +
        'the question, nothing is done.',
      'Repeating a finished refund returns the same result; with --unused it is refused, because nothing is left. If the gateway does not answer, the refund continues in the ' +
        'background; orders settle looks it up at once.',
    ],
    arguments: [orderArgument],
    options: { reason: reasonOption('the reason, for the gateway and the action log') },
    switches: { unused: 'returns the unused part instead of the full price' },
    examples: [
      {
        line: `orders refund ${sampleId} --unused --reason "project ended"`,
        description: 'returns the value of the unused credits',
      },
      { line: `orders refund ${sampleId} --reason "paid twice"`, description: 'asks for confirmation on a terminal' },
      { line: `orders refund ${sampleId} --reason "paid twice" --yes`, description: 'does not ask' },
    ],
    failsWhen: 'the outcome at the gateway is not known yet',
    changesData: true,
    confirm: confirmRefund,
    async run(call, shown) {
      const { payments, positionals, values } = call
      // What was confirmed is what is done, or the refund is refused.
      const unused = values.unused ? ((shown as Quoted | undefined) ?? (await readQuote(call))) : undefined
      const request = { orderId: positionals[0] ?? '', reason: values.reason?.trim() ?? '', unused }
      const answer = await refund(await payments(), request)
      const { shortfall: creditsNotTakenBack, ...refunded } = answer
      // Scripts know it by its name in the API.
      return values.json ? answer : { ...refunded, creditsNotTakenBack }
    },
  },
]
