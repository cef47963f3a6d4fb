// DNS rebinding: a page of another site whose name is changed to resolve to 127.0.0.1 has the same origin as a listener there.
// Its requests have the name in Host, so listeners for this machine and the internal network accept only addresses, localhost
// and configured names. The public API and the webhook listener accept any name.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { startStorefront } from '../../examples/storefront/server.ts'
import { bareEnvironment, launch, newDirectory, repository } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { apiPath } from '../../src/console/endpoints.ts'
import { testShop } from '../storefront/shop.ts'
import { assertEnvelope } from '../support/service/service.ts'
import { startWholeService } from '../support/service/whole-service.ts'

const wholeFile = { after }
type Input = { host?: string | undefined; method?: string; headers?: Record<string, string>; body?: string }
type Output = { status: number; type: string; text: string }

/** Without `host`, HTTP/1.0 style: no Host header at all. */
function send(url: string, { host, method = 'GET', headers = {}, body }: Input = {}): Promise<Output> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { ...(host !== undefined && { host }), ...headers } },
      async (answer) => {
        const [status, type] = [answer.statusCode ?? 0, answer.headers['content-type'] ?? '']
        resolve({ status, type, text: await text(answer) })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const service = await startWholeService(wholeFile, {
  WORKER: 'off',
  INTERNAL_HOSTNAMES: 'service, Credits.Internal',
})

const internalPaths: [method: string, path: string][] = [
  ['GET', '/livez'],
  ['GET', '/metrics'],
  ['GET', '/openapi.json'],
  ['GET', '/docs'],
  ['GET', '/console/'],
  ['GET', `${apiPath}/session`],
  ['POST', `${apiPath}/session`],
  ['POST', '/internal/v1/credits/spend'],
  ['GET', '/nothing'],
]

const foreign = [
  'evil.example',
  'evil.example:8081',
  'localhost.evil.example',
  'evil-localhost',
  'a.localhost',
  '[evil.example]',
  '127.0.0.1.evil.example',
  '127.0.0.1:1:2',
]
const own = ['127.0.0.1', '127.0.0.1:8081', '10.1.2.3', '[::1]:8081', 'localhost', 'LOCALHOST:1', 'service:8081']

test('the internal listener refuses a foreign Host before anything else, with an envelope that names the setting', async () => {
  for (const [method, path] of internalPaths) {
    for (const host of foreign) {
      const answer = await send(`${service.internalUrl}${path}`, { method, host })
      const body = JSON.parse(answer.text)
      assertEnvelope({ ...answer, body, headers: new Headers({ 'content-type': answer.type }) } as never)
      assert.deepEqual([answer.status, body.code], [400, 'VAL003'], `${host} ${path}`)
      assert.equal(body.metadata.fields[0].field, 'Host')
      assert.match(body.metadata.fields[0].rule, /INTERNAL_HOSTNAMES/)
    }
  }
})

test('the internal listener accepts addresses, localhost and configured names', async () => {
  for (const host of [...own, 'service', 'credits.internal:8081', 'CREDITS.internal']) {
    assert.equal((await send(`${service.internalUrl}/livez`, { host })).status, 200, host)
  }
})

test('the public API and the webhook listener accept any name', async () => {
  const { apiKey } = await service.newKey()
  const headers = { 'service-api-key': apiKey }
  const balance = await send(`${service.publicUrl}/public/v1/payments/credits`, { host: 'evil.example', headers })
  assert.equal(balance.status, 200)
  const webhook = await send(service.webhookUrl, { host: 'evil.example', method: 'POST', body: '{}' })
  assert.doesNotMatch(webhook.text, /INTERNAL_HOSTNAMES/)
})

test('the sandbox and the shop refuse a foreign Host in plain text that names the setting', async () => {
  const { sandboxUrl = '', storefrontUrl = '' } = service
  const requests: [url: string, method: string][] = [
    [`${sandboxUrl}/sandbox/webhook`, 'GET'],
    [`${sandboxUrl}/sandbox/payments`, 'POST'],
    [`${sandboxUrl}/%zz`, 'GET'],
    [`${storefrontUrl}/`, 'GET'],
    [`${storefrontUrl}/buy`, 'POST'],
    [`${storefrontUrl}/nothing`, 'GET'],
  ]
  for (const [url, method] of requests) {
    for (const host of foreign) {
      const answer = await send(url, { host, method, headers: { origin: `http://${host}` } })
      assert.deepEqual([answer.status, answer.type], [400, 'text/plain; charset=utf-8'], `${host} ${url}`)
      assert.match(answer.text, /INTERNAL_HOSTNAMES/)
    }
  }
  for (const host of own) {
    assert.equal((await send(`${sandboxUrl}/sandbox/webhook`, { host })).status, 200, host)
    assert.equal((await send(`${storefrontUrl}/`, { host })).status, 200, host)
  }
})

test('the shop and the sandbox started alone accept the names that each was given, and the shop those of its own addresses', async (t) => {
  const [host, port] = ['127.0.0.1', 0]
  const shop = await startStorefront({
    host,
    port,
    apiUrl: () => service.publicUrl,
    apiKey: (await service.newKey()).apiKey,
    dataDir: newDirectory(t),
    gatewayScriptUrl: `${service.sandboxUrl}/v2/standard`,
    hostnames: ['shop.example'],
    shop: testShop,
  })
  t.after(() => shop.close())
  const sandbox = await startSandbox({
    host,
    port,
    clientKey: 'test_ck_x',
    secretKey: 'test_sk_x',
    strict: false,
    webhookUrl: undefined,
    dataDir: newDirectory(t),
    hostnames: ['gateway'],
  })
  t.after(() => sandbox.close())
  const statuses = async (url: string, names: string[]) =>
    Promise.all(names.map(async (name) => (await send(url, { host: name })).status))
  assert.deepEqual(await statuses(`${shop.url}/`, ['shop.example', 'gateway']), [200, 400])
  assert.deepEqual(await statuses(`${sandbox.url}/sandbox/webhook`, ['shop.example', 'gateway']), [400, 200])
})

test('npm run docs and npm run sandbox follow the same rule', async (t) => {
  const env = bareEnvironment({
    SANDBOX_PORT: '0',
    DATA_DIR: newDirectory(t),
    INTERNAL_HOSTNAMES: 'inside',
  })
  for (const [script, path, pattern] of [
    ['src/listeners/docs.ts', '', /^The API reference: (http:\S+)\n/],
    ['sandbox/main.ts', '/sandbox/webhook', /address +(http:\S+)/],
  ] as const) {
    const { output } = launch(t, process.execPath, [script], { cwd: repository, env })
    const address = () => pattern.exec(output.stdout)?.[1]
    await until(`${script} has its address`, () => address() !== undefined, 30_000)
    const url = `${address()}${path}`
    const statuses = ['evil.example', 'inside', 'localhost'].map(async (host) => (await send(url, { host })).status)
    assert.deepEqual(await Promise.all(statuses), [400, 200, 200], script)
  }
})
