// The sums of every file that the console writes, compared with the ledger and with what clients and gateway know, over a random
// history of purchases, cancels, refunds, accepted parts, spends, holds, reversals and adjustments.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { forSeeds, type Random } from '../../harness/random.ts'
import { until } from '../../harness/until.ts'
import { koreanDayOf } from '../../src/core/korean-days.ts'
import { adjust } from '../../src/credits/adjustments/adjust.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import type { TestCustomer } from '../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
let api: ConsoleApi
let finance: Operator

before(async () => {
  service = await startSpendingService({ settings: { pendingOrdersPerCustomer: 0 } })
  api = await openConsoleApi(service)
  finance = await api.newOperator('finance')
})
after(() => closeAll(api, service))

const names = ['BASIC', 'STANDARD', 'PRO'] as const

/** What money can do, and what credits can. */
function stepsOf(customer: TestCustomer, random: Random) {
  const { internal, payments, sandbox } = service
  const { customerId } = customer
  const credits = () => random.integer(1, 9)
  return [
    () => customer.purchase(random.pick(names)),
    () => customer.confirmedOrder(random.pick(names)),
    () => customer.confirmedOrder('PRO'),
    async () => (await customer.paidOrder('STANDARD', 'decline')).confirm(),
    async () => customer.cancel((await customer.confirmedOrder('STANDARD')).paymentKey),
    async () => refund(payments, { orderId: (await customer.confirmedOrder('PRO')).orderId, reason: 'a story' }),
    async () => {
      const { orderId } = await customer.confirmedOrder('PRO')
      await internal.spend(customerId, credits())
      const quote = await internal.refundQuote(customerId, orderId)
      if (quote.status === 200) await internal.refund(customerId, orderId, quote.body.data)
    },
    async () => {
      const { orderId, paymentKey } = await customer.confirmedOrder('PRO')
      await sandbox.cancel(paymentKey, 3_000)
      await acceptPartOf(payments, { customerId, orderId }, {})
    },
    () => internal.spend(customerId, credits()),
    async () => {
      const reference = crypto.randomUUID()
      await internal.spend(customerId, credits(), reference)
      await internal.reverse(customerId, reference, { credits: 1 })
    },
    async () => {
      const held = await internal.hold(customerId, credits())
      if (held.status === 201 && random.chance(0.5)) await internal.capture(customerId, held.body.data.holdId, 1)
    },
    () => {
      const adjustment = { customerId, adjustmentId: crypto.randomUUID(), reason: 'a story', actor: 'kim' }
      return adjust(payments.database, { ...adjustment, kind: 'GOODWILL', credits: credits() }, limits)
    },
  ]
}

const limits = { perDay: 10_000, approvalAbove: 10_000 }

type Row = Record<string, string>

async function linesOf(path: string): Promise<Row[]> {
  const text = await (await finance.save(path)).text()
  const [head = '', ...lines] = text.split('\r\n').slice(0, -1)
  const columns = head.split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, place) => [columns[place] ?? '', value])))
}

const sum = (rows: Row[], column: string) => rows.reduce((total, row) => total + Number(row[column] ?? Number.NaN), 0)

async function one<Sums extends object>(text: string): Promise<Sums> {
  const [row] = await service.database.query<Sums>(text)
  return row ?? assert.fail('no row')
}

test('the sums of orders, payments, refunds, days, liability and statements are those of the ledger', async () => {
  const customers: TestCustomer[] = []
  await forSeeds(4, async (random, seed) => {
    const customer = await service.newCustomer(`Customer ${seed}`)
    customers.push(customer)
    await customer.confirmedOrder('PRO')
    const steps = stepsOf(customer, random)
    for (const step of random.shuffled([...steps, ...steps])) await step()
  })
  const day = koreanDayOf(new Date())
  const span = `from=${day}&to=${day}`
  const { reconciliationId } = await finance.get('reconcile', { body: { from: day, to: day, reason: 'a story' } })
  const run = () => finance.get('run', { params: { reconciliationId } })
  await until('the run has ended', async () => (await run()).state === 'finished')

  const books = await one<Record<string, number>>(
    `select (select sum(amount) from orders)::float8 as ordered,
       (select sum(amount) from payment_operations where kind = 'CONFIRM' and state = 'APPROVED')::float8 as paid,
       (select sum(amount) from payment_operations
        where kind in ('CANCEL', 'REFUND', 'PART') and state = 'APPROVED')::float8 as returned,
       (select sum(delta) from ledger_entries where kind in ('GRANT', 'ROLLBACK', 'REFUND'))::float8 as bought,
       (select sum(balance) from accounts)::float8 as balance, (select sum(adjusted) from accounts)::float8 as adjusted`,
  )
  const { ordered = 0, paid = 0, returned = 0, bought, balance = 0, adjusted = 0 } = books
  assert.ok(returned > 0 && adjusted > 0, JSON.stringify(books))

  const orders = await linesOf(`/orders.csv?${span}`)
  assert.deepEqual([sum(orders, 'amount'), sum(orders, 'refundedAmount')], [ordered, returned])
  const payments = await linesOf(`/books/payments.csv?${span}`)
  assert.deepEqual([sum(payments, 'krw'), sum(payments, 'credits')], [paid - returned, bought])
  assert.equal(sum(payments, 'supply') + sum(payments, 'vat'), paid - returned)
  const refunds = payments.filter(({ kind }) => kind !== 'CONFIRM')
  assert.equal(sum(refunds, 'krw'), -returned)
  const listed = await finance.get('payments', { query: { from: day, to: day, group: 'refunded' } })
  assert.equal(listed.matched?.amount, -returned)
  const [today] = await linesOf(`/books/days.csv?${span}`)
  assert.deepEqual(
    [today?.booksCaptured, today?.booksCancelled, today?.booksNet, today?.gatewayNet, today?.difference].map(Number),
    [paid, returned, paid - returned, paid - returned, 0],
  )
  const { netPaid, captured } = (await finance.get('home')).today
  assert.deepEqual([captured, netPaid], [paid, paid - returned])

  const liability = await linesOf(`/books/liability.csv?to=${day}`)
  assert.equal(sum(liability, 'unspent'), balance - adjusted)
  for (const lot of liability) {
    assert.equal(
      Number(lot.credits),
      ['used', 'takenBack', 'unspent'].reduce((total, name) => total + Number(lot[name]), 0),
    )
    assert.ok(Number(lot.value) <= Number(lot.amount), JSON.stringify(lot))
  }
  let moved = 0
  for (const { customerId, credits } of customers) {
    const entries = await linesOf(`/customers/${customerId}/statement.csv`)
    const own = sum(entries, 'delta')
    assert.deepEqual(
      [own, Number(entries.at(-1)?.availableAfter)],
      [Number(entries.at(-1)?.balanceAfter), await credits()],
    )
    moved += own
  }
  assert.equal(moved, balance)
})
