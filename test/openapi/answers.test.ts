// The service gives every answer of the API document, word for word, and a proxy that validates against the document
// finds no other.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Registry } from 'prom-client'
import { head, sendRaw } from '../../harness/raw-http.ts'
import type { TokenScope } from '../../src/core/token-scopes.ts'
import { setBudget } from '../../src/credits/budgets/budgets.sql.ts'
import { updateKeyStatus, updateSuspension } from '../../src/customers/customers.sql.ts'
import { updateTokenStatus } from '../../src/customers/service-tokens.sql.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { cancelledElsewhere } from '../../src/payments/kinds.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { closeAll } from '../support/closing.ts'
import { type OperationRequest, operationRequests, watchAnswers } from '../support/documents/documented-answers.ts'
import { orderInState } from '../support/service/orders.ts'
import { settleAll } from '../support/service/recovery.ts'
import {
  type Answer,
  startTestService,
  type TestCustomer,
  type TestService,
  testLogKeys,
  testLogOrigin,
  testPeppers,
  testSettings,
} from '../support/service/service.ts'
import { logEntries, signLogAgain } from '../support/spending/receipts.ts'
import { startInternal } from '../support/spending/spending.ts'

const { expect, note, unseen } = watchAnswers()
let own: TestService
let service: TestService
let internal: Awaited<ReturnType<typeof startInternal>>
let customer: TestCustomer
/** Faults that a test sets: an error for every statement, a rejection of every cancel. */
let databaseFault: Error | undefined
let isCancelRefused = false

before(async () => {
  own = await startTestService()
  const { database, sandboxUrl } = own
  const pool = Object.assign(Object.create(database.pool), {
    query: async (query: never) => {
      if (databaseFault) throw databaseFault
      return database.pool.query(query)
    },
  })
  service = await startTestService({
    beside: { database: { ...database, pool }, sandboxUrl },
    way: 'checked',
    settings: {
      pendingOrdersPerCustomer: 5,
      firstRefundRule: { ...testSettings.firstRefundRule, fullPriceDays: 0, smallestAmount: 5_000 },
    },
    wrapGateway: (gateway) => ({
      ...gateway,
      cancel: async (intent) =>
        isCancelRefused ? { kind: 'rejected', code: 'NOT_CANCELABLE_PAYMENT' } : gateway.cancel(intent),
    }),
  })
  const registry = new Registry()
  const metrics = { contentType: registry.contentType, text: () => registry.metrics(), close: async () => undefined }
  internal = await startInternal(service.payments, 'analyses', { way: 'checked', metrics })
  customer = await service.newCustomer()
})
after(() => closeAll(internal, service, own))

const unknownCustomer = '00000000-0000-4000-8000-000000000000'

test('the answers of a purchase are in the document', async () => {
  const purchase = (body: object, headers: Record<string, string> = {}) => customer.as('/purchase', { body, headers })
  const key = { 'x-idempotency-key': crypto.randomUUID() }
  await expect('purchaseCredits', 'SUCCESS', purchase({ packageType: 'BASIC' }, key))
  await expect('purchaseCredits', 'VAL003', purchase({ packageType: 'PRO' }, key))
  await expect('purchaseCredits', 'VAL003', purchase({ packageType: 'PRO' }, { 'x-idempotency-key': 'a b' }))
  await expect('purchaseCredits', 'VAL002', purchase({}))
  await expect('purchaseCredits', 'VAL003', purchase({ packageType: 'GOLD' }))
  const hoarder = await service.newCustomer()
  for (let count = 0; count < 5; count += 1) await hoarder.purchase()
  await expect('purchaseCredits', 'SVC001', hoarder.purchase())
})

test('the answers of a confirm are in the document', async () => {
  const { orderId, paymentKey, amount, confirm } = await customer.paidOrder()
  const other = await customer.paidOrder()
  const post = (body: object) => customer.as('/confirm', { body })
  await expect('confirmPayment', 'VAL002', post({ orderId, amount }))
  await expect('confirmPayment', 'VAL003', post({ orderId, paymentKey, amount: 0 }))
  await expect('confirmPayment', 'VAL003', post({ orderId, paymentKey, amount: amount + 1 }))
  await expect('confirmPayment', 'NOT000', post({ orderId: 'ord_nothing', paymentKey, amount }))
  await expect('confirmPayment', 'SUCCESS', confirm())
  await expect('confirmPayment', 'VAL003', post({ ...other, paymentKey }))
  await expect('confirmPayment', 'VAL003', (await customer.paidOrder('BASIC', 'decline')).confirm())
  await expect('confirmPayment', 'VAL003', (await orderInState(service, customer, 'CANCELLED')).confirm())
  await expect('getPaymentStatus', 'SUCCESS', customer.as(`/${orderId}`))
  await expect('getPaymentStatus', 'NOT000', customer.as('/ord_nothing'))
  await expect('getCreditBalance', 'SUCCESS', customer.as('/credits'))
  await expect('listCreditPackages', 'SUCCESS', customer.as('/packages'))
})

test('the answers about own orders and the own statement are in the document', async () => {
  const own = (path: string, query: Record<string, string> = {}) =>
    service.call(`/public/v1/${path}?${new URLSearchParams(query)}`, { key: customer.apiKey })
  const { orderId } = (await customer.purchase()).body.data
  await expect('listOrders', 'SUCCESS', own('orders'))
  await expect('listOrders', 'VAL003', own('orders', { cursor: '1' }))
  await expect('listOrders', 'VAL003', own('orders', { limit: '0' }))
  await expect('getOrder', 'SUCCESS', own(`orders/${orderId}`))
  await expect('getOrder', 'NOT000', own('orders/ord_nothing'))
  await expect('getOwnStatement', 'SUCCESS', own('statement'))
  await expect('getOwnStatement', 'VAL003', own('statement', { limit: '0' }))
  await expect('getOwnStatement', 'VAL003', own('statement', { from: '2026-02-30T00:00:00Z' }))
  const backwards = { from: '2026-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' }
  await expect('getOwnStatement', 'VAL003', own('statement', backwards))
})

test('the answers of a cancel are in the document', async () => {
  const buyer = await service.newCustomer()
  const { paymentKey } = await buyer.confirmedOrder()
  await expect('cancelPayment', 'VAL002', buyer.as('/cancel', { body: { paymentKey } }))
  await expect('cancelPayment', 'VAL003', buyer.cancel('..'))
  await expect('cancelPayment', 'VAL003', buyer.cancel(paymentKey, ' '))
  await expect('cancelPayment', 'NOT000', customer.cancel(paymentKey))
  isCancelRefused = true
  await expect('cancelPayment', 'PAYMENT_CANCEL_FAILED', buyer.cancel(paymentKey))
  isCancelRefused = false
  await internal.spend(buyer.customerId, 1)
  await expect('cancelPayment', 'PAYMENT_CANCEL_FAILED', buyer.cancel(paymentKey))
  for (const status of ['CANCELLED', 'FAILED', 'REFUNDED'] as const) {
    const order = await orderInState(service, buyer, status)
    await expect('cancelPayment', 'PAYMENT_CANCEL_FAILED', buyer.cancel(order.paymentKey))
  }
  const order = await buyer.confirmedOrder()
  await expect('cancelPayment', 'SUCCESS', buyer.cancel(order.paymentKey))
})

test('the answers of the refund endpoints are in the document', async () => {
  const buyer = await service.newCustomer()
  const { customerId } = buyer
  const { refundQuote, refund, lots, spend, hold, release, call } = internal
  const both = async (orderId: string, code: 'VAL003' | 'NOT000') => {
    await expect('quoteRefund', code, refundQuote(customerId, orderId))
    await expect('refundUnused', code, refund(customerId, orderId, { amount: 1_000, credits: 1 }))
  }
  const { orderId } = await buyer.confirmedOrder()
  const path = `/internal/v1/customers/${customerId}/orders/${orderId}/refund`
  await expect('refundUnused', 'VAL002', call(path, { body: { credits: 1, reason: 'unused' } }))
  await expect('refundUnused', 'VAL003', refund(customerId, orderId, { amount: 1_000, credits: 0 }))
  await both('ord_nothing', 'NOT000')
  await both((await orderInState(service, buyer, 'CANCELLED')).orderId, 'VAL003')
  await both((await orderInState(service, buyer, 'REFUNDED')).orderId, 'VAL003')
  const { holdId } = (await hold(customerId, 5)).body.data
  await both(orderId, 'VAL003')
  await release(customerId, holdId)
  const quote = { amount: 15_000, credits: 16 }
  await expect('refundUnused', 'VAL003', refund(customerId, orderId, quote))
  await expect('refundUnused', 'VAL003', refund(customerId, orderId, quote, cancelledElsewhere))
  await spend(customerId, 5)
  await expect('quoteRefund', 'SUCCESS', refundQuote(customerId, orderId))
  isCancelRefused = true
  await expect('refundUnused', 'VAL003', refund(customerId, orderId, quote))
  isCancelRefused = false
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'error-before', times: 1 }])
  await expect('refundUnused', 'SVC001', refund(customerId, orderId, quote))
  await expect('quoteRefund', 'SVC001', refundQuote(customerId, orderId))
  await service.sandbox.clearFaults()
  await settleAll(service)
  await expect('refundUnused', 'SUCCESS', refund(customerId, orderId, quote))
  await expect('listLots', 'SUCCESS', lots(customerId))
  await expect('listLots', 'VAL003', lots(customerId, { limit: '0' }))
  await expect('listLots', 'NOT000', lots(unknownCustomer))

  const second = await buyer.confirmedOrder()
  await spend(customerId, 17)
  await both(second.orderId, 'VAL003')
  await spend(customerId, 3)
  await both(second.orderId, 'VAL003')
  const third = await buyer.confirmedOrder()
  await service.sandbox.cancel(third.paymentKey, 1_000)
  await expect('quoteRefund', 'VAL003', refundQuote(customerId, third.orderId))
})

test('the answers of the spending endpoints are in the document', async () => {
  const { customerId } = customer
  const { spend, hold, extend, capturePart, capture, release, statement, use, call } = internal
  await expect('spendCredits', 'SUCCESS', spend(customerId, 2, 'spent'))
  await expect('holdCredits', 'SUCCESS', hold(customerId, 3, { reference: 'held' }))
  await expect('spendCredits', 'VAL003', spend(customerId, 3, 'spent'))
  await expect('spendCredits', 'VAL003', spend(customerId, 3, 'held'))
  await expect('holdCredits', 'VAL003', hold(customerId, 2, { reference: 'held' }))
  await expect('holdCredits', 'VAL003', hold(customerId, 3, { reference: 'spent' }))
  await expect('spendCredits', 'VAL002', call('/internal/v1/credits/spend', { body: { customerId, credits: 1 } }))
  await expect('holdCredits', 'VAL002', call('/internal/v1/credits/holds', { body: { customerId, credits: 1 } }))
  await expect('spendCredits', 'VAL003', spend(customerId, 0))
  await expect('holdCredits', 'VAL003', hold(customerId, 1, { expiresInSeconds: 0 }))
  await expect('spendCredits', 'BUS002', spend(customerId, 1_000))
  await expect('holdCredits', 'BUS002', hold(customerId, 1_000))
  await expect('spendCredits', 'NOT000', spend(unknownCustomer, 1))
  await expect('holdCredits', 'NOT000', hold(unknownCustomer, 1))
  await expect('holdCredits', 'SUCCESS', hold(customerId, 1, { dryRun: true }))

  const { holdId } = (await hold(customerId, 5)).body.data
  const path = `/internal/v1/credits/holds/${holdId}`
  const reverse = (reference: string, more: object = {}) =>
    internal.reverse(customerId, 'spent', { reference, ...more })
  await expect('reverseSpend', 'SUCCESS', reverse('back', { credits: 1 }))
  await expect('reverseSpend', 'VAL002', reverse('other', { reason: null }))
  await expect('reverseSpend', 'VAL003', reverse('other', { reason: '' }))
  await expect('reverseSpend', 'VAL003', reverse('other', { credits: 2 }))
  await expect('reverseSpend', 'VAL003', reverse('back', { credits: 2 }))
  await expect('reverseSpend', 'VAL003', internal.reverse(customerId, 'held', { reference: 'back' }))
  await expect('reverseSpend', 'VAL003', reverse('spent'))
  await expect('reverseSpend', 'VAL003', reverse('held'))
  await expect('reverseSpend', 'NOT000', internal.reverse(unknownCustomer, 'spent'))
  await expect('spendCredits', 'VAL003', spend(customerId, 1, 'back'))
  await expect('holdCredits', 'VAL003', internal.hold(customerId, 1, { reference: 'back' }))
  await expect('captureHold', 'VAL002', call(`${path}/capture`, { body: {} }))
  await expect('releaseHold', 'VAL002', call(`${path}/release`, { body: {} }))
  await expect('captureHold', 'VAL003', capture(customerId, holdId, 0))
  await expect('captureHold', 'VAL003', capture(customerId, holdId, 6))
  await expect('releaseHold', 'VAL003', release('unknown', holdId))
  await expect('captureHold', 'NOT000', capture(unknownCustomer, holdId))
  await expect('releaseHold', 'NOT000', release(unknownCustomer, holdId))
  await expect('captureHold', 'SUCCESS', capture(customerId, holdId, 3))
  await expect('releaseHold', 'VAL003', release(customerId, holdId))
  const second = (await hold(customerId, 5)).body.data.holdId
  await expect('releaseHold', 'SUCCESS', release(customerId, second))
  await expect('captureHold', 'VAL003', capture(customerId, second))

  const job = (await hold(customerId, 4, { reference: 'job', atMost: true })).body.data.holdId
  await expect('holdCredits', 'VAL003', hold(customerId, 3, { reference: 'job', atMost: true }))
  await expect('extendHold', 'SUCCESS', extend(customerId, job, 7_200))
  await expect('extendHold', 'VAL002', extend(customerId, job, undefined))
  await expect('extendHold', 'VAL003', extend(customerId, job, 0))
  await expect('extendHold', 'NOT000', extend(unknownCustomer, job, 60))
  await expect('extendHold', 'VAL003', extend(customerId, second, 60))
  await expect('captureHold', 'SUCCESS', capturePart(customerId, job, 1, 'part'))
  await expect('captureHold', 'VAL002', capturePart(customerId, job, 1, null))
  await expect('captureHold', 'VAL003', capturePart(customerId, job, 1, 'two words'))
  await expect(
    'captureHold',
    'VAL003',
    call(`/internal/v1/credits/holds/${job}/capture`, { body: { customerId, reference: 'a' } }),
  )
  await expect('captureHold', 'VAL003', capturePart(customerId, job, 2, 'part'))
  await expect('captureHold', 'VAL003', capturePart(customerId, second, 1, 'part'))
  await expect('captureHold', 'VAL003', capturePart(customerId, job, 1, 'job'))
  await expect('captureHold', 'VAL003', capturePart(customerId, job, 1, 'spent'))
  await expect('reverseSpend', 'VAL003', reverse('part'))
  await expect('spendCredits', 'VAL003', spend(customerId, 1, 'part'))
  await expect('holdCredits', 'VAL003', hold(customerId, 1, { reference: 'part' }))
  const cleaner = await issueToken(own.payments.database, testPeppers, 'clean-up', ['hold', 'manage-holds'])
  const none = { customerId, scope: 'SERVICE', value: 'clean-up', period: 'DAY', credits: 0, warnAt: null } as const
  await setBudget(own.payments.database, none)
  await expect('captureHold', 'BUS002', internal.as(cleaner.token).capture(customerId, job))
  await release(customerId, job)
  await expect('captureHold', 'VAL003', capture(customerId, job))

  await expect('getBudgets', 'SUCCESS', call(`/internal/v1/customers/${customerId}/budgets`))
  await expect('getBudgets', 'NOT000', call(`/internal/v1/customers/${unknownCustomer}/budgets`))
  const { customerId: limited } = await own.newCustomer()
  const limitedBody = { customerId: limited, credits: 1, reference: 'limited', keyId: 'key-17' }
  const budget = { customerId: limited, scope: 'KEY', value: null, period: 'DAY', credits: 0, warnAt: null } as const
  await setBudget(own.payments.database, budget)
  await expect('spendCredits', 'BUS002', call('/internal/v1/credits/spend', { body: limitedBody }))
  await expect('holdCredits', 'BUS002', call('/internal/v1/credits/holds', { body: limitedBody }))
  await updateSuspension(own.payments.database, limited, true)
  await expect('spendCredits', 'VAL003', call('/internal/v1/credits/spend', { body: limitedBody }))
  await expect('holdCredits', 'VAL003', call('/internal/v1/credits/holds', { body: limitedBody }))

  const { customerId: labelled } = await service.newCustomer()
  await own.database.query(
    `insert into use_labels (customer_id, label, place) select $1, 'label-' || n, n from generate_series(1, 100) as n`,
    [labelled],
  )
  await expect('spendCredits', 'VAL003', spend(labelled, 1, 'labelled', { label: 'one-more' }))
  await expect('holdCredits', 'VAL003', hold(labelled, 1, { label: 'one-more' }))

  await expect('getUse', 'SUCCESS', use(customerId, { by: 'key' }))
  await expect('getUse', 'VAL003', use(customerId, { by: 'hour' }))
  await expect('getUse', 'VAL003', use(customerId, { from: '2026-02-30' }))
  await expect('getUse', 'VAL003', use(customerId, { to: '2199-01-01' }))
  await expect('getUse', 'VAL003', use(customerId, { from: '2026-02-02', to: '2026-02-01' }))
  await expect('getUse', 'VAL003', use(customerId, { from: '2025-02-02', to: '2026-02-01' }))
  await expect('getUse', 'NOT000', use(unknownCustomer))
  await expect('getStatement', 'SUCCESS', statement(customerId))
  await expect('getStatement', 'VAL003', statement(customerId, { limit: '0' }))
  await expect('getStatement', 'VAL003', statement(customerId, { from: '2026-02-30T00:00:00Z' }))
  const backwards = { from: '2026-02-02T00:00:00Z', to: '2026-02-01T00:00:00Z' }
  await expect('getStatement', 'VAL003', statement(customerId, backwards))
  await expect('getStatement', 'NOT000', statement(unknownCustomer))
})

test('the answers of the receipt endpoints are in the document', async () => {
  const buyer = await service.newCustomer()
  const { customerId } = buyer
  const { orderReceipt, referenceReceipt, statementReceipt, spend, hold } = internal
  const { orderId } = await buyer.confirmedOrder('PRO')
  await spend(customerId, 1, 'spent')
  await expect('getOrderReceipt', 'SVC001', orderReceipt(customerId, orderId))
  await expect('getReferenceReceipt', 'SVC001', referenceReceipt(customerId, 'spent'))
  await expect('getStatementReceipt', 'SVC001', statementReceipt(customerId, { from: '1', to: '2' }))
  await logEntries(own.payments.database)
  await expect('getOrderReceipt', 'SUCCESS', orderReceipt(customerId, orderId))
  await expect('getReferenceReceipt', 'SUCCESS', referenceReceipt(customerId, 'spent'))
  await expect('getStatementReceipt', 'SUCCESS', statementReceipt(customerId, { from: '1', to: '2' }))
  await signLogAgain(own.payments.database, logKeysOf([{ secret: 'of another process' }], testLogOrigin))
  await expect('getOrderReceipt', 'SVC001', orderReceipt(customerId, orderId))
  await expect('getReferenceReceipt', 'SVC001', referenceReceipt(customerId, 'spent'))
  await expect('getStatementReceipt', 'SVC001', statementReceipt(customerId, { from: '1', to: '2' }))
  await signLogAgain(own.payments.database, testLogKeys)
  const unpaid = await buyer.paidOrder()
  await expect('getOrderReceipt', 'NOT000', orderReceipt(customerId, 'ord_nothing'))
  await expect('getOrderReceipt', 'NOT000', orderReceipt(customerId, unpaid.orderId))
  await expect('getReferenceReceipt', 'NOT000', referenceReceipt(customerId, 'never used'))
  await expect('getStatementReceipt', 'VAL002', statementReceipt(customerId, { to: '1' }))
  await expect('getStatementReceipt', 'VAL003', statementReceipt(customerId, { from: '1', to: '0' }))
  await expect('getStatementReceipt', 'VAL003', statementReceipt(customerId, { from: '2', to: '1' }))
  await expect('getStatementReceipt', 'VAL003', statementReceipt(customerId, { from: '1', to: '501' }))
  await expect('getStatementReceipt', 'NOT000', statementReceipt(customerId, { from: '1', to: '3' }))
  await expect('getStatementReceipt', 'NOT000', statementReceipt(unknownCustomer, { from: '1', to: '1' }))
  const { customerId: unused } = await service.newCustomer()
  await expect('getStatementReceipt', 'NOT000', statementReceipt(unused, { from: '1', to: '1' }))

  for (let bought = 0; bought < 4; bought += 1) await buyer.confirmedOrder('PRO')
  const { holdId } = (await hold(customerId, 501, { reference: 'parts' })).body.data
  const { serviceId } = internal.issued
  for (let part = 0; part < 500; part += 1) {
    await service.payments.credits.capturePart({ customerId, holdId, credits: 1, reference: `part-${part}`, serviceId })
  }
  await expect('getReferenceReceipt', 'VAL003', referenceReceipt(customerId, 'parts'))

  await own.database.query(
    `insert into log_restores (restore_number, restore_id, origins, size) values (1, gen_random_uuid(), $1, 0)`,
    [[testLogOrigin]],
  )
  await expect('getOrderReceipt', 'SVC001', orderReceipt(customerId, orderId))
  await expect('getReferenceReceipt', 'SVC001', referenceReceipt(customerId, 'spent'))
  await expect('getStatementReceipt', 'SVC001', statementReceipt(customerId, { from: '1', to: '2' }))
})

const callers = operationRequests.filter(({ scheme }) => scheme !== 'open')

/** Sends the example of the document, with or without a key or token. */
function send({ scheme, path, ...request }: OperationRequest, secret: Secret): Promise<Answer> {
  if (scheme === 'ServiceApiKey') return service.call(path, { ...request, key: secret?.apiKey ?? null })
  return internal.as(secret?.token ?? null).call(path, request)
}

type Secret = { apiKey: string; token: string } | undefined

async function newSecret(status: 'ACTIVE' | 'SUSPENDED', scopes?: TokenScope[]): Promise<Secret> {
  const { database } = own.payments
  const { apiKey, keyId } = await own.newCustomer()
  const { token, serviceId } = await issueToken(database, testPeppers, crypto.randomUUID(), scopes)
  if (status === 'SUSPENDED') {
    await updateKeyStatus(database, keyId, status)
    await updateTokenStatus(database, serviceId, status)
  }
  return { apiKey, token }
}

test('the refusals before a handler runs are in the document, for each endpoint', async () => {
  const suspended = await newSecret('SUSPENDED')
  const unknown = { apiKey: `cpk_${'x'.repeat(43)}`, token: `cst_${'x'.repeat(43)}` }
  const known = await newSecret('ACTIVE')
  const [reader, spender] = [await newSecret('ACTIVE', ['read']), await newSecret('ACTIVE', ['spend'])]
  for (const request of callers) {
    const { operationId, body } = request
    await expect(operationId, 'INVALID_API_KEY', send(request, undefined))
    await expect(operationId, 'AUTH001', send(request, unknown))
    await expect(operationId, 'AUTH003', send(request, suspended))
    if (request.scheme === 'ServiceToken') {
      const answers = [await send(request, reader), await send(request, spender)]
      const refused = answers.find(({ body: { code } }) => code === 'AUTH003') ?? assert.fail(operationId)
      await expect(operationId, 'AUTH003', Promise.resolve(refused))
    }
    if (!body) continue
    await expect(operationId, 'VAL001', send({ ...request, body: [] }, known))
    await expect(operationId, 'VAL004', send({ ...request, body: { ...body, more: 'x'.repeat(20_000) } }, known))
  }
  // With a key that is not cached, all of these query the database first.
  for (const [code, fault] of Object.entries({ SVC001: '53300', INT001: '42601' })) {
    const secret = await newSecret('ACTIVE')
    databaseFault = Object.assign(new Error('a fault'), { code: fault })
    for (const request of callers) await expect(request.operationId, code, send(request, secret))
    databaseFault = undefined
  }
})

/** No HTTP library sends these requests. Without the proxy, which would refuse them itself. */
test('malformed HTTP and oversized headers get the documented answers, for each path', async () => {
  for (const { operationId, scheme, method, path } of operationRequests) {
    const { port } = scheme === 'ServiceApiKey' ? service : internal
    await expect(operationId, 'VAL001', sendRaw(port, head(`${method} ${path}`, { expect: 'something else' })))
    await expect(operationId, 'VAL004', sendRaw(port, head(`${method} ${path}`, { x: 'x'.repeat(20_000) })))
  }
})

/** Without the proxy, too. */
test('a body of another content type gets the documented answer, at every endpoint with a body', async () => {
  const { apiKey = '', token = '' } = (await newSecret('ACTIVE')) ?? {}
  for (const { operationId, scheme, method, path, body } of callers) {
    if (!body) continue
    const [port, secret] =
      scheme === 'ServiceApiKey'
        ? [service.port, { 'service-api-key': apiKey }]
        : [internal.port, { authorization: `Bearer ${token}` }]
    const headers = { ...secret, 'content-type': 'text/plain', 'content-length': 2 }
    const answer = await expect(operationId, 'VAL001', sendRaw(port, `${head(`${method} ${path}`, headers)}{}`))
    assert.equal(answer.body.message, 'The Content-Type must be application/json.')
  }
})

test('health and metrics give the documented answers', async () => {
  for (const { operationId, path } of operationRequests.filter(({ scheme }) => scheme === 'open')) {
    const answer = await internal.way.fetch(path, {})
    assert.equal(answer.status, 200)
    note(operationId, answer.status, {})
  }
  databaseFault = Object.assign(new Error('a fault'), { code: '53300' })
  const unready = await internal.way.fetch('/readyz', {})
  databaseFault = undefined
  note('getReadiness', unready.status, {})
})

test('every answer of the document was seen, except INT001 of endpoints that cannot fail', () => {
  assert.deepEqual(
    unseen(),
    ['getLiveness', 'getReadiness', 'getMetrics'].map((each) => `${each} 500 INT001 Unexpected server error.`),
  )
})
