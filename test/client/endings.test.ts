// Calls that the caller aborts by its signal, and the reported outcome when attempts ended differently. Against a
// scripted faulty server.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { isCreditsError, type OperationId } from '../../client/src/index.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { everyMethod, failureOf, type Methods } from './every-method.ts'
import { cut, refusal, reset, silence, startScriptedServer } from './scripted-server.ts'

let server: Awaited<ReturnType<typeof startScriptedServer>>
let methods: Methods
before(async () => {
  server = await startScriptedServer()
  methods = everyMethod(server.url)
})
after(() => server.close())

describe('the signal of the caller', () => {
  const reason = new Error('the buyer has left')

  test('aborted before the call: nothing is sent', async () => {
    server.play([])
    const error = await failureOf(methods.confirmPayment({ signal: AbortSignal.abort(reason) }))
    assert.deepEqual([error.code, error.attempts, error.outcome], ['ABORTED', 0, 'not-done'])
    assert.deepEqual([error.cause, server.received.length], [reason, 0])
  })

  test('during an attempt: it ends at once, the connection is closed, and its outcome is unknown', async () => {
    const controller = new AbortController()
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    server.play([
      (response) => {
        response.on('close', resolve)
        controller.abort(reason)
      },
    ])
    const error = await failureOf(methods.cancelPayment({ signal: controller.signal }))
    assert.deepEqual([error.code, error.attempts, error.outcome, error.cause], ['ABORTED', 1, 'unknown', reason])
    await closed
    assert.equal(server.received.length, 1)
  })

  test('during a pause: it ends at once', async () => {
    const controller = new AbortController()
    const busy = refusal('SVC001', { 'retry-after': '30' })
    server.play([
      (response, request) => {
        response.on('finish', () => setTimeout(() => controller.abort(reason), 50))
        return busy(response, request)
      },
    ])
    const error = await failureOf(methods.purchaseCredits({ signal: controller.signal }))
    assert.deepEqual([error.code, error.attempts, error.outcome], ['ABORTED', 1, 'unknown'])
  })

  test('one signal for many calls keeps no listeners', async () => {
    const { signal } = new AbortController()
    server.play([reset, refusal('SVC001')])
    await methods.getCreditBalance({ signal })
    assert.deepEqual(getEventListeners(signal, 'abort'), [])
  })
})

describe('the outcome of a refusal after an earlier attempt without an answer', () => {
  const open = { lost: reset, 'not served': refusal('SVC001') }
  const cases: [keyof typeof open, OperationId, ErrorCode, string][] = [
    // A suspended key gives no information about the earlier attempt.
    ['lost', 'confirmPayment', 'AUTH003', 'AUTH003 unknown'],
    ['not served', 'confirmPayment', 'AUTH003', 'AUTH003 unknown'],
    ['lost', 'spendCredits', 'BUS002', 'BUS002 unknown'],
    // The order is in a final state.
    ['lost', 'confirmPayment', 'VAL003', 'VAL003 not-done'],
    ['not served', 'confirmPayment', 'VAL003', 'VAL003 not-done'],
    // The earlier attempt may have succeeded, with its answer lost between us and the service or between it and its
    // database.
    ['not served', 'cancelPayment', 'PAYMENT_CANCEL_FAILED', 'SVC001 unknown'],
    ['lost', 'cancelPayment', 'PAYMENT_CANCEL_FAILED', 'CONNECTION_LOST unknown'],
  ]
  for (const [before, operation, code, expected] of cases) {
    test(`${operation}: ${before}, then ${code}: ${expected}`, async () => {
      server.play([open[before]], refusal(code))
      const error = await failureOf(methods[operation]())
      assert.deepEqual([`${error.code} ${error.outcome}`, error.attempts], [expected, 2])
    })
  }
})

test('too many PENDING orders: the purchase is not repeated, and not done', async () => {
  const limit = refusal('SVC001', { 'retry-after': '1', 'refusal-reason': 'pending-orders-limit' })
  server.play([], limit)
  const error = await failureOf(methods.purchaseCredits())
  assert.deepEqual([error.refusalReason, error.attempts, error.outcome], ['pending-orders-limit', 1, 'not-done'])
  server.play([reset], limit)
  const second = await failureOf(methods.purchaseCredits())
  assert.deepEqual([second.attempts, second.outcome], [2, 'unknown'])
})

test('an error is one of its operation and of no other, and the error of another program is none', async () => {
  server.play([], refusal('BUS002'))
  const error = await failureOf(methods.spendCredits())
  const isOf = (operation: OperationId) => isCreditsError(error, operation)
  assert.deepEqual([isOf('spendCredits'), isOf('holdCredits')], [true, false])
  assert.equal(isCreditsError(Object.assign(new Error('other'), { name: 'CreditsError', code: 'BUS002' })), false)
})

test('a reason that this version does not know is null', async () => {
  for (const reason of ['a-new-reason', 'toString', '']) {
    server.play([], refusal('VAL003', { 'refusal-reason': reason }))
    assert.equal((await failureOf(methods.confirmPayment())).refusalReason, null)
  }
})

test('no rejection is left unhandled, and nothing keeps the process running', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  server.play([reset, silence, cut], silence)
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 120)
  await failureOf(methods.confirmPayment({ timeoutMs: 30, signal: controller.signal }))
  await new Promise((resolve) => setTimeout(resolve, 50))
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})
