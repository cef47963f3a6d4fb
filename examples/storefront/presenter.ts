// Sends the pages: language, balance, and security headers. A page is never cached, since it shows money; it runs only
// scripts of this server, and on the page that opens the payment window the gateway's script as well.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Api, ApiCode } from './api.ts'
import { type Action, messagePage, type ShopInfo, type View } from './pages/layout.ts'
import { chooseLanguage, type Language, type Texts, texts } from './texts/texts.ts'

/** What a page may use besides files of this server; each is empty or begins with a blank. */
type Sources = { scripts: string; connections: string; frames: string; styles: string }
const ownSources: Sources = { scripts: '', connections: '', frames: '', styles: '' }

/** The sandbox redirects; the real gateway opens its window in a frame of its own, from several hosts of its domain. */
function gatewaySources({ origin, hostname }: URL): Sources {
  if (!hostname.endsWith('.tosspayments.com'))
    return { ...ownSources, scripts: ` ${origin}`, connections: ` ${origin}` }
  const hosts = ' https://*.tosspayments.com'
  return { scripts: hosts, connections: hosts, frames: hosts, styles: " 'unsafe-inline'" }
}

export type Presenter = ReturnType<typeof createPresenter>

const yearSeconds = 365 * 24 * 3600

export function createPresenter(api: Api, gatewayScriptUrl: string, shop: ShopInfo) {
  const gateway = gatewaySources(new URL(gatewayScriptUrl))
  /** Every visitor sees the balance of one customer, so the last one is shown where there is no time to ask. */
  let lastBalance: number | null = null

  function policy({ scripts, connections, frames, styles }: Sources): string {
    return (
      `default-src 'none'; style-src 'self'${styles}; script-src 'self'${scripts}; connect-src 'self'${connections}; ` +
      `img-src 'self' data:${frames}; ${frames && `frame-src${frames}; `}form-action 'self'${frames}; ` +
      "base-uri 'none'; frame-ancestors 'none'"
    )
  }

  function send(reply: FastifyReply, status: number, page: string, sources: Sources = ownSources): FastifyReply {
    return reply
      .code(status)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy(sources),
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      })
      .send(page)
  }

  /** A requested language is stored in a cookie. */
  function localView(request: FastifyRequest, reply: FastifyReply): View {
    const language = languageOf(request)
    if ((request.query as { lang?: unknown }).lang === language)
      reply.header('set-cookie', `lang=${language}; Path=/; Max-Age=${yearSeconds}; SameSite=Lax; HttpOnly`)
    // The address of a form cannot be opened: the language switch on its answer leads to the start.
    const address = request.method === 'GET' ? request.url : '/'
    return { language, address, balance: lastBalance, shop }
  }

  return {
    send,
    /** What the page that opens the payment window needs. */
    gatewaySources: gateway,
    /** What a page needs that has its style and its script in itself, by their hashes. */
    inlineSources: (hashes: { style: string; script: string }): Sources => ({
      ...ownSources,
      scripts: ` ${hashes.script}`,
      styles: ` ${hashes.style}`,
    }),
    /** Without a call of the service: the balance is the last known. */
    localView,

    /** `reading`: for a caller that needs the answer too. */
    async viewOf(request: FastifyRequest, reply: FastifyReply, reading = api.balance()): Promise<View> {
      const balance = await reading
      if (balance.ok) lastBalance = balance.data.credits
      return localView(request, reply)
    },

    /** A page with a sentence: calls no service. Its link leads to the packages, unless another is given. */
    message(
      request: FastifyRequest,
      reply: FastifyReply,
      status: number,
      choose: (text: Texts) => { heading: string; text: string },
      link: { href: string; label: (text: Texts) => string } = { href: '/', label: (text) => text.choosePackage },
    ): FastifyReply {
      const view = localView(request, reply)
      const text = texts[view.language]
      return send(reply, status, messagePage(view, choose(text), { href: link.href, label: link.label(text) }))
    },

    /** The service did not return the data of the page. */
    unavailable(request: FastifyRequest, reply: FastifyReply, code: ApiCode, again: Action): FastifyReply {
      const view = localView(request, reply)
      const text = texts[view.language]
      return send(reply, 503, messagePage(view, { heading: text.unavailable, text: text.errors[code] }, again))
    },
  }
}

function languageOf(request: FastifyRequest): Language {
  const requested = (request.query as { lang?: unknown }).lang
  const chosen = /(?:^|;\s*)lang=(\w+)/.exec(request.headers.cookie ?? '')?.[1]
  return chooseLanguage(requested, chosen, request.headers['accept-language'])
}
