// The internal API is for services of the platform, with a token that is issued, listed, suspended and rotated by command.
// A customer's key is not valid there, and a token is valid nowhere else.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { head, sendRaw } from '../../harness/raw-http.ts'
import type { Values } from '../../src/commands/command.ts'
import { serviceCommands } from '../../src/commands/nouns/service-commands.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { newOrderId } from '../../src/core/ids.ts'
import type { IssuedToken } from '../../src/customers/service-tokens.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { openContexts } from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  type Call as Request,
  type TestCustomer,
  testPeppers,
} from '../support/service/service.ts'
import { creditsPath, type SpendingService, startInternal, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
let customer: TestCustomer
before(async () => {
  service = await startSpendingService()
  internal = service.internal
  customer = await service.newCustomer()
  await customer.confirmedOrder('PRO')
})
after(() => service.close())

/** Runs a command as the command line does, without a process. */
function run<Result>(name: string, values: Values = {}, ...positionals: string[]): Promise<Result> {
  const parts = { database: service.payments.database, peppers: () => testPeppers }
  return callCommand(serviceCommands, name, { positionals, values }, parts)
}

const issue = (name: string) => run<IssuedToken>('services issue', { name })
/** A well-formed token that was never issued. */
const unknownToken = `cst_${'A1b2'.repeat(11).slice(0, 43)}`

const routes: { method: string; path: string; body?: object }[] = [
  { method: 'POST', path: `${creditsPath}/spend`, body: {} },
  { method: 'POST', path: `${creditsPath}/holds`, body: {} },
  { method: 'POST', path: `${creditsPath}/holds/${crypto.randomUUID()}/capture`, body: {} },
  { method: 'POST', path: `${creditsPath}/holds/${crypto.randomUUID()}/release`, body: {} },
  { method: 'GET', path: `/internal/v1/customers/${crypto.randomUUID()}/statement` },
  { method: 'GET', path: `/internal/v1/customers/${crypto.randomUUID()}/statement/receipt?from=1&to=1` },
  { method: 'GET', path: `/internal/v1/customers/${crypto.randomUUID()}/references/spent/receipt` },
  { method: 'GET', path: `/internal/v1/customers/${crypto.randomUUID()}/orders/${newOrderId()}/receipt` },
]

test('services issue prints a token once; services list shows its id, name and last four characters, not the token', async () => {
  const { serviceId, name, token } = await issue('  single analyses ')
  assert.match(token, /^cst_[0-9A-Za-z]{43}$/)
  assert.match(serviceId, /^svc_[0-9A-Za-z]{20}$/)
  assert.equal(name, 'single analyses')
  assertSuccess(await internal.as(token).spend(customer.customerId, 1), 200)
  const listed = (await run<Record<string, unknown>[]>('services list')).find((each) => each.serviceId === serviceId)
  const { createdAt, ...rest } = listed ?? {}
  assert.ok(createdAt instanceof Date)
  const scopes = ['spend', 'hold', 'refund', 'read']
  assert.deepEqual(rest, { serviceId, name, lastFour: token.slice(-4), status: 'ACTIVE', scopes, secretVersion: 1 })
})

test('the commands refuse invalid names and scopes, extra arguments and unknown tokens', async () => {
  for (const name of [undefined, '', '  ', 'n'.repeat(101), 'two\nlines', 'nul\u0000']) {
    await assert.rejects(run('services issue', name === undefined ? {} : { name }), /--name NAME is needed/)
  }
  for (const may of ['', 'everything', 'read,', 'spend;read', 'manage-holds', 'read,manage-holds']) {
    await assert.rejects(run('services issue', { name: 'x', may }), /--may/)
  }
  await assert.rejects(run('services issue', { name: 'x' }, 'more'), /unexpected argument "more"/)
  await assert.rejects(run('services list', {}, 'more'), /unexpected argument "more"/)
  for (const verb of ['services suspend', 'services activate']) {
    await assert.rejects(run(verb), /exactly one SERVICEID is needed/)
    await assert.rejects(run(verb, {}, 'svc_nobody'), new Error('There is no token svc_nobody.'))
  }
})

test('no token can be read from the database, only its hash and its last four characters', async () => {
  const issued = await Promise.all(['one', 'two', 'three'].map(issue))
  for (const { token } of issued) assertSuccess(await internal.as(token).spend(customer.customerId, 1), 200)
  const tables = await service.database.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  )
  assert.ok(tables.some(({ name }) => name === 'service_tokens'))
  for (const { name } of tables) {
    const rows = await service.database.query<{ text: string }>(`select each::text as text from ${name} each`)
    const everything = rows.map((row) => row.text).join('\n')
    for (const { token } of issued) {
      const secret = token.slice(4)
      for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(token).toString('base64')]) {
        assert.ok(!everything.includes(form), `${name} holds a token`)
      }
    }
  }
})

test('a missing or malformed token is 401 INVALID_API_KEY, one that was never issued 401 AUTH001', async () => {
  const { token } = internal.issued
  const malformed = {
    none: undefined,
    empty: '',
    'the scheme alone': 'Bearer',
    'no scheme': token,
    'another scheme': `Basic ${btoa(`${token}:`)}`,
    'two blanks': `Bearer  ${token}`,
    'one character short': `Bearer ${token.slice(0, -1)}`,
    'one character long': `Bearer ${token}a`,
    'another prefix': `Bearer cpk_${token.slice(4)}`,
    'a prefix in upper case': `Bearer CST_${token.slice(4)}`,
    'a sign inside': `Bearer ${token.slice(0, -1)}-`,
    'two tokens': `Bearer ${token},${token}`,
    'two tokens with their schemes': `Bearer ${token}, Bearer ${token}`,
    quotes: `Bearer "${token}"`,
  }
  for (const [title, authorization] of Object.entries(malformed)) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const answer = await internal.as(null).call(routes[4]?.path ?? '', { headers })
    assert.deepEqual([answer.status, answer.body.code, answer.body.metadata], [401, 'INVALID_API_KEY', null], title)
  }
  const swapped = token.slice(0, 4) + [...token.slice(4)].reverse().join('')
  for (const unknown of [unknownToken, swapped]) {
    const answer = await internal.as(unknown).statement(customer.customerId)
    assert.deepEqual([answer.status, answer.body.code], [401, 'AUTH001'])
  }
  const headers = { authorization: `bearer ${token}` }
  assertSuccess(
    await internal.as(null).call(`/internal/v1/customers/${customer.customerId}/statement`, { headers }),
    200,
  )
})

test('the Authorization header sent twice is malformed, with the same token, another or none', async () => {
  const { token } = internal.issued
  const path = `/internal/v1/customers/${customer.customerId}/statement`
  for (const second of [`Bearer ${token}`, `Bearer ${unknownToken}`, '']) {
    const lines = [
      `GET ${path} HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${token}`,
      `Authorization: ${second}`,
    ]
    assertRefused(await sendRaw(internal.port, `${lines.join('\r\n')}\r\n\r\n`), 'INVALID_API_KEY')
  }
  assertSuccess(await sendRaw(internal.port, head(`GET ${path}`, { Authorization: `  Bearer ${token} \t` })), 200)
})

test(`a customer's API key is refused on the internal listener, a service token on the public one`, async () => {
  const { token } = internal.issued
  for (const { method, path, body } of routes) {
    for (const headers of [{ authorization: `Bearer ${customer.apiKey}` }, { 'service-api-key': customer.apiKey }]) {
      assertRefused(await internal.as(null).call(path, { method, body, headers } as Request), 'INVALID_API_KEY')
    }
  }
  for (const [method, path] of [
    ['GET', '/credits'],
    ['POST', '/purchase'],
    ['GET', '/nowhere'],
  ]) {
    for (const headers of [{ 'service-api-key': token }, { authorization: `Bearer ${token}` }]) {
      const request = { method, headers, ...(method === 'POST' ? { body: { packageType: 'BASIC' } } : {}) } as Request
      assertRefused(await service.call(`/public/v1/payments${path}`, request), 'INVALID_API_KEY')
    }
  }
  // With valid credentials the routes of one listener are unknown to the other.
  assertRefused(await internal.call('/public/v1/payments/credits'), 'NOT000')
  for (const { method, path, body } of routes) {
    assertRefused(await service.call(path, { method, body, key: customer.apiKey } as Request), 'NOT000')
  }
})

test('a suspended token is 403 AUTH003 within a second, at another instance too, and is valid again as fast after activate', async (t) => {
  const { contexts, close } = await openContexts(service, 1)
  const other = await startInternal(contexts[0] ?? assert.fail('no context'))
  t.after(async () => {
    await other.close()
    await close()
  })
  const { token, serviceId } = await issue('to be suspended')
  const both = [internal.as(token), other.as(token)]
  for (const [verb, status, code] of [
    ['services suspend', 'SUSPENDED', 'AUTH003'],
    ['services activate', 'ACTIVE', 'SUCCESS'],
  ] as const) {
    for (const calls of both) await calls.statement(customer.customerId)
    assert.deepEqual(await run(verb, {}, serviceId), { serviceId, status })
    await sleep(1_000)
    for (const calls of both) {
      assert.equal((await calls.statement(customer.customerId)).body.code, code)
      assert.equal((await calls.spend(customer.customerId, 1)).body.code, code)
    }
  }
})

test('a second token of the same name rotates the first: both are valid for that service, and the second stays valid when the first is suspended', async () => {
  const [first, second] = [await issue('rotated'), await issue('rotated')]
  assert.notEqual(first.serviceId, second.serviceId)
  const spender = await service.newCustomer()
  await spender.confirmedOrder('STANDARD')
  for (const { token } of [first, second]) assertSuccess(await internal.as(token).spend(spender.customerId, 1), 200)
  await run('services suspend', {}, first.serviceId)
  await sleep(1_000)
  assertRefused(await internal.as(first.token).spend(spender.customerId, 1), 'AUTH003')
  assertSuccess(await internal.as(second.token).spend(spender.customerId, 1), 200)
  const { entries } = (await internal.statement(spender.customerId, { kind: 'SPEND' })).body.data
  assert.deepEqual(
    entries.map((entry) => entry.service),
    ['rotated', 'rotated', 'rotated'],
  )
})

type Draft = { token: string | null; method: string; path: string; fields: object; bodyEnd: string }
type Fault = { name: string; code: ErrorCode; change: (draft: Draft) => Partial<Draft> }
test('a request with several faults is answered with the first fault of a fixed order', async () => {
  const suspended = await issue('suspended')
  await run('services suspend', {}, suspended.serviceId)
  const start = { customerId: customer.customerId, credits: 1, reference: 'never' }
  const field = (more: object) => (draft: Draft) => ({ fields: { ...draft.fields, ...more } })
  const callers: Fault[] = [
    { name: 'no token', code: 'INVALID_API_KEY', change: () => ({ token: null }) },
    { name: 'an API key', code: 'INVALID_API_KEY', change: () => ({ token: customer.apiKey }) },
    { name: 'an unknown token', code: 'AUTH001', change: () => ({ token: unknownToken }) },
    { name: 'a suspended token', code: 'AUTH003', change: () => ({ token: suspended.token }) },
  ]
  const rest: Fault[] = [
    { name: 'an unknown route', code: 'NOT000', change: ({ path }) => ({ path: `${path}/more` }) },
    { name: 'another method', code: 'NOT000', change: () => ({ method: 'PUT' }) },
    { name: 'an unreadable path', code: 'NOT000', change: ({ path }) => ({ path: `${path}/%zz` }) },
    { name: 'too large a body', code: 'VAL004', change: () => ({ bodyEnd: ' '.repeat(20_000) }) },
    { name: 'a broken body', code: 'VAL001', change: ({ bodyEnd }) => ({ bodyEnd: `}${bodyEnd}` }) },
    { name: 'no reference', code: 'VAL002', change: field({ reference: null }) },
    { name: 'no credits', code: 'VAL003', change: field({ credits: 0 }) },
    { name: 'an unknown customer', code: 'NOT000', change: field({ customerId: crypto.randomUUID() }) },
    { name: 'too many credits', code: 'BUS002', change: field({ credits: 1_000_000 }) },
  ]
  const lists = [...callers.map((caller) => [caller, ...rest]), ...rest.map((_, index) => rest.slice(index))]
  for (const faults of lists) {
    const draft: Draft = {
      token: internal.issued.token,
      method: 'POST',
      path: `${creditsPath}/spend`,
      fields: start,
      bodyEnd: '',
    }
    // From the last to the first, so that an earlier fault overwrites the later one when both change the same part.
    for (const { change } of faults.toReversed()) Object.assign(draft, change(draft))
    const { token, method, path, fields, bodyEnd } = draft
    const answer = await internal.as(token).call(path, { method, raw: JSON.stringify(fields) + bodyEnd })
    assert.equal(answer.body.code, faults[0]?.code, faults[0]?.name)
  }
  const { entries } = (await internal.statement(customer.customerId)).body.data
  assert.ok(entries.every(({ reference }) => reference !== 'never'))
})

test('/livez and /readyz need no token, and everything else does', async () => {
  for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
    const alive = await fetch(`${internal.url}/livez`, { headers })
    assert.deepEqual([alive.status, await alive.json()], [200, { status: 'alive' }])
    const ready = await fetch(`${internal.url}/readyz`, { headers })
    const { status, database, migrations } = (await ready.json()) as Record<string, unknown>
    assert.deepEqual([ready.status, status, database, migrations], [200, 'ready', 'answering', 'applied'])
  }
  for (const path of ['/nowhere', '/livez/more', '/internal/v1/credits', '/%zz']) {
    assertRefused(await internal.as(null).call(path), 'INVALID_API_KEY')
    assertRefused(await internal.call(path), 'NOT000')
  }
  assertRefused(await internal.as(null).call('/livez', { method: 'POST', raw: '{' }), 'INVALID_API_KEY')
})
