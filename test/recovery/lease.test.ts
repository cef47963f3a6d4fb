// The lease of an open operation: one process has it at a time, and a process that has lost it changes nothing any more,
// whatever it still has in progress. The gateway captures and cancels a payment once in any case; the lease prevents two
// processes from sending at once, and protects the send number of the current holder.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Operation } from '../../src/payments/operations/begin.sql.ts'
import { claimDueOperations, claimLease, releaseLease, renewLease } from '../../src/payments/operations/lease.sql.ts'
import { resume, takeOver } from '../../src/payments/operations/run.ts'
import { contextOver, createOverrides, losingAnswerOf, makeDue, settleAll } from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

const { overrides, clear, wrapGateway } = createOverrides()
const leaseMs = 60_000
let service: TestService
before(async () => {
  service = await startTestService({ wrapGateway, settings: { operationLeaseMs: leaseMs, operationWaitMs: 200 } })
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

test('a claim of the lease whose result was lost on the wire is repeated and succeeds for the same holder', async () => {
  await openConfirm()
  const read = await nextHolder()
  await makeDue(service)
  const connections = losingAnswerOf(service.database.pool, 'payments.claimLease')
  const { database } = contextOver(service.payments, connections)
  const holderId = crypto.randomUUID()
  assert.equal((await claimLease(database, read, holderId, leaseMs))?.holderId, holderId)
  assert.equal(connections.lost(), true)
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
  assert.equal(await claimLease(database, holder, crypto.randomUUID(), leaseMs), null)
  assert.equal(await claimLease(database, holder, holder.holderId, leaseMs), null)
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
