// Section 3: the states, the table of transitions, and the same rule in the database.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type OrderStatus, operationKinds, orderStatuses, outcomeOf } from '../../src/payments/kinds.ts'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'

test('3: the states are those of the specification', () => {
  assert.deepEqual(orderStatuses, ['PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED'])
})

/** For every outcome: kind, state, from, to, and the ledger entry. */
const specified = {
  CONFIRM_APPROVED: ['CONFIRM', 'APPROVED', 'PENDING', 'CONFIRMED', 'GRANT'],
  CONFIRM_REJECTED: ['CONFIRM', 'REJECTED', 'PENDING', 'FAILED', null],
  EXPIRED: ['CONFIRM', 'EXPIRED', 'PENDING', 'FAILED', null],
  CANCEL_APPROVED: ['CANCEL', 'APPROVED', 'CONFIRMED', 'CANCELLED', 'ROLLBACK'],
  CANCEL_REJECTED: ['CANCEL', 'REJECTED', 'CONFIRMED', 'CONFIRMED', 'RELEASE'],
  PLATFORM_REFUNDED: ['REFUND', 'APPROVED', 'CONFIRMED', 'REFUNDED', 'REFUND'],
  REFUND_REJECTED: ['REFUND', 'REJECTED', 'CONFIRMED', 'CONFIRMED', 'RELEASE'],
  RETURN_APPROVED: ['RETURN', 'APPROVED', 'FAILED', 'FAILED', null],
  PART_ACCEPTED: ['PART', 'APPROVED', 'CONFIRMED', 'CONFIRMED', 'REFUND'],
  RETURN_REJECTED: ['RETURN', 'REJECTED', 'FAILED', 'FAILED', null],
} as const

/** The rows of the code's table, in the form of the one above. */
const rows = Object.entries(operationKinds).flatMap(([kind, { from, outcomes }]) =>
  Object.entries(outcomes).map(([state, { to, entry }]) => [kind, state, from, to, entry] as const),
)

test('3: the table has these events and no others', () => {
  const names = (each: readonly (string | null)[]) => each.slice(0, 2).join(' ')
  assert.deepEqual(rows.map(names).sort(), Object.values(specified).map(names).sort())
})

for (const [event, row] of Object.entries(specified)) {
  const [kind, state, from, to] = row
  test(`3: ${event} changes an order from ${from} to ${to}, and has no other transition`, () => {
    assert.deepEqual(
      rows.filter((each) => each[0] === kind && each[1] === state),
      [row],
    )
  })
}

test('3: an event has one source state, and an event that is not in the table is a bug', () => {
  assert.equal(new Set(rows.map(([kind, state]) => `${kind} ${state}`)).size, rows.length)
  assert.equal(outcomeOf('CANCEL', 'EXPIRED'), undefined)
  assert.equal(outcomeOf('CONFIRM', 'OPEN'), undefined)
  assert.throws(() => outcomeOf('PAID_TWICE' as never, 'APPROVED'), TypeError)
})

test('3: an outcome sends an event and counts an order exactly where it changes the state', () => {
  for (const [kind, state, from, to] of rows) {
    const { event, orderCounter } = outcomeOf(kind as 'CONFIRM', state as 'EXPIRED') ?? assert.fail()
    const name = to.toLowerCase()
    assert.equal(event, kind === 'PART' ? 'credits.adjusted' : from === to ? null : `order.${name}`, `${kind} ${state}`)
    assert.equal(orderCounter, from === to ? null : state === 'EXPIRED' ? 'expired' : name, `${kind} ${state}`)
  }
})

/** The pairs of section 3. REFUNDED is an action of the platform. */
const allowed = ['PENDING CONFIRMED', 'PENDING FAILED', 'CONFIRMED CANCELLED', 'CONFIRMED REFUNDED']

test('3: every transition of the table is in the specification', () => {
  for (const [, , from, to] of rows) assert.ok(from === to || allowed.includes(`${from} ${to}`))
})

let database: TestDatabase
const customerId = '11111111-1111-4111-8111-111111111111'
before(async () => {
  database = await createTestDatabase()
  await database.query('insert into customers (customer_id) values ($1)', [customerId])
})
after(() => database.drop())

let orders = 0

type Numbers = { grant: number; rollback: number; refund: number }

/** An order in that state, with its operations and with ledger entries for the grant, rollback and refund it may need. */
async function insertOrder(status: OrderStatus): Promise<{ orderId: string; numbers: Numbers }> {
  orders += 1
  const orderId = `order-${orders}`
  const numbers = { grant: orders * 3 - 2, rollback: orders * 3 - 1, refund: orders * 3 }
  await database.queryUnguarded(
    `insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, entry_hash)
    values ($1, $3, 'GRANT', 1, 1, $2, sha256('')), ($1, $4, 'ROLLBACK', -1, 0, $2, sha256('')),
      ($1, $5, 'REFUND', -1, 0, $2, sha256(''))`,
    [customerId, orderId, ...Object.values(numbers)],
  )
  await database.queryUnguarded(
    `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, status, ${entries.names})
    values ($1, $2, 'BASIC', 'CARD', 1000, 1, $3, ${entries.values})`,
    [customerId, orderId, status, ...entries.of(status, numbers)],
  )
  await database.queryUnguarded(
    `insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, reason, credits_held,
                                     state, holder_id, lease_until, closed_at, closed_by)
    select $1, gen_random_uuid(), $2, kind, kind || $2, 1000, reason, held, state, $1, now(), now(), $1
    from (values ('CONFIRM', 'APPROVED', null, 0), ('CONFIRM', 'REJECTED', null, 0), ('CANCEL', 'APPROVED', 'no', 1),
                 ('REFUND', 'APPROVED', 'no', 1)) as o (kind, state, reason, held)`,
    [customerId, orderId],
  )
  return { orderId, numbers }
}

const confirmedAt = new Date()

/** The columns that the check constraints require of an order in each state. */
const entries = {
  names: 'grant_entry, confirmed_at, rollback_entry, refund_entry, refund_shortfall',
  values: '$4::bigint, $5::timestamptz, $6::bigint, $7::bigint, $8::bigint',
  of(status: OrderStatus, { grant, rollback, refund }: Numbers) {
    const granted = status === 'CONFIRMED' || status === 'CANCELLED' || status === 'REFUNDED'
    const rolledBack = status === 'CANCELLED' ? rollback : null
    const refunded = status === 'REFUNDED' ? [refund, 0] : [null, null]
    return [...(granted ? [grant, confirmedAt] : [null, null]), rolledBack, ...refunded]
  },
}

for (const from of orderStatuses) {
  for (const to of orderStatuses) {
    const possible = from === to || allowed.includes(`${from} ${to}`)
    test(`3: the database ${possible ? 'allows' : 'refuses'} the transition of an order from ${from} to ${to}`, async () => {
      const { orderId, numbers } = await insertOrder(from)
      const update = database.query(
        `update orders set status = $3, (${entries.names}) = (${entries.values})
        where customer_id = $1 and order_id = $2`,
        [customerId, orderId, to, ...entries.of(to, numbers)],
      )
      if (possible) await update
      else await assert.rejects(update, { code: '23001', message: `an order does not go from ${from} to ${to}` })
      const [order] = await database.query<{ status: string }>('select status from orders where order_id = $1', [
        orderId,
      ])
      assert.equal(order?.status, possible ? to : from)
    })
  }
}
