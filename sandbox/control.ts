// The control endpoints, which no real gateway has: finished checkouts, the clock, faults, undocumented behaviour,
// webhooks. They need no authentication; a wrong body is answered with 400 and a message, and changes nothing.

import { Readable } from 'node:stream'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { advanceFields } from './clock.ts'
import { paymentObject } from './payments/payment-object.ts'
import { type Checkout, checkoutFields, finishCheckout, koreanLocalTime, koreanTime } from './payments/payments.ts'
import { type ErrorCode, errorAnswer } from './protocol/errors.ts'
import { findBreach, text } from './protocol/fields.ts'
import type { Sandbox } from './state.ts'
import { announcePayment, type Delivery } from './webhooks/deliveries.ts'
import { webhookUrlProblem } from './webhooks/request.ts'

const itemsPerSlice = 200

export function addControlRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  addPaymentRoutes(app, sandbox)
  addConditionRoutes(app, sandbox)
  addWebhookRoutes(app, sandbox)
}

function refuse(reply: FastifyReply, message?: string, code: ErrorCode = 'INVALID_REQUEST') {
  const { status, error } = errorAnswer(code, message)
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
  const { payments, clock } = sandbox

  app.post('/sandbox/payments', async (request, reply) => {
    const breach = findBreach(request.body, checkoutFields)
    if (breach !== null) return refuse(reply, breach)
    const { orderId, amount, result } = request.body as Checkout
    const payment = finishCheckout({ orderId, amount, result: result ?? 'approve' }, clock.now())
    sandbox.record({ changed: [payment] })
    return reply.code(201).send({ paymentKey: payment.paymentKey })
  })
  app.get('/sandbox/payments', async (_request, reply) => {
    sandbox.expireSessions()
    return sendList(reply, 'payments', payments.all(), paymentObject)
  })
}

/** Clock, faults and behaviour. */
function addConditionRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { clock, faults, behaviour } = sandbox
  const now = () => ({ now: clock.now().toISOString() })

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
  const { webhooks, deliveries, payments, clock } = sandbox

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
    sandbox.expireSessions()
    const payment = payments.find((request.body as { paymentKey: string }).paymentKey)
    if (payment === undefined) return refuse(reply, undefined, 'NOT_FOUND_PAYMENT')
    const url = webhooks.url()
    if (url === null) return refuse(reply, 'No webhook URL is registered: PUT /sandbox/webhook { url } first.')

    const sentBefore = deliveries.findLatestOf(payment.paymentKey)
    if (sentBefore !== undefined) {
      webhooks.resend(sentBefore, url)
      return reply.code(202).send({ transmissionId: sentBefore.id })
    }
    // The change happened while no URL was registered.
    const announcement = announcePayment(payment, clock.nowMs())
    if (announcement === null) return refuse(reply, `A payment that is ${payment.status} is not notified.`)
    sandbox.record({ changed: [], webhooks: [announcement] })
    return reply.code(202).send({ transmissionId: announcement.id })
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
