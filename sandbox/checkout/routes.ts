// The browser's side of the gateway: the script a shop loads, the request with which it opens a payment window, the
// window itself, and the receipt of a payment. Any page may open a window (that request alone answers across origins,
// and carries no credentials); what follows is between the buyer and this server, by links and plain forms.

import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readChoice } from './cards.ts'
import { checkoutPage, endedPage } from './page.ts'
import { receiptPage } from './receipt.ts'
import { readCheckoutRequest } from './request.ts'
import { type CheckoutHost, createSessions, failLocation, type Session } from './sessions.ts'
import { chooseLanguage, type EndedKind, type Language, texts } from './texts.ts'

type PageRequest = FastifyRequest<{ Params: { id: string }; Querystring: { lang?: unknown } }>

const asset = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')

const assets = [
  { path: '/v2/standard', name: 'standard.js', type: 'text/javascript; charset=utf-8' },
  { path: '/checkout/assets/checkout.js', name: 'checkout.js', type: 'text/javascript; charset=utf-8' },
  { path: '/checkout/assets/checkout.css', name: 'checkout.css', type: 'text/css; charset=utf-8' },
  { path: '/checkout/assets/icon.svg', name: 'icon.svg', type: 'image/svg+xml' },
]

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // A form's redirect counts as its action: it leads to the shop, wherever that is.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action http: https:; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'accept-language',
}

const crossOriginHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type',
  'access-control-max-age': '600',
}

export function addCheckoutRoutes(app: FastifyInstance, host: CheckoutHost): void {
  // A scope of its own: the rest of the sandbox refuses forms.
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 4_096 },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )
    addAssets(scope)
    addCheckout(scope, host)
    addReceipts(scope, host)
  })
}

function addReceipts(app: FastifyInstance, { payments }: CheckoutHost): void {
  app.get('/receipt/:id', (request: PageRequest, reply) => {
    const payment = payments.find(request.params.id)
    const language = languageOf(request)
    if (!payment?.approvedAt) return sendPage(reply, 404, endedPage(language, 'unknown', null))
    return sendPage(reply, 200, receiptPage(payment, language))
  })
}

function addAssets(app: FastifyInstance): void {
  for (const { path, name, type } of assets) {
    const content = asset(name)
    app.get(path, (_request, reply) =>
      reply
        .headers({
          'content-type': type,
          'cache-control': 'no-cache',
          'cross-origin-resource-policy': 'cross-origin',
          'x-content-type-options': 'nosniff',
        })
        .send(content),
    )
  }
}

function addCheckout(app: FastifyInstance, host: CheckoutHost): void {
  const sessions = createSessions(host)
  const allowOrigins = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(crossOriginHeaders)
  }

  app.options('/checkout/sessions', { onRequest: allowOrigins }, (_request, reply) => reply.code(204).send())
  app.post('/checkout/sessions', { onRequest: allowOrigins }, async (request, reply) => {
    const checkout = readCheckoutRequest(request.body, host.clientKey)
    if ('code' in checkout) return reply.code(400).send(checkout)
    const { id } = sessions.open(checkout)
    const query = checkout.language === null ? '' : `?lang=${checkout.language}`
    return reply.code(201).send({ checkoutUrl: `${request.protocol}://${request.host}/checkout/${id}${query}` })
  })

  app.get('/checkout/:id', (request: PageRequest, reply) => {
    const session = sessions.find(request.params.id)
    const language = languageOf(request)
    if (session && sessions.isOpen(session)) return sendPage(reply, 200, checkoutPage(session, language))
    return sendEnded(reply, session, language)
  })

  app.post('/checkout/:id/pay', (request: PageRequest, reply) => {
    const session = sessions.find(request.params.id)
    const language = languageOf(request)
    if (session && sessions.isOpen(session)) {
      const choice = readChoice(request.body ?? {}, session.request.amount)
      if (typeof choice === 'string') return sendPage(reply, 400, checkoutPage(session, language, choice))
      sessions.pay(session, choice, texts[language].messages)
      if (session.ended) return reply.redirect(session.ended.location, 303)
    }
    // The buyer went back and paid again: the same payment, redirected to the shop again.
    if (session?.ended?.kind === 'paid') return reply.redirect(session.ended.location, 303)
    return sendEnded(reply, session, language)
  })

  app.post('/checkout/:id/cancel', (request: PageRequest, reply) => {
    const session = sessions.find(request.params.id)
    const language = languageOf(request)
    if (session) sessions.cancel(session, texts[language].messages)
    if (session?.ended?.kind === 'canceled') return reply.redirect(session.ended.location, 303)
    return sendEnded(reply, session, language)
  })
}

function languageOf(request: PageRequest): Language {
  return chooseLanguage(request.query.lang, request.headers['accept-language'])
}

function sendEnded(reply: FastifyReply, session: Session | undefined, language: Language): FastifyReply {
  const [kind, location]: [EndedKind, string | null] = !session
    ? ['unknown', null]
    : session.ended
      ? [session.ended.kind, session.ended.location]
      : ['expired', failLocation(session, 'PAY_PROCESS_ABORTED', texts[language].messages)]
  return sendPage(reply, session ? 410 : 404, endedPage(language, kind, location))
}

function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).headers(pageHeaders).send(page)
}
