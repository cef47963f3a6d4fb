// Orders whose payment is cancelled by its status while its amounts contradict that: row 22 of the decisions. Credits
// are granted only for money that the gateway has kept. A payment that contradicts itself changes nothing and is a
// discrepancy for an operator. The confirm, recovery and a notification have the same result.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recover } from '../../src/payments/recovery/recover.ts'
import { review } from '../../src/payments/recovery/review.ts'
import {
  type ContradictingGateway,
  startContradictingGateway,
  tossPayment,
} from '../support/gateway/contradicting-gateway.ts'
import { notificationOf, outcomesOf, startTestWebhooks, type TestWebhooks } from '../support/gateway/webhooks.ts'
import { movements } from '../support/service/orders.ts'
import { lastOperation, makeDue, openKinds, operationStates } from '../support/service/recovery.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let books: TestService
let service: TestService
let webhooks: TestWebhooks
let gateway: ContradictingGateway
before(async () => {
  gateway = await startContradictingGateway()
  books = await startTestService()
  service = await startTestService({ beside: { database: books.database, sandboxUrl: gateway.url } })
  webhooks = await startTestWebhooks(service)
})
after(async () => {
  await webhooks.close()
  await service.close()
  await gateway.close()
  await books.close()
})

type Shown = { status: string; balanceAmount: number; cancels: { cancelAmount?: number }[] | null }

/** The whole amount was returned: the order fails, without a discrepancy. */
const returned: Record<string, Shown> = {
  'CANCELED with a balance of zero and no list of cancels': { status: 'CANCELED', balanceAmount: 0, cancels: null },
  'CANCELED with a balance of zero and an empty list': { status: 'CANCELED', balanceAmount: 0, cancels: [] },
  'PARTIAL_CANCELED with a balance of zero and a complete list': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 0,
    cancels: [{ cancelAmount: 4_000 }, { cancelAmount: 16_000 }],
  },
}

const all = [{ cancelAmount: 20_000 }]
const part = [{ cancelAmount: 4_000 }]
const doubtful: Record<string, Shown> = {
  'CANCELED with the whole balance': { status: 'CANCELED', balanceAmount: 20_000, cancels: null },
  'CANCELED with a part of the balance': { status: 'CANCELED', balanceAmount: 16_000, cancels: part },
  'CANCELED with a negative balance': { status: 'CANCELED', balanceAmount: -1, cancels: all },
  'PARTIAL_CANCELED with a balance of zero and no list': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 0,
    cancels: null,
  },
  'PARTIAL_CANCELED with a balance of zero and a list of a part': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 0,
    cancels: part,
  },
  'PARTIAL_CANCELED with the whole balance': { status: 'PARTIAL_CANCELED', balanceAmount: 20_000, cancels: [] },
  'PARTIAL_CANCELED with more than the whole balance': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 24_000,
    cancels: [{ cancelAmount: -4_000 }],
  },
  'PARTIAL_CANCELED with a negative balance': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: -1,
    cancels: [{ cancelAmount: 20_001 }],
  },
  'PARTIAL_CANCELED with a part of the balance and no list': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 16_000,
    cancels: null,
  },
  'PARTIAL_CANCELED with a list that does not add up': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 16_000,
    cancels: [{ cancelAmount: 3_999 }],
  },
  'PARTIAL_CANCELED with a list without amounts': {
    status: 'PARTIAL_CANCELED',
    balanceAmount: 16_000,
    cancels: [{}],
  },
}

async function pendingOrder() {
  const customer = await service.newCustomer()
  const { orderId, amount } = (await customer.purchase()).body.data
  const paymentKey = `pay_${orderId}`
  const payment = { paymentKey, orderId, totalAmount: amount }
  return {
    customer,
    orderId,
    paymentKey,
    key: { customerId: customer.customerId, orderId },
    confirm: () => customer.confirm(orderId, paymentKey, amount),
    /** Sets the payment that lookups return; a confirm gets an unreadable answer. */
    show(shown: Partial<Shown>): void {
      gateway.answerWith(({ method }) =>
        method === 'GET' ? { status: 200, body: tossPayment({ ...payment, ...shown }) } : { status: 500, body: {} },
      )
    },
  }
}

for (const [title, shown] of Object.entries(returned)) {
  test(`a confirm without an answer whose payment is ${title}: FAILED, nothing is granted`, async () => {
    const { customer, orderId, confirm, show } = await pendingOrder()
    show(shown)
    assertRefused(await confirm(), 'SVC001')
    assertRefused(await confirm(), 'VAL003')
    assert.equal(await customer.status(orderId), 'FAILED')
    assert.equal((await lastOperation(service, orderId)).gatewayCode, shown.status)
    assert.deepEqual(await movements(service, customer.customerId), [])
    assert.deepEqual(await openKinds(service, orderId), [])
  })

  test(`a notification about a PENDING order whose payment is ${title} changes nothing`, async () => {
    const { customer, orderId, paymentKey, show } = await pendingOrder()
    show(shown)
    await webhooks.post(notificationOf({ orderId, paymentKey, status: 'DONE' }))
    assert.deepEqual(await outcomesOf(service, orderId), ['agrees'])
    assert.equal(await customer.status(orderId), 'PENDING')
    assert.deepEqual(await operationStates(service, orderId), [])
  })
}

for (const [title, shown] of Object.entries(doubtful)) {
  const kind = `PAYMENT_${shown.status}`

  test(`a confirm without an answer whose payment is ${title}: unknown, PENDING, and a discrepancy`, async () => {
    const { customer, orderId, confirm, show } = await pendingOrder()
    show(shown)
    for (const _ of ['no answer', 'looked up by the retry of the caller']) assertRefused(await confirm(), 'SVC001')
    await makeDue(service)
    await recover(service.payments)
    assert.deepEqual(await operationStates(service, orderId), ['CONFIRM OPEN'])
    assert.equal(await customer.status(orderId), 'PENDING')
    assert.deepEqual(await movements(service, customer.customerId), [])
    assert.deepEqual(await openKinds(service, orderId), [kind])
    // A later consistent answer of the gateway is accepted.
    show({})
    assertSuccess(await confirm(), 200)
    assert.equal(await customer.credits(), 21)
  })

  test(`a notification about a PENDING order whose payment is ${title}: PENDING, and a discrepancy`, async () => {
    const { customer, orderId, paymentKey, show } = await pendingOrder()
    show(shown)
    await webhooks.post(notificationOf({ orderId, paymentKey, status: 'DONE' }))
    assert.deepEqual(await outcomesOf(service, orderId), ['disagrees'])
    assert.equal(await customer.status(orderId), 'PENDING')
    assert.deepEqual(await operationStates(service, orderId), [])
    assert.deepEqual(await openKinds(service, paymentKey), [kind])
  })

  test(`a review of a CONFIRMED order whose payment is ${title}: CONFIRMED, and a discrepancy`, async () => {
    const { customer, orderId, key, confirm, show } = await pendingOrder()
    show({})
    assertRefused(await confirm(), 'SVC001')
    assertSuccess(await confirm(), 200)
    show(shown)
    assert.equal(await review(service.payments, key), 'disagrees')
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    assert.equal(await customer.credits(), 21)
    assert.deepEqual(await openKinds(service, orderId), [kind])
  })
}
