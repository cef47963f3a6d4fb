// A call of an operation with our own client, as a program that can be copied: the method has the name of the operation, and
// its argument has the fields of path and body, and those of the query that are required.
import type { JsonSchema } from './schemas.ts'

export type SampleClient = 'createCreditsClient' | 'createSpendingClient'

const secrets: Record<SampleClient, string> = {
  createCreditsClient: 'apiKey: env.CREDITS_API_KEY',
  createSpendingClient: 'token: env.CREDITS_TOKEN',
}

/** Fields of the path that the client calls otherwise, because the body has one of the same name. */
const renamed: Record<string, Record<string, string>> = { reverseSpend: { reference: 'reversedReference' } }

type Parameter = { name: string; in: string; required: boolean; example?: unknown }

export function sampleOf(operation: JsonSchema, client: SampleClient, baseUrl: string): JsonSchema {
  const method = operation.operationId as string
  const parameters = (operation.parameters ?? []) as Parameter[]
  const ofPath = parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, example }) => [renamed[method]?.[name] ?? name, example])
  // Those are numbers: the client makes them text.
  const ofQuery = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, example }) => [name, Number(example)])
  const fields = [...ofPath, ...ofQuery, ...Object.entries(bodyOf(operation))].map(
    ([name, value]) => `  ${name}: ${literal(value)},`,
  )
  const argument = fields.length > 0 ? `{\n${fields.join('\n')}\n}` : ''
  const source = `import { env } from 'node:process'
import { ${client} } from '@prepaid-credits/client'

const credits = ${client}({
  baseUrl: '${baseUrl}',
  ${secrets[client]},
})
const answer = await credits.${method}(${argument})`
  return { lang: 'js', label: 'Node.js, our client', source }
}

function bodyOf({ requestBody }: JsonSchema): object {
  const { content } = (requestBody ?? {}) as { content?: Record<string, { example?: object }> }
  return content?.['application/json']?.example ?? {}
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))
