// The shop's orders and their cancellation. The pages show what the service answers now; of a cancellation the shop
// keeps the last answer, so that a refusal or an unknown outcome is still there after a reload.

import type { FastifyInstance } from 'fastify'
import type { Api } from './api.ts'
import { orderPage, ordersPage } from './order-pages.ts'
import type { Orders } from './orders.ts'
import { readOutcome } from './outcome.ts'
import type { Presenter } from './presenter.ts'
import { texts } from './texts.ts'

const listedOrders = 20
const reasonMaxLength = 200

type OfOrder = { Params: { orderId: string } }

export function addOrderRoutes(
  app: FastifyInstance,
  { api, orders, presenter }: { api: Api; orders: Orders; presenter: Presenter },
): void {
  app.get('/orders', async (request, reply) => {
    const [view, ...listed] = await Promise.all([
      presenter.viewOf(request, reply),
      ...orders.list(listedOrders).map(async (order) => ({ order, status: await api.status(order.orderId) })),
    ])
    return presenter.send(reply, 200, ordersPage(view, listed))
  })

  app.get<OfOrder>('/orders/:orderId', async (request, reply) => {
    const order = orders.find(request.params.orderId)
    if (!order) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const [outcome, view] = await Promise.all([readOutcome(api, order), presenter.viewOf(request, reply)])
    const again = { href: `/orders/${order.orderId}`, label: texts[view.language].tryAgain }
    // Not paid, and the service does not answer: this is not a payment with an unknown outcome.
    if (outcome.kind === 'unknown' && outcome.code && !order.paymentKey)
      return presenter.unavailable(request, reply, outcome.code, again)
    const reasonProblem = (request.query as { problem?: unknown }).problem === 'reason'
    return presenter.send(reply, 200, orderPage(view, order, outcome, reasonProblem))
  })

  app.post<OfOrder>('/orders/:orderId/cancel', async (request, reply) => {
    const order = orders.find(request.params.orderId)
    if (!order?.paymentKey) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const { orderId, paymentKey } = order
    const reason = String((request.body as { reason?: unknown } | null)?.reason ?? '').trim()
    if (reason === '' || reason.length > reasonMaxLength)
      return reply.redirect(`/orders/${orderId}?problem=reason`, 303)
    const answer = await api.cancel(paymentKey, reason)
    const { code, message } = answer.ok ? { code: 'SUCCESS' as const, message: null } : answer
    orders.cancelAnswered(orderId, { code, message, reason })
    return reply.redirect(`/orders/${orderId}`, 303)
  })
}
