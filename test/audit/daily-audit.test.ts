// The worker audits the books once a Korean day: whatever the gateway answers, by one process of many, again after a failure.
// An overdue hold is a violation only when a worker has had the time to end it.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createDailyAudit } from '../../src/payments/audit/daily-audit.ts'
import { closeDay } from '../../src/payments/books/reconcile.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { logRules } from '../../src/transparency/check.ts'
import { paymentJobs } from '../../src/worker/jobs.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { createOverrides, openContexts } from '../support/service/recovery.ts'
import { startTestService, type TestService, testPeppers, testSigner } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: TestService
// No audit can be removed: each test has books of its own.
beforeEach(async () => {
  service = await startTestService({ wrapGateway })
  await service.newCustomer()
  await service.database.query(`update customers set created_at = now() - interval '3 days'`)
})
afterEach(async () => {
  clear()
  await service.close()
})

const stopping = new AbortController().signal
const minuteMs = 60_000

type AuditRow = { cause: string; count: number; first: { rule: string } | null }
const auditRows = () =>
  service.database.query<AuditRow>(
    `select cause, violation_count as count, findings -> 0 as first from audits order by ended_at`,
  )
const clean = { cause: 'DAILY', count: 0, first: null }

/** Ends the claim of a process that has died or failed. */
const expireClaim = () => service.database.query('update daily_audits set lease_until = now()')

test('the day is audited once although one of its payments cannot be compared', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.paidOrder()
  await service.sandbox.capture(paymentKey, orderId, amount)
  overrides.listMovements = async ({ from }) => {
    const movedAt = new Date(from.getTime() + minuteMs)
    const movement = { transactionKey: `tx_${from.getTime()}`, paymentKey, orderId, amount, movedAt }
    return { kind: 'page', movements: [{ ...movement, direction: 'CAPTURE' as const }], next: null }
  }
  overrides.fetchPayment = async () => ({ kind: 'unknown', code: 'SOMETHING_NEW' })
  await service.database.query(`update customers set created_at = now() - interval '3 days'`)
  const dailyAudit = createDailyAudit(service.payments)
  for (let round = 0; round < 2; round += 1) {
    await assert.rejects(closeDay(service.payments, stopping), /could not be compared yet/)
    assert.deepEqual(await dailyAudit(stopping), { more: false })
  }
  assert.deepEqual(await auditRows(), [clean])
})

test('of six workers one audits the day, and the day is not audited again', async () => {
  const others = await openContexts(service, 6)
  try {
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(others.contexts.map((context) => createDailyAudit(context)(stopping)))
      await expireClaim()
    }
  } finally {
    await others.close()
  }
  assert.deepEqual(await auditRows(), [clean])
})

test('an audit that failed or could not be stored is repeated, and not repeated after it succeeded', async () => {
  let fails: RegExp | undefined = /^payments\.auditOrders$/
  const failing = wrapDatabase(service.payments.database, async (statement, send) => {
    if (fails?.test(statement.name)) throw new Error('away')
    return send()
  })
  const dailyAudit = createDailyAudit({ ...service.payments, database: failing })
  await assert.rejects(dailyAudit(stopping), /away/)
  await dailyAudit(stopping)
  assert.deepEqual(await auditRows(), [], 'the next try waits until the claim expires')
  await expireClaim()
  fails = /^payments\.insertDailyAudit$/
  await assert.rejects(dailyAudit(stopping), /not on record/)
  assert.deepEqual(await auditRows(), [])
  await expireClaim()
  fails = undefined
  await dailyAudit(stopping)
  assert.deepEqual(await auditRows(), [clean])
  await expireClaim()
  await dailyAudit(stopping)
  assert.deepEqual(await auditRows(), [clean])
})

test('an audit that another process has taken over stores no second row', async () => {
  let slept = false
  const sleeping = wrapDatabase(service.payments.database, async (statement, send) => {
    if (statement.name === 'payments.insertDailyAudit' && !slept) {
      slept = true
      await expireClaim()
      await createDailyAudit(service.payments)(stopping)
    }
    return send()
  })
  await assert.rejects(createDailyAudit({ ...service.payments, database: sleeping })(stopping), /not on record/)
  assert.deepEqual(await auditRows(), [clean])
})

test('a statement whose answer is lost after its commit is repeated: the audit is claimed and stored once', async () => {
  const repeating = wrapDatabase(service.payments.database, async (statement, send) => {
    if (/^payments\.(claim|insert)DailyAudit$/.test(statement.name)) await send()
    return send()
  })
  await createDailyAudit({ ...service.payments, database: repeating })(stopping)
  assert.deepEqual(await auditRows(), [clean])
})

for (const { title, begun, ended = begun, audits } of [
  { title: 'the previous version has already audited the day: no second audit', begun: '0', audits: 1 },
  { title: 'the previous version has audited the day before: the day is audited', begun: '1 day', audits: 2 },
  {
    title:
      'an audit of the previous version that began before the day was due, and ended after it, is not that of the day',
    begun: '1 day',
    ended: '0',
    audits: 2,
  },
]) {
  test(title, async () => {
    await service.database.query(
      `insert into audits (audit_id, cause, begun_at, ended_at, rules, checked, violation_count, findings)
       values (gen_random_uuid(), 'DAILY', now() - $1::interval, now() - $2::interval, 1, '{}', 0, '[]')`,
      [begun, ended],
    )
    await createDailyAudit(service.payments)(stopping)
    assert.equal((await auditRows()).length, audits)
  })
}

test('books whose first customer was created today are not audited yet', async () => {
  await service.database.query('update customers set created_at = now()')
  await createDailyAudit(service.payments)(stopping)
  assert.deepEqual(await auditRows(), [])
})

test('the daily audit of the worker checks the signatures of the transparency log by the secrets of the service', async () => {
  const customer = await service.newCustomer()
  await customer.confirmedOrder()
  await service.database.query(`update customers set created_at = now() - interval '3 days'`)
  const append = createAppendToLog(service.payments.database, testSigner, { freshMs: 0 })
  while ((await append()).more);
  const [head] = await service.database.query<{ note: string }>('select note from log_head')
  const setNote = (note: string) => service.database.queryUnguarded('update log_head set note = $1', [note])
  const note = head?.note ?? ''
  // Another letter within the signature.
  await setNote(`${note.slice(0, -20)}${note.at(-20) === 'A' ? 'B' : 'A'}${note.slice(-19)}`)
  const jobs = paymentJobs(service.payments, testPeppers)
  await jobs.find(({ name }) => name === 'daily audit')?.run(stopping)
  await setNote(note)
  const [audited] = await auditRows()
  assert.deepEqual([audited?.count, audited?.first?.rule], [1, logRules.signed.rule])
})

test('a broken rule is logged as an error and stored', async () => {
  const { customerId } = await service.newCustomer()
  const setBalance = (balance: number) =>
    service.database.queryUnguarded('update accounts set balance = $2 where customer_id = $1', [customerId, balance])
  const logged: string[] = []
  const log = { warn: () => undefined, error: (_fields: object, message: string) => logged.push(message) as never }
  await setBalance(5)
  await createDailyAudit({ ...service.payments, log })(stopping)
  await setBalance(0)
  assert.deepEqual(logged, ['the books break their own rules'])
  const [row] = await service.database.query(
    `select violation_count as count, findings #> '{0,subjects,0}' as subject from audits`,
  )
  assert.deepEqual(row, { count: 1, subject: { customerId } })
})

/** Runs the worker with these pauses before the day is due, and then the audit of the day. */
async function auditedAfter(minutes: number[]): Promise<AuditRow[]> {
  let now = Date.now()
  const dailyAudit = createDailyAudit(service.payments, { clock: () => now })
  await service.database.query('update customers set created_at = now()')
  for (const pause of minutes) {
    now += pause * minuteMs
    await dailyAudit(stopping)
  }
  assert.deepEqual(await auditRows(), [])
  await service.database.query(`update customers set created_at = now() - interval '3 days'`)
  now += minuteMs
  await dailyAudit(stopping)
  return auditRows()
}

async function overdueHold(context: PaymentContext): Promise<() => Promise<unknown>> {
  const customer = await service.newCustomer()
  await customer.confirmedOrder()
  const hold = { holdId: crypto.randomUUID(), credits: 1, reference: crypto.randomUUID(), serviceId: 'svc_test' }
  await context.credits.openHold({ customerId: customer.customerId, ...hold, expiresInSeconds: 3_600 })
  const expire = 'update holds set expires_at = now() + $2::interval where hold_id = $1'
  await service.database.queryUnguarded(expire, [hold.holdId, '-1 day'])
  return () => service.database.queryUnguarded(expire, [hold.holdId, '1 day'])
}

const everyMinute = (minutes: number) => Array.from({ length: minutes }, () => 1)
for (const { when, minutes, isViolation } of [
  { when: 'that has just started', minutes: [], isViolation: false },
  { when: 'that has been running for a quarter of an hour', minutes: everyMinute(15), isViolation: true },
  { when: 'whose database was away for an hour', minutes: [...everyMinute(15), 60, 1], isViolation: false },
]) {
  test(`an overdue hold is ${isViolation ? 'a' : 'no'} violation for a worker ${when}`, async () => {
    const repair = await overdueHold(service.payments)
    const [audited] = await auditedAfter(minutes)
    await repair()
    if (!isViolation) return assert.deepEqual(audited, clean)
    assert.deepEqual([audited?.count, audited?.first?.rule], [1, 'no hold is left active when its time is over'])
  })
}
