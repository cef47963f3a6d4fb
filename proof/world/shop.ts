// What the campaign's customers know: their keys, the orders they were given, the payments they made; and the sibling
// services that spend their credits. The clients choose their next request from it, and the checks compare it with the
// books. A few customers are hot (Zipf), so that requests contend for their accounts.
import type { Random } from '../../harness/random.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { defaultScopes, tokenScopes } from '../../src/core/token-scopes.ts'
import { updateLowCredits } from '../../src/credits/accounts.sql.ts'
import { createCredits } from '../../src/credits/credits.ts'
import { type IssuedKey, issueKey } from '../../src/customers/api-keys.ts'
import { type IssuedToken, issueToken } from '../../src/customers/service-tokens.ts'
import { connectWorkers } from '../../src/db/cluster/cluster.ts'
import { createDatabase, createPool, type Database } from '../../src/db/database.ts'
import { type PackageType, packageOf } from '../../src/payments/packages.ts'
import { openBudgets } from './budgets.ts'
import type { World } from './world.ts'

export type Checkout = { paymentKey: string; result: string }

export type KnownOrder = {
  customer: number
  orderId: string
  packageType: PackageType
  amount: number
  credits: number
  checkouts: Checkout[]
  /** The payment of a confirm that a client saw succeed; null before. */
  confirmedBy: string | null
  cancelled: boolean
}

export type Key = Pick<IssuedKey, 'keyId' | 'apiKey'>

export type Customer = {
  index: number
  customerId: string
  /** In use now; operators replace it. */
  key: Key
  formerKeys: Key[]
  /** The threshold of the event `credits.low`; null: none. */
  lowCredits: number | null
}

/** The first may also extend and end holds of the others. It has a budget of its own for one customer. */
const siblingNames = ['usage', 'exports', 'reports']
/** Assigned to the customers in rotation. */
const lowCredits = [20, null, 5, 60]

const recentOrders = 25

export type Shop = Awaited<ReturnType<typeof openShop>>

export async function openShop({ postgres, isSpread, peppers }: World, size: number) {
  const settings = {
    connection: { connectionString: postgres.urlFor('chaos-ledger') },
    maxConnections: 6,
    log: silentLog,
  }
  const pool = createPool(settings)
  if (isSpread) await connectWorkers(pool, settings)
  const database: Database = createDatabase(pool, silentLog)
  const customers: Customer[] = []
  for (let index = 0; index < size; index += 1) {
    const { customerId, ...key } = await issueKey(database, peppers, `customer ${index}`)
    const threshold = lowCredits[index % lowCredits.length] ?? null
    await updateLowCredits(database, customerId, threshold === null ? [] : [threshold])
    customers.push({ index, customerId, key, formerKeys: [], lowCredits: threshold })
  }
  const budgets = await openBudgets(database, customers)
  const siblings: IssuedToken[] = []
  for (const [place, name] of siblingNames.entries()) {
    siblings.push(await issueToken(database, peppers, name, place === 0 ? [...tokenScopes] : [...defaultScopes]))
  }
  const weights = customers.map((_, index) => 1 / (index + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const orders = new Map<string, KnownOrder>()
  const inOrder: KnownOrder[] = []

  return {
    customers,
    budgets,
    siblings,
    orders,
    /** Paid, and no confirm was sent yet. */
    payable: [] as KnownOrder[],
    /** Confirmed, and no cancel by the customer was sent yet. */
    cancellable: [] as KnownOrder[],
    credits: createCredits(database, createTallies()),
    database,
    anyCustomer(random: Random): Customer {
      let left = (random.integer(0, 999_999) / 1_000_000) * total
      const found = customers.find((_, index) => {
        left -= weights[index] ?? 0
        return left < 0
      })
      return found ?? (customers[0] as Customer)
    },
    anyOrder: (random: Random): KnownOrder | undefined => anyOf(random, inOrder),
    recentOrder: (random: Random): KnownOrder | undefined => anyOf(random, inOrder.slice(-recentOrders)),
    /** From an answer; several clients may get the same order. */
    learn(customer: number, orderId: string, packageType: PackageType): KnownOrder {
      const { price: amount, credits } = packageOf(packageType)
      const fresh: KnownOrder = {
        customer,
        orderId,
        packageType,
        amount,
        credits,
        checkouts: [],
        confirmedBy: null,
        cancelled: false,
      }
      const known = orders.get(orderId)
      if (known) return known
      orders.set(orderId, fresh)
      inOrder.push(fresh)
      return fresh
    },
    close: () => pool.end(),
  }
}

/** One that can be refunded: no client has seen it cancelled. */
export function confirmedOrder({ orders }: Shop, random: Random): KnownOrder | undefined {
  return anyOf(
    random,
    [...orders.values()].filter(({ confirmedBy, cancelled }) => confirmedBy !== null && !cancelled),
  )
}

export function anyOf<Value>(random: Random, values: readonly Value[]): Value | undefined {
  return values[random.integer(0, values.length - 1)]
}

/** Removes one, so that no other client takes it. */
export function takeAny<Value>(random: Random, values: Value[]): Value | undefined {
  return values.splice(random.integer(0, values.length - 1), 1)[0]
}
