// The reference page: the API document for people, served by this process alone. Its script is four megabytes of third-party
// code, and the console is on the same host, so the page has an origin of its own (CSP sandbox): the script reads neither
// cookies nor storage, sends no request and opens no window. The document is embedded in the page because nothing can be
// fetched.
//
// The page, its scripts and the document are routes of our own. The package's plugin is not registered on the listener:
// its routes would need a token and lack our headers, and it loads four megabytes when a process starts. It is loaded for its
// script when the page is first opened, and closed after that.
import { readFile } from 'node:fs/promises'
import fastify, { type FastifyInstance } from 'fastify'

const documentFile = new URL('../../openapi.json', import.meta.url)

/** The script writes its styles into the page; scripts are loaded from this origin only. */
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

/** The colours of the theme are too weak on its own backgrounds: at least 4.5 to 1, as WCAG AA asks for. */
const styles = `.light-mode {
  --scalar-color-2: #595959;
  --scalar-color-3: #636363;
  --scalar-color-green: #006b43;
  --scalar-color-blue: #0061a8;
  --scalar-color-orange: #b03a00;
  --scalar-color-accent: #0061a8;
}
.dark-mode {
  --scalar-color-3: #a0a0a0;
}
`

/** The page is for reading: it calls no endpoint, sends no telemetry and fetches no font. */
const configuration = {
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideTestRequestButton: true,
  hideClientButton: true,
  // A sandboxed page cannot download; /openapi.json is there for programs.
  documentDownloadType: 'none',
  showDeveloperTools: 'never',
  persistAuth: false,
  defaultOpenAllTags: true,
  showOperationId: true,
  orderSchemaPropertiesBy: 'preserve',
  theme: 'default',
  customCss: styles,
}

export const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='%231c7ed6'/><path d='M11 6a3.5 3.5 0 1 0 0 4' fill='none' stroke='white' stroke-width='2'/></svg>"

const pageOf = (document: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Prepaid Credits API</title>
<link rel="icon" href="${icon}">
</head>
<body>
<script id="api-reference" data-configuration="${inAttribute({ ...configuration, content: forReaders(document) })}"></script>
<script src="/docs/storage.js"></script>
<script src="/docs/names.js"></script>
<script src="/docs/scalar.js"></script>
</body>
</html>
`

/** Without the licence, which the page would show beside the title: a reader of an API has no use for it. */
function forReaders(document: string): string {
  const { info, ...rest } = JSON.parse(document) as { info: object }
  return JSON.stringify({ ...rest, info: { ...info, license: undefined } })
}

/** A sandboxed page has no storage, and the script does not start without one. This one ends with the page. */
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

/** Names and keyboard access that the script of the page leaves out. */
const namesScript = `const missing = [
  ['button[class*="copy-button"]:not([aria-label])', 'aria-label', 'Copy'],
  ['ul.endpoints:not([tabindex])', 'tabindex', '0'],
  ['.response-card[role=region]', 'role', 'group'],
  ['input[role=combobox]:not([aria-expanded])', 'aria-expanded', 'true'],
  ['input[role=combobox]:not([aria-label])', 'aria-label', 'Search'],
]
function complete() {
  for (const [selector, name, value] of missing) {
    for (const element of document.querySelectorAll(selector)) element.setAttribute(name, value)
  }
}
new MutationObserver(complete).observe(document, { childList: true, subtree: true })
`

function inAttribute(value: object): string {
  return JSON.stringify(value).replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}

/** The script as the package serves it. */
async function readScript(): Promise<Buffer> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await app.inject('/docs/js/scalar.js')
  await app.close()
  return rawPayload
}

const route = { config: { open: true, documented: 'no API' } } as const

/** The document of this version, with the default addresses. */
const storedDocument = () => readFile(documentFile, 'utf8')

export function referenceRoutes(
  app: FastifyInstance,
  readDocument: () => Promise<string> | string = storedDocument,
): void {
  let script: Promise<Buffer> | undefined
  // Kept: a page takes ten milliseconds to build, and anyone may ask for it.
  let page: { document: string; html: string } | undefined

  app.get('/openapi.json', route, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await readDocument()),
  )

  app.get('/docs', route, async (_request, reply) => {
    const document = await readDocument()
    if (page?.document !== document) page = { document, html: pageOf(document) }
    return reply
      .header('content-security-policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(page.html)
  })

  for (const [name, text] of Object.entries({ storage: storageScript, names: namesScript })) {
    app.get(`/docs/${name}.js`, route, async (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').send(text),
    )
  }

  app.get('/docs/scalar.js', route, async (_request, reply) => {
    // A failure is not kept: the next request tries again.
    script ??= readScript().catch((error) => {
      script = undefined
      throw error
    })
    return reply.type('text/javascript; charset=utf-8').send(await script)
  })
}
