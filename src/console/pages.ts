// The page of the console and its files, from memory. What is asked for is looked up in a table of the files that were
// built; no path from outside ever becomes a path on disk. A file carries its digest in its name and is kept by browsers
// for good, the page itself never is: every other address of the console is the same page, which looks at the address.
// Nothing runs or is styled but what came from here: the few styles that are made while the page runs carry a word that is
// new with every answer.
import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../core/errors.ts'
import { newSecretText } from '../core/ids.ts'

const builtPages = new URL('../../console/dist/', import.meta.url)

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Smallest first. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const
type Encoding = (typeof encodings)[number]['name']

type Asset = { type: string; plain: Buffer } & Partial<Record<Encoding, Buffer>>
/** The page around the place of the word. */
type Pages = { assets: Map<string, Asset>; page: [before: string, after: string] }

const placeOfNonce = 'name="style-nonce" content="'

const contentSecurityPolicy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

const route = { config: { open: true, documented: 'no API' } } as const

export function pageRoutes(app: FastifyInstance, directory: URL = builtPages): void {
  let reading: Promise<Pages | undefined> | undefined

  /** Read with the first request. A page that is not built yet is looked for again with the next one. */
  async function builtOnce(): Promise<Pages | undefined> {
    reading ??= readPages(directory)
    try {
      const pages = await reading
      if (!pages) reading = undefined
      return pages
    } catch (error) {
      reading = undefined
      throw error
    }
  }

  async function sendPage(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const pages = await builtOnce()
    const nonce = newSecretText('')
    reply
      .header('content-security-policy', contentSecurityPolicy(nonce))
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin')
      .type('text/html; charset=utf-8')
    return pages ? reply.send(pages.page.join(nonce)) : reply.code(503).send(notBuilt)
  }

  app.get('/console', route, sendPage)
  app.get('/console/', route, sendPage)
  app.get('/console/*', route, async (request, reply) => {
    const { '*': path } = request.params as { '*': string }
    if (path === 'api' || path.startsWith('api/')) throw refuse('NOT000')
    if (!path.startsWith('assets/')) return sendPage(request, reply)
    const asset = (await builtOnce())?.assets.get(path)
    if (!asset) throw refuse('NOT000')
    const encoding = encodings.find(({ name }) => asset[name] && isAccepted(request.headers['accept-encoding'], name))
    if (encoding) reply.header('content-encoding', encoding.name)
    return reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'accept-encoding')
      .type(asset.type)
      .send((encoding && asset[encoding.name]) ?? asset.plain)
  })
}

async function readPages(directory: URL): Promise<Pages | undefined> {
  const text = await readFile(new URL('index.html', directory), 'utf8').catch(() => undefined)
  const names = await readdir(new URL('assets/', directory)).catch(() => undefined)
  if (text === undefined || names === undefined) return undefined
  const place = text.indexOf(placeOfNonce) + placeOfNonce.length
  const read = (name: string) => readFile(new URL(`assets/${name}`, directory))
  const assets = names.flatMap((name) => {
    const type = types[name.slice(name.lastIndexOf('.') + 1)]
    return type === undefined ? [] : [{ name, type }]
  })
  const found = await Promise.all(
    assets.map(async ({ name, type }): Promise<[string, Asset]> => {
      const asset: Asset = { type, plain: await read(name) }
      for (const encoding of encodings) {
        if (names.includes(name + encoding.ending)) asset[encoding.name] = await read(name + encoding.ending)
      }
      return [`assets/${name}`, asset]
    }),
  )
  return { assets: new Map(found), page: [text.slice(0, place), text.slice(place)] }
}

/** Named, and not with a weight of nothing. */
function isAccepted(header: string | undefined, encoding: Encoding): boolean {
  return (header ?? '').split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

const notBuilt = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The console is not built</title>
</head>
<body>
<main>
<h1>The console is not built</h1>
<p>The service itself runs. Build its page with <code>node console/build.ts</code> and load this again.</p>
<p lang="ko">콘솔이 아직 빌드되지 않았습니다. 서비스는 정상 동작 중입니다. <code>node console/build.ts</code>를 실행한 뒤 새로 고침해 주세요.</p>
</main>
</body>
</html>
`
