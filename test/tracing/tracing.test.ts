// One trace covers a payment from the request to its end: begin, the gateway and finish, and, when the answer of the
// gateway was lost, the process that settled it later. This service and internal callers decide what is recorded. An
// unreachable collector affects no request.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { type Cleaner, callerOf, defer } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { type ReceivedSpan, startOtlpReceiver } from '../support/events/otlp-receiver.ts'
import { type Left, startWholeService } from '../support/service/whole-service.ts'
import { creditsPath, spendingCalls } from '../support/spending/spending.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callersSpan = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${callersSpan}-01`
const notRecorded = `00-${traceId}-${callersSpan}-00`
const confirmRequest = 'POST /public/v1/payments/confirm'

async function startTraced(t: Cleaner, endpoint: string, settings: Record<string, string> = {}, before?: Left) {
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'credits-of-the-tests' }
  const service = await startWholeService(t, { WORKER: 'off', ...traced, ...settings }, before)
  const { apiKey, customerId } = await service.newKey()
  const caller = callerOf(service.publicUrl, apiKey)
  async function paid() {
    const { orderId, amount } = (await caller.purchase('STANDARD')).body.data
    const paymentKey = await service.sandbox.pay(orderId, amount)
    const confirm = (headers: Record<string, string> = { traceparent }) =>
      caller.call('confirm', { orderId, paymentKey, amount }, headers)
    const cancel = (headers: Record<string, string> = { traceparent }) =>
      caller.call('cancel', { paymentKey, reason: 'changed my mind' }, headers)
    return { orderId, paymentKey, confirm, cancel }
  }
  return { ...service, apiKey, customerId, paid }
}

function one(spans: ReceivedSpan[], name: string): ReceivedSpan {
  const named = spans.filter((span) => span.name === name)
  assert.equal(named.length, 1, `${name}: ${named.length}`)
  return named[0] as ReceivedSpan
}

test('a confirm is one trace, linked to the caller’s: request, begin, gateway, finish, each statement in its step', async (t) => {
  const collector = await startOtlpReceiver(t)
  const service = await startTraced(t, collector.url)
  const { orderId, paymentKey, confirm } = await service.paid()
  assert.equal((await confirm()).body.code, 'SUCCESS')
  const request = await collector.spanLinkedTo(traceId, confirmRequest)
  const spans = await collector.traceWith(request.traceId, ['payments.finish', 'payments.finishOperations'])
  assert.notEqual(request.traceId, traceId)
  assert.equal(request.parentSpanId ?? '', '')
  assert.equal(request.service, 'credits-of-the-tests')
  assert.equal(request.attributes.code, 'SUCCESS')
  const begin = one(spans, 'payments.begin')
  const gateway = one(spans, 'gateway.confirm')
  const finish = one(spans, 'payments.finish')
  for (const step of [begin, gateway, finish]) assert.equal(step.parentSpanId, request.spanId, step.name)
  assert.equal(one(spans, 'payments.claimConfirms').parentSpanId, begin.spanId)
  assert.equal(one(spans, 'payments.finishOperations').parentSpanId, finish.spanId)
  const [{ operationId }] = (await service.database.query<{ operationId: string }>(
    'select operation_id as "operationId" from payment_operations where order_id = $1',
    [orderId],
  )) as [{ operationId: string }]
  for (const span of [begin, gateway, finish]) {
    assert.equal(span.attributes.orderId, orderId, span.name)
    assert.equal(span.attributes.operationId, operationId, span.name)
  }
  assert.equal(gateway.attributes.outcome, 'approved')
  assert.equal(finish.attributes.to, 'CONFIRMED')
  const exported = JSON.stringify(collector.spans)
  for (const secret of [paymentKey, service.apiKey, 'test_sk_']) assert.ok(!exported.includes(secret), secret)
})

test('a confirm whose answer was lost is finished by another process in the same trace', async (t) => {
  const collector = await startOtlpReceiver(t)
  const first = await startTraced(t, collector.url, { GATEWAY_TIMEOUT_MS: '2000' })
  await first.sandbox.setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  const { orderId, confirm } = await first.paid()
  assert.equal((await confirm()).body.code, 'SVC001')
  await first.close()
  await startTraced(t, collector.url, { WORKER: 'on', OTEL_SERVICE_NAME: 'the-next-one' }, first)
  const request = await collector.spanLinkedTo(traceId, confirmRequest)
  const spans = await collector.traceWith(request.traceId, ['payments.settle', 'payments.finish'])
  assert.equal(one(spans, 'gateway.confirm').attributes.outcome, 'unknown')
  const settle = one(spans, 'payments.settle')
  const found = one(spans, 'gateway.findConfirm')
  const finish = one(spans, 'payments.finish')
  assert.deepEqual(
    [settle, found, finish].map(({ service }) => service),
    Array(3).fill('the-next-one'),
  )
  assert.deepEqual([found.parentSpanId, finish.parentSpanId], [settle.spanId, settle.spanId])
  assert.equal(settle.attributes.outcome, 'approved')
  const ids = new Set(spans.map(({ attributes }) => attributes.orderId).filter((id) => id !== undefined))
  assert.deepEqual([...ids], [orderId])
})

test('a request that settles an operation of another continues the first trace, with a link to its own', async (t) => {
  const collector = await startOtlpReceiver(t)
  const service = await startTraced(t, collector.url)
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
  const { confirm } = await service.paid()
  assert.equal((await confirm()).body.code, 'SVC001')
  const other = '5bd66ef5095369c7b0d1f8f4bd33716a'
  assert.equal((await confirm({ traceparent: `00-${other}-${callersSpan}-01` })).body.code, 'SUCCESS')
  const first = await collector.spanLinkedTo(traceId, confirmRequest)
  const second = await collector.spanLinkedTo(other, confirmRequest)
  const spans = await collector.traceWith(first.traceId, ['payments.settle'])
  assert.deepEqual(one(spans, 'payments.settle').links, [second.traceId])
})

test('a caller of the public API can neither force nor prevent the recording of a request', async (t) => {
  const collector = await startOtlpReceiver(t)
  const all = await startTraced(t, collector.url)
  assert.equal((await (await all.paid()).confirm({ traceparent: notRecorded })).body.code, 'SUCCESS')
  await collector.spanLinkedTo(traceId, confirmRequest)
  assert.equal((await (await all.paid()).cancel({ traceparent: 'anything' })).body.code, 'NOT000')
  await until('the cancel is recorded', () => collector.spans.some(({ name }) => name.endsWith('/cancel')), 15_000)
  const { links, parentSpanId = '' } = one(collector.spans, 'POST /public/v1/payments/cancel')
  assert.deepEqual({ links, parentSpanId }, { links: [], parentSpanId: '' })
  await all.close()
  collector.spans.length = 0

  const none = await startTraced(t, collector.url, { OTEL_TRACES_SAMPLER_ARG: '0' })
  const { orderId, confirm, cancel } = await none.paid()
  for (const send of [confirm, cancel]) assert.equal((await send({ traceparent })).body.code, 'SUCCESS')
  const ofOrder = 'select distinct trace_parent from payment_operations where order_id = $1'
  assert.deepEqual(await none.database.query(ofOrder, [orderId]), [{ trace_parent: null }])
  await none.close()
  assert.deepEqual(collector.spans, [])
})

test('the trace of a service that calls the internal API is continued, and recorded if that service records it', async (t) => {
  const collector = await startOtlpReceiver(t)
  const service = await startTraced(t, collector.url, { OTEL_TRACES_SAMPLER_ARG: '0' })
  const { call } = spendingCalls(service.internalUrl, (await service.newToken()).token)
  await (await service.paid()).confirm({})
  const none = [notRecorded, `00-${'0'.repeat(32)}-${callersSpan}-01`, 'anything']
  for (const [index, header] of [...none, traceparent].entries()) {
    const body = { customerId: service.customerId, credits: 1, reference: `${index}` }
    const spent = await call(`${creditsPath}/spend`, { body, headers: { traceparent: header } })
    assert.equal(spent.body.code, 'SUCCESS')
  }
  const spans = await collector.traceWith(traceId, [`POST ${creditsPath}/spend`])
  assert.equal(one(spans, `POST ${creditsPath}/spend`).parentSpanId, callersSpan)
  await service.close()
  assert.deepEqual(
    collector.spans.filter((span) => span.traceId !== traceId),
    [],
  )
})

test('a collector that is unreachable or never answers affects no request, and is logged once', async (t) => {
  const silent = createServer(() => undefined)
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  defer(t, () => silent.close())
  const { port } = silent.address() as { port: number }
  for (const endpoint of ['http://127.0.0.1:1', `http://127.0.0.1:${port}`]) {
    const service = await startTraced(t, endpoint)
    for (let round = 0; round < 3; round += 1) {
      const { confirm } = await service.paid()
      assert.equal((await confirm()).body.code, 'SUCCESS')
    }
    await service.close()
    const lines = service.lines.filter(({ msg }) => msg === 'the collector takes no traces')
    assert.ok(lines.length <= 1, `${lines.length}`)
  }
})
