// The home page over HTTP: today's sales, and the open items that need attention, with their age.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Data } from '../../src/console/contract.ts'
import { homeHandlers, sumsOf } from '../../src/console/home/home.ts'
import { addDays, koreanDayOf } from '../../src/core/korean-days.ts'
import { addEndpoint, removeEndpoint } from '../../src/events/endpoints.ts'
import { readableRule, recordedAudit } from '../../src/payments/audit/audit.ts'
import { type AuditRecord, insertAudit } from '../../src/payments/audit/record.sql.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { insertNotification } from '../../src/payments/recovery/notifications.sql.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { spend } from '../support/service/orders.ts'
import { settleAll } from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestService, testPeppers } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator

type Checked = { checked: AuditRecord['checked'] }

before(async () => {
  service = await startTestService({ settings: { operationWaitMs: 1 } })
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

test('before anything has happened everything is zero and nothing is missing', async () => {
  const home = await viewer.get('home')
  assert.deepEqual(home.orders, { PENDING: 0, CONFIRMED: 0, FAILED: 0, CANCELLED: 0, REFUNDED: 0 })
  assert.deepEqual([home.creditsOutstanding, home.today.netPaid, home.today.conversion], [0, 0, null])
  assert.deepEqual([home.figuresUpTo, home.operations.count, home.discrepancies.count], [null, 0, 0])
  assert.deepEqual(home.gateway, { state: 'untried', since: null, heldBack: false })
  assert.deepEqual([home.days.length, home.audit], [30, null])
})

test('net payments are captured less refunded money; conversion is the share of created orders that were confirmed', async () => {
  const customer = await service.newCustomer()
  await customer.confirmedOrder('PRO')
  await customer.cancel((await customer.confirmedOrder('STANDARD')).paymentKey)
  await (await customer.paidOrder('BASIC', 'decline')).confirm()
  await customer.purchase('BASIC')
  const { today, month, orders, days, creditsOutstanding, asOf } = await viewer.get('home', { query: { days: '7' } })
  assert.deepEqual([today.captured, today.returned, today.netPaid], [120_000, 20_000, 100_000])
  assert.deepEqual([today.ordersMade, today.ordersConfirmed, today.conversion], [4, 2, 0.5])
  assert.deepEqual([today.creditsSold, today.creditsTakenBack, today.creditsSpent], [131, 21, 0])
  assert.deepEqual(orders, { PENDING: 1, CONFIRMED: 1, FAILED: 1, CANCELLED: 1, REFUNDED: 0 })
  assert.equal(creditsOutstanding, 110)
  assert.deepEqual([month.netPaid, today.to], [100_000, asOf])
  assert.deepEqual([days.length, days.at(-1)?.day], [7, koreanDayOf(new Date(asOf))])
  assert.equal(today.from, new Date(`${days.at(-1)?.day}T00:00:00+09:00`).toISOString())
})

test('the list behind a figure has its number and its sum, by the day on which the books recorded it', async () => {
  const customer = await service.newCustomer()
  const used = await customer.confirmedOrder('PRO')
  await spend(service, customer.customerId, 10)
  const finance = await api.newOperator('finance')
  const params = { orderId: used.orderId }
  const { unused } = await finance.get('refundQuote', { params })
  await finance.get('refundUnused', {
    params,
    body: { amount: unused?.amount ?? 0, credits: unused?.credits ?? 0, reason: 'unused' },
  })
  const { today } = await viewer.get('home')
  const day = koreanDayOf(new Date())
  const before = addDays(day, -1)
  const { matched: none } = await viewer.get('payments', { query: { from: before, to: before } })
  assert.deepEqual(none, { count: 0, amount: 0 })
  const listed = async (group?: 'paid' | 'refunded' | 'failed') => {
    const query = { from: day, to: day, limit: '200', ...(group && { group }) }
    const { matched, payments } = await viewer.get('payments', { query })
    const amount = payments.reduce((sum, payment) => sum + payment.amount, 0)
    assert.deepEqual(matched, { count: payments.length, amount })
    return { ...matched, credits: payments.reduce((sum, { credits }) => sum + credits, 0) }
  }
  const [all, paid, refunded, failed] = [
    await listed(),
    await listed('paid'),
    await listed('refunded'),
    await listed('failed'),
  ]
  assert.equal(all.amount, today.netPaid)
  assert.deepEqual([paid.count, paid.amount, paid.credits], [today.ordersConfirmed, today.captured, today.creditsSold])
  assert.deepEqual([refunded.amount, refunded.credits], [-today.returned, -today.creditsTakenBack])
  assert.equal(failed.count, today.ordersFailed)
})

test('no conversion is above one: an order made before midnight and confirmed after it counts in its day as confirmed alone', () => {
  const figure = (figure: 'orders made' | 'orders confirmed', count: number) => ({ figure, count, total: 0 })
  assert.equal(sumsOf([figure('orders made', 1), figure('orders confirmed', 2)]).conversion, 1)
})

test('open items are shown with their age, the answer of the gateway and the next try, which waits for the lease, and disappear when they are settled', async () => {
  const customer = await service.newCustomer('In Doubt')
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
    [discrepancies.count, discrepancies.oldest.map((each) => [each.subject, each.customerName])],
    [
      2,
      [
        [order.orderId, 'In Doubt'],
        ['pay_newer', null],
      ],
    ],
  )
  assert.ok((discrepancies.oldest[0]?.ageSeconds ?? 0) >= 3_600)
  assert.equal(gateway.state, 'failing')
  await settleAll(service)
  const settled = await viewer.get('home')
  assert.deepEqual([settled.operations, settled.gateway.state], [{ count: 0, oldest: [] }, 'answering'])
})

test('of the operations in progress the ten oldest are shown, oldest first, each with its customer, its own attempts and the code of the gateway, and all are counted', async () => {
  const customer = await service.newCustomer('Slow Payers')
  const made: string[] = []
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 11 }])
  for (let count = 0; count < 11; count += 1) {
    const order = await customer.paidOrder('BASIC')
    assertRefused(await order.confirm(), 'SVC001')
    made.push(order.orderId)
  }
  const { operations } = await viewer.get('home')
  assert.deepEqual(
    operations.oldest.map((each) => [each.orderId, each.customerName, each.attempts, each.gatewayCode]),
    made.slice(0, 10).map((orderId) => [orderId, 'Slow Payers', 1, 'FAILED_INTERNAL_SYSTEM_PROCESSING']),
  )
  assert.equal(operations.count, 11)
  await settleAll(service)
})

test('of the open discrepancies the ten oldest are shown, oldest first, and all are counted', async () => {
  const { count } = (await viewer.get('home')).discrepancies
  await service.database.query(
    `insert into discrepancies (subject, kind, detail, found_at)
     select 'order ' || n, 'UNKNOWN_ORDER', '{}', now() - n * interval '1 day' from generate_series(1, 11) n`,
  )
  const finance = await api.newOperator('finance')
  const { discrepancies } = await finance.get('home')
  assert.deepEqual(
    discrepancies.oldest.map(({ subject }) => subject),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((days) => `order ${days}`),
  )
  assert.equal(discrepancies.count, count + 11)
  await service.database.query(
    `update discrepancies set (resolved_at, resolution) = (now(), 'seen') where subject like 'order %'`,
  )
})

test('of the adjustments that wait for a second person the ten oldest are shown, of all customers', async () => {
  const admins = [await api.newOperator('admin'), await api.newOperator('admin')]
  const requested: string[] = []
  for (let count = 0; count < 11; count += 1) {
    const admin = admins[count % 2] ?? assert.fail('there are two')
    const params = { customerId: (await service.newCustomer()).customerId }
    const body = { adjustmentId: crypto.randomUUID(), credits: 201, reason: 'a long outage' }
    assert.equal((await admin.get('grantGoodwill', { params, body })).state, 'PENDING')
    requested.push(body.adjustmentId)
  }
  const { pendingAdjustments } = await viewer.get('home')
  assert.deepEqual(
    pendingAdjustments.map(({ adjustmentId }) => adjustmentId),
    requested.slice(0, 10),
  )
})

test('events that are not delivered, dead ones, and notifications that are not processed are counted, with the age of the oldest event', async () => {
  const customer = await service.newCustomer()
  const { database } = service.payments
  const { endpointId } = await addEndpoint(database, testPeppers[0], { url: 'http://127.0.0.1:1/', types: [] })
  assert.deepEqual((await viewer.get('home')).events, { undelivered: 0, dead: 0, oldestSeconds: null })
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await customer.confirmedOrder()
  const move = (by: string) =>
    service.database.queryUnguarded(
      `update events set created_at = created_at + interval '${by}' where customer_id = $1`,
      [customer.customerId],
    )
  await move('-90 minutes')
  await service.database.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     values ($1, $2, 1, 80, 'HTTP 500')`,
    [customer.customerId, endpointId],
  )
  const notified = { eventType: 'PAYMENT_STATUS_CHANGED', status: 'DONE', orderId, paymentKey }
  for (const transmissionId of ['one', 'two', 'three'])
    await insertNotification(database, { ...notified, transmissionId })
  const { events, waitingNotifications } = await viewer.get('home')
  const { oldestSeconds, ...counted } = events
  assert.deepEqual([counted, waitingNotifications], [{ undelivered: 2, dead: 1 }, 3])
  assert.ok(oldestSeconds !== null && oldestSeconds >= 5_400 && oldestSeconds < 5_460, `${oldestSeconds}`)
  await move('90 minutes')
  await removeEndpoint(database, endpointId)
})

test('the home page tells when the circuit breaker holds calls back', async () => {
  const { payments } = service
  const { home } = homeHandlers({ database: payments.database, payments, isHeldBack: () => true })
  assert.equal((await home({ query: {} } as Parameters<typeof home>[0])).gateway.heldBack, true)
})

test('thirty days are shown where no number is asked for, today last', async () => {
  const { days, asOf } = await viewer.get('home')
  assert.deepEqual([days.length, days.at(-1)?.day], [30, koreanDayOf(new Date(asOf))])
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

test('the home page shows the last audit, whatever started it, with all rows that it read, and the page of an audit lists its violations', async () => {
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
})

test('an audit is known to have only unread rows when it found nothing else', async () => {
  const { database } = service.payments
  const slow = { ...readableRule, count: 1, subjects: [{ scan: 'entries', from: null, rows: 100 }] }
  const wrong = { invariant: 'I-1', rule: 'no balance has ever been negative', count: 1, subjects: [] }
  const [{ checked } = assert.fail('nothing was audited')] = await service.database.query<Checked>(
    'select checked from audits order by ended_at desc limit 1',
  )
  for (const findings of [[slow, wrong], [slow], []]) {
    const record = { auditId: crypto.randomUUID(), cause: 'DAILY', tookMs: 1, rules: 2, checked } as const
    await insertAudit(database, { ...record, violationCount: findings.length, findings })
    const last = (await viewer.get('home')).audit
    assert.deepEqual([last?.auditId, last?.isOnlyUnread], [record.auditId, findings.length === 1])
  }
})

test('audits are listed newest first, page by page, each once, also those that ended at the same moment', async () => {
  await service.database.query(
    `insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
     select gen_random_uuid(), 'COMMAND', now(), 1, checked, 0, '[]'
     from (select checked from audits order by ended_at desc limit 1) a cross join generate_series(1, 3)`,
  )
  const listed: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Data<'audits'> = await viewer.get('audits', { query: { limit: '2', ...(cursor && { cursor }) } })
    listed.push(...page.audits.map(({ auditId }) => auditId))
    cursor = page.nextCursor
  }
  const rows = await service.database.query<{ id: string }>(
    'select audit_id as id from audits order by ended_at desc, audit_id desc',
  )
  assert.ok(rows.length > 3)
  assert.deepEqual(
    listed,
    rows.map(({ id }) => id),
  )
})

test('books whose last audit ended more than two days ago are overdue, and not before', async () => {
  const move = (hours: number) =>
    service.database.query(
      `alter table audits disable trigger user;
       update audits set begun_at = begun_at + ${hours} * interval '1 hour', ended_at = ended_at + ${hours} * interval '1 hour';
       alter table audits enable trigger user`,
    )
  const isOverdue = async () => (await viewer.get('home')).isAuditOverdue
  assert.equal(await isOverdue(), false)
  await move(-47)
  assert.equal(await isOverdue(), false)
  await move(-2)
  assert.equal(await isOverdue(), true)
  await move(49)
})

test('a number of days that the page does not offer is refused', async () => {
  assertRefused(await viewer.request('home', { query: { days: '31' } as never }), 'VAL003')
})
