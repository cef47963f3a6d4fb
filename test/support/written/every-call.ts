// Every kind of call to the public listener with every kind of outcome: purchases and their retries, confirms, cancels,
// refusals, lost answers, other customers' orders. The statements that the service then runs can be recorded.
import assert from 'node:assert/strict'
import type { NamedQuery } from '../../../src/db/database.ts'
import { wrapConnections } from '../database/connections.ts'
import type { OwnTestDatabase } from '../database/database.ts'
import { losingAnswerOf } from '../service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  startTestSandbox,
  startTestService,
  type TestService,
} from '../service/service.ts'

/** The database with its pool watched: `beforeEach` gets every statement and its values before it is sent. */
export function watchedDatabase(
  database: OwnTestDatabase,
  beforeEach: (sent: NamedQuery) => void | Promise<void>,
): OwnTestDatabase {
  const { pool } = database
  // One answer is lost, so that the statement that looks up the committed result runs as well.
  const connections = losingAnswerOf(pool, 'payments.finishOperations')
  const watched = wrapConnections(connections, async (sent, send) => {
    await beforeEach(sent)
    return send()
  })
  return { ...database, pool: Object.assign(Object.create(pool), watched) }
}

export async function callEverything(
  database: OwnTestDatabase,
  {
    onStarted = () => undefined,
    afterwards = async () => undefined,
  }: { onStarted?: () => void; afterwards?: (service: TestService) => Promise<void> } = {},
): Promise<void> {
  const sandbox = await startTestSandbox()
  const settings = { operationWaitMs: 100, operationLeaseMs: 200, retryFirstPauseMs: 1, stuckAfterAttempts: 0 }
  const service = await startTestService({ beside: { database, sandboxUrl: sandbox.url }, settings })
  try {
    const [customer, stranger] = [await service.newCustomer(), await service.newCustomer()]
    onStarted()
    const key = { 'x-idempotency-key': 'once' }
    for (let count = 0; count < 2; count += 1) assertSuccess(await customer.purchase('BASIC', key), 201)
    const order = await customer.paidOrder()
    assertRefused(await stranger.confirm(order.orderId, order.paymentKey, order.amount), 'NOT000')
    assertRefused(await stranger.as(`/${order.orderId}`), 'NOT000')
    for (let count = 0; count < 2; count += 1) assertSuccess(await order.confirm(), 200)
    assertRefused(await stranger.cancel(order.paymentKey), 'NOT000')
    for (const code of ['SUCCESS', 'PAYMENT_CANCEL_FAILED']) {
      assert.equal((await customer.cancel(order.paymentKey)).body.code, code)
    }
    const declined = await customer.paidOrder('PRO', 'decline')
    for (let count = 0; count < 2; count += 1) assertRefused(await declined.confirm(), 'VAL003')
    const lost = await customer.paidOrder('PRO')
    await service.sandbox.setFaults([{ on: 'confirm', kind: 'other-amount-after', times: 1 }])
    await lost.confirm()
    assertSuccess(await lost.confirm(), 200)
    await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
    await customer.cancel(lost.paymentKey)
    assertSuccess(await customer.cancel(lost.paymentKey), 200)
    for (const path of ['/credits', '/packages', `/${lost.orderId}`]) await customer.as(path)
    await afterwards(service)
  } finally {
    await service.close()
    await sandbox.close()
  }
}
