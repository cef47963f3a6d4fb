// The types of the client and its table of endpoints match the API document.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { schemaOf } from '../../client/schema.mjs'
import { statuses } from '../../client/src/errors.ts'
import { operations } from '../../client/src/operations.ts'
import { catalogue } from '../../src/core/errors.ts'

test('the types of the client are those of the schemas: what has no type is refused, not left out', () => {
  const typesOf = (schemas: object) => {
    const referred = { ErrorEnvelope: { type: 'null' }, Event: { $ref: '#/components/schemas/A' }, ...schemas }
    return schemaOf({ paths: {}, components: { schemas: referred } }).split('export type Schemas = ')[1]
  }
  const properties = {
    a: { type: ['string', 'null'], description: 'Text.' },
    b: { type: 'array', items: { enum: [1, 'x'] } },
  }
  assert.equal(
    typesOf({ A: { type: 'object', required: ['a'], properties } })
      ?.replaceAll('\n', ' ')
      .trim(),
    `{ "ErrorEnvelope": null "Event": Schemas["A"] "A": { /** Text. */ "a": string | null "b"?: (1 | "x")[] } }`,
  )
  assert.throws(() => typesOf({ A: { not: {} } }), { message: 'client/schema.mjs: teach it not' })
})

test('every endpoint of the API that is called with a key or a token has its method', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string }>>
  }
  const called = Object.entries(paths).filter(([path]) => /^\/(public|internal)\//.test(path))
  const names = called.flatMap(([, methods]) => Object.values(methods).flatMap(({ operationId }) => operationId ?? []))
  assert.deepEqual(Object.keys(operations).sort(), names.sort())
})

test('every code has the status that the service gives it', () => {
  const given = Object.entries(catalogue).map(([code, { status }]) => [code, status])
  assert.deepEqual(statuses, Object.fromEntries(given))
})
