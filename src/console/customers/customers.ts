// The pages of customers: the list, and one customer with balance, keys, holds and limits. An API key is shown once, in the
// answer that issues it.
import { refuse, refuseFields } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import { updateLowCredits } from '../../credits/accounts.sql.ts'
import {
  faultOfBudget,
  findBudget,
  listBudgets,
  mostBudgets,
  removeBudget,
  setBudget,
} from '../../credits/budgets/budgets.sql.ts'
import { listLots } from '../../credits/lots/lots.sql.ts'
import { requestOfUse, statementRequestOf } from '../../credits/routes.ts'
import { readStatement } from '../../credits/statement/statement.ts'
import { readUse } from '../../credits/use/use.ts'
import { createCustomerAndKey, issueKeyTo, rotateKey } from '../../customers/api-keys.ts'
import {
  areTooManyToRead,
  type CustomerSort,
  listCustomers,
  listSortedCustomers,
  maxCustomersRead,
  withoutKey,
} from '../../customers/customer-list.sql.ts'
import {
  createCustomer,
  findCustomer,
  findKey,
  type KeyStatus,
  updateKeyStatus,
  updateSuspension,
} from '../../customers/customers.sql.ts'
import { findDetailsEnd } from '../../payments/books/figures.sql.ts'
import { listNotes } from '../action-log/notes.sql.ts'
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, microsecondCursorPattern, newestCursor, type Paging, pageOf } from '../paging.ts'
import { refuseBecause } from '../refusals.ts'
import type { Handlers } from '../routes.ts'
import { findCustomerPage, listHolds } from './customers.sql.ts'

/** Figures of customers that lag more than this are shown with the time they end at. */
const maxLagMs = 300_000

type Names =
  | (
      | 'customers'
      | 'createCustomer'
      | 'createCustomerWithKey'
      | 'customer'
      | 'statement'
      | 'use'
      | 'holds'
      | 'setLowCredits'
    )
  | ('addCustomerNote' | 'budgets' | 'setBudget' | 'removeBudget' | 'suspendCustomer' | 'activateCustomer')
  | ('lots' | 'issueKey' | 'suspendKey' | 'activateKey' | 'rotateKey')

export function customerHandlers({ database, peppers, limits }: ConsoleContext): Handlers<Names> {
  /** The id as it is stored; an unknown customer is refused. */
  async function knownCustomer(text: string): Promise<string> {
    const customerId = await findCustomer(database, text.toLowerCase())
    if (!customerId) throw noSuchCustomer()
    return customerId
  }

  async function setKeyStatus(keyId: string, status: KeyStatus) {
    if (!(await updateKeyStatus(database, keyId, status))) throw noSuchKey()
    return { keyId, status }
  }

  async function setSuspended(text: string, isSuspended: boolean) {
    const customerId = await knownCustomer(text)
    await updateSuspension(database, customerId, isSuspended)
    return { customerId, status: isSuspended ? ('SUSPENDED' as const) : ('ACTIVE' as const) }
  }

  const figuresUpTo = () => findDetailsEnd(database, maxLagMs)

  async function sortedCustomers(sort: Exclude<CustomerSort, 'newest'>, query: Paging) {
    const limit = limitOf(query)
    const cursor = cursorOf(query, microsecondCursorPattern) ?? newestCursor
    if (sort === 'balance' && (await areTooManyToRead(database))) {
      const most = `There are more than ${maxCustomersRead} customers, too many to sort by balance.`
      throw refuseBecause('VAL003', 'too many customers', most)
    }
    const rows = await listSortedCustomers(database, { sort, cursor, limit })
    const { page, nextCursor } = pageOf(rows, limit, ({ key, customerId }) => `${key}~${customerId}`)
    return { customers: page.map(withoutKey), nextCursor, figuresUpTo: await figuresUpTo() }
  }

  return {
    async customers({ query }) {
      const limit = limitOf(query)
      const { sort = 'newest' } = query
      const name = query.q?.trim() || null
      if (sort !== 'newest' && name === null) return sortedCustomers(sort, query)
      const wanted = { name, cursor: cursorOf(query, uuidPattern), limit }
      const { page, nextCursor } = pageOf(await listCustomers(database, wanted), limit, (row) => row.customerId)
      return { customers: page, nextCursor, figuresUpTo: await figuresUpTo() }
    },

    async createCustomer({ body, subject: customerId }) {
      if (!(await createCustomer(database, customerId, nameOf(body)))) throw nameTaken()
      return { customerId }
    },

    async createCustomerWithKey({ body, subject: customerId }) {
      const issued = await createCustomerAndKey(database, peppers, { customerId, name: nameOf(body) })
      if (!issued) throw nameTaken()
      return issued
    },

    async customer({ params }) {
      const page = await findCustomerPage(database, params.customerId.toLowerCase())
      if (!page) throw noSuchCustomer()
      const { customerId, name, createdAt, suspendedAt, balance, held, keys, pendingOrders, lowCredits } = page
      const { netPaid, orders, lastPurchaseAt } = page
      return {
        customerId,
        name,
        createdAt,
        balance,
        held,
        available: balance - held,
        netPaid,
        orders,
        lastPurchaseAt,
        figuresUpTo: await figuresUpTo(),
        suspendedAt,
        keys,
        limits: {
          pendingOrders,
          pendingOrdersAtMost: limits.pendingOrdersPerCustomer || null,
          requestsPerSecond: limits.requestsPerSecond || null,
          lowCredits,
        },
        notes: await listNotes(database, customerId),
      }
    },

    async lots({ params, query }) {
      const customerId = await knownCustomer(params.customerId)
      const cursor = cursorOf(query, /^[1-9]\d{0,14}$/)
      const page = { below: cursor === null ? null : Number(cursor), limit: limitOf(query) + 1 }
      const { page: lots, nextCursor } = pageOf(
        await listLots(database, customerId, page),
        limitOf(query),
        (lot) => `${lot.entryNumber}`,
      )
      return { lots, nextCursor }
    },

    use: ({ params, query }) => readUse(database, requestOfUse(params.customerId, query)),
    statement: ({ params, query }) => readStatement(database, statementRequestOf(params.customerId, query)),

    async holds({ params, query }) {
      const limit = limitOf(query)
      const wanted = { cursor: cursorOf(query, uuidPattern), limit }
      const holds = await listHolds(database, await knownCustomer(params.customerId), wanted)
      const { page, nextCursor } = pageOf(holds, limit, ({ holdId }) => holdId)
      return { holds: page, nextCursor }
    },

    async budgets({ params }) {
      return { budgets: await listBudgets(database, await knownCustomer(params.customerId)) }
    },

    async setBudget({ params, body }) {
      const { scope, value = null, period, credits, warnAt = null } = body
      const customerId = await knownCustomer(params.customerId)
      const setting = { customerId, scope, value: value?.trim() ?? null, period, credits, warnAt }
      const fault = faultOfBudget(setting)
      if (fault) throw refuseFields('VAL003', [fault])
      const set = await setBudget(database, setting)
      if (!set) throw refuseBecause('VAL003', 'too many budgets', `The customer has ${mostBudgets} budgets already.`)
      return { customerId, ...set }
    },

    async removeBudget({ params }) {
      const customerId = await knownCustomer(params.customerId)
      const budget = await findBudget(database, params.budgetId)
      if (budget?.customerId !== customerId) throw refuse('NOT000', { message: 'There is no such budget.' })
      await removeBudget(database, params.budgetId)
      return { customerId, budgetId: params.budgetId.toLowerCase() }
    },

    suspendCustomer: ({ params }) => setSuspended(params.customerId, true),
    activateCustomer: ({ params }) => setSuspended(params.customerId, false),

    async setLowCredits({ params, body }) {
      const customerId = params.customerId.toLowerCase()
      const lowCredits = await updateLowCredits(database, customerId, body.credits)
      if (!lowCredits) throw noSuchCustomer()
      return { customerId, lowCredits }
    },

    // The action log has the note.
    async addCustomerNote({ params }) {
      await knownCustomer(params.customerId)
      return null
    },

    async issueKey({ params }) {
      return issueKeyTo(database, peppers, await knownCustomer(params.customerId))
    },

    suspendKey: ({ params }) => setKeyStatus(params.keyId, 'SUSPENDED'),
    activateKey: ({ params }) => setKeyStatus(params.keyId, 'ACTIVE'),

    async rotateKey({ params }) {
      const { keyId } = params
      if (!(await findKey(database, keyId))) throw noSuchKey()
      const issued = await rotateKey(database, peppers, keyId)
      if (!issued) throw refuseBecause('VAL003', 'suspended key', 'The key is already suspended. Issue a new one.')
      return { ...issued, suspendedKeyId: keyId }
    },
  }
}

function noSuchCustomer() {
  return refuse('NOT000', { message: 'There is no such customer.' })
}

function noSuchKey() {
  return refuse('NOT000', { message: 'There is no such key.' })
}

function nameOf(body: { name: string }): string {
  const name = body.name.trim()
  if (uuidPattern.test(name)) throw refuseName('must not look like the id of a customer')
  return name
}

function nameTaken() {
  return refuseName('must not be the name of another customer')
}

function refuseName(rule: string) {
  return refuseFields('VAL003', [{ field: 'name', rule }])
}
