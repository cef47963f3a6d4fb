// The example shop as a buyer's browser sees it, on a running service and sandbox: pages as text, forms as they are on
// the page, and the payment window. Redirects back to the shop are followed to this one, whatever host the service is
// configured with.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ShopInfo } from '../../examples/storefront/pages/layout.ts'
import { type StorefrontOptions, startStorefront } from '../../examples/storefront/server.ts'

export const testShop: ShopInfo = {
  name: null,
  seller: 'Acme Inc., 123-45-67890',
  termsUrl: 'https://shop.example/terms',
  refundRule: null,
  smallestRefund: 1_000,
  refundShare: 100,
  customer: 'demo',
  isTest: true,
}

export type Page = { status: number; text: string; html: string; headers: Headers }

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const unescaped = (html: string) => html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')

export type ShopOptions = {
  apiUrl: string
  apiKey: string
  sandboxUrl: string
  apiTimeoutMs?: number
  /** Long, so that a page has the outcome on a slow machine too. */
  confirmWaitMs?: number
  statement?: { apiUrl: () => string; token: string }
}

export async function openShop(given: ShopOptions) {
  const { apiUrl, apiKey, sandboxUrl, apiTimeoutMs = 5_000, confirmWaitMs = 10_000, statement } = given
  const dataDir = mkdtempSync(join(tmpdir(), 'storefront-test-'))
  const gatewayScriptUrl = `${sandboxUrl}/v2/standard`
  const times = { apiTimeoutMs, confirmWaitMs }
  const options = { apiUrl: () => apiUrl, apiKey, ...times, gatewayScriptUrl, statement, shop: testShop }
  let running = await startStorefront({ host: '127.0.0.1', port: 0, ...options, dataDir })

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'accept-language': 'en', ...init.headers }
    return fetch(`${running.url}${path}`, { redirect: 'manual', ...init, headers })
  }

  const shop = {
    dataDir,
    url: () => running.url,
    request,
    async get(path: string, headers: Record<string, string> = {}): Promise<Page> {
      const response = await request(path, { headers })
      const html = await response.text()
      const text = unescaped(html.replace(/<head>[\s\S]*<\/head>|<[^>]+>/g, ' ')).replace(/\s+/g, ' ')
      return { status: response.status, text, html, headers: response.headers }
    },
    post: (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      request(path, { method: 'POST', body: new URLSearchParams(form), headers }),

    /** The form behind the Buy button, as the page has it. */
    async buyForm(packageType: string): Promise<{ packageType: string; token: string }> {
      const { html } = await shop.get('/')
      const token = new RegExp(`value="${packageType}">\\s*<input type="hidden" name="token" value="([^"]+)"`).exec(
        html,
      )
      assert.ok(token?.[1], html)
      return { packageType, token: token[1] }
    },
    /** Clicks Buy and returns the order. */
    async buy(packageType = 'STANDARD'): Promise<string> {
      const path = pathOf(await shop.post('/buy', await shop.buyForm(packageType)))
      assert.match(path, /^\/pay\/ord_\w+$/)
      return path.slice('/pay/'.length)
    },
    /** Does the same as the page's script: opens the window with the values of the page. Returns its address. */
    async openWindow(orderId: string): Promise<string> {
      const { html, status } = await shop.get(`/pay/${orderId}`)
      assert.equal(status, 200)
      const value = (name: string) => unescaped(new RegExp(`data-${name}="([^"]*)"`).exec(html)?.[1] ?? '')
      const response = await fetch(`${new URL(value('gateway-script')).origin}/checkout/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          product: 'payment',
          clientKey: value('client-key'),
          method: 'CARD',
          amount: { currency: 'KRW', value: Number(value('amount')) },
          orderId: value('order-id'),
          orderName: value('order-name'),
          successUrl: value('success-url'),
          failUrl: value('fail-url'),
        }),
      })
      assert.equal(response.status, 201)
      return ((await response.json()) as { checkoutUrl: string }).checkoutUrl
    },
    /** Pays in the window with a card; without one the buyer cancels. Returns the path of the redirect into the shop. */
    async pay(orderId: string, card?: string): Promise<string> {
      const checkoutUrl = await shop.openWindow(orderId)
      const button = card === undefined ? 'cancel' : 'pay'
      const body = new URLSearchParams(card === undefined ? {} : { card })
      return pathOf(await fetch(`${checkoutUrl}/${button}?lang=en`, { method: 'POST', redirect: 'manual', body }))
    },
    /** Gives a reason, confirms the question, and returns the page of the order. */
    async cancel(orderId: string, reason: string): Promise<Page> {
      const { html, text, status } = await shop.get(`/orders/${orderId}/cancel?${new URLSearchParams({ reason })}`)
      assert.ok(status === 200 && html.includes('name="confirmed" value="yes"'), text)
      return shop.get(pathOf(await shop.post(`/orders/${orderId}/cancel`, { reason, confirmed: 'yes' })))
    },
    async restart(changes: Partial<StorefrontOptions> = {}): Promise<void> {
      await running.close()
      running = await startStorefront({ host: '127.0.0.1', port: 0, ...options, ...changes, dataDir })
    },
    async close(): Promise<void> {
      await running.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return shop
}

/** The target of a redirect, without the host. */
export function pathOf(response: Response): string {
  assert.equal(response.status, 303)
  const { pathname, search } = new URL(response.headers.get('location') ?? '', 'http://shop.invalid')
  return pathname + search
}

/** The page shows neither that the payment went through nor that it failed. */
export function assertNothingDefinite(text: string): void {
  assert.doesNotMatch(text, /complete|was refused|\+\d|Nothing was charged/i)
}

/** The address that a page with an unknown outcome requests next; undefined: it requests none. */
export function retryAddressOf({ html }: Page): string | undefined {
  const [, address] = /id="retry" href="([^"]+)" data-after-ms="\d+"/.exec(html) ?? []
  return address && unescaped(address)
}
