// The types of the API document as the client has them, `client/src/schema.ts`: made by openapi-typescript from the
// endpoints that the client calls, and the events. Health is not among them, and examples are for readers of the document.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool } from '../documents/tools.ts'

export const clientSchemaFile = fileURLToPath(new URL('../../../client/src/schema.ts', import.meta.url))
const documentFile = fileURLToPath(new URL('../../../openapi.json', import.meta.url))

const opening = `// The endpoints that the client calls and the events, as the API document has them. Made by \`npm run client-schema\`: do not edit.\n`

type Json = Record<string, unknown>
type Document = { paths: Json; webhooks?: Json; components: { schemas: Json } & Json } & Json

/** The schema as it has to be now. */
export async function makeClientSchema(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'prepaid-credits-client-'))
  try {
    const file = join(directory, 'openapi.json')
    writeFileSync(file, JSON.stringify(calledPart(JSON.parse(readFileSync(documentFile, 'utf8')))))
    const { code, stdout, stderr } = await runTool('openapi-typescript', [file])
    if (code !== 0) throw new Error(`openapi-typescript failed: ${stderr}`)
    return `${opening}${stdout}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function calledPart({ webhooks: _, ...document }: Document): Json {
  const paths = Object.entries(document.paths).filter(([path]) => /^\/(public|internal)\//.test(path))
  const { schemas } = document.components
  const called = withoutExamples(Object.fromEntries(paths)) as Json
  const used = schemasUsedBy(called, schemas)
  const { headers: _headers, ...components } = document.components
  return {
    ...document,
    paths: called,
    components: { ...components, schemas: withoutExamples(Object.fromEntries(used)) },
  }
}

/** Of responses the headers go too: a client reads one of them, and that by its name. */
function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples)
  if (typeof value !== 'object' || value === null) return value
  const left = Object.entries(value).filter(([name]) => !['example', 'examples', 'headers'].includes(name))
  return Object.fromEntries(left.map(([name, part]) => [name, withoutExamples(part)]))
}

/** In the order of the document. */
function schemasUsedBy(part: unknown, schemas: Json): [string, unknown][] {
  const names = new Set<string>(['ErrorEnvelope', 'Event'])
  let text = JSON.stringify([part, schemas.ErrorEnvelope, schemas.Event])
  for (let known = -1; known < names.size; ) {
    known = names.size
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) names.add(name)
    text = JSON.stringify([...names].map((name) => schemas[name]))
  }
  return Object.entries(schemas).filter(([name]) => names.has(name))
}
