// Accepting a part that was cancelled at the gateway, by the API of the console: the quote, who may approve what differs from it, and
// what the lists of requests show.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { settleAll } from '../support/service/recovery.ts'
import { assertRefused, startTestService, type TestService } from '../support/service/service.ts'

const approvalAbove = 20

let service: TestService
let api: ConsoleApi
let finance: Operator
let other: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service, { approvalAbove })
  finance = await api.newOperator('finance')
  other = await api.newOperator('admin')
})
after(() => closeAll(api, service))

const body = { reason: 'agreed with the buyer' }

/** An order of 110 credits for 100,000 won, of which a part was cancelled. */
async function partlyCancelled(won: number) {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder('PRO')
  await service.sandbox.cancel(paymentKey, won)
  await finance.get('settleOrder', { params: { orderId }, body })
  const { openDiscrepancies } = await finance.get('order', { params: { orderId } })
  const discrepancyId = openDiscrepancies[0]?.discrepancyId ?? assert.fail('nothing was found')
  return { customer, customerId: customer.customerId, orderId, paymentKey, discrepancyId, params: { discrepancyId } }
}

async function lotOf(orderId: string) {
  const { order, lot } = await finance.get('order', { params: { orderId } })
  return [order.status, order.refundedAmount, lot?.unused, lot?.takenBack, lot?.value]
}

async function requestsOf(customerId: string) {
  const { pending } = await finance.get('adjustments', { params: { customerId } })
  return pending.map(({ kind, orderId, amount, credits, requestedBy }) => [kind, orderId, amount, credits, requestedBy])
}

test('the quote proposes the credits that the amount stands for, and accepting them is done at once', async () => {
  const { orderId, discrepancyId, params } = await partlyCancelled(30_000)
  const quote = await finance.get('partQuote', { params })
  const limits = { perDay: 500, usedToday: 0, approvalAbove }
  const ofOrder = { orderId, paid: 100_000, creditsOfTheOrder: 110, creditsUsed: 0, unused: 110 }
  assert.deepEqual(quote, { ...ofOrder, amount: 30_000, proposed: 30, most: 40, valueAfter: 70_000, limits })
  const accepted = await finance.get('acceptDiscrepancy', { params, body: { ...body, credits: 30 } })
  const booked = { orderId, discrepancyId, state: 'DONE', requestId: null, amount: 30_000, creditsTaken: 30 } as const
  assert.deepEqual(accepted, { ...booked, creditsLeft: 80, value: 70_000 })
  assert.deepEqual(await lotOf(orderId), ['CONFIRMED', 30_000, 80, 30, 70_000])
  const nothing = await finance.request('partQuote', { params })
  assertRefused(nothing, 'PAYMENT_CANCEL_FAILED')
  assert.equal(nothing.body.metadata?.reason, 'not partly cancelled')
})

test('the quote and the acceptance of a discrepancy that does not exist, or is of no order of ours, are refused', async () => {
  const [{ id } = { id: '' }] = await service.database.query<{ id: string }>(
    `insert into discrepancies (subject, kind, detail) values ('pay_unknown', 'UNKNOWN_ORDER', '{}')
     returning discrepancy_id as id`,
  )
  for (const discrepancyId of [crypto.randomUUID(), id]) {
    const params = { discrepancyId }
    for (const answer of [
      await finance.request('partQuote', { params }),
      await finance.request('acceptDiscrepancy', { params, body: { ...body, credits: 0 } }),
    ]) {
      assertRefused(answer, 'NOT000')
      assert.equal(answer.body.message, 'There is no such discrepancy.')
    }
  }
})

test('a few credits more or fewer are accepted at once and count in the daily limit, and more than the bonus allows is refused', async () => {
  const operator = await api.newOperator('finance')
  const [fewer, more] = [await partlyCancelled(10_000), await partlyCancelled(10_000)]
  const usedToday = async () => (await operator.get('partQuote', { params: more.params })).limits.usedToday
  await operator.get('acceptDiscrepancy', { params: fewer.params, body: { ...body, credits: 0 } })
  assert.deepEqual(await lotOf(fewer.orderId), ['CONFIRMED', 10_000, 110, 0, 90_000])
  assert.equal(await usedToday(), 10)
  const tooMany = await operator.request('acceptDiscrepancy', { params: more.params, body: { ...body, credits: 21 } })
  assertRefused(tooMany, 'VAL003')
  assert.match(tooMany.body.message ?? '', /At most 20 credits/)
  assert.equal(await usedToday(), 10)
  await operator.get('acceptDiscrepancy', { params: more.params, body: { ...body, credits: 20 } })
  const { limits } = await operator.get('adjustments', { params: { customerId: more.customerId } })
  assert.equal(limits.usedToday, 20)
  assert.deepEqual(await lotOf(more.orderId), ['CONFIRMED', 10_000, 90, 20, 90_000])
})

test('far fewer credits are a request, which another operator approves, and then it is booked', async () => {
  const { customerId, orderId, params } = await partlyCancelled(50_000)
  const accept = (operator: Operator, credits: number) =>
    operator.request('acceptDiscrepancy', { params, body: { ...body, credits } })
  const requested = (await accept(finance, 5)).body.data
  assert.deepEqual([requested.state, requested.creditsTaken, requested.amount], ['PENDING', 5, 50_000])
  const adjustmentId = requested.requestId ?? assert.fail('no request')
  assert.equal((await accept(finance, 5)).body.data.requestId, adjustmentId)
  assert.deepEqual(await requestsOf(customerId), [['PART', orderId, 50_000, 5, finance.name]])
  const { pendingAdjustments } = await other.get('home')
  assert.ok(pendingAdjustments.some((each) => each.adjustmentId === adjustmentId && each.orderId === orderId))
  assert.deepEqual(await lotOf(orderId), ['CONFIRMED', null, 110, 0, 100_000])
  const otherwise = await accept(other, 6)
  assertRefused(otherwise, 'VAL003')
  assert.equal(otherwise.body.metadata?.reason, 'requested already')

  const decision = { params: { adjustmentId }, body }
  const own = await finance.request('approveAdjustment', decision)
  assertRefused(own, 'VAL003')
  assert.equal(own.body.metadata?.reason, 'second person')
  const approved = await other.get('approveAdjustment', decision)
  assert.deepEqual(approved, { adjustmentId, customerId, kind: 'PART', credits: 5, state: 'DONE', available: 105 })
  assert.deepEqual(await lotOf(orderId), ['CONFIRMED', 50_000, 105, 5, 50_000])
  assert.deepEqual(await requestsOf(customerId), [])
  const { discrepancy, history } = await finance.get('discrepancy', { params })
  assert.equal(discrepancy.resolution, body.reason)
  assert.equal(history.at(-1)?.kind, 'DISCREPANCY_RESOLVED')
  const refusals = history.flatMap(({ detail }) => detail.refusal ?? [])
  assert.deepEqual(refusals, ['requested already'])
  const { story } = await finance.get('order', { params: { orderId } })
  assert.deepEqual(
    story.flatMap(({ detail }) => detail.refusal ?? []),
    refusals,
  )
  const entries = story.filter(({ kind }) => kind === 'LEDGER').map(({ detail }) => [detail.kind, detail.operationKind])
  assert.deepEqual(entries, [
    ['GRANT', null],
    ['HOLD', 'PART'],
    ['REFUND', 'PART'],
  ])
})

test('a rejected request changes nothing, and the part can be accepted otherwise', async () => {
  const { customerId, orderId, params } = await partlyCancelled(50_000)
  const { requestId } = await finance.get('acceptDiscrepancy', { params, body: { ...body, credits: 0 } })
  const adjustmentId = requestId ?? assert.fail('no request')
  const rejected = await other.get('rejectAdjustment', { params: { adjustmentId }, body })
  assert.deepEqual([rejected.kind, rejected.state], ['PART', 'REJECTED'])
  assert.deepEqual(await requestsOf(customerId), [])
  assert.deepEqual(await lotOf(orderId), ['CONFIRMED', null, 110, 0, 100_000])
  assert.equal((await finance.get('partQuote', { params })).proposed, 50)
  assert.equal((await finance.get('acceptDiscrepancy', { params, body: { ...body, credits: 50 } })).state, 'DONE')
})

test('without an answer of the gateway, and while an operation of the order is open, there is no quote and nothing is accepted', async () => {
  const { customer, orderId, paymentKey, params } = await partlyCancelled(10_000)
  const reasonsNow = async () => {
    const answers = [
      await finance.request('partQuote', { params }),
      await finance.request('acceptDiscrepancy', { params, body: { ...body, credits: 10 } }),
    ]
    for (const answer of answers) assertRefused(answer, 'SVC001')
    return answers.map(({ body: { metadata } }) => [metadata?.reason, metadata?.began])
  }
  await service.sandbox.setFaults([{ on: 'lookup', kind: 'reset-before', times: 9 }])
  const away = ['gateway does not answer', false]
  assert.deepEqual(await reasonsNow(), [away, away])
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-before', times: 9 }])
  await customer.cancel(paymentKey)
  assert.deepEqual(await reasonsNow(), [
    ['open', false],
    ['open', false],
  ])
  await service.sandbox.clearFaults()
  await settleAll(service)
  assert.equal((await lotOf(orderId))[0], 'CANCELLED')
})
