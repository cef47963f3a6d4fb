// The types of the client and its table of endpoints match the API document.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { statuses } from '../../client/src/errors.ts'
import { operations } from '../../client/src/operations.ts'
import { catalogue } from '../../src/core/errors.ts'
import { clientSchemaFile, makeClientSchema } from '../support/written/client-schema.ts'

test('client/src/schema.ts is generated from the API document: `npm run client-schema` writes it', async () => {
  assert.equal(readFileSync(clientSchemaFile, 'utf8'), await makeClientSchema())
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
