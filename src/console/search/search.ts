// One box for everything: the form of what was typed says what it can be, and a table looks it up as each of these. Exact
// matches come first. A whole API key is recognised and found; nothing that is found repeats it.
import { orderIdPattern, uuidPattern } from '../../core/ids.ts'
import { apiKeyPattern, hashKey, keyIdPattern, type Peppers } from '../../customers/api-keys.ts'
import { findKeys } from '../../customers/customers.sql.ts'
import type { Database } from '../../db/database.ts'
import { listCustomers } from '../customers/customers.sql.ts'
import type { ConsoleParts } from '../parts.ts'
import type { Handlers } from '../routes.ts'
import {
  type Found,
  findCustomerById,
  findKeysById,
  findKeysEnding,
  findOrdersBetween,
  findPayments,
} from './search.sql.ts'

const shownAtMost = 20
const lettersOfOrderId = 40

type Looks = { database: Database; peppers: Peppers }
type Look = { form: RegExp; find(parts: Looks, text: string): Promise<Found[]> }

const looks: Look[] = [
  { form: apiKeyPattern, find: findKey },
  {
    form: orderIdPattern,
    find: ({ database }, text) => findOrdersBetween(database, text, text, 1),
  },
  { form: uuidPattern, find: ({ database }, text) => findCustomerById(database, text.toLowerCase()) },
  { form: keyIdPattern, find: ({ database }, text) => findKeysById(database, [text]) },
  // The gateway's own form is its own affair.
  {
    form: /^[\x21-\x7e]{6,200}$/,
    find: ({ database }, text) => findPayments(database, text, shownAtMost),
  },
  {
    form: /^[0-9A-Za-z]{4}$/,
    find: ({ database }, text) => findKeysEnding(database, text, shownAtMost),
  },
  { form: /^ord_[0-9A-HJKMNP-TV-Z]{4,35}$/, find: findOrdersBeginning },
  { form: /\S/, find: findCustomersBeginning },
]

export function searchHandlers({ database, peppers }: ConsoleParts): Handlers<'search'> {
  return {
    async search({ query }) {
      const text = query.q.trim()
      const fitting = looks.filter(
        ({ form }) => form.test(text) && !(apiKeyPattern.test(text) && form !== apiKeyPattern),
      )
      const found = await Promise.all(fitting.map(({ find }) => find({ database, peppers }, text)))
      return { results: found.flat().slice(0, shownAtMost) }
    },
  }
}

/** A key that is known is found by its hash; of one that is not, those are shown that end alike. */
async function findKey({ database, peppers }: Looks, apiKey: string): Promise<Found[]> {
  const hashes = peppers.map((pepper) => hashKey(apiKey, pepper))
  const keyIds = (await findKeys(database, hashes)).flatMap((key) => key?.keyId ?? [])
  return keyIds.length > 0 ? findKeysById(database, keyIds) : findKeysEnding(database, apiKey.slice(-4), shownAtMost)
}

/** Ids of one length: those that begin alike lie between the first and the last that could. */
function findOrdersBeginning({ database }: Looks, text: string): Promise<Found[]> {
  const [first, last] = [text.padEnd(lettersOfOrderId, '0'), text.padEnd(lettersOfOrderId, 'Z')]
  return findOrdersBetween(database, first, last, shownAtMost)
}

async function findCustomersBeginning({ database }: Looks, text: string): Promise<Found[]> {
  const customers = await listCustomers(database, { name: text, cursor: null, limit: shownAtMost })
  return customers.map(({ customerId, name }) => ({
    kind: 'customer' as const,
    id: customerId,
    orderId: null,
    customerId,
    customerName: name,
    status: null,
  }))
}
