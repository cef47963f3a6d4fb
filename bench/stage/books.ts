// The books a measurement starts with: a PostgreSQL of its own with full durability, rows of earlier traffic, customers
// with more credits than a measurement can spend, a key for each, a token for the services.
import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { newOrderId, newSecretText } from '../../src/core/ids.ts'
import { hashKey, type Peppers } from '../../src/customers/api-keys.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { Client } from '../../src/db/connect.ts'
import { createDatabase } from '../../src/db/database.ts'
import type { EmbeddedServer } from '../../src/db/embedded/server.ts'
import { migrate } from '../../src/db/migrate.ts'
import { packageOf } from '../../src/payments/packages.ts'
import { generate } from '../books/generate.ts'
import { startServer } from '../books/server.ts'
import type { Customer } from '../load/requests.ts'
import type { Order } from '../load/workloads.ts'

export const pepper = 'a pepper for this measurement'
/** The name of its transparency log. */
export const logOrigin = 'prepaid-credits/log'
const peppers: Peppers = [{ version: 1, secret: pepper }]

/** PostgreSQL plans by the size of its tables: empty ones get sequential scans, and keep them while they fill. */
const ordersBefore = 5_000

type Filled = { customers: Customer[]; customerSeed: string; token: string }

type Server = Pick<EmbeddedServer, 'connection' | 'dataDirectory'>

export type Books = Filled & { directory: string; server: Server; client: pg.Client }

export async function openBooks(parts: AsyncDisposableStack, customers: number): Promise<Books> {
  const { directory, ...server } = await startServer({ keep: false }, parts)
  return fillBooks(parts, directory, server, customers)
}

/** The server runs, and its database is empty. */
export async function fillBooks(
  parts: AsyncDisposableStack,
  directory: string,
  server: Server,
  customers: number,
): Promise<Books> {
  const client = await connectTo(server, parts)
  await migrate(client)
  await requireDurability(client)
  await generateHistory(server)
  const books = { directory, server, client, ...(await fill(client, customers)) }
  await removeOpenOrders(books)
  return books
}

export async function connectTo(
  { connection }: Pick<Server, 'connection'>,
  parts: AsyncDisposableStack,
): Promise<pg.Client> {
  const client = new Client(connection)
  await client.connect()
  parts.defer(() => client.end())
  return client
}

/** On a connection of its own: it changes settings of the session. */
async function generateHistory(server: Server): Promise<void> {
  await using own = new AsyncDisposableStack()
  await generate(await connectTo(server, own), ordersBefore)
}

async function requireDurability(client: pg.Client): Promise<void> {
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await client.query<Record<string, string>>(`show ${name}`)
    if (rows[0]?.[name] !== 'on')
      throw new Error(`${name} is ${rows[0]?.[name]}: the measurement needs a durable database`)
  }
}

/** `customerSeed` and a number make the id of a customer, in SQL too: `md5('seed number')::uuid`. */
function customerIdOf(customerSeed: string, number: number): string {
  return hash('md5', `${customerSeed} ${number}`).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Customers of this measurement, besides those in the books already. */
export async function fill(client: pg.Client, count: number): Promise<Filled> {
  const customerSeed = randomUUID()
  const customers = Array.from({ length: count }, (_, number) => ({
    customerId: customerIdOf(customerSeed, number),
    apiKey: newSecretText('cpk_'),
  }))
  const ids = customers.map(({ customerId }) => customerId)
  // More credits than an order sells, for an order that does not exist: the schema would refuse them.
  await client.query('set session_replication_role = replica')
  await client.query(fillText, [ids])
  await client.query('reset session_replication_role')
  const hashes = customers.map(({ apiKey }) => hashKey(apiKey, peppers[0]).keyHash)
  const lastFours = customers.map(({ apiKey }) => apiKey.slice(-4))
  await client.query(keysText, [ids.map((id) => `key_${id}`), ids, hashes, lastFours])
  await client.query('vacuum analyze')
  const log = { warn: () => undefined, error: () => undefined }
  const { token } = await issueToken(createDatabase(client, log), peppers, `bench ${randomUUID()}`)
  return { customers, customerSeed, token }
}

const keysText = `
  insert into api_keys (key_id, customer_id, key_hash, last_four, pepper_version)
  select key_id, customer_id, key_hash, last_four, 1
  from unnest($1::text[], $2::uuid[], $3::bytea[], $4::text[]) as k (key_id, customer_id, key_hash, last_four)`

const fillText = `
  with customer as (
    insert into customers (customer_id) select unnest($1::uuid[]) returning customer_id
  ),
  filled as (
    select customer_id, 1000000000 as credits,
           ledger_entry_hash('', customer_id, 1, 'GRANT', 1000000000, 1000000000, 'filled', null, now(), 0, 0, null, null)
             as entry_hash
    from customer
  ),
  account as (
    insert into accounts (customer_id, balance, last_entry, last_hash, moved_at)
    select customer_id, credits, 1, entry_hash, now() from filled
  )
  insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, created_at, held_delta,
                              held_after, entry_hash)
  select customer_id, 1, 'GRANT', credits, credits, 'filled', now(), 0, 0, entry_hash from filled`

/** Orders spread over the customers, not inserted yet. */
export function newOrders({ customers }: Books, count: number): Order[] {
  const { price: amount } = packageOf('BASIC')
  return Array.from({ length: count }, (_, number) => ({
    customer: number % customers.length,
    orderId: newOrderId(),
    amount,
  }))
}

/** Orders that await their confirm. */
export async function addOrders(books: Books, count: number): Promise<Order[]> {
  const { client, customers } = books
  const { price: amount, credits } = packageOf('BASIC')
  const orders = newOrders(books, count)
  const ids = orders.map(({ customer }) => customers[customer]?.customerId)
  await client.query(ordersText, [ids, orders.map(({ orderId }) => orderId), amount, credits])
  await client.query('analyze orders')
  return orders
}

const ordersText = `
  insert into orders (customer_id, order_id, package_type, payment_method, amount, credits)
  select customer_id, order_id, 'BASIC', 'CARD', $3, $4 from unnest($1::uuid[], $2::text[]) as o (customer_id, order_id)`

const foreignKeyViolation = '23503'

const removeText = `
  delete from orders o where status = 'PENDING' and customer_id = any ($1::uuid[])
    and not exists (select from payment_operations p where p.customer_id = o.customer_id and p.order_id = o.order_id)`

const mostWaitMs = 5_000
const lookEveryMs = 50

/** On a cluster the part in brackets is a query of its own, which has to have a column. */
const underWayText = `
  select exists (select 1 from payment_operations where state = 'OPEN' and lease_until > now()) as "isUnderWay"`

/** A request may outlive its client: removing its order at the same time would be a deadlock. */
export async function awaitOperations({ client }: Books): Promise<void> {
  const latest = performance.now() + mostWaitMs
  while (performance.now() < latest) {
    const { rows } = await client.query<{ isUnderWay: boolean }>(underWayText)
    if (!rows[0]?.isUnderWay) return
    await sleep(lookEveryMs)
  }
}

/** Open orders of a measurement would change the next one: a customer's open orders are counted. */
export async function removeOpenOrders({ client, customers }: Books): Promise<void> {
  const ids = customers.map(({ customerId }) => customerId)
  // A request without a client may begin to confirm one of them at the same time: then again, without that one.
  for (let removed = false; !removed; ) {
    removed = await client.query(removeText, [ids]).then(
      () => true,
      (error: pg.DatabaseError) => {
        if (error.code !== foreignKeyViolation) throw error
        return false
      },
    )
  }
  await client.query('vacuum analyze orders, payment_operations, accounts, ledger_entries, events')
  await client.query('checkpoint')
}
