// The API document as a list of possible answers: every example of every operation. Answers are distinguished by
// operation, status, code, text and rule; numbers in a text are treated as equal.
import assert from 'node:assert/strict'
import { apiDocument } from '../../../src/listeners/api-document.ts'
import type { Answer } from '../service/service.ts'

type Body = { code?: string; message?: string | null; metadata?: { fields?: { rule: string }[] } | null }
type Content = { example?: Body; examples?: Record<string, { value: Body }> }
type Parameter = { name: string; in: string; required: boolean; example?: string }
type Operation = {
  operationId: string
  tags: string[]
  security: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { example: object } } }
  responses: Record<string, { headers?: Record<string, unknown>; content: Record<string, Content> }>
}

export type OperationRequest = { operationId: string; scheme: string; method: string; path: string; body?: object }

const { paths } = apiDocument() as { paths: Record<string, { get?: Operation; post?: Operation }> }
const operations = Object.entries(paths).flatMap(([path, { get, post }]) => [
  ...(get ? [{ ...get, path, method: 'GET' }] : []),
  ...(post ? [{ ...post, path, method: 'POST' }] : []),
])

/** A request for each operation, built from its examples. */
export const operationRequests: OperationRequest[] = operations.map((operation) => {
  const { operationId, method, path, security, parameters = [], requestBody } = operation
  const example = (name: string) => parameters.find((each) => each.name === name)?.example ?? ''
  const required = parameters.filter((each) => each.in === 'query' && each.required)
  const query = required.map(({ name }) => `${name}=${example(name)}`).join('&')
  return {
    operationId,
    method,
    path: `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example(name))}${query === '' ? '' : `?${query}`}`,
    scheme: Object.keys(security[0] ?? {})[0] ?? 'open',
    ...(requestBody && { body: requestBody.content['application/json'].example }),
  }
})

function signature(operationId: string, status: number | string, { code = '', message, metadata }: Body): string {
  const rules = metadata?.fields?.map(({ rule }) => rule).join() ?? ''
  return `${operationId} ${status} ${code} ${`${message ?? ''} ${rules}`.replaceAll(/\d+/g, '#')}`.trim()
}

const documentedAnswers: ReadonlySet<string> = new Set(
  operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content).flatMap(({ example, examples = {} }) =>
        [...(example ? [example] : []), ...Object.values(examples).map(({ value }) => value)].map((body) =>
          signature(operationId, status, body),
        ),
      ),
    ),
  ),
)

function isDocumented(operationId: string, status: number, code: string): boolean {
  return [...documentedAnswers].some((each) => `${each} `.startsWith(`${operationId} ${status} ${code} `))
}

function hasReasonHeader(operationId: string, status: number): boolean {
  const operation = operations.find((each) => each.operationId === operationId)
  return Object.hasOwn(operation?.responses[status]?.headers ?? {}, 'Refusal-Reason')
}

/** Records answers, and returns the documented answers that have not been seen. */
export function watchAnswers() {
  const seen = new Set<string>()
  return {
    /** Asserts that the answer has this code, and that the document has it for the operation. */
    async expect<Data>(operationId: string, code: string, answering: Promise<Answer<Data>>): Promise<Answer<Data>> {
      const answer = await answering
      assert.equal(answer.body.code, code, `${operationId}: ${answer.text}`)
      assert.ok(isDocumented(operationId, answer.status, code), `${operationId} may not answer ${code}`)
      const hasReason = answer.headers.has('refusal-reason')
      assert.ok(!hasReason || hasReasonHeader(operationId, answer.status), `${operationId} may have no reason`)
      seen.add(signature(operationId, answer.status, answer.body as Body))
      return answer
    },
    note(operationId: string, status: number, body: Body): void {
      seen.add(signature(operationId, status, body))
    },
    unseen: () => [...documentedAnswers].filter((answer) => !seen.has(answer)),
  }
}
