// Holds that are not ended: they expire by themselves, their credits become available again, and they cannot be captured
// any more, even before the sweep.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import { creditJobs } from '../../../src/worker/jobs.ts'
import { startWorker } from '../../../src/worker/worker.ts'
import { openContexts } from '../../support/service/recovery.ts'
import { assertSuccess } from '../../support/service/service.ts'
import {
  assertFieldRefused,
  assertLack,
  atOnce,
  type SpendingService,
  startSpendingService,
} from '../../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

/** Moves the expiry of these holds into the past. */
async function makeExpired(customerId: string): Promise<void> {
  await service.database.queryUnguarded(
    `update holds set expires_at = now() - interval '1 ms' where customer_id = $1 and state = 'ACTIVE'`,
    [customerId],
  )
}

const sweep = () => expireHolds(service.payments.database)

async function heldCustomer(credits: number, expiresInSeconds?: number) {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder('STANDARD')
  const opened = await internal.hold(customer.customerId, credits, { reference: 'the-hold', expiresInSeconds })
  assertSuccess(opened, 201)
  return { customer, order, id: customer.customerId, holdId: opened.body.data.holdId, opened }
}

test('the sweep does not end holds that have not expired', async () => {
  const { customer, id, holdId } = await heldCustomer(10, 60)
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  assert.equal(await customer.credits(), 11)
  assertSuccess(await internal.capture(id, holdId), 200)
})

test('an expired hold releases its credits once, by an entry of its own', async () => {
  const { customer, id, opened } = await heldCustomer(10)
  await makeExpired(id)
  assert.deepEqual(await sweep(), { expired: 1, more: false })
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  assert.equal(await customer.credits(), 21)
  assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/10', 'EXPIRE 0/-10'])
  const { entries, setAside } = (await internal.statement(id, { kind: 'EXPIRE' })).body.data
  assert.deepEqual(setAside, [])
  const { service: name, reference, holdId } = entries[0] ?? {}
  assert.deepEqual([name, reference, holdId], [null, 'the-hold', opened.body.data.holdId])
})

test('after its expiry a hold is EXPIRED for every capture and release, before and after the sweep', async () => {
  const { customer, id, holdId } = await heldCustomer(10)
  await makeExpired(id)
  async function assertExpired(): Promise<void> {
    for (const answer of [
      await internal.capture(id, holdId),
      await internal.capture(id, holdId, 3),
      await internal.release(id, holdId),
    ]) {
      assertFieldRefused(answer, 'VAL003', 'holdId')
      assert.match(answer.text, /the hold is EXPIRED/)
    }
  }
  // The sweep has not run yet: the credits are still held, and the statement shows the hold.
  assert.equal(await customer.credits(), 11)
  assertLack(await internal.spend(id, 12), 12, 11)
  assert.deepEqual(
    (await internal.statement(id)).body.data.setAside.map((each) => each.holdId),
    [holdId],
  )
  // The first capture or release ends it.
  await assertExpired()
  assert.equal(await customer.credits(), 21)
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  await assertExpired()
  assertSuccess(await internal.spend(id, 21), 200)
})

test('after its expiry no part of a hold is captured, also before the sweep: it is EXPIRED, and its credits come back', async () => {
  const { customer, id, holdId } = await heldCustomer(10)
  await makeExpired(id)
  const refused = await internal.capturePart(id, holdId, 3, 'too-late')
  assertFieldRefused(refused, 'VAL003', 'holdId')
  assert.match(refused.text, /the hold is EXPIRED/)
  assert.equal(await customer.credits(), 21)
  assert.deepEqual(await service.entries(id), ['GRANT 21/0', 'HOLD 0/10', 'EXPIRE 0/-10'])
})

test('a hold that was ended in time does not expire, and retries get the first answer, also after its expiry', async () => {
  const { customer, id, holdId } = await heldCustomer(10, 1)
  const captured = await internal.capture(id, holdId, 4)
  await service.database.queryUnguarded(`update holds set expires_at = now() - interval '1 h' where hold_id = $1`, [
    holdId,
  ])
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  assert.equal((await internal.capture(id, holdId, 4)).text, captured.text)
  assert.equal(await customer.credits(), 17)
})

test('a cancel that was refused because of a hold succeeds after the hold has expired', async () => {
  const { customer, order, id } = await heldCustomer(10)
  await makeExpired(id)
  assert.equal((await customer.cancel(order.paymentKey)).body.code, 'PAYMENT_CANCEL_FAILED')
  await sweep()
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  assert.equal(await customer.credits(), 0)
})

test('the worker expires a hold of one second', async (t) => {
  const worker = startWorker(creditJobs(service.payments.database, service.payments.tallies), silentLog)
  t.after(() => worker.stop())
  const { customer, id, opened } = await heldCustomer(10, 1)
  assert.equal(await customer.credits(), 11)
  await until('the credits are available again', async () => (await customer.credits()) === 21)
  assert.deepEqual((await service.entries(id)).at(-1), 'EXPIRE 0/-10')
  assert.equal((await internal.hold(id, 10, { reference: 'the-hold' })).text, opened.text)
})

test('simultaneous sweeps expire each of many holds of several customers once, in batches', async (t) => {
  const customers = await Promise.all([300, 330, 4].map((credits) => service.customerWith(credits)))
  const opened = await Promise.all(
    customers.map(async ({ customerId }, place) => {
      const serviceId = internal.issued.serviceId
      const holds = await atOnce([300, 330, 4][place] ?? 0, (index) =>
        service.payments.credits.openHold({
          customerId,
          holdId: crypto.randomUUID(),
          credits: 1,
          reference: `r${index}`,
          serviceId,
          expiresInSeconds: 3_600,
        }),
      )
      assert.ok(holds.every((hold) => hold.holdId !== null))
      await makeExpired(customerId)
      return holds.length
    }),
  )
  assert.deepEqual(await Promise.all(customers.map((customer) => customer.credits())), [0, 0, 0])
  const { contexts, close } = await openContexts(service, 4)
  t.after(close)
  let expired = 0
  async function sweepAll(index: number): Promise<void> {
    const database = contexts[index % contexts.length]?.database ?? service.payments.database
    for (;;) {
      const swept = await expireHolds(database)
      expired += swept.expired
      if (!swept.more) return
    }
  }
  await atOnce(4, sweepAll)
  assert.equal(
    expired,
    opened.reduce((sum, count) => sum + count, 0),
  )
  assert.deepEqual(await sweep(), { expired: 0, more: false })
  assert.deepEqual(await Promise.all(customers.map((customer) => customer.credits())), [300, 330, 4])
})

test('no caller gets EXPIRED while a capture that came in time is still running', async () => {
  const { customer, id, holdId, opened } = await heldCustomer(10, 1)
  const other = await service.database.begin(id)
  await other.query('select from accounts where customer_id = $1 for update', [id])
  // In time, but blocked by the lock of the account until after the expiry of the hold.
  const first = internal.capture(id, holdId, 4)
  await setTimeout(Math.max(0, Date.parse(opened.body.data.expiresAt) - Date.now()) + 50)
  const late = [internal.capture(id, holdId, 4), internal.capture(id, holdId, 5), internal.release(id, holdId)]
  await setTimeout(100)
  await other.rollback()
  assertSuccess(await first, 200)
  const [same, different, release] = await Promise.all(late)
  assert.equal(same?.text, (await first).text)
  for (const answer of [different, release]) assert.match(answer?.text ?? '', /the hold is CAPTURED, 4 of 10/)
  assert.equal(await customer.credits(), 17)
})
