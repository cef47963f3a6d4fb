// The reference page: the API document for people, from this process alone. Its script is four megabytes of another project's
// and the console is on the same host, so the page has an origin of its own (CSP sandbox): the script reads neither cookies nor
// storage, sends no request and opens no window, and the document is in the page because nothing can be fetched.
//
// The page, its two scripts and the document are routes of our own. The package's plugin is not registered on the listener:
// its routes would ask for a token and send none of our headers, and it loads four megabytes at the start of every process.
// It is asked for its script when the page is first opened, and lives no longer than that question.
import { readFile } from 'node:fs/promises'
import fastify, { type FastifyInstance } from 'fastify'

const documentFile = new URL('../../openapi.json', import.meta.url)

/** What is drawn by the script has its styles in the page; scripts, and all that is loaded, come from here. */
const contentSecurityPolicy = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A page to read: nothing is called from it, nobody is told that it was opened, and no font is fetched. */
const configuration = {
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideTestRequestButton: true,
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  defaultOpenAllTags: true,
  showOperationId: true,
  orderSchemaPropertiesBy: 'preserve',
  theme: 'default',
}

const pageOf = (document: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Prepaid Credits API</title>
<link rel="icon" href="data:,">
</head>
<body>
<script id="api-reference" data-configuration="${inAttribute({ ...configuration, content: document })}"></script>
<script src="/docs/storage.js"></script>
<script src="/docs/scalar.js"></script>
</body>
</html>
`

/** A page without an origin has no storage, and the script does not start without one: what it keeps ends with the page. */
const storageScript = `for (const name of ['localStorage', 'sessionStorage']) {
  const kept = new Map()
  const storage = {
    get length() { return kept.size },
    key: (index) => [...kept.keys()][index] ?? null,
    getItem: (key) => kept.get(String(key)) ?? null,
    setItem: (key, value) => void kept.set(String(key), String(value)),
    removeItem: (key) => void kept.delete(String(key)),
    clear: () => kept.clear(),
  }
  Object.defineProperty(window, name, { value: storage, configurable: true })
}
`

function inAttribute(value: object): string {
  return JSON.stringify(value).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}

/** As the package serves it. */
async function readScript(): Promise<Buffer> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await app.inject('/docs/js/scalar.js')
  await app.close()
  return rawPayload
}

const route = { config: { open: true, documented: 'no API' } } as const

export function referenceRoutes(app: FastifyInstance): void {
  let script: Promise<Buffer> | undefined

  app.get('/openapi.json', route, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await readFile(documentFile)),
  )

  app.get('/docs', route, async (_request, reply) =>
    reply
      .header('content-security-policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(pageOf(await readFile(documentFile, 'utf8'))),
  )

  app.get('/docs/storage.js', route, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(storageScript),
  )

  app.get('/docs/scalar.js', route, async (_request, reply) => {
    // One that failed is not kept: the next who asks begins anew.
    script ??= readScript().catch((error) => {
      script = undefined
      throw error
    })
    return reply.type('text/javascript; charset=utf-8').send(await script)
  })
}
