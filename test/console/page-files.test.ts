// The console page over HTTP: its content security policy, how its files are cached and compressed, and that no path reaches
// any other file.
import assert from 'node:assert/strict'
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { compress } from '../../console/build.ts'
import { type Cleaner, newDirectory } from '../../harness/processes.ts'
import { pageRoutes } from '../../src/console/pages.ts'
import { buildApiListener } from '../../src/http/api-listener.ts'
import { closeNow } from '../support/closing.ts'

const script = `document.title = 'the script of the page'\n`.repeat(50)
const page = '<!doctype html><head><meta name="style-nonce" content=""></head><body>The page.</body>\n'

function writePage(directory: string): void {
  mkdirSync(join(directory, 'assets'))
  writeFileSync(join(directory, 'assets/index-abc.js'), script)
  writeFileSync(join(directory, 'assets/index-abc.css'), 'body { margin: 0 }\n')
  writeFileSync(join(directory, 'index.html'), page)
  writeFileSync(join(directory, 'made-from'), 'a digest')
}

type Sent = { status: number; headers: IncomingMessage['headers']; body: Buffer }

/** Sends the path unchanged: dot segments are not normalised. */
async function serve(t: Cleaner, directory: string) {
  const app = buildApiListener({
    authenticate: () => assert.fail('the page needs no authentication'),
    log: pino({ level: 'silent' }),
    bodyLimitBytes: 1_000,
  })
  pageRoutes(app, pathToFileURL(`${directory}/`))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => closeNow(app))
  const { port } = app.server.address() as AddressInfo
  return (path: string, headers: Record<string, string> = {}) =>
    new Promise<Sent>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, async (answer) =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) }),
      )
      sent.on('error', reject).end()
    })
}

const directory = newDirectory({ after })
writePage(directory)
await compress(join(directory, 'assets'))
const get = await serve({ after }, directory)

test('every address of the console returns the one page, which is not cached', async () => {
  for (const path of ['/console', '/console/', '/console/orders/ord_1?tab=story', '/console/made-from']) {
    const { status, headers, body } = await get(path)
    assert.equal(status, 200, path)
    assert.match(body.toString(), /The page\./)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

test('the page loads scripts and styles only from this service, and cannot be framed', async () => {
  const { headers, body } = await get('/console')
  const [, nonce = ''] = /name="style-nonce" content="(\w+)"/.exec(body.toString()) ?? []
  assert.deepEqual(String(headers['content-security-policy']).split('; ').sort(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
  ])
  assert.ok(nonce.length >= 22)
  assert.doesNotMatch((await get('/console')).body.toString(), new RegExp(nonce), 'each response has its own nonce')
})

test('a file has its digest in its name, and browsers cache it forever', async () => {
  const { status, headers, body } = await get('/console/assets/index-abc.js')
  assert.equal(status, 200)
  assert.equal(body.toString(), script)
  assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(headers['content-type'], 'text/javascript; charset=utf-8')
  assert.equal((await get('/console/assets/index-abc.css')).headers['content-type'], 'text/css; charset=utf-8')
})

const packed: [accepted: string, encoding: string | undefined][] = [
  ['gzip, deflate, br', 'br'],
  ['br;q=1.0, gzip;q=0.5', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.000, gzip;q=0', undefined],
  ['identity', undefined],
  ['brotli', undefined],
]
for (const [accepted, encoding] of packed) {
  test(`a file is sent ${encoding ? `as ${encoding}` : 'uncompressed'} to a client that accepts ${accepted}`, async () => {
    const { headers, body } = await get('/console/assets/index-abc.js', { 'accept-encoding': accepted })
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''] ?? ((plain: Buffer) => plain)
    assert.equal(headers['content-encoding'], encoding)
    assert.equal(headers.vary, 'accept-encoding')
    assert.equal(unpack(body).toString(), script)
  })
}

const unknown = [
  '/console/assets/index-old.js',
  '/console/assets/',
  '/console/assets/index-abc.js.br',
  '/console/assets/../made-from',
  '/console/assets/..%2fmade-from',
  '/console/assets/%2e%2e/%2e%2e/package.json',
  '/console/assets//etc/passwd',
  '/console/assets/index-abc.js%00.css',
  '/console/assets/__proto__',
  '/console/api',
  '/console/api/nothing',
]
for (const path of unknown) {
  test(`${path} is not found, and does not return the page`, async () => {
    const { status, body } = await get(path)
    assert.equal(status, 404)
    assert.equal(JSON.parse(body.toString()).code, 'NOT000')
  })
}

const elsewhere = ['/console/../package.json', '/console/%2e%2e/%2e%2e/package.json', '/console/..%5c..%5cpackage.json']
for (const path of elsewhere) {
  test(`${path} returns the page like any other address`, async () => {
    assert.match((await get(path)).body.toString(), /The page\./)
  })
}

test('a console that is not built returns a page with the build command, until it is built', async (t) => {
  const empty = newDirectory(t)
  const ask = await serve(t, empty)
  const { status, headers, body } = await ask('/console')
  assert.equal(status, 503)
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  assert.match(body.toString(), /node console\/build\.ts/)
  assert.equal((await ask('/console/assets/index-abc.js')).status, 404)
  writePage(empty)
  assert.match((await ask('/console')).body.toString(), /The page\./)
  assert.equal((await ask('/console/assets/index-abc.js', { 'accept-encoding': 'br' })).body.toString(), script)
})

test('a partly built page counts as not built, and files that could not be read are read again', async (t) => {
  const half = newDirectory(t)
  const ask = await serve(t, half)
  writeFileSync(join(half, 'index.html'), page)
  assert.equal((await ask('/console')).status, 503)
  // A directory with the name of the file: it cannot be read.
  mkdirSync(join(half, 'assets/index-abc.js'), { recursive: true })
  assert.equal((await ask('/console')).status, 500)
  rmdirSync(join(half, 'assets/index-abc.js'))
  rmdirSync(join(half, 'assets'))
  writePage(half)
  assert.match((await ask('/console')).body.toString(), /The page\./)
})
