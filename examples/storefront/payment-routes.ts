// From the package to the credits: choose, buy, pay at the gateway, come back. The confirmed amount is the one the shop
// stored at the purchase, never the one in an address. Every step may be repeated: reloading, going back and clicking
// twice find what is already there.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Purchase } from '../../client/src/index.ts'
import type { Api } from './api.ts'
import { fieldsOf } from './fields.ts'
import type { Order, Orders } from './orders.ts'
import { createConfirm, notKnownYet, type Outcome, readOutcome } from './outcome.ts'
import { buyAgainPage, homePage } from './pages/home.ts'
import { failMessage, failPage, outcomePage, payPage, type Retry } from './pages/payment.ts'
import type { Presenter } from './presenter.ts'
import { type Texts, texts } from './texts/texts.ts'

type Parts = { api: Api; orders: Orders; presenter: Presenter; gatewayScriptUrl: string; confirmWaitMs: number }

const tokenPattern = /^[0-9a-f-]{36}$/
const paymentKeyPattern = /^[\x21-\x7e]{1,200}$/

/** The pauses before the page checks again by itself: the service gives up on a gateway that hangs after 30 s. */
const retryAfterMs = [1_000, 2_000, 3_000, 5_000, 8_000, 12_000, 15_000]

export function addPaymentRoutes(app: FastifyInstance, parts: Parts): void {
  const { api, orders, presenter, gatewayScriptUrl, confirmWaitMs } = parts
  const confirm = createConfirm(api, orders)

  app.get('/', async (request, reply) => {
    const [packages, view] = await Promise.all([api.packages(), presenter.viewOf(request, reply)])
    if (packages.ok) return presenter.send(reply, 200, homePage(view, packages.data))
    const label = texts[view.language].tryAgain
    return presenter.unavailable(request, reply, packages.code, { href: '/', label })
  })

  app.post('/buy', async (request, reply) => {
    const { packageType = '', token = '' } = fieldsOf(request.body)
    if (!tokenPattern.test(token) || packageType === '')
      return presenter.message(request, reply, 400, (text) => text.incomplete)
    const answer = await api.purchase(packageType, token)
    if (answer.ok) return reply.redirect(await addressOfPurchase(parts, answer.data), 303)
    if (answer.code === 'VAL003') return presenter.message(request, reply, 400, (text) => text.incomplete)
    if (answer.reason === 'pending-orders-limit') {
      const unpaid = { href: '/orders?list=unpaid', label: (text: Texts) => text.tooManyUnpaid.link }
      return presenter.message(request, reply, 409, (text) => text.tooManyUnpaid, unpaid)
    }
    const view = presenter.localView(request, reply)
    return presenter.send(reply, 503, buyAgainPage(view, answer.code, packageType, token))
  })

  app.get<{ Params: { orderId: string } }>('/pay/:orderId', async (request, reply) => {
    const order = orders.find(request.params.orderId)
    if (!order) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    const [outcome, view] = await Promise.all([readOutcome(api, order), presenter.viewOf(request, reply)])
    if (outcome.kind !== 'awaiting') return reply.redirect(`/orders/${order.orderId}`, 303)
    return presenter.send(reply, 200, payPage(view, order, gatewayScriptUrl), presenter.gatewaySources)
  })

  app.get('/success', async (request, reply) => {
    const { paymentKey = '', orderId = '', amount = '', attempt = '' } = fieldsOf(request.query)
    if (!paymentKeyPattern.test(paymentKey)) return presenter.message(request, reply, 400, (text) => text.incomplete)
    const order = orders.find(orderId)
    if (!order) return presenter.message(request, reply, 404, (text) => text.orderNotFound)
    if (amount !== String(order.amount)) {
      const see = { href: `/orders/${orderId}`, label: (text: Texts) => text.seeOrder }
      return presenter.message(request, reply, 400, (text) => text.amountDiffers, see)
    }
    const outcome = await soonOr(confirm(order, paymentKey), notKnownYet, confirmWaitMs)
    const retry = outcome.kind === 'unknown' ? retryOf(order, paymentKey, attempt) : null
    return showOutcome(parts, request, reply, order, outcome, retry)
  })

  app.get('/fail', async (request, reply) => {
    const { code = '', message = '', orderId = '' } = fieldsOf(request.query)
    const order = orders.find(orderId)
    if (!order) return presenter.message(request, reply, 200, (text) => failMessage(text, code))
    const outcome = await readOutcome(api, order)
    if (outcome.kind === 'unknown' && order.paymentKey === null) {
      const see = { href: `/orders/${orderId}`, label: (text: Texts) => text.seeOrder }
      return presenter.message(request, reply, 200, (text) => failMessage(text, code), see)
    }
    // The address claims a failure; the service decides.
    if (outcome.kind !== 'awaiting') {
      const retry = outcome.kind === 'unknown' && order.paymentKey ? retryOf(order, order.paymentKey, '') : null
      return showOutcome(parts, request, reply, order, outcome, retry)
    }
    const quoted = { code: code.slice(0, 60), message: message.slice(0, 200) }
    return presenter.send(reply, 200, failPage(await presenter.viewOf(request, reply), order, code, quoted))
  })
}

/** A repeated click finds its order: leads to its payment, unless it is paid. */
async function addressOfPurchase({ api, orders }: Parts, purchase: Purchase): Promise<string> {
  const { orderId } = purchase
  const known = orders.find(orderId)
  if (known) return (await readOutcome(api, known)).kind === 'awaiting' ? `/pay/${orderId}` : `/orders/${orderId}`
  const { packageType, amount, clientKey, successUrl, failUrl } = purchase
  const packages = await api.packages()
  const bought = packages.ok ? packages.data.find((each) => each.packageType === packageType) : undefined
  const purchasedAt = new Date().toISOString()
  const credits = bought?.credits ?? null
  orders.purchased({ orderId, packageType, amount, credits, purchasedAt, clientKey, successUrl, failUrl })
  return `/pay/${orderId}`
}

/** The outcome, or `fallback` when it takes longer than a buyer should wait. */
async function soonOr(outcome: Promise<Outcome>, fallback: Outcome, waitMs: number): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const timer = setTimeout(resolve, waitMs, fallback)
  try {
    return await Promise.race([outcome, promise])
  } finally {
    clearTimeout(timer)
  }
}

async function showOutcome(
  { presenter }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  order: Order,
  outcome: Outcome,
  retry: Retry | null,
): Promise<FastifyReply> {
  // After the confirm, so that the balance includes the credits. While it is unknown the page does not wait for more.
  const view = outcome.kind === 'unknown' ? presenter.localView(request, reply) : await presenter.viewOf(request, reply)
  return presenter.send(reply, 200, outcomePage(view, order, outcome, retry))
}

function retryOf({ orderId, amount }: Order, paymentKey: string, attempt: string): Retry {
  const made = /^\d$/.test(attempt) ? Number(attempt) : 0
  const query = new URLSearchParams({ paymentKey, orderId, amount: String(amount) })
  const afterMs = retryAfterMs[made] ?? null
  // After the last one the visitor has to check, and counting starts again.
  if (afterMs !== null) query.set('attempt', String(made + 1))
  return { address: `/success?${query}`, afterMs }
}
