// The reference page: on the internal listener without authentication, by a setting on the public one, standalone by
// `npm run docs`, and readable in a real browser that contacts no other host. And the page of links at `/`.
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import fastify from 'fastify'
import type { Browser } from 'playwright-core'
import { bareEnvironment, launch, repository, takePort } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { refuse } from '../../src/core/errors.ts'
import { apiDocument } from '../../src/listeners/api-document.ts'
import { buildInternalListener, type InternalListenerParts } from '../../src/listeners/internal.ts'
import { buildPublicListener, type PublicListenerParts } from '../../src/listeners/public.ts'
import { startPage } from '../../src/listeners/start-page.ts'
import { createLog } from '../../src/log.ts'
import { referenceRoutes } from '../../src/openapi/page.ts'
import { closeNow } from '../support/closing.ts'
import { launchBrowser, noBrowser, takePicture } from '../support/console/browser.ts'
import { cookieName, signedIn } from '../support/console/console.ts'
import { barriersOn } from '../support/console/person.ts'
import { startWholeService } from '../support/service/whole-service.ts'

const browser: Browser | undefined = await launchBrowser()
const skip = browser ? false : noBrowser
after(() => browser?.close())
// Started before the first test: otherwise the file would end as soon as the earlier tests are done.
const url = await startDocs()
const service = await startWholeService({ after }, { WORKER: 'off', PUBLIC_REFERENCE: 'on' })

type Document = {
  paths: Record<string, Record<string, { summary?: string }>>
  servers: { url: string }[]
  webhooks?: object
  tags: { name: string }[]
}
const { paths } = apiDocument() as Document

test('/docs, its script and /openapi.json need no authentication on the internal listener, and load only from there', async (t) => {
  const parts = { log: createLog('silent'), bodyLimitBytes: 1_000 } as Partial<InternalListenerParts>
  const listener = buildInternalListener(parts as InternalListenerParts)
  t.after(() => closeNow(listener))
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(listener.server.address() as AddressInfo).port}`
  const page = await fetch(`${url}/docs`)
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^sandbox allow-scripts; default-src 'none'; script-src 'self'; /)
  assert.match(policy, /; connect-src 'none'; /)
  assert.doesNotMatch(policy, /https?:|unsafe-eval|\*/)
  assert.doesNotMatch(await page.text(), /(?:src|href|action)="https?:|UNLICENSED/)
  const script = await fetch(`${url}/docs/scalar.js`)
  assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8')
  assert.ok((await script.arrayBuffer()).byteLength > 1_000_000)
  const document = await fetch(`${url}/openapi.json`)
  assert.equal(document.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.deepEqual(await document.json(), apiDocument())
  for (const { headers } of [page, script, document]) {
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cache-control'), 'no-store')
  }
})

test('a script that could not be read is read again for the next request', async (t) => {
  const listener = fastify()
  t.after(() => closeNow(listener))
  referenceRoutes(listener)
  const fetchStatus = async () => (await listener.inject('/docs/scalar.js')).statusCode
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === '@scalar/fastify-api-reference') throw new Error('the disk is unavailable')
      return nextResolve(specifier, context)
    },
  })
  const requested = [await fetchStatus()]
  hooks.deregister()
  requested.push(await fetchStatus())
  assert.deepEqual(requested, [500, 200])
})

/** Runs the program of `npm run docs` and returns its address. */
async function startDocs(): Promise<string> {
  const env = bareEnvironment()
  const { output } = launch({ after }, process.execPath, ['src/listeners/docs.ts'], { cwd: repository, env })
  const address = () => /^The API reference: (http:\S+)\n/.exec(output.stdout)?.[1]
  await until('npm run docs prints its address', () => address() !== undefined, 60_000)
  return address() as string
}

/** Opens the page in a browser and records its requests and errors. */
async function openPage(t: TestContext, colorScheme: 'light' | 'dark') {
  const context = await (browser as Browser).newContext({ colorScheme, viewport: { width: 1400, height: 1000 } })
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const requested: string[] = []
  const problems: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(url)
  await page.waitForSelector('text=Cancel a payment')
  await takePicture(page, `reference-${colorScheme}`)
  return { page, requested, problems }
}

test('npm run docs shows every endpoint, its texts and codes, without a database, and contacts no other host', {
  skip,
}, async (t) => {
  const { page, requested, problems } = await openPage(t, 'light')
  const text = await page.innerText('body')
  for (const summary of Object.values(paths).flatMap((path) => [path.get?.summary, path.post?.summary])) {
    if (summary) assert.ok(text.includes(summary), `${summary} is not on the page`)
  }
  await page.getByText('Confirm a payment').first().click()
  await page.getByText('Captures the payment that the buyer has approved').waitFor()
  await page.getByText('VAL003: A field has a value that is not allowed.').first().waitFor()
  await page.getByText("from '@prepaid-credits/client'").first().waitFor()
  await takePicture(page, 'reference-confirm')
  assert.deepEqual(await barriersOn(page), [])
  assert.ok((await page.getByRole('button', { name: 'Copy', exact: true }).count()) > 0)
  const { origin } = new URL(url)
  assert.deepEqual(
    requested.filter((address) => !address.startsWith(`${origin}/`) && !/^(data|blob):/.test(address)),
    [],
  )
  assert.deepEqual(problems, [])
})

test('a running service serves the document with its own addresses; on the public listener the public API alone, and only if PUBLIC_REFERENCE is on', async (t) => {
  const documentOf = async (address: string) => (await (await fetch(`${address}/openapi.json`)).json()) as Document
  const { publicUrl, internalUrl } = service
  const whole = await documentOf(internalUrl)
  assert.deepEqual(
    whole.servers.map(({ url }) => url),
    [publicUrl, internalUrl],
  )
  assert.deepEqual(Object.keys(whole.paths), Object.keys(paths))
  assert.doesNotMatch(JSON.stringify(whole), /127\.0\.0\.1:808\d/)
  const own = await documentOf(publicUrl)
  assert.deepEqual(
    own.servers.map(({ url }) => url),
    [publicUrl],
  )
  assert.deepEqual(
    Object.keys(own.paths),
    Object.keys(paths).filter((path) => path.startsWith('/public/')),
  )
  assert.deepEqual([own.webhooks, own.tags.map(({ name }) => name)], [undefined, ['Payments']])
  assert.equal(JSON.stringify(own).includes(internalUrl), false)
  assert.doesNotMatch(JSON.stringify(own), /BUS002|budget|[Tt]oken\b|`reference`/)
  const page = await fetch(`${publicUrl}/docs`)
  assert.match(page.headers.get('content-security-policy') ?? '', /^sandbox allow-scripts; default-src 'none'; /)
  for (const path of ['/', '/metrics', '/readyz', '/console']) {
    assert.equal((await fetch(`${publicUrl}${path}`)).status, 401, path)
  }

  const parts = { log: createLog('silent'), bodyLimitBytes: 1_000, payments: {}, rateLimitPerSecond: 0 }
  const authenticate = () => {
    throw refuse('INVALID_API_KEY')
  }
  const listener = buildPublicListener({ ...parts, authenticate } as unknown as PublicListenerParts)
  t.after(() => closeNow(listener))
  const address = await listener.listen({ host: '127.0.0.1', port: 0 })
  for (const path of ['/docs', '/openapi.json']) assert.equal((await fetch(address + path)).status, 401, path)
})

test('/ of the internal listener links to what can be opened there, in both languages, in the light and in the dark', {
  skip,
}, async (t) => {
  const response = await fetch(service.internalUrl)
  const policy = response.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; /)
  for (const [locale, title, colorScheme] of [
    ['en-US', 'Prepaid Credits: internal listener', 'light'],
    ['ko-KR', 'Prepaid Credits 내부 리스너', 'dark'],
  ] as const) {
    const context = await (browser as Browser).newContext({
      locale,
      colorScheme,
      viewport: { width: 390, height: 844 },
    })
    t.after(() => context.close())
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    await page.goto(service.internalUrl)
    assert.equal(await page.title(), title)
    await takePicture(page, `start-${locale}`)
    assert.deepEqual(await barriersOn(page), [])
    const links = await page.getByRole('link').evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''))
    assert.deepEqual(links, ['/console', '/docs', '/openapi.json', '/readyz', '/metrics'])
    assert.deepEqual(problems, [])
  }
})

test('/ links to nothing that the listener does not serve', async () => {
  const app = fastify()
  app.get('/docs', async () => 'here')
  startPage(app)
  const { body } = await app.inject('/')
  assert.deepEqual(
    [...body.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href),
    ['/docs'],
  )
})

test('the script of the page cannot use the session of an operator who has the console open', { skip }, async (t) => {
  const { token } = await signedIn(service, 'admin')
  const context = await (browser as Browser).newContext()
  t.after(() => context.close())
  await context.addCookies([{ name: cookieName, value: token, url: `${service.internalUrl}/console` }])
  const page = await context.newPage()
  // The attempts of a malicious version of the script to reach another page of this host.
  const steal = `(async () => {
    const way = async (work) => { try { return String(await work()) } catch (error) { return 'refused: ' + error.name } }
    const read = (url, options) => fetch(url, options).then((answer) => answer.text())
    return {
      origin: self.origin,
      session: await way(() => read('${service.internalUrl}/console/api/session', { credentials: 'include' })),
      opaque: await way(() => read('${service.internalUrl}/console/api/session', { mode: 'no-cors' })),
      cookies: await way(() => document.cookie),
      storage: await way(() => localStorage.getItem('kept by the console')),
      window: await way(() => window.open('${service.internalUrl}/console/')),
    }
  })()`
  type Stolen = Record<'origin' | 'session' | 'opaque' | 'cookies' | 'storage' | 'window', string>
  await page.goto(`${service.internalUrl}/console/`)
  await page.evaluate(`localStorage.setItem('kept by the console', 'yes')`)
  const own = (await page.evaluate(steal)) as Stolen
  assert.match(own.session, /"name":"admin"/, 'the session works in the console')
  assert.equal(own.storage, 'yes')
  await page.goto(`${service.internalUrl}/docs`)
  await page.waitForSelector('text=Cancel a payment')
  const stolen = (await page.evaluate(steal)) as Stolen
  assert.deepEqual(stolen, {
    origin: 'null',
    session: 'refused: TypeError',
    opaque: 'refused: TypeError',
    cookies: 'refused: SecurityError',
    storage: 'null',
    window: 'null',
  })
})

test('the page is dark when the browser prefers dark', { skip }, async (t) => {
  const { page, problems } = await openPage(t, 'dark')
  assert.equal(await page.evaluate('document.body.classList.contains("dark-mode")'), true)
  assert.deepEqual(await barriersOn(page, { rules: ['color-contrast'] }), [])
  assert.deepEqual(problems, [])
})

const wrongPorts: [given: () => Promise<string>, expected: RegExp][] = [
  [async () => 'many', /^DOCS_PORT: expected a whole number from 0 to 65535, got "many"\n$/],
  [() => takePort({ after }), /^Port \d+ on 127\.0\.0\.1 is in use: .* set DOCS_PORT to another\.\n$/],
]
for (const [given, expected] of wrongPorts) {
  test(`npm run docs listens on DOCS_PORT, or prints why not: ${expected.source}`, async (t) => {
    const env = bareEnvironment({ DOCS_PORT: await given() })
    const { ended } = launch(t, process.execPath, ['src/listeners/docs.ts'], { cwd: repository, env })
    const { code, stderr } = await ended
    assert.equal(code, 1)
    assert.match(stderr, expected)
  })
}
