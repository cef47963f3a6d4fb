// The sandbox without HTTP, behind the adapter that the service uses: the fault table calls it tens of thousands of
// times, and injects its faults above the wire. Faults on the wire are covered by the tests of the adapter and of the
// sandbox.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { silentLog } from '../../../harness/silent-log.ts'
import type { Operation } from '../../../sandbox/faults/faults.ts'
import { cancel } from '../../../sandbox/payments/cancel.ts'
import { confirm } from '../../../sandbox/payments/confirm.ts'
import { paymentObject } from '../../../sandbox/payments/payment-object.ts'
import { type CheckoutResult, finishCheckout, type Payment, refused } from '../../../sandbox/payments/payments.ts'
import { listTransactions } from '../../../sandbox/payments/transactions.ts'
import { exchange, type Work } from '../../../sandbox/protocol/exchange.ts'
import { openState } from '../../../sandbox/state.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import { createTossGateway } from '../../../src/gateway/toss/adapter.ts'
import type { Exchange, TossClient } from '../../../src/gateway/toss/client.ts'
import type { GatewayPayment } from '../../../test/support/audit/invariants.ts'
import { secretKey, testSettings } from '../../../test/support/service/service.ts'

/** A call that reached the gateway. */
export type Send = { verb: 'confirm' | 'cancel'; key: string }

export function openDirectSandbox() {
  const dataDir = mkdtempSync(join(tmpdir(), 'prepaid-credits-calls-'))
  const state = openState({ clientKey: testSettings.clientKey, secretKey, dataDir, strict: true })
  const { payments, movements, strict } = state
  const behaviour = state.behaviour.values
  const sends = new Map<string, Send[]>()

  async function request(operation: Operation, method: string, url: string, key: string | null, work: Work) {
    const headers = key === null ? {} : { 'idempotency-key': key }
    const reply = createReply()
    const body = await exchange(
      state,
      operation,
      { method, url, headers } as unknown as FastifyRequest,
      reply as unknown as FastifyReply,
      work,
    )
    return { kind: 'answer', status: reply.status, body: JSON.parse(JSON.stringify(body)) } satisfies Exchange
  }

  const find = (paymentKey: string): Payment | undefined => payments.find(paymentKey)

  const client: TossClient = {
    post([first = '', verb], body, key) {
      const work: Work = verb
        ? (now) => cancel(payments, first, body, now)
        : (now) => confirm({ payments, origin: 'http://127.0.0.1', strict, behaviour }, body, now)
      return request(verb ? 'cancel' : 'confirm', 'POST', `/v1/payments/${first}/${verb ?? ''}`, key, work)
    },
    get([paymentKey = '']) {
      const payment = find(paymentKey)
      const found = payment ? { changed: [], answer: { status: 200, payment } } : refused('NOT_FOUND_PAYMENT')
      return request('lookup', 'GET', `/v1/payments/${paymentKey}`, null, () => found)
    },
    transactions: (query) =>
      request('transactions', 'GET', '/v1/transactions', null, () => listTransactions(movements, behaviour, query)),
    close: async () => undefined,
  }
  const port = createTossGateway(client, silentLog)

  function record(paymentKey: string, send: Send): void {
    const recorded = sends.get(paymentKey)
    if (recorded) recorded.push(send)
    else sends.set(paymentKey, [send])
  }

  const gateway: Gateway = {
    ...port,
    confirm(intent) {
      record(intent.paymentKey, { verb: 'confirm', key: intent.idempotencyKey })
      return port.confirm(intent)
    },
    cancel(intent) {
      record(intent.paymentKey, { verb: 'cancel', key: intent.idempotencyKey })
      return port.cancel(intent)
    },
  }

  /** A call from outside this service, with another key and without a notification. */
  async function callFromOutside(verb: 'confirm' | 'cancel', paymentKey: string): Promise<void> {
    const { orderId, amount } = payments.find(paymentKey) as Payment
    const intent = { orderId, paymentKey, amount, idempotencyKey: crypto.randomUUID(), reason: 'in the dashboard' }
    const { kind } = await port[verb](intent)
    if (kind !== 'approved') throw new Error(`the sandbox did not ${verb} ${paymentKey}`)
  }

  return {
    /** The port; the calls that reach the gateway through it are recorded. */
    gateway,
    sendsOf: (paymentKey: string): Send[] => sends.get(paymentKey) ?? [],
    /** Completes a checkout as the buyer. */
    pay(orderId: string, amount: number, result: CheckoutResult = 'approve'): string {
      const payment = finishCheckout({ orderId, amount, result }, state.clock.now())
      state.record({ changed: [payment] })
      return payment.paymentKey
    },
    capture: (paymentKey: string) => callFromOutside('confirm', paymentKey),
    cancel: (paymentKey: string) => callFromOutside('cancel', paymentKey),
    payment(paymentKey: string): GatewayPayment | null {
      const payment = payments.find(paymentKey)
      return payment ? paymentObject(payment) : null
    },
    payments: (): GatewayPayment[] => payments.all().map(paymentObject),
    async close(): Promise<void> {
      await state.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The part of Fastify's reply that the exchange uses when no fault closes the connection. */
function createReply() {
  const headers = new Map<string, unknown>()
  const reply = {
    status: 200,
    header: (name: string, value: unknown) => headers.set(name, value),
    getHeader: (name: string) => headers.get(name) ?? '',
    code(status: number) {
      reply.status = status
      return reply
    },
  }
  return reply
}
