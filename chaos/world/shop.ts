// What the campaign's customers know: who they are, which orders they were told of, who paid what; and the sibling
// services that spend their credits. The clients choose their next request from it, and the checks hold it against the
// books. A few customers are hot: they take part in most of what happens (Zipf), so that their accounts are fought over.

import type { Random } from '../../harness/random.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { updateLowCredits } from '../../src/credits/accounts.sql.ts'
import { createCredits } from '../../src/credits/credits.ts'
import { type IssuedKey, issueKey } from '../../src/customers/api-keys.ts'
import { type IssuedToken, issueToken } from '../../src/customers/service-tokens.ts'
import { createDatabase, createPool, type Database } from '../../src/db/database.ts'
import { type PackageType, packageOf } from '../../src/payments/packages.ts'
import { silentLog } from '../../test/support/database/database.ts'
import type { World } from './world.ts'

export type Checkout = { paymentKey: string; result: string }

export type KnownOrder = {
  customer: number
  orderId: string
  packageType: PackageType
  amount: number
  credits: number
  checkouts: Checkout[]
  /** By which payment, as a client was told; null while nobody was. */
  confirmedBy: string | null
  cancelled: boolean
}

export type Key = Pick<IssuedKey, 'keyId' | 'apiKey'>

export type Customer = {
  index: number
  customerId: string
  /** The one that its programs use now: operators give it another. */
  key: Key
  /** Those of before. */
  formerKeys: Key[]
  /** Below so many credits an event tells that few are left; null: never. */
  lowCredits: number | null
}

const siblingNames = ['usage', 'exports']
/** By the place of the customer, again and again. */
const lowCredits = [20, null, 5, 60]

const recentOrders = 25

export type Shop = Awaited<ReturnType<typeof openShop>>

export async function openShop({ postgres, peppers }: World, size: number) {
  const pool = createPool({
    connection: { connectionString: postgres.urlFor('chaos-ledger') },
    maxConnections: 6,
    log: silentLog,
  })
  const database: Database = createDatabase(pool, silentLog)
  const customers: Customer[] = []
  for (let index = 0; index < size; index += 1) {
    const { customerId, ...key } = await issueKey(database, peppers, `customer ${index}`)
    const threshold = lowCredits[index % lowCredits.length] ?? null
    await updateLowCredits(database, customerId, threshold)
    customers.push({ index, customerId, key, formerKeys: [], lowCredits: threshold })
  }
  const siblings: IssuedToken[] = []
  for (const name of siblingNames) siblings.push(await issueToken(database, peppers, name))
  const weights = customers.map((_, index) => 1 / (index + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const orders = new Map<string, KnownOrder>()
  const inOrder: KnownOrder[] = []

  return {
    customers,
    siblings,
    orders,
    /** Paid and not asked to be confirmed yet. */
    payable: [] as KnownOrder[],
    /** Told confirmed, and not asked to be cancelled by a customer yet. */
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
    /** A client was told of it; several may be told of the same. */
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

/** Not cancelled as far as anybody was told: what a refund may be for. */
export function confirmedOrder({ orders }: Shop, random: Random): KnownOrder | undefined {
  return anyOf(
    random,
    [...orders.values()].filter(({ confirmedBy, cancelled }) => confirmedBy !== null && !cancelled),
  )
}

export function anyOf<Value>(random: Random, values: readonly Value[]): Value | undefined {
  return values[random.integer(0, values.length - 1)]
}

/** Takes one out, so that nobody else takes it. */
export function takeAny<Value>(random: Random, values: Value[]): Value | undefined {
  return values.splice(random.integer(0, values.length - 1), 1)[0]
}
