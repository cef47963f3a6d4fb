// Books as of migration 0002, written with the SQL that the service used then: entries without the held credits, and cancels
// under way that hold credits without an entry.
import pg from 'pg'
import { listMigrations, migrate } from '../../../src/db/migrate.ts'
import { packageOf } from '../../../src/payments/packages.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

const { price, credits: sold } = packageOf('STANDARD')

type OldEntry = { kind: string; delta: number; orderId?: string; reference?: string }

function oldBookkeeper(client: pg.Client, customerId: string) {
  async function write({ kind, delta, orderId = '', reference = '' }: OldEntry): Promise<number> {
    const { rows } = await client.query<{ entryNumber: number }>(
      `with moved as (
        update accounts set balance = balance + $3, last_entry = last_entry + 1,
          last_hash = ledger_entry_hash(last_hash, customer_id, last_entry + 1, $2, $3, balance + $3, $4, $5, now())
        where customer_id = $1
        returning *
      )
      insert into ledger_entries
        (customer_id, entry_number, kind, delta, balance_after, order_id, reference, entry_hash)
      select customer_id, last_entry, $2, $3, balance, $4, $5, last_hash from moved
      returning entry_number::int as "entryNumber"`,
      [customerId, kind, delta, orderId || null, reference || null],
    )
    return rows[0]?.entryNumber ?? 0
  }

  async function operate(orderId: string, kind: string, paymentKey: string, members: Record<string, unknown> = {}) {
    const row = {
      customer_id: customerId,
      operation_id: crypto.randomUUID(),
      order_id: orderId,
      kind,
      amount: price,
      payment_key: paymentKey,
      holder_id: customerId,
      lease_until: 'now',
      ...members,
    }
    const places = Object.keys(row).map((_, index) => `$${index + 1}`)
    await client.query(
      `insert into payment_operations (${Object.keys(row).join(', ')}) values (${places.join(', ')})`,
      Object.values(row),
    )
    return row.operation_id
  }
  const approved = { state: 'APPROVED', closed_at: 'now', closed_by: customerId }
  const holding = { credits_held: sold, reason: 'changed my mind' }

  /** A confirmed order; the prefix of its payment key determines the gateway's answer to a cancel. */
  async function confirmed(fate: string): Promise<{ orderId: string; paymentKey: string }> {
    const orderId = `ord_${crypto.randomUUID()}`
    const paymentKey = `${fate}_${orderId}`
    const grantEntry = await write({ kind: 'GRANT', delta: sold, orderId })
    await client.query(
      `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, status, created_at,
                           confirmed_at, grant_entry)
      select customer_id, order_id, 'STANDARD', 'CARD', $3, delta, 'CONFIRMED', created_at, created_at, entry_number
      from ledger_entries where customer_id = $1 and entry_number = $2`,
      [customerId, grantEntry, price],
    )
    await operate(orderId, 'CONFIRM', paymentKey, { ...approved, total_credits: 0 })
    return { orderId, paymentKey }
  }

  return {
    confirmed,
    spend: (credits: number, reference: string) => write({ kind: 'SPEND', delta: -credits, reference }),
    async cancelled(): Promise<string> {
      const { orderId, paymentKey } = await confirmed('paid')
      const rollbackEntry = await write({ kind: 'ROLLBACK', delta: -sold, orderId })
      await client.query(`update orders set status = 'CANCELLED', rollback_entry = $2 where order_id = $1`, [
        orderId,
        rollbackEntry,
      ])
      await operate(orderId, 'CANCEL', paymentKey, { ...approved, ...holding })
      return orderId
    },
    async cancelling(fate: string): Promise<{ orderId: string; operationId: string }> {
      const { orderId, paymentKey } = await confirmed(fate)
      await client.query('update accounts set held = held + $2 where customer_id = $1', [customerId, sold])
      return { orderId, operationId: await operate(orderId, 'CANCEL', paymentKey, holding) }
    },
  }
}

/** Two cancels are under way: the gateway will approve one and refuse the other. Then the rest of the migrations. */
export async function migrateOldBooks() {
  const database: TestDatabase = await createTestDatabase({ template: 'template0' })
  const client = new pg.Client(database.connection)
  await client.connect()
  try {
    await migrate(client, listMigrations().slice(0, 2))
    const customerId = crypto.randomUUID()
    await client.query('insert into customers (customer_id) values ($1)', [customerId])
    await client.query('insert into accounts (customer_id) values ($1)', [customerId])
    const old = oldBookkeeper(client, customerId)
    const bought = await old.confirmed('paid')
    await old.spend(3, 'spent before')
    await old.cancelled()
    const approved = await old.cancelling('paid')
    const refused = await old.cancelling('kept')
    await migrate(client)
    return { database, customerId, bought, approved, refused }
  } finally {
    await client.end()
  }
}
