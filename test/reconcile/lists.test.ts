// The gateway's list: in pages, with overlaps, with thousands of rows in one second, or unavailable. Without the list a
// run has no result (rows R7 and R8 of the failure catalogue).
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Movement, MovementQuery } from '../../src/gateway/gateway.ts'
import { reconcile, reconcileDay } from '../../src/payments/books/reconcile.ts'
import { createOverrides, openKinds, operationStates } from '../support/service/recovery.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.database.query('truncate gateway_movements, reconciliations')
})

const from = new Date('2026-01-31T00:00:00+09:00')
const to = new Date('2026-02-01T00:00:00+09:00')
const lastSecond = new Date('2026-01-31T23:59:59+09:00')
const pageSize = 1_000

function movement(number: number, movedAt: Date, members: Partial<Movement> = {}): Movement {
  const name = `${number}`.padStart(5, '0')
  return {
    transactionKey: `tx_${name}`,
    paymentKey: `pay_${name}`,
    orderId: `shop-2-${name}`,
    direction: 'CAPTURE',
    amount: number,
    movedAt,
    ...members,
  }
}

/** A gateway that lists these movements in pages. Returns the queries it received. */
function list(movements: Movement[], overlap = 0): MovementQuery[] {
  const queries: MovementQuery[] = []
  overrides.listMovements = async (query) => {
    queries.push(query)
    const span = movements.filter(({ movedAt }) => movedAt >= query.from && movedAt <= query.to)
    const after = query.after === null ? 0 : span.findIndex(({ transactionKey }) => transactionKey === query.after) + 1
    const page = span.slice(Math.max(0, after - overlap), after + pageSize)
    const next = after + pageSize < span.length ? (page.at(-1)?.transactionKey ?? null) : null
    return { kind: 'page', movements: page, next }
  }
  return queries
}

const sum = (count: number) => (count * (count + 1)) / 2

async function runs(): Promise<{ cause?: string; finished?: boolean; isLeased?: boolean }[]> {
  return service.database.query(
    `select cause, finished_at is not null as finished, lease_until > now() as "isLeased"
     from reconciliations order by started_at`,
  )
}

for (const [what, movedAt, overlap] of [
  ['a second apart', (number: number) => new Date(from.getTime() + number * 1_000), 0],
  ['all in one second', () => new Date(from.getTime() + 60_000), 0],
  ['with pages that overlap', (number: number) => new Date(from.getTime() + number * 20_000), 7],
] as const) {
  test(`R7: 2,500 movements ${what}, in three pages: each is counted once`, async () => {
    const movements = Array.from({ length: 2_500 }, (_, index) => movement(index + 1, movedAt(index + 1)))
    const queries = list(movements, overlap)
    const result = await reconcile(service.payments, { from, to })
    assert.deepEqual([result.movements, result.captured, result.foreign], [2_500, sum(2_500), 2_500])
    assert.deepEqual(
      queries.map(({ after }) => after),
      [null, 'tx_01000', 'tx_02000'],
    )
    const [row] = await service.database.query('select count(*) as count from gateway_movements')
    assert.deepEqual(row, { count: 2_500 })
    const [{ cause, finished } = {}, ...others] = await runs()
    assert.deepEqual([cause, finished, others], ['COMMAND', true, []])
  })
}

test('R7: a span of several days is requested day by day, without a gap and without an overlap', async () => {
  const queries = list([movement(1, to), movement(2, lastSecond)])
  const result = await reconcile(service.payments, { from, to: new Date('2026-02-02T12:00:00+09:00') })
  assert.deepEqual(
    queries.map((query) => [query.from.toISOString(), query.to.toISOString()]),
    [
      ['2026-01-30T15:00:00.000Z', '2026-01-31T14:59:59.999Z'],
      ['2026-01-31T15:00:00.000Z', '2026-02-01T14:59:59.999Z'],
      ['2026-02-01T15:00:00.000Z', '2026-02-02T02:59:59.999Z'],
    ],
  )
  assert.deepEqual([result.movements, result.captured], [2, 3])
})

test('R7: movements outside of the span are not counted in this run, even when they were read before', async () => {
  list([movement(1, from), movement(2, lastSecond), movement(4, to)])
  const whole = await reconcile(service.payments, { from, to: new Date(to.getTime() + 1_000) })
  assert.deepEqual([whole.movements, whole.captured], [3, 7])
  const day = await reconcile(service.payments, { from, to })
  assert.deepEqual([day.movements, day.captured], [2, 3])
})

test('a page that the gateway returns at the second attempt is used', async () => {
  list([movement(1, from)])
  const { listMovements } = overrides
  let failures = 0
  overrides.listMovements = (query) => {
    failures += 1
    return failures === 1 ? Promise.resolve({ kind: 'unknown', code: 'ECONNRESET' }) : listMovements?.(query)
  }
  assert.equal((await reconcile(service.payments, { from, to })).movements, 1)
})

test('R8: a gateway that does not list its transactions: the run throws, has no result and is not finished; one on request shows at once that it has ended', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  const confirmed = await customer.confirmedOrder()
  await service.database.query(`update customers set created_at = now() - interval '36 hours'`)
  let asked = 0
  overrides.listMovements = async () => {
    asked += 1
    return { kind: 'unknown', code: 'ECONNREFUSED' }
  }
  const lookups = service.calls.fetchPayment
  const message = 'The gateway does not list its transactions (ECONNREFUSED): nothing concluded.'
  const span = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
  const impatient = { ...service.payments, settings: { ...service.payments.settings, retryFirstPauseMs: 1 } }
  await assert.rejects(reconcile(impatient, span), { message })
  await assert.rejects(reconcileDay(impatient, new AbortController().signal), { message })
  assert.equal(asked, 2 * 5)
  assert.equal(service.calls.fetchPayment, lookups)
  assert.deepEqual(await operationStates(service, orderId), [])
  assert.deepEqual([await customer.status(orderId), await customer.status(confirmed.orderId)], ['PENDING', 'CONFIRMED'])
  assert.deepEqual([...(await openKinds(service, orderId)), ...(await openKinds(service, confirmed.orderId))], [])
  const left = (await runs()).map(({ cause, finished, isLeased }) => `${cause} ${finished} ${isLeased}`)
  assert.deepEqual(left.sort(), ['COMMAND false false', 'DAILY false true'])
})
