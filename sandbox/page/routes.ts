// The sandbox's page for people: GET /sandbox, and the posts of its forms, which do what the control endpoints do and lead
// back to the page. The JSON of the control endpoints (control.ts) is not touched by it.

import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chooseLanguage } from '../checkout/texts.ts'
import { advanceFields } from '../clock.ts'
import { behaviours } from '../faults/behaviour.ts'
import { cancel } from '../payments/cancel.ts'
import { findBreach } from '../protocol/fields.ts'
import type { Sandbox } from '../state.ts'
import { webhookUrlProblem } from '../webhooks/request.ts'
import { resendWebhook } from '../webhooks/resend.ts'
import { sandboxPage } from './page.ts'
import { addressOf, type PageQuery } from './parts.ts'
import { pageTexts } from './texts.ts'

const asset = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')

const assets = [
  { name: 'page.css', type: 'text/css; charset=utf-8' },
  { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  { name: 'icon.svg', type: 'image/svg+xml' },
]

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  // With no-referrer a browser would send its forms with the origin "null".
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  vary: 'accept-language',
}

type Form = Record<string, string>

/** Carries out what a form asks for; returns what is wrong with it, or null. */
type Action = (sandbox: Sandbox, form: Form) => string | null

const setFault: Action = ({ faults }, form) => {
  const [on, kind] = (form.fault ?? '').split(' ')
  const fault = { on, kind, times: Number(form.times ?? 1), delayMs: Number(form.delayMs ?? 3000) }
  return faults.replace([...faults.remaining(), fault])
}

const clearFaults: Action = ({ faults }) => {
  faults.clear()
  return null
}

const advanceClock: Action = (sandbox, form) => {
  const advance = { advanceMs: Number(form.advanceMs) }
  const breach = findBreach(advance, advanceFields)
  if (breach === null) sandbox.advanceClock(advance.advanceMs)
  return breach
}

const setBehaviour: Action = ({ behaviour }, form) => {
  const allowed: Record<string, readonly unknown[]> = behaviours
  // A form has texts only: the value is the one that is written so, or a number.
  const values = Object.entries(form).map(([name, text]) => [
    name,
    name === 'cancelWindowDays' ? Number(text) : (allowed[name]?.find((value) => String(value) === text) ?? text),
  ])
  return behaviour.merge(Object.fromEntries(values))
}

const setWebhookUrl: Action = ({ webhooks }, form) => {
  const url = form.url?.trim() || null
  const problem = url === null ? null : webhookUrlProblem(url)
  if (problem === null) webhooks.setUrl(url)
  return problem
}

const cancelPart: Action = (sandbox, { paymentKey = '', cancelAmount, cancelReason }) => {
  const body = { cancelReason, cancelAmount: Number(cancelAmount) }
  const { payments, clock, behaviour } = sandbox
  const { changed, answer } = cancel(payments, paymentKey, body, clock.now(), behaviour.values.cancelWindowDays)
  if (changed.length > 0) sandbox.record({ changed })
  return 'error' in answer ? `${answer.error.code}: ${answer.error.message}` : null
}

const resend: Action = (sandbox, { paymentKey = '' }) => {
  const sent = resendWebhook(sandbox, paymentKey)
  return 'error' in sent ? sent.error.message : null
}

/** By the last part of the address; `section` is where the page is shown again. */
const actions: Record<string, { carryOut: Action; section: string }> = {
  faults: { carryOut: setFault, section: 'faults' },
  'faults/clear': { carryOut: clearFaults, section: 'faults' },
  clock: { carryOut: advanceClock, section: 'clock' },
  behaviour: { carryOut: setBehaviour, section: 'behaviour' },
  webhook: { carryOut: setWebhookUrl, section: 'webhooks' },
  cancel: { carryOut: cancelPart, section: 'payments' },
  resend: { carryOut: resend, section: 'payments' },
}

export function addPageRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.get('/', (_request, reply) => reply.redirect('/sandbox', 302))
  for (const { name, type } of assets) {
    const content = asset(name)
    const headers = { 'content-type': type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }
    app.get(`/sandbox/assets/${name}`, (_request, reply) => reply.headers(headers).send(content))
  }

  app.get('/sandbox', (request, reply) => {
    sandbox.expireSessions()
    return sendPage(reply, 200, sandboxPage(sandbox, queryOf(request), null))
  })

  // A scope of its own: the rest of the sandbox refuses forms.
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 8_192 },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )
    scope.addHook('onRequest', refuseForeignForms(sandbox))
    for (const [name, { carryOut, section }] of Object.entries(actions)) {
      scope.post(`/sandbox/page/${name}`, (request, reply) => {
        const query = queryOf(request)
        const problem = carryOut(sandbox, (request.body ?? {}) as Form)
        if (problem !== null) return sendPage(reply, 400, sandboxPage(sandbox, query, problem))
        return reply.redirect(`${addressOf(query)}#${section}`, 303)
      })
    }
  })
}

/** Against forged requests of another site's page: a browser sends the origin of a form. */
function refuseForeignForms(sandbox: Sandbox) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { origin, host } = request.headers
    if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)) return
    const query = queryOf(request)
    return sendPage(reply, 403, sandboxPage(sandbox, query, pageTexts[query.language].foreign))
  }
}

function queryOf(request: FastifyRequest): PageQuery {
  const { lang, page, payment } = request.query as Record<string, unknown>
  return {
    language: chooseLanguage(lang, request.headers['accept-language']),
    page: /^[1-9]\d{0,8}$/.test(String(page)) ? Number(page) : 1,
    paymentKey: typeof payment === 'string' && payment !== '' ? payment : null,
  }
}

function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).headers(pageHeaders).send(page)
}
