// The lease of an open operation: one process has it at a time, and a process that has lost it changes nothing any more,
// whatever it still has in progress. The gateway captures and cancels a payment once in any case; the lease prevents two
// processes from sending at once, and protects the send number of the current holder.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../harness/until.ts'
import type { Operation } from '../../src/payments/operations/begin.sql.ts'
import { claimDueOperations, claimLease, releaseLease, renewLease } from '../../src/payments/operations/lease.sql.ts'
import { finish, resume, takeOver } from '../../src/payments/operations/run.ts'
import { packageOf } from '../../src/payments/packages.ts'
import { recover } from '../../src/payments/recovery/recover.ts'
import {
  contextOver,
  createOverrides,
  losingAnswerOf,
  makeDue,
  openKinds,
  settleAll,
} from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
const leaseMs = 60_000
const turnMs = 60_000
let service: TestService
before(async () => {
  service = await startTestService({
    wrapGateway,
    settings: { operationLeaseMs: leaseMs, operationWaitMs: 200, retryFirstPauseMs: 300 },
  })
})
after(() => service.close())
afterEach(async () => {
  clear()
  await service.sandbox.clearFaults()
  await settleAll(service)
})

type OpenConfirm = { customer: TestCustomer; orderId: string; paymentKey: string }

/** An order whose confirm never arrived at the gateway: its operation is open and has no holder. */
async function openConfirm(): Promise<OpenConfirm> {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'reset-before', times: 1 }])
  assertRefused(await order.confirm(), 'SVC001')
  return { customer, ...order }
}

/** Ends the lease of the current holder, if there is one, and claims the operation as the worker of another process. */
async function nextHolder(): Promise<Operation> {
  await makeDue(service)
  const claim = { holderId: crypto.randomUUID(), limit: 10, leaseMs, firstPauseMs: 50, longestPauseMs: 200 }
  const [operation, ...others] = await claimDueOperations(service.payments.database, claim)
  assert.deepEqual(others, [])
  return operation ?? assert.fail('no operation is open')
}

/** The rows of the operation and of its attempts. */
async function rowsOf({ operationId }: Pick<Operation, 'operationId'>) {
  const read = (table: string) =>
    service.database.query(`select * from ${table} where operation_id = $1 order by 1, 2, 3`, [operationId])
  return { operation: await read('payment_operations'), attempts: await read('payment_attempts') }
}

test('when two processes read an operation whose lease has expired, one takes it over; the other makes no call', async () => {
  const { orderId, customer } = await openConfirm()
  const read = { ...(await nextHolder()), leased: false }
  await makeDue(service)
  const lookups = service.calls.findConfirm
  let second: unknown = 'not tried'
  overrides.findConfirm = async () => {
    delete overrides.findConfirm
    const held = await rowsOf(read)
    second = await takeOver(service.payments, read, 'background')
    assert.deepEqual(await rowsOf(read), held)
    return { kind: 'unknown', code: 'TIMEOUT' }
  }
  const first = await takeOver(service.payments, read, 'background')
  assert.deepEqual([first?.kind, second], ['unknown', undefined])
  assert.equal(service.calls.findConfirm, lookups)
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('a claim of the lease whose result was lost on the wire is repeated and succeeds for the same holder, and counts one attempt', async () => {
  await openConfirm()
  const read = await nextHolder()
  await makeDue(service)
  const connections = losingAnswerOf(service.database.pool, 'payments.claimLease')
  const { database } = contextOver(service.payments, connections)
  const holderId = crypto.randomUUID()
  const claimed = await claimLease(database, read, holderId, leaseMs, turnMs)
  assert.deepEqual([claimed?.holderId, connections.lost()], [holderId, true])
  assert.equal(claimed?.attempts, read.attempts + 1, 'the attempt before it is counted once')
})

test('of eight requests that claim an operation at once one gets it, and the attempt before it is counted once', async () => {
  await openConfirm()
  const read = await nextHolder()
  await makeDue(service)
  const { database } = service.payments
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => claimLease(database, read, crypto.randomUUID(), leaseMs, turnMs)),
  )
  assert.deepEqual(
    claims.flatMap((claimed) => claimed?.attempts ?? []),
    [read.attempts + 1],
  )
})

test('an operation that became due while a request had its lease is the worker’s turn: requests wait for it', async () => {
  await openConfirm()
  const { database } = service.payments
  await makeDue(service)
  const read = await nextHolder()
  await makeDue(service)
  const request = await claimLease(database, read, crypto.randomUUID(), leaseMs, turnMs)
  assert.ok(request, 'a lease that has ended by itself is free for requests too')
  await releaseLease(database, request, 50, { code: 'TIMEOUT' })
  assert.equal(await claimLease(database, read, crypto.randomUUID(), leaseMs, turnMs), null)
  const claim = { holderId: crypto.randomUUID(), limit: 10, leaseMs, firstPauseMs: 60_000, longestPauseMs: 60_000 }
  const [worker] = await claimDueOperations(database, claim)
  assert.equal(worker?.operationId, read.operationId)
  // It has had its turn: the next attempt may be a request's at once.
  await releaseLease(database, worker ?? assert.fail(), 50, { code: 'TIMEOUT' })
  const next = await claimLease(database, read, crypto.randomUUID(), leaseMs, turnMs)
  assert.deepEqual([worker?.attempts, next?.attempts], [request.attempts + 1, request.attempts + 2])
})

test('without a worker a request waits for one turn only', async () => {
  await openConfirm()
  const { database } = service.payments
  const read = await nextHolder()
  await makeDue(service)
  const request = await claimLease(database, read, crypto.randomUUID(), leaseMs, turnMs)
  await releaseLease(database, request ?? assert.fail(), 50, { code: 'TIMEOUT' })
  const claims = async () => (await claimLease(database, read, crypto.randomUUID(), leaseMs, 300)) !== null
  assert.equal(await claims(), false)
  await until('the turn is over', claims)
})

test('a caller that retries without a pause does not keep the worker away', async () => {
  const { customer, orderId, paymentKey } = await openConfirm()
  overrides.findConfirm = async () => {
    await sleep(60)
    return { kind: 'unknown', code: 'TIMEOUT' }
  }
  let isOver = false
  let retries = 0
  const caller = (async () => {
    while (!isOver) {
      assertRefused(await customer.confirm(orderId, paymentKey, packageOf('STANDARD').price), 'SVC001')
      retries += 1
    }
  })()
  let turns = 0
  const endMs = performance.now() + 20_000
  while (turns < 3 && performance.now() < endMs) {
    turns += (await recover(service.payments)).taken
    await sleep(20)
  }
  isOver = true
  await caller
  assert.equal(turns, 3, `after ${retries} retries`)
  const { operation, attempts } = await rowsOf(await nextHolder())
  assert.equal((operation[0] as { attempts: number }).attempts, attempts.length)
})

/** The age of the operation at its last claim by the worker, and the pause from there, in exact milliseconds. */
async function pauseOf({ operationId }: Operation): Promise<{ ageMs: number; pauseMs: number }> {
  const claimedAt = `(lease_until - ${leaseMs} * interval '1 ms')`
  const [row] = await service.database.query<{ ageMs: number; pauseMs: number }>(
    `select extract(epoch from ${claimedAt} - opened_at)::float8 * 1000 as "ageMs",
       extract(epoch from settle_at - ${claimedAt})::float8 * 1000 as "pauseMs"
     from payment_operations where operation_id = $1`,
    [operationId],
  )
  return row ?? assert.fail()
}

test('however often a caller retries, no pause of the worker is longer than twice the age of the operation, or the first pause', async () => {
  await openConfirm()
  const { operationId } = await nextHolder()
  const claim = { limit: 10, leaseMs, firstPauseMs: 1_000, longestPauseMs: 300_000 }
  for (const [ageMs, lowMs, highMs] of [
    [-60_000, 500, 1_000],
    [0, 500, 1_000],
    [5_000, 5_000, 10_000],
    [60_000, 60_000, 120_000],
    [3_600_000, 150_000, 300_000],
  ] as const) {
    await service.database.query(
      `update payment_operations set attempts = 90, opened_at = now() - $2::int * interval '1 ms' where operation_id = $1`,
      [operationId, ageMs],
    )
    await makeDue(service)
    const [claimed] = await claimDueOperations(service.payments.database, { ...claim, holderId: crypto.randomUUID() })
    const found = await pauseOf(claimed ?? assert.fail('nothing is due'))
    // The time between the two statements has passed, too.
    const lateMs = found.ageMs - ageMs
    assert.ok(found.pauseMs >= lowMs && found.pauseMs <= highMs + 2 * lateMs, JSON.stringify({ set: ageMs, ...found }))
  }
})

test('of more due operations than a process takes, it takes those that have been due for longest', async () => {
  const due = [await openConfirm(), await openConfirm(), await openConfirm()]
  await makeDue(service)
  for (const [place, seconds] of [10, 30, 20].entries()) {
    await service.database.query(
      `update payment_operations set settle_at = now() - $2::int * interval '1 s' where order_id = $1`,
      [due[place]?.orderId, seconds],
    )
  }
  const claim = { limit: 1, leaseMs, firstPauseMs: 1_000, longestPauseMs: 300_000 }
  for (const place of [1, 2, 0]) {
    const [first] = await claimDueOperations(service.payments.database, { ...claim, holderId: crypto.randomUUID() })
    assert.equal(first?.orderId, due[place]?.orderId)
  }
})

test('a closed operation has no lease: it cannot be claimed, renewed or released, not even by its last holder', async () => {
  await openConfirm()
  const { database } = service.payments
  const holder = await nextHolder()
  // Closed by another process, which has the outcome from the gateway and needs no lease for that.
  assert.equal((await resume(service.payments, holder, 'background'))?.kind, 'approved')
  await service.database.query(`update payment_operations set lease_until = now() where order_id = $1`, [
    holder.orderId,
  ])
  const closed = await rowsOf(holder)
  assert.equal(await claimLease(database, holder, crypto.randomUUID(), leaseMs, turnMs), null)
  assert.equal(await claimLease(database, holder, holder.holderId, leaseMs, turnMs), null)
  assert.equal(await renewLease(database, holder, leaseMs), false)
  await releaseLease(database, holder, 50, { code: 'TIMEOUT', needsNewIdempotencyKey: true })
  assert.deepEqual(await rowsOf(holder), closed)
})

test('a process that lost the operation during its lookup does not send: the send number stays that of the current holder', async () => {
  await openConfirm()
  const late = await nextHolder()
  const confirms = service.calls.confirm
  overrides.findConfirm = async () => {
    delete overrides.findConfirm
    // Another process got an answer that uses up the idempotency key; a third one holds the lease now.
    await releaseLease(service.payments.database, await nextHolder(), 50, {
      code: 'FAILED',
      needsNewIdempotencyKey: true,
    })
    const current = await nextHolder()
    assert.deepEqual([late.sendNumber, current.sendNumber], [1, 2])
    return { kind: 'unsent' }
  }
  const settled = resume(service.payments, late, 'background')
  assert.equal(await settled, undefined)
  assert.equal(service.calls.confirm, confirms)
  const [row] = (await rowsOf(late)).operation as { send_number: number }[]
  assert.equal(row?.send_number, 2)
})

test('a late holder does not renew the lease of the current one', async () => {
  await openConfirm()
  const late = await nextHolder()
  const current = await nextHolder()
  const held = await rowsOf(current)
  assert.equal(await renewLease(service.payments.database, late, leaseMs), false)
  assert.deepEqual(await rowsOf(current), held)
  assert.equal(await renewLease(service.payments.database, current, leaseMs), true)
})

test('a late holder whose call ends without an outcome does not end the lease of the current one, and records nothing', async () => {
  const { orderId, customer } = await openConfirm()
  const late = await nextHolder()
  let held: unknown
  overrides.findConfirm = async () => ({ kind: 'unsent' })
  overrides.confirm = async () => {
    held = await rowsOf(await nextHolder())
    return { kind: 'unknown', code: 'TIMEOUT', needsNewIdempotencyKey: true }
  }
  assert.equal((await resume(service.payments, late, 'background'))?.kind, 'unknown')
  assert.deepEqual(await rowsOf(late), held)
  assert.equal(await customer.status(orderId), 'PENDING')
})

test('an operation is finished once: the opposite outcome of a late holder changes nothing, and is a discrepancy', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  assertRefused(await customer.cancel(paymentKey), 'SVC001')
  const late = await nextHolder()
  overrides.findCancel = async () => ({ kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' })
  assert.equal((await resume(service.payments, await nextHolder(), 'background'))?.kind, 'rejected')
  const closed = await rowsOf(late)
  const approved = { kind: 'approved', transactionKey: null } as const
  assert.equal((await finish(service.payments, late, approved, { answersCaller: false })).finished, null)
  assert.deepEqual(await rowsOf(late), closed)
  assert.deepEqual([await customer.status(orderId), await customer.credits()], ['CONFIRMED', 21])
  assert.deepEqual(await openKinds(service, orderId), ['CONTRADICTING_OUTCOMES'])
})

test('no contradiction is reported by a process that ends a call as never sent, nor for a capture that was returned since', async () => {
  const { customer, orderId } = await openConfirm()
  await service.database.query(
    `update payment_operations set sent_at = sent_at - $2::int * interval '1 ms' where order_id = $1`,
    [orderId, leaseMs + 1_000],
  )
  const late = await nextHolder()
  overrides.findConfirm = async () => {
    delete overrides.findConfirm
    await resume(service.payments, await nextHolder(), 'background')
    return { kind: 'unsent' }
  }
  const ended = await resume(service.payments, late, 'lookupOnly')
  assert.deepEqual([ended?.kind, await customer.status(orderId)], ['rejected', 'CONFIRMED'])
  const returned = { kind: 'rejected', code: 'CANCELED', returned: true } as const
  assert.equal((await finish(service.payments, late, returned, { answersCaller: false })).finished, null)
  assert.deepEqual(await openKinds(service, orderId), [])
})

test('a release without a code keeps the last code of the gateway, and at most 200 attempts of an operation are kept', async () => {
  await openConfirm()
  const { database } = service.payments
  const first = await nextHolder()
  await releaseLease(database, first, 50, { code: 'TIMEOUT' })
  const { length } = (await rowsOf(first)).attempts
  await service.database.query(
    `insert into payment_attempts (customer_id, operation_id, holder_id, happened_at, gateway_code)
    select $1, $2, gen_random_uuid(), now(), 'TIMEOUT' from generate_series($3::int + 1, 199)`,
    [first.customerId, first.operationId, length],
  )
  for (const count of [200, 200]) {
    await releaseLease(database, await nextHolder(), 50, { code: null })
    const { operation, attempts } = await rowsOf(first)
    assert.deepEqual([(operation[0] as { gateway_code: string }).gateway_code, attempts.length], ['TIMEOUT', count])
  }
})

test('row 26: a process that lost the operation cannot reject it; the holder’s confirm counts', async () => {
  const { orderId, paymentKey, customer } = await openConfirm()
  // The last send is so old that a payment which is still waiting was not captured by it.
  await service.database.query(
    `update payment_operations set sent_at = sent_at - $2::int * interval '1 ms', lease_until = now() where order_id = $1`,
    [orderId, leaseMs + 1_000],
  )
  let current: Operation | undefined
  let held: unknown
  overrides.findConfirm = async () => {
    delete overrides.findConfirm
    current = await nextHolder()
    held = await rowsOf(current)
    return { kind: 'unsent' }
  }
  assertRefused(await customer.cancel(paymentKey), 'SVC001')
  const holder = current ?? assert.fail('the cancel did not look up the open confirm')
  assert.deepEqual(await rowsOf(holder), held)
  assert.equal(await customer.status(orderId), 'PENDING')
  assert.equal((await resume(service.payments, holder, 'background'))?.kind, 'approved')
  assert.equal(await customer.status(orderId), 'CONFIRMED')
  assert.equal(await customer.credits(), 21)
})
