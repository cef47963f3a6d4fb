// The home page over HTTP: today's sales, and the open items that need attention, with their age.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sumsOf } from '../../src/console/home/home.ts'
import { koreanDayOf } from '../../src/core/korean-days.ts'
import { readableRule, recordedAudit } from '../../src/payments/audit/audit.ts'
import { insertAudit } from '../../src/payments/audit/record.sql.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { settleAll } from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator

before(async () => {
  service = await startTestService({ settings: { operationWaitMs: 1 } })
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

test('before anything has happened everything is zero and nothing is missing', async () => {
  const home = await viewer.get('home')
  assert.deepEqual(home.orders, { PENDING: 0, CONFIRMED: 0, FAILED: 0, CANCELLED: 0, REFUNDED: 0 })
  assert.deepEqual([home.creditsOutstanding, home.today.revenue, home.today.conversion], [0, 0, null])
  assert.deepEqual([home.figuresUpTo, home.operations.count, home.discrepancies.count], [null, 0, 0])
  assert.deepEqual(home.gateway, { state: 'untried', since: null, heldBack: false })
  assert.deepEqual([home.days.length, home.audit], [30, null])
})

test('revenue is captured less refunded money; conversion is the share of created orders that were confirmed', async () => {
  const customer = await service.newCustomer()
  await customer.confirmedOrder('PRO')
  await customer.cancel((await customer.confirmedOrder('STANDARD')).paymentKey)
  await (await customer.paidOrder('BASIC', 'decline')).confirm()
  await customer.purchase('BASIC')
  const { today, month, orders, days, creditsOutstanding, asOf } = await viewer.get('home', { query: { days: '7' } })
  assert.deepEqual([today.captured, today.returned, today.revenue], [120_000, 20_000, 100_000])
  assert.deepEqual([today.ordersMade, today.ordersConfirmed, today.conversion], [4, 2, 0.5])
  assert.deepEqual([today.creditsSold, today.creditsTakenBack, today.creditsSpent], [131, 21, 0])
  assert.deepEqual(orders, { PENDING: 1, CONFIRMED: 1, FAILED: 1, CANCELLED: 1, REFUNDED: 0 })
  assert.equal(creditsOutstanding, 110)
  assert.deepEqual([month.revenue, today.to], [100_000, asOf])
  assert.deepEqual([days.length, days.at(-1)?.day], [7, koreanDayOf(new Date(asOf))])
  assert.equal(today.from, new Date(`${days.at(-1)?.day}T00:00:00+09:00`).toISOString())
})

test('no conversion is above one: an order made before midnight and confirmed after it counts in its day as confirmed alone', () => {
  const figure = (figure: 'orders made' | 'orders confirmed', count: number) => ({ figure, count, total: 0 })
  assert.equal(sumsOf([figure('orders made', 1), figure('orders confirmed', 2)]).conversion, 1)
})

test('open items are shown with their age, the answer of the gateway and the next try, which waits for the lease, and disappear when they are settled', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder('STANDARD')
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  const key = { customerId: customer.customerId, orderId: order.orderId }
  const { database } = service.payments
  await saveDiscrepancy(database, { kind: 'UNKNOWN_ORDER', subject: 'pay_newer', order: null, detail: {} })
  await saveDiscrepancy(database, { kind: 'CAPTURED', subject: order.orderId, order: key, detail: {} })
  await service.database.query(`update discrepancies set found_at = now() - interval '1 hour' where subject = $1`, [
    order.orderId,
  ])
  const finance = await api.newOperator('finance')
  const { operations, discrepancies, gateway } = await finance.get('home')
  assert.equal(operations.count, 1)
  const [open] = operations.oldest
  assert.deepEqual([open?.orderId, open?.customerId, open?.kind], [order.orderId, customer.customerId, 'CONFIRM'])
  assert.ok(open && open.ageSeconds >= 0 && open.nextAttemptAt !== null)
  const [{ at } = { at: '' }] = await service.database.query<{ at: Date }>(
    `update payment_operations set lease_until = settle_at + interval '1 minute' where state = 'OPEN' returning lease_until as at`,
  )
  const { oldest: leased } = (await finance.get('home')).operations
  assert.equal(leased[0]?.nextAttemptAt, new Date(at).toISOString())
  assert.deepEqual(
    [discrepancies.count, discrepancies.oldest.map(({ subject }) => subject)],
    [2, [order.orderId, 'pay_newer']],
  )
  assert.ok((discrepancies.oldest[0]?.ageSeconds ?? 0) >= 3_600)
  assert.equal(gateway.state, 'failing')
  await settleAll(service)
  const settled = await viewer.get('home')
  assert.deepEqual([settled.operations, settled.gateway.state], [{ count: 0, oldest: [] }, 'answering'])
})

test('books that were never audited are overdue two days after audits began to be recorded, and not before', async () => {
  const overdue = async () => {
    const { audit, isAuditOverdue } = await viewer.get('home')
    return [audit, isAuditOverdue]
  }
  const move = (by: string) =>
    service.database.query(`update schema_migrations set applied_at = applied_at + interval '${by}' where version = 17`)
  assert.deepEqual(await overdue(), [null, false])
  await move('-47 hours')
  assert.deepEqual(await overdue(), [null, false])
  await move('-2 hours')
  assert.deepEqual(await overdue(), [null, true])
  await move('49 hours')
})

test('the home page shows the last audit; an audit with violations lists them, and one of three days ago is overdue', async () => {
  const { database } = service.payments
  const { checked } = await recordedAudit(database, 'DAILY', { onUnwritten: assert.fail })
  const { audit, isAuditOverdue } = await viewer.get('home')
  assert.deepEqual([audit?.cause, audit?.violationCount, isAuditOverdue], ['DAILY', 0, false])
  assert.equal(
    audit?.rows,
    Object.values(checked).reduce((sum, rows) => sum + rows, 0),
  )
  const { customerId } = await service.newCustomer()
  const setBalance = (balance: number) =>
    service.database.queryUnguarded('update accounts set balance = $2 where customer_id = $1', [customerId, balance])
  await setBalance(5)
  await recordedAudit(database, 'COMMAND', { onUnwritten: assert.fail })
  await setBalance(0)
  const broken = (await viewer.get('home')).audit
  assert.deepEqual([broken?.cause, broken?.violationCount, broken?.isOnlyUnread], ['COMMAND', 1, false])
  const first = await viewer.get('audits', { query: { limit: '1' } })
  const next = await viewer.get('audits', { query: { limit: '1', cursor: first.nextCursor ?? '' } })
  assert.deepEqual(
    [...first.audits, ...next.audits].map(({ auditId }) => auditId),
    [broken?.auditId, audit?.auditId],
  )
  assert.equal(next.nextCursor, null)
  const found = await viewer.get('audit', { params: { auditId: broken?.auditId ?? '' } })
  assert.deepEqual(found.findings, [
    {
      invariant: 'I-1',
      rule: 'the balance is what the last entry of the ledger left',
      count: 1,
      subjects: [{ customerId }],
    },
  ])
  assert.equal(found.checked.accounts, checked.accounts + 1)
  assertRefused(await viewer.request('audit', { params: { auditId: crypto.randomUUID() } }), 'NOT000')
  const slow = { ...readableRule, count: 1, subjects: [{ scan: 'entries', from: null, rows: 100 }] }
  const wrong = { invariant: 'I-1', rule: 'no balance has ever been negative', count: 1, subjects: [] }
  for (const findings of [[slow, wrong], [slow]]) {
    const record = { auditId: crypto.randomUUID(), cause: 'DAILY', tookMs: 1, rules: 2, checked } as const
    await insertAudit(database, { ...record, violationCount: findings.length, findings })
    const last = (await viewer.get('home')).audit
    assert.deepEqual([last?.auditId, last?.isOnlyUnread], [record.auditId, findings.length === 1])
  }
  const moveAudits = (days: number) =>
    service.database.query(
      `alter table audits disable trigger user;
       update audits set begun_at = begun_at + ${days} * interval '1 day', ended_at = ended_at + ${days} * interval '1 day';
       alter table audits enable trigger user`,
    )
  await moveAudits(-3)
  assert.equal((await viewer.get('home')).isAuditOverdue, true)
  await moveAudits(3)
})

test('a number of days that the page does not offer is refused', async () => {
  assertRefused(await viewer.request('home', { query: { days: '31' } as never }), 'VAL003')
})
