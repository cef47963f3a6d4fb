// The shop's orders and their cancellation. The pages show what the service answers now; of a cancellation the shop
// keeps the last answer, so that a refusal or an unknown outcome is still there after a reload.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Api } from './api.ts'
import { fieldsOf } from './fields.ts'
import type { Order, Orders } from './orders.ts'
import { readOutcome } from './outcome.ts'
import { blockedBy, cancelQuestionPage, orderPage } from './pages/order.ts'
import { type OrderList, ordersPage } from './pages/orders.ts'
import { statementPage } from './pages/statement.ts'
import { inlineHashes, verifyPage } from './pages/verify.ts'
import type { Presenter } from './presenter.ts'
import { type Texts, texts } from './texts/texts.ts'

const listedOrders = 20
const reasonMaxLength = 200

type OfOrder = { Params: { orderId: string } }
type Parts = { api: Api; orders: Orders; presenter: Presenter }

export function addOrderRoutes(app: FastifyInstance, parts: Parts): void {
  const { api, orders, presenter } = parts

  async function listOf(which: 'paid' | 'unpaid', before?: string): Promise<OrderList> {
    const { listed, hasMore, count } = orders.list(which, listedOrders, before)
    const withStatus = listed.map(async (order) => ({ order, status: await api.order(order.orderId) }))
    const next = new URLSearchParams({ list: which, before: listed.at(-1)?.orderId ?? '' })
    return { listed: await Promise.all(withStatus), more: hasMore ? `/orders?${next}` : null, count }
  }

  /** What the service says about the order now. */
  async function read(request: FastifyRequest, reply: FastifyReply, order: Order) {
    const balance = api.balance()
    const [outcome, view, paidCredits] = await Promise.all([
      readOutcome(api, order),
      presenter.viewOf(request, reply, balance),
      order.paymentKey === null ? null : readPaidCredits(api, balance),
    ])
    return { outcome, view, paidCredits }
  }

  app.get('/orders', async (request, reply) => {
    const { list = 'paid', before } = fieldsOf(request.query)
    const [view, paid, unpaid] = await Promise.all([
      presenter.viewOf(request, reply),
      list === 'unpaid' ? undefined : listOf('paid', before),
      list === 'unpaid' ? listOf('unpaid', before) : before === undefined ? listOf('unpaid') : undefined,
    ])
    const page = ordersPage(view, { ...(paid && { paid }), ...(unpaid && { unpaid }) }, api.hasStatement)
    return presenter.send(reply, 200, page)
  })

  // It verifies in the browser, by the keys of this shop's log.
  app.get('/verify', async (request, reply) => {
    const page = verifyPage(presenter.localView(request, reply), await api.logKeys())
    return presenter.send(reply, 200, page, presenter.inlineSources(inlineHashes))
  })

  app.get<OfOrder>('/orders/:orderId', async (request, reply) => {
    const order = orders.find(request.params.orderId)
    if (!order) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const { outcome, view, paidCredits } = await read(request, reply, order)
    const again = { href: `/orders/${order.orderId}`, label: texts[view.language].tryAgain }
    // Not paid, and the service does not answer: this is not a payment with an unknown outcome.
    if (outcome.kind === 'unknown' && outcome.code && !order.paymentKey)
      return presenter.unavailable(request, reply, outcome.code, again)
    return presenter.send(reply, 200, orderPage(view, order, outcome, { paidCredits, hasReceipt: api.hasStatement }))
  })

  // The question before the cancellation. It is a page of its own, so that Enter in the reason cancels nothing.
  app.get<OfOrder>('/orders/:orderId/cancel', async (request, reply) => {
    const order = orders.find(request.params.orderId)
    if (!order?.paymentKey) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const reason = (fieldsOf(request.query).reason ?? '').trim()
    const { outcome, view, paidCredits } = await read(request, reply, order)
    if (outcome.kind !== 'confirmed' || blockedBy(view, order, paidCredits))
      return reply.redirect(`/orders/${order.orderId}`, 303)
    if (!isReason(reason))
      return presenter.send(
        reply,
        400,
        orderPage(view, order, outcome, { paidCredits, hasReceipt: api.hasStatement, typed: { reason } }),
      )
    return presenter.send(reply, 200, cancelQuestionPage(view, order, outcome, reason))
  })

  app.post<OfOrder>('/orders/:orderId/cancel', async (request, reply) => {
    const order = orders.find(request.params.orderId)
    if (!order?.paymentKey) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const { orderId, paymentKey } = order
    const fields = fieldsOf(request.body)
    const reason = (fields.reason ?? '').trim()
    if (fields.confirmed !== 'yes' || !isReason(reason))
      return reply.redirect(`/orders/${orderId}/cancel?${new URLSearchParams({ reason })}`, 303)
    const answer = await api.cancel(paymentKey, reason)
    const { code, reason: refusalReason } = answer.ok ? { code: 'SUCCESS' as const, reason: null } : answer
    const { balance } = await presenter.viewOf(request, reply)
    orders.cancelAnswered(orderId, { code, refusalReason, reason, at: new Date().toISOString(), balance })
    return reply.redirect(`/orders/${orderId}`, 303)
  })

  if (!api.hasStatement) return
  addStatement(app, parts)
  addReceipt(app, parts)
}

function addStatement(app: FastifyInstance, { api, orders, presenter }: Parts): void {
  app.get('/statement', async (request, reply) => {
    const { cursor } = fieldsOf(request.query)
    const reading = api.balance()
    const [balance, view] = await Promise.all([reading, presenter.viewOf(request, reply, reading)])
    const again = { href: '/statement', label: texts[view.language].tryAgain }
    if (!balance.ok) return presenter.unavailable(request, reply, balance.code, again)
    const { customerId } = balance.data
    const [statement, lots] = await Promise.all([api.statement(customerId, cursor), api.lots(customerId)])
    if (!statement.ok) return presenter.unavailable(request, reply, statement.code, again)
    return presenter.send(reply, 200, statementPage(view, statement.data, lots.ok ? lots.data : null, orders))
  })
}

/** The receipt as a file, of an order of this shop alone. */
function addReceipt(app: FastifyInstance, { api, orders, presenter }: Parts): void {
  app.get('/receipt', async (request, reply) => {
    const order = orders.find(fieldsOf(request.query).order ?? '')
    if (!order) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const { orderId } = order
    const balance = await api.balance()
    const receipt = balance.ok ? await api.receipt(balance.data.customerId, orderId) : balance
    if (receipt.ok) {
      return reply
        .headers({
          'content-type': 'application/json; charset=utf-8',
          'content-disposition': `attachment; filename="receipt-${orderId}.json"`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        })
        .send(`${JSON.stringify(receipt.data, null, 2)}\n`)
    }
    const back = { href: `/orders/${orderId}`, label: (text: Texts) => text.seeOrder }
    const again = { href: `/receipt?order=${orderId}`, label: (text: Texts) => text.tryAgain }
    if (receipt.code === 'NOT000') return presenter.message(request, reply, 404, (text) => text.proof.none, back)
    if (receipt.code === 'SVC001') return presenter.message(request, reply, 503, (text) => text.proof.soon, again)
    const { language } = presenter.localView(request, reply)
    return presenter.unavailable(request, reply, receipt.code, { ...again, label: again.label(texts[language]) })
  })
}

/** The credits that were bought and are neither used nor on hold; null: not known. */
async function readPaidCredits(api: Api, reading: ReturnType<Api['balance']>): Promise<number | null> {
  const balance = await reading
  if (!api.hasStatement || !balance.ok) return null
  const answer = await api.lots(balance.data.customerId)
  if (!answer.ok || answer.data.nextCursor !== null) return null
  const bought = answer.data.lots.filter(({ status }) => status === 'CONFIRMED')
  return bought.reduce((sum, { unused }) => sum + unused, 0)
}

function isReason(reason: string): boolean {
  return reason !== '' && reason.length <= reasonMaxLength
}
