// One search box for everything: a table matches the form of the text and runs every lookup that fits. Exact matches come first.
// A complete API key is recognised and found; no result repeats it.
import { orderIdPattern, uuidPattern } from '../../core/ids.ts'
import { apiKeyPattern, hashKey, keyIdPattern, type Peppers } from '../../customers/api-keys.ts'
import { areTooManyToRead, listCustomers } from '../../customers/customer-list.sql.ts'
import { findKeys } from '../../customers/customers.sql.ts'
import type { Database } from '../../db/database.ts'
import {
  approvalNumberForm,
  type FoundOrder,
  findOrdersBetween,
  findOrdersByApproval,
  findOrdersOfPayment,
  type PaidOrder,
  paymentKeyForm,
} from '../../payments/order-search.sql.ts'
import type { ConsoleContext } from '../context.ts'
import type { Handlers } from '../routes.ts'
import {
  type Found,
  findCustomerById,
  findCustomersNamed,
  findKeysById,
  findKeysEnding,
  findReferences,
} from './search.sql.ts'

const maxResults = 20
const orderIdLength = 40
const shortestPrefix = 8

const asOrders = (found: FoundOrder[]): Found[] =>
  found.map((order) => ({ kind: 'order', id: order.orderId, ...order }))

const asPayments = (paymentKey: string, found: PaidOrder[]): Found[] =>
  found.map((order) => ({ kind: 'payment', id: paymentKey, ...order }))

type SearchContext = { database: Database; peppers: Peppers }
type Lookup = { form: RegExp; find(context: SearchContext, text: string): Promise<Found[]> }

const lookups: Lookup[] = [
  { form: apiKeyPattern, find: findKey },
  {
    form: orderIdPattern,
    find: async ({ database }, text) => asOrders(await findOrdersBetween(database, text, text, 1)),
  },
  { form: uuidPattern, find: ({ database }, text) => findCustomerById(database, text.toLowerCase()) },
  { form: keyIdPattern, find: ({ database }, text) => findKeysById(database, [text]) },
  {
    form: paymentKeyForm,
    find: async ({ database }, text) => asPayments(text, await findOrdersOfPayment(database, text, maxResults)),
  },
  {
    form: /^[0-9A-Za-z]{4}$/,
    find: ({ database }, text) => findKeysEnding(database, text, maxResults),
  },
  {
    form: approvalNumberForm,
    find: async ({ database }, text) => asOrders(await findOrdersByApproval(database, text, maxResults)),
  },
  { form: /^(ord_[0-9A-HJKMNP-TV-Z]{4,35}|[0-9A-HJKMNP-TV-Z]{4,36})$/i, find: findOrdersByPrefix },
  { form: /\S/, find: findCustomersByPrefix },
  { form: /\S\s*\S/, find: findWithoutIndex },
]

export function searchHandlers({ database, peppers }: ConsoleContext): Handlers<'search'> {
  return {
    async search({ query }) {
      const text = query.q.trim()
      const fitting = lookups.filter(
        ({ form }) => form.test(text) && !(apiKeyPattern.test(text) && form !== apiKeyPattern),
      )
      const found = await Promise.all(fitting.map(({ find }) => find({ database, peppers }, text)))
      return { results: found.flat().slice(0, maxResults) }
    },
  }
}

/** A known key is found by its hash; for an unknown one the keys with the same last four characters are shown. */
async function findKey({ database, peppers }: SearchContext, apiKey: string): Promise<Found[]> {
  const hashes = peppers.map((pepper) => hashKey(apiKey, pepper))
  const keyIds = (await findKeys(database, hashes)).flatMap((key) => key?.keyId ?? [])
  return keyIds.length > 0 ? findKeysById(database, keyIds) : findKeysEnding(database, apiKey.slice(-4), maxResults)
}

/** All ids have one length: those with a prefix lie between its lowest and its highest completion. */
async function findOrdersByPrefix({ database }: SearchContext, text: string): Promise<Found[]> {
  const begins = `ord_${text.replace(/^ord_/i, '').toUpperCase()}`
  if (begins.length < shortestPrefix) return []
  const [first, last] = [begins.padEnd(orderIdLength, '0'), begins.padEnd(orderIdLength, 'Z')]
  return asOrders(await findOrdersBetween(database, first, last, maxResults))
}

/** What has no index: these lookups read a row of every customer. */
async function findWithoutIndex({ database }: SearchContext, text: string): Promise<Found[]> {
  if (await areTooManyToRead(database)) return []
  const found = [findReferences(database, text, maxResults), findCustomersNamed(database, text, maxResults)]
  return (await Promise.all(found)).flat()
}

async function findCustomersByPrefix({ database }: SearchContext, text: string): Promise<Found[]> {
  const customers = await listCustomers(database, { name: text, cursor: null, limit: maxResults })
  return customers.map(({ customerId, name }) => ({
    kind: 'customer' as const,
    id: customerId,
    orderId: null,
    customerId,
    customerName: name,
    status: null,
  }))
}
