// The control endpoints, which no real gateway has: finished checkouts, the clock, faults, undocumented behaviour,
// webhooks. They need no authentication; a wrong body is answered with 400 and a message, and changes nothing.

import { Readable } from 'node:stream'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { advanceFields } from './clock.ts'
import { paymentObject } from './payments/payment-object.ts'
import { type Checkout, checkoutFields, finishCheckout, koreanLocalTime, koreanTime } from './payments/payments.ts'
import { restore } from './payments/restore.ts'
import { findWalletBreach } from './payments/ways-to-pay.ts'
import { errorAnswer } from './protocol/errors.ts'
import { findBreach, text } from './protocol/fields.ts'
import type { Sandbox } from './state.ts'
import type { Delivery } from './webhooks/deliveries.ts'
import { webhookUrlProblem } from './webhooks/request.ts'
import { resendWebhook } from './webhooks/resend.ts'

const itemsPerSlice = 200

export function addControlRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  addPaymentRoutes(app, sandbox)
  addConditionRoutes(app, sandbox)
  addWebhookRoutes(app, sandbox)
}

function refuse(reply: FastifyReply, message: string) {
  const { status, error } = errorAnswer('INVALID_REQUEST', message)
  return reply.code(status).send(error)
}

/** A list may be long: it is sent in slices, so that payments go on meanwhile. */
function sendList<Item>(reply: FastifyReply, name: string, items: Item[], objectOf: (item: Item) => object) {
  async function* slices() {
    yield `{"${name}":[`
    for (let start = 0; start < items.length; start += itemsPerSlice) {
      await yieldToOthers()
      const objects = items.slice(start, start + itemsPerSlice).map((item) => JSON.stringify(objectOf(item)))
      yield `${start === 0 ? '' : ','}${objects.join(',')}`
    }
    yield ']}'
  }
  return reply.type('application/json; charset=utf-8').send(Readable.from(slices()))
}

function addPaymentRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { payments, movements, clock } = sandbox

  app.post('/sandbox/payments', async (request, reply) => {
    const checkout = request.body as Checkout
    const breach = findBreach(checkout, checkoutFields) ?? findWalletBreach(checkout, checkout.amount)
    if (breach !== null) return refuse(reply, breach)
    const { orderId, amount, result, method, provider, points, partialCancelable } = checkout
    const payment = finishCheckout(
      { orderId, amount, result, method, provider, points, partialCancelable },
      clock.now(),
    )
    sandbox.record({ changed: [payment] })
    return reply.code(201).send({ paymentKey: payment.paymentKey })
  })
  app.post<{ Params: { paymentKey: string } }>('/sandbox/payments/:paymentKey/restore', async (request, reply) => {
    const payment = payments.find(request.params.paymentKey)
    if (payment === undefined) {
      const { status, error } = errorAnswer('NOT_FOUND_PAYMENT')
      return reply.code(status).send(error)
    }
    const restored = restore(movements, payment, clock.now())
    if (typeof restored === 'string') return refuse(reply, restored)
    sandbox.record({ changed: [restored] })
    return paymentObject(restored)
  })
  app.get('/sandbox/payments', async (_request, reply) => {
    sandbox.expireSessions()
    return sendList(reply, 'payments', payments.all(), paymentObject)
  })
}

/** What shops have sent, the clock, faults and behaviour. */
function addConditionRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { requests, clock, faults, behaviour } = sandbox
  const now = () => ({ now: clock.now().toISOString() })

  app.get('/sandbox/requests', async () => ({ requests: requests.all() }))

  app.get('/sandbox/clock', async () => now())
  app.post('/sandbox/clock', async (request, reply) => {
    const breach = findBreach(request.body, advanceFields)
    if (breach !== null) return refuse(reply, breach)
    sandbox.advanceClock((request.body as { advanceMs: number }).advanceMs)
    return now()
  })

  app.put('/sandbox/faults', async (request, reply) => {
    const problem = faults.replace(request.body)
    return problem === null ? faults.remaining() : refuse(reply, problem)
  })
  app.get('/sandbox/faults', async () => faults.remaining())
  app.get('/sandbox/faults/fired', async () => ({ fired: faults.fired() }))
  app.delete('/sandbox/faults', async () => {
    faults.clear()
    return faults.remaining()
  })

  app.get('/sandbox/behaviour', async () => behaviour.values)
  app.put('/sandbox/behaviour', async (request, reply) => {
    const problem = behaviour.merge(request.body)
    return problem === null ? behaviour.values : refuse(reply, problem)
  })
}

const resendFields = { paymentKey: text(200) }

function addWebhookRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { webhooks, deliveries } = sandbox

  app.get('/sandbox/webhook', async () => ({ url: webhooks.url() }))
  app.put('/sandbox/webhook', async (request, reply) => {
    const { url } = (request.body ?? {}) as { url?: unknown }
    const problem = url === null ? null : webhookUrlProblem(url)
    if (problem !== null) return refuse(reply, problem)
    webhooks.setUrl(url as string | null)
    return { url }
  })

  app.get('/sandbox/webhooks', async (_request, reply) => sendList(reply, 'webhooks', deliveries.all(), deliveryObject))
  app.post('/sandbox/webhooks/resend', async (request, reply) => {
    const breach = findBreach(request.body, resendFields)
    if (breach !== null) return refuse(reply, breach)
    const sent = resendWebhook(sandbox, (request.body as { paymentKey: string }).paymentKey)
    if ('transmissionId' in sent) return reply.code(202).send(sent)
    return reply.code(sent.status).send(sent.error)
  })
}

function deliveryObject({ payment, ...delivery }: Delivery) {
  const { id, atMs, state, fault, dueAtMs, attempts } = delivery
  return {
    transmissionId: id,
    paymentKey: payment.paymentKey,
    orderId: payment.orderId,
    status: payment.status,
    createdAt: koreanLocalTime(atMs),
    state,
    fault,
    nextAttemptAt: state === 'pending' ? koreanTime(new Date(dueAtMs)) : null,
    attempts: attempts.map(({ atMs: attemptedAtMs, ...attempt }) => ({
      ...attempt,
      at: koreanTime(new Date(attemptedAtMs)),
    })),
  }
}
