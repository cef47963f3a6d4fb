// Every line of the log about a payment names it: the request, the order, the operation, under the same names everywhere.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { recover } from '../../src/payments/recovery/recover.ts'
import { createOverrides, makeDue } from '../support/service/recovery.ts'
import { startTestService } from '../support/service/service.ts'

type Line = Record<string, unknown> & { msg: string }
const lines: Line[] = []
const { overrides, clear, wrapGateway } = createOverrides()
const service = await startTestService({ onLogged: (line) => lines.push(JSON.parse(line)), wrapGateway })
after(() => service.close())

async function operationOf(orderId: string): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(
    'select operation_id as id from payment_operations where order_id = $1 order by opened_at desc',
    [orderId],
  )
  return row?.id ?? ''
}

test('a payment that fails in every way leaves lines that all name it, and none that shows its key', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, confirm } = await customer.paidOrder()
  overrides.confirm = async () => ({ kind: 'unknown', code: 'HTTP_500', serverError: true })
  assert.equal((await confirm()).body.code, 'SVC001')
  overrides.findConfirm = async () => ({ kind: 'unknown', code: 'PAYMENT_ODD', discrepancy: { status: 'ODD' } })
  assert.equal((await confirm()).body.code, 'SVC001')
  overrides.findConfirm = () => Promise.reject(new Error('a bug'))
  await makeDue(service)
  await recover(service.payments)
  await makeDue(service)
  const broken = await confirm()
  assert.equal(broken.body.code, 'INT001')
  clear()
  await makeDue(service)
  await recover(service.payments)
  assert.equal(await customer.status(orderId), 'CONFIRMED')

  const operationId = await operationOf(orderId)
  const messages = lines.map(({ msg }) => msg)
  for (const message of ['gateway outcome unknown', 'the gateway and our books disagree', 'settling failed']) {
    assert.ok(messages.includes(message), message)
  }
  assert.ok(messages.includes('recovered') && messages.includes('unexpected error'))
  const ofRequests = ['gateway outcome unknown', 'the gateway and our books disagree', 'unexpected error']
  for (const line of lines) {
    assert.equal(line.orderId, orderId, line.msg)
    if (line.msg !== 'unexpected error') {
      assert.equal(line.operationId, operationId, line.msg)
      assert.equal(line.customerId, customer.customerId, line.msg)
      assert.equal(line.kind, 'CONFIRM', line.msg)
    }
    if (ofRequests.includes(line.msg)) assert.match(`${line.requestId}`, /^[0-9A-Za-z]{10}-\d+$/, line.msg)
  }
  const unexpected = lines.find(({ msg }) => msg === 'unexpected error')
  assert.equal(unexpected?.requestId, broken.body.metadata?.requestId)
  assert.ok(!JSON.stringify(lines).includes(paymentKey))
})
