// The client in a real Chromium, behind the proxy of its README: pages read and buy, an API key is refused there, and a
// request on a lost connection is retried with the same idempotency key.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { newDirectory } from '../../harness/processes.ts'
import { closeAll } from '../support/closing.ts'
import { launchBrowser, noBrowser } from '../support/console/browser.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'
import { installClient, snippet } from './installed.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser

const directory = newDirectory({ after })
let service: TestService
let customer: TestCustomer
let site: Server
let page: Page
/** The idempotency keys of the received purchases, and how many more of them to drop. */
const keys: unknown[] = []
let requestsToDrop = 0
let isServiceDown = false

before(async () => {
  const [project, started] = await Promise.all([installClient(directory), startTestService()])
  service = started
  customer = await service.newCustomer()
  const proxyTo = async (url: string, name: string): Promise<Handler> => {
    const code = snippet('creditsProxy').replace('http://127.0.0.1:8080', url)
    const { creditsProxy } = await import(pathToFileURL(project.write(name, code)).href)
    return (request, response) => creditsProxy(request, response, apiKeyOf)
  }
  const [proxy, proxyToClosedPort] = [
    await proxyTo(service.url, 'proxy.mts'),
    await proxyTo('http://127.0.0.1:1', 'proxy-to-closed-port.mts'),
  ]
  site = createServer((request, response) => {
    if (request.method === 'POST') keys.push(request.headers['x-idempotency-key'])
    if (request.method === 'POST' && requestsToDrop-- > 0) return request.socket.destroy()
    return handlerOf(isServiceDown ? proxyToClosedPort : proxy, request.url ?? '')(request, response)
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  page = await (browser as Browser).newPage()
  page.setDefaultTimeout(30_000)
})
after(() => closeAll(browser, site, service))

/** Every page of this site logs in. */
const cookie = 'session=1'
async function apiKeyOf({ headers }: IncomingMessage): Promise<string | null> {
  return headers.cookie === cookie ? customer.apiKey : null
}

function handlerOf(proxy: Handler, url: string): Handler {
  if (url.startsWith('/credits-proxy/')) return proxy
  const file = /^\/client\/([\w-]+\.js)$/.exec(url)?.[1]
  const client = join(directory, 'node_modules/@prepaid-credits/client/dist')
  if (file) {
    return (_, response) =>
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(join(client, file)))
  }
  const imports = { imports: { '@prepaid-credits/client': '/client/index.js' } }
  const script = url === '/snippet' ? snippet('document.body') : ''
  const html = `<!doctype html><script type="importmap">${JSON.stringify(imports)}</script><body><script type="module">${script}</script>`
  const headers = { 'content-type': 'text/html; charset=utf-8', 'set-cookie': `${cookie}; HttpOnly; SameSite=Strict` }
  return (_, response) => response.writeHead(200, headers).end(html)
}

const address = (path: string) => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`

test('the snippet for pages shows the balance', { skip }, async () => {
  await customer.confirmedOrder('STANDARD')
  await page.goto(address('/snippet'))
  await page.waitForFunction("document.body.textContent === '21 credits'")
})

test('a page buys, and a purchase whose answer is lost creates one order', { skip }, async () => {
  await page.goto(address('/'))
  requestsToDrop = 1
  const bought = await page.evaluate(`import('@prepaid-credits/client').then(({ createCreditsClient }) =>
    createCreditsClient({ baseUrl: '/credits-proxy', firstPauseMs: 1 }).purchaseCredits({ packageType: 'BASIC' }))`)
  assert.equal((bought as { amount: number }).amount, 1_000)
  assert.ok(keys.length >= 2)
  assert.equal(new Set(keys).size, 1)
})

test('errors have their code in the browser too', { skip }, async () => {
  const code = await page.evaluate(`import('@prepaid-credits/client').then(({ createCreditsClient, isCreditsError }) =>
    createCreditsClient({ baseUrl: '/credits-proxy' }).confirmPayment({ orderId: 'a', paymentKey: 'b', amount: 1 })
      .catch((error) => isCreditsError(error) && [error.code, error.outcome].join(' ')))`)
  assert.equal(code, 'UNREADABLE_ANSWER unknown', 'the proxy does not forward it')
})

test('a key or a token is refused in a page', { skip }, async () => {
  const messages = await page.evaluate(`import('@prepaid-credits/client').then((client) => [
    () => client.createCreditsClient({ baseUrl: '/', apiKey: 'cpk_x' }),
    () => client.createSpendingClient({ baseUrl: '/', token: 'cst_x' }),
  ].map((make) => { try { make(); return 'made' } catch (error) { return error.message } }))`)
  const sentence = 'does not belong in a browser: give the baseUrl of a proxy that adds it.'
  assert.deepEqual(messages, [`apiKey ${sentence}`, `token ${sentence}`])
})

test('a key is refused in a worker of a page', { skip }, async () => {
  const message = await page.evaluate(`new Promise((resolve, reject) => {
    const code = \`import { createCreditsClient } from '\${location.origin}/client/index.js'
      createCreditsClient({ baseUrl: 'http://x' })
      try { createCreditsClient({ baseUrl: 'http://x', apiKey: 'cpk_x' }); postMessage('made') }
      catch (error) { postMessage(error.message) }\`
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' })
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
  })`)
  assert.match(String(message), /^apiKey does not belong in a browser/)
})

describe('the proxy of the README', { skip }, () => {
  const path = '/credits-proxy/public/v1/payments'
  const statusOf = async (...[input, init]: Parameters<typeof fetch>) => (await fetch(input, init)).status
  const buy = (body: RequestInit, headers = {}) =>
    statusOf(address(`${path}/purchase`), { method: 'POST', headers: { cookie, ...headers }, ...body })

  test('refuses requests that are not logged in', async () => {
    // The service would answer 401 too, so it must not be called.
    isServiceDown = true
    assert.equal(await statusOf(address(`${path}/credits`)), 401)
    isServiceDown = false
    assert.equal(await statusOf(address(`${path}/credits`), { headers: { cookie } }), 200)
  })

  test('refuses a body that is too long, or without a Content-Length', async () => {
    assert.equal(await buy({ body: 'x'.repeat(10_001) }), 413)
    const stream = new Blob(['{}']).stream()
    assert.equal(await buy({ body: stream, duplex: 'half' } as RequestInit), 413)
    const body = JSON.stringify({ packageType: 'BASIC' })
    assert.equal(await buy({ body }, { 'content-type': 'application/json', 'x-idempotency-key': 'a-purchase' }), 201)
  })

  test('answers 502 while the service is unreachable, and keeps running', async () => {
    isServiceDown = true
    assert.equal(await statusOf(address(`${path}/credits`), { headers: { cookie } }), 502)
    isServiceDown = false
    assert.equal(await statusOf(address(`${path}/credits`), { headers: { cookie } }), 200)
  })
})
