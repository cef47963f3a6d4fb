// openapi.json: it matches the current routes, the linter finds no error, and every example in it is valid by the schemas
// of the service itself.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  type CreditsClientOptions,
  createCreditsClient,
  createSpendingClient,
  type SpendingClientOptions,
} from '../../client/src/index.ts'
import { repository } from '../../harness/processes.ts'
import { catalogue, type ErrorCode } from '../../src/core/errors.ts'
import { eventTypes } from '../../src/events/outbox.sql.ts'
import { apiDocument, apiDocumentText } from '../../src/listeners/api-document.ts'
import { runTool, toolsFolder } from '../support/documents/tools.ts'
import { longOnly } from '../support/long.ts'

type Example = { summary: string; value: { code: ErrorCode; message: string; success: boolean; data: unknown } }
type Response = { headers?: Record<string, unknown>; content: Record<string, { examples?: Record<string, Example> }> }
type Operation = {
  operationId: string
  security: object[]
  parameters?: { name: string; in: string; example?: unknown }[]
  requestBody?: { content: { 'application/json': { example: object } } }
  responses: Record<string, Response>
  'x-codeSamples'?: { source: string }[]
}
type Document = {
  paths: Record<string, Record<'get' | 'post', Operation>>
  webhooks: Record<string, unknown>
  components: { schemas: Record<string, unknown> }
}

const document = apiDocument() as Document
const operations = Object.values(document.paths).flatMap(({ get, post }) =>
  [get, post].filter((each) => each !== undefined),
)

test('openapi.json matches the routes: npm run openapi writes it', () => {
  assert.equal(readFileSync(join(repository, 'openapi.json'), 'utf8'), apiDocumentText())
})

test('redocly finds no error and no warning in it', { skip: longOnly }, async () => {
  const config = join(toolsFolder, 'redocly.yaml')
  const { code, stdout, stderr } = await runTool('redocly', [
    'lint',
    'openapi.json',
    '--config',
    config,
    '--format=json',
  ])
  const { totals, problems } = JSON.parse(stdout)
  assert.deepEqual(problems, [], stderr)
  assert.deepEqual([code, totals], [0, { errors: 0, warnings: 0, ignored: 0 }])
})

test('every operation with a key has the codes that apply before its handler, and each code is listed under its own status', () => {
  const commonCodes: ErrorCode[] = ['INVALID_API_KEY', 'AUTH001', 'AUTH003', 'VAL001', 'VAL004', 'SVC001', 'INT001']
  for (const { operationId, security, responses } of operations) {
    const examples = Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content['application/json']?.examples ?? {}).map(({ value }) => ({
        status: Number(status),
        ...value,
      })),
    )
    for (const { status, code, success, data } of examples) {
      assert.deepEqual([status, success, data], [catalogue[code].status, false, null], `${operationId} ${code}`)
    }
    if (security.length === 0) continue
    const codes = new Set(examples.map(({ code }) => code))
    assert.deepEqual(
      commonCodes.filter((code) => !codes.has(code)),
      [],
      operationId,
    )
  }
})

test('the sample of every operation with a key sends the documented request with our client', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!('operationId' in operation) || operation.security.length === 0) continue
      const { operationId, parameters, requestBody, 'x-codeSamples': samples } = operation
      const examples = new Map(parameters?.map(({ name, example }) => [name, example]))
      const pathname = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(`${examples.get(name)}`))
      const body = requestBody?.content['application/json'].example
      const expected = { pathname, method: method.toUpperCase(), body }
      assert.deepEqual(await requestsOf(samples?.[0]?.source ?? ''), [expected], operationId)
    }
  }
})

/** Runs a sample with a client that records its requests. */
async function requestsOf(source: string) {
  const sent: { pathname: string; method: string; body: unknown }[] = []
  const recording = {
    maxAttempts: 1,
    fetch: async (url: string, { method = 'GET', body }: RequestInit = {}) => {
      sent.push({ pathname: new URL(url).pathname, method, body: body ? JSON.parse(`${body}`) : undefined })
      return new Response('', { status: 500 })
    },
  }
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  const program = source.replaceAll(/^import .*$/gm, '')
  await AsyncFunction(
    'createCreditsClient',
    'createSpendingClient',
    'env',
    program,
  )(
    (options: CreditsClientOptions) => createCreditsClient({ ...options, ...recording }),
    (options: SpendingClientOptions) => createSpendingClient({ ...options, ...recording }),
    { CREDITS_API_KEY: `cpk_${'a'.repeat(43)}`, CREDITS_TOKEN: `cst_${'a'.repeat(43)}` },
  ).catch(() => undefined)
  return sent
}

test('SVC001 has Retry-After wherever it is documented', () => {
  const unavailable = operations.filter(({ security }) => security.length > 0).map(({ responses }) => responses['503'])
  assert.ok(unavailable.every((response) => response?.headers?.['Retry-After']))
})

test('every code of the catalogue has a schema of its name, and every type of event its webhook', () => {
  assert.deepEqual(
    Object.keys(catalogue).filter((code) => !document.components.schemas[code]),
    [],
  )
  assert.deepEqual(Object.keys(document.webhooks), [...eventTypes])
})
