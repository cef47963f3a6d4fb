// The permissions, tested at the API: every endpoint and every file, for every role and without a session, by a table that
// is copied from docs/console.md and not read from the code. A caller without permission is refused before anything
// changes; a permitted action is in the action log with operator, subject and reason.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import { type ConsoleEndpoint, contract } from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints, exports as files } from '../../../src/console/endpoints.ts'
import { byteOrderMark } from '../../../src/core/csv.ts'
import { setBudget } from '../../../src/credits/budgets/budgets.sql.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { addEndpoint } from '../../../src/events/endpoints.ts'
import { permissions, type Role, roles } from '../../../src/operators/permissions.ts'
import { saveDiscrepancy } from '../../../src/payments/recovery/discrepancies.sql.ts'
import { cookieName, signedIn } from '../../support/console/console.ts'
import { assertListedFields, columnsOf, fieldDifferences, namedEndpoints } from '../../support/console/fields.ts'
import { startConsumer } from '../../support/events/consumer.ts'
import { clientOf } from '../../support/service/clients.ts'
import { testPeppers } from '../../support/service/service.ts'
import { startWholeService } from '../../support/service/whole-service.ts'

const wholeFile = { after }
type Caller = Role | 'anonymous'
type Sent = { params?: Record<string, string>; query?: Record<string, string>; body?: object }

const callers: Caller[] = ['anonymous', ...roles]
const reason = 'requested by the customer'
const today = new Date().toISOString().slice(0, 10)

const service = await startWholeService(wholeFile, { WORKER: 'off', EVENT_PRIVATE_ADDRESSES: 'allow' })
const tokens = new Map<Caller, string>()
for (const role of roles) tokens.set(role, (await signedIn(service, role)).token)
const consumer = await startConsumer()
after(() => consumer.close())
const ids = await createSubjects()

/** One subject of each kind. */
async function createSubjects() {
  const { keyId, customerId, apiKey } = await service.newKey()
  const orderId = await clientOf(service.publicUrl, apiKey).buy('STANDARD')
  const order = { customerId, orderId }
  await saveDiscrepancy(createDatabase(service.database.pool, silentLog), {
    kind: 'PAYMENT_DIFFERS',
    subject: orderId,
    order,
    detail: {},
  })
  const [{ discrepancyId } = { discrepancyId: '' }] = await service.database.query<{ discrepancyId: string }>(
    'select discrepancy_id as "discrepancyId" from discrepancies',
  )
  const adjustmentId = crypto.randomUUID()
  await service.database.queryOf(
    customerId,
    `insert into adjustment_requests (customer_id, adjustment_id, kind, credits, reason, requested_by)
    values ($1, $2, 'GOODWILL', 3, 'slow answers', 'another operator')`,
    [customerId, adjustmentId],
  )
  const budget = { customerId, scope: 'CUSTOMER', value: null, period: 'HOUR', credits: 5, warnAt: null } as const
  const { budgetId } =
    (await setBudget(createDatabase(service.database.pool, silentLog), budget)) ?? assert.fail('too many budgets')
  const direct = createDatabase(service.database.pool, silentLog)
  const { endpointId, secret } = await addEndpoint(direct, testPeppers[0], { url: consumer.url, types: [] })
  consumer.secrets.push(secret)
  const { serviceId } = await issueToken(direct, testPeppers, 'reports')
  const [reconciliationId, auditId] = [crypto.randomUUID(), crypto.randomUUID()]
  const ofServices = { endpointId, serviceId, serviceBudgetId: crypto.randomUUID() }
  return { ...order, keyId, discrepancyId, adjustmentId, reconciliationId, auditId, budgetId, ...ofServices }
}

const adjustment = (credits: number) => ({ adjustmentId: crypto.randomUUID(), credits, reason })

/** A request to each endpoint. Those about signing in are refused for another reason than the permission. */
const sent: Record<EndpointName, () => Sent> = {
  signIn: () => ({ body: { name: 'kim', password: '' } }),
  session: () => ({}),
  changePassword: () => ({ body: { current: 'not the one', next: 'not the one' } }),
  home: () => ({}),
  search: () => ({ query: { q: ids.orderId } }),
  orders: () => ({}),
  order: () => ({ params: { orderId: ids.orderId } }),
  settleOrder: () => ({ params: { orderId: ids.orderId }, body: { reason } }),
  refundQuote: () => ({ params: { orderId: ids.orderId } }),
  resendEvents: () => ({ params: { orderId: ids.orderId }, body: { reason } }),
  addOrderNote: () => ({ params: { orderId: ids.orderId }, body: { reason } }),
  orderReceipt: () => ({ params: { orderId: ids.orderId } }),
  refundOrder: () => ({ params: { orderId: ids.orderId }, body: { reason } }),
  refundUnused: () => ({ params: { orderId: ids.orderId }, body: { reason, amount: 20_000, credits: 21 } }),
  customers: () => ({}),
  createCustomer: () => ({ body: { name: `customer ${crypto.randomUUID()}`, reason } }),
  createCustomerWithKey: () => ({ body: { name: `customer ${crypto.randomUUID()}`, reason } }),
  customer: () => ({ params: { customerId: ids.customerId } }),
  statement: () => ({ params: { customerId: ids.customerId } }),
  use: () => ({ params: { customerId: ids.customerId } }),
  statementReceipt: () => ({ params: { customerId: ids.customerId }, query: { from: '1', to: '1' } }),
  holds: () => ({ params: { customerId: ids.customerId } }),
  lots: () => ({ params: { customerId: ids.customerId } }),
  adjustments: () => ({ params: { customerId: ids.customerId } }),
  grantGoodwill: () => ({ params: { customerId: ids.customerId }, body: adjustment(1) }),
  correctBalance: () => ({ params: { customerId: ids.customerId }, body: adjustment(-1) }),
  approveAdjustment: () => ({ params: { adjustmentId: ids.adjustmentId }, body: { reason } }),
  rejectAdjustment: () => ({ params: { adjustmentId: ids.adjustmentId }, body: { reason } }),
  budgets: () => ({ params: { customerId: ids.customerId } }),
  setBudget: () => ({
    params: { customerId: ids.customerId },
    body: { scope: 'CUSTOMER', period: 'DAY', credits: 5, reason },
  }),
  removeBudget: () => ({ params: { customerId: ids.customerId, budgetId: ids.budgetId }, body: { reason } }),
  suspendCustomer: () => ({ params: { customerId: ids.customerId }, body: { reason } }),
  activateCustomer: () => ({ params: { customerId: ids.customerId }, body: { reason } }),
  addCustomerNote: () => ({ params: { customerId: ids.customerId }, body: { reason } }),
  setLowCredits: () => ({ params: { customerId: ids.customerId }, body: { credits: [5], reason } }),
  issueKey: () => ({ params: { customerId: ids.customerId }, body: { reason } }),
  suspendKey: () => ({ params: { keyId: ids.keyId }, body: { reason } }),
  activateKey: () => ({ params: { keyId: ids.keyId }, body: { reason } }),
  rotateKey: () => ({ params: { keyId: ids.keyId }, body: { reason } }),
  days: () => ({}),
  runs: () => ({}),
  run: () => ({ params: { reconciliationId: ids.reconciliationId } }),
  reconcile: () => ({ body: { from: today, to: today, reason } }),
  payments: () => ({}),
  newKeyCancels: () => ({}),
  audits: () => ({}),
  audit: () => ({ params: { auditId: ids.auditId } }),
  discrepancies: () => ({}),
  discrepancy: () => ({ params: { discrepancyId: ids.discrepancyId } }),
  resolveDiscrepancy: () => ({ params: { discrepancyId: ids.discrepancyId }, body: { reason } }),
  partQuote: () => ({ params: { discrepancyId: ids.discrepancyId } }),
  acceptDiscrepancy: () => ({ params: { discrepancyId: ids.discrepancyId }, body: { credits: 0, reason } }),
  transparencyLog: () => ({}),
  publications: () => ({}),
  eventEndpoints: () => ({}),
  eventEndpoint: () => ({ params: { endpointId: ids.endpointId } }),
  eventAttempts: () => ({ params: { endpointId: ids.endpointId } }),
  deadEvents: () => ({ params: { endpointId: ids.endpointId } }),
  addEndpoint: () => ({ body: { url: 'http://127.0.0.1:1/', types: [], reason } }),
  disableEndpoint: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  enableEndpoint: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  rotateEndpoint: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  retryEndpoint: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  testEndpoint: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  resendDead: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  // After the others: they find it no more.
  removeEndpoint: () => ({ params: { endpointId: ids.endpointId }, body: { reason } }),
  services: () => ({}),
  issueToken: () => ({ body: { name: 'analyses', scopes: ['read'], reason } }),
  suspendToken: () => ({ params: { serviceId: ids.serviceId }, body: { reason } }),
  activateToken: () => ({ params: { serviceId: ids.serviceId }, body: { reason } }),
  serviceBudgets: () => ({}),
  setServiceBudget: () => ({ body: { value: 'analyses', period: 'DAY', credits: 5, reason } }),
  removeServiceBudget: () => ({ params: { budgetId: ids.serviceBudgetId }, body: { reason } }),
  actionLog: () => ({}),
  operators: () => ({}),
  // The last one: it ends the session.
  signOut: () => ({}),
}
const savedWith: Record<keyof typeof files, () => Sent> = {
  orders: () => ({}),
  days: () => ({}),
  payments: () => ({}),
  discrepancies: () => ({}),
  liability: () => ({}),
  statement: () => ({ params: { customerId: ids.customerId } }),
  use: () => ({ params: { customerId: ids.customerId } }),
}

async function send(method: string, path: string, { params = {}, query = {}, body }: Sent, caller: Caller) {
  const filled = path.replace(/:(\w+)/g, (_, name) => params[name] ?? assert.fail(`${path} has no ${name}`))
  const token = tokens.get(caller)
  const response = await fetch(`${service.internalUrl}${apiPath}${filled}?${new URLSearchParams(query)}`, {
    method,
    headers: {
      'sec-fetch-site': 'same-origin',
      ...(token && { cookie: `${cookieName}=${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, text, code: isJson ? JSON.parse(text).code : 'a file' }
}

function request(name: EndpointName, caller: Caller) {
  const [method = '', path = ''] = endpoints[name].split(' ')
  return send(method, path, sent[name](), caller)
}

const all = 'anonymous viewer support finance admin'
const signedInRoles = 'viewer support finance admin'

/** From the table of docs/console.md. */
const allowed: Record<EndpointName, string> = {
  signIn: all,
  session: signedInRoles,
  signOut: signedInRoles,
  changePassword: signedInRoles,
  home: signedInRoles,
  search: signedInRoles,
  orders: signedInRoles,
  order: signedInRoles,
  settleOrder: 'support finance admin',
  refundQuote: 'finance admin',
  refundOrder: 'finance admin',
  refundUnused: 'finance admin',
  resendEvents: 'support finance admin',
  addOrderNote: 'support finance admin',
  orderReceipt: signedInRoles,
  customers: signedInRoles,
  createCustomer: 'support admin',
  createCustomerWithKey: 'admin',
  customer: signedInRoles,
  statement: signedInRoles,
  use: signedInRoles,
  statementReceipt: signedInRoles,
  holds: signedInRoles,
  lots: signedInRoles,
  adjustments: signedInRoles,
  grantGoodwill: 'support finance admin',
  correctBalance: 'support finance admin',
  approveAdjustment: 'finance admin',
  rejectAdjustment: 'finance admin',
  budgets: signedInRoles,
  setBudget: 'support admin',
  removeBudget: 'support admin',
  suspendCustomer: 'support finance admin',
  activateCustomer: 'admin',
  addCustomerNote: 'support finance admin',
  setLowCredits: 'support admin',
  issueKey: 'admin',
  suspendKey: 'support finance admin',
  activateKey: 'admin',
  rotateKey: 'admin',
  days: signedInRoles,
  runs: signedInRoles,
  run: signedInRoles,
  reconcile: 'finance admin',
  payments: signedInRoles,
  newKeyCancels: 'finance admin',
  audits: signedInRoles,
  audit: signedInRoles,
  discrepancies: signedInRoles,
  discrepancy: signedInRoles,
  resolveDiscrepancy: 'finance admin',
  partQuote: 'finance admin',
  acceptDiscrepancy: 'finance admin',
  transparencyLog: signedInRoles,
  publications: signedInRoles,
  eventEndpoints: signedInRoles,
  eventEndpoint: signedInRoles,
  eventAttempts: signedInRoles,
  deadEvents: signedInRoles,
  addEndpoint: 'admin',
  disableEndpoint: 'admin',
  enableEndpoint: 'admin',
  rotateEndpoint: 'admin',
  removeEndpoint: 'admin',
  retryEndpoint: 'support finance admin',
  testEndpoint: 'admin',
  resendDead: 'support finance admin',
  services: signedInRoles,
  issueToken: 'admin',
  suspendToken: 'admin',
  activateToken: 'admin',
  serviceBudgets: signedInRoles,
  setServiceBudget: 'admin',
  removeServiceBudget: 'admin',
  actionLog: signedInRoles,
  operators: 'admin',
}
/** The roles that may download any file. */
const maySave = 'finance admin'

const isAmong = (caller: Caller, names: string) => names.split(' ').includes(caller)
const isAllowed = (name: EndpointName, caller: Caller) => isAmong(caller, allowed[name])

const requests = (Object.keys(sent) as EndpointName[]).flatMap((name) => callers.map((caller) => ({ name, caller })))
const saved = (Object.keys(savedWith) as (keyof typeof files)[]).flatMap((name) =>
  callers.map((caller) => ({ name, caller })),
)

/** A checksum of every table. */
async function tableChecksums(): Promise<Record<string, string>> {
  const tables = await service.database.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  const sums = tables.map(async ({ name }) => {
    const [row] = await service.database.query<{ sum: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as sum from ${name} t`,
    )
    return [name, row?.sum ?? ''] as const
  })
  return Object.fromEntries(await Promise.all(sums))
}

test('every endpoint and every file has its request and its row in the table', () => {
  for (const named of [Object.keys(sent), Object.keys(allowed), namedEndpoints]) {
    assert.deepEqual(named.toSorted(), Object.keys(endpoints).sort())
  }
  assert.deepEqual(Object.keys(savedWith).sort(), Object.keys(files).sort())
})

test('a caller without permission is refused with AUTH003, one without a session with AUTH001, and no table changes', async () => {
  const before = await tableChecksums()
  for (const { name, caller } of requests.filter((each) => !isAllowed(each.name, each.caller))) {
    assert.equal(
      (await request(name, caller)).code,
      caller === 'anonymous' ? 'AUTH001' : 'AUTH003',
      `${caller} requests ${name}`,
    )
  }
  for (const { name, caller } of saved.filter((each) => !isAmong(each.caller, maySave))) {
    const { code } = await send('GET', files[name], savedWith[name](), caller)
    assert.equal(code, caller === 'anonymous' ? 'AUTH001' : 'AUTH003', `${caller} saves ${name}`)
  }
  assert.deepEqual(await tableChecksums(), before)
})

test('every answer has the fields that are listed and no others', () => {
  const differences = (Object.keys(contract) as EndpointName[]).flatMap((name) =>
    fieldDifferences(name, contract[name].data).map((difference) => `${name}: ${difference}`),
  )
  assert.deepEqual(differences, [])
})

test('the session returns the permissions of its role: exactly those of the table', async () => {
  const rows: Record<string, EndpointName> = {
    read: 'home',
    settle: 'settleOrder',
    'resend events': 'resendEvents',
    'write notes': 'addOrderNote',
    'manage customers': 'setLowCredits',
    'suspend keys': 'suspendKey',
    'issue keys': 'issueKey',
    adjust: 'grantGoodwill',
    'approve adjustments': 'approveAdjustment',
    refund: 'refundOrder',
    reconcile: 'reconcile',
    'resolve discrepancies': 'resolveDiscrepancy',
    'manage endpoints': 'addEndpoint',
    'issue tokens': 'issueToken',
    'see operators': 'operators',
  }
  assert.deepEqual([...Object.keys(rows), 'export'].sort(), Object.keys(permissions).sort())
  for (const role of roles) {
    const returned: string[] = JSON.parse((await request('session', role)).text).data.permissions
    const expected = Object.entries(rows).filter(([, name]) => isAllowed(name, role))
    const mine = [...expected.map(([permission]) => permission), ...(isAmong(role, maySave) ? ['export'] : [])]
    assert.deepEqual(returned.toSorted(), mine.sort(), role)
  }
})

type Recorded = { actor: string; subject: string | null; reason: string | null; outcome: string | null }

/** The subject of an action in the action log, by the subject of the contract. */
const subjects = {
  'the first id': (id: string | null) => id,
  'a new customer': (_: string | null, text: string) => JSON.parse(text).data.customerId,
  'the customer of the key': () => ids.customerId,
  'the customer of the adjustment': () => ids.customerId,
}

/** The newest action of that name; the outcome of a file is logged after it was sent. */
function newest(command: string): Promise<Recorded[]> {
  return service.database.query<Recorded>(
    `select b.actor, b.subject, b.reason, e.outcome from operator_actions b
     left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
     where b.step = 'BEGUN' and b.command = $1 order by b.happened_at desc limit 1`,
    [command],
  )
}

test('a caller with permission is not refused with 401 or 403, and every change is in the action log with operator, subject and reason', async () => {
  for (const { name, caller } of requests.filter((each) => isAllowed(each.name, each.caller))) {
    const { status, text, code } = await request(name, caller)
    assert.ok(![401, 403, 500].includes(status), `${caller} requests ${name}: ${text}`)
    assertListedFields(name, JSON.parse(text).data)
    const endpoint: ConsoleEndpoint = contract[name]
    if (!endpoint.action) continue
    const [id = null] = Object.values(sent[name]().params ?? {})
    const subject = subjects[endpoint.subject ?? 'the first id'](id, text)
    const [action] = await newest(endpoint.action)
    const { outcome, ...rest } = action ?? assert.fail(`${endpoint.action} is not in the action log`)
    assert.deepEqual(rest, { actor: `${caller} in the console from 127.0.0.1`, subject, reason })
    assert.match(outcome ?? '', code === 'SUCCESS' ? /^ok$/ : new RegExp(`^${code}: `), name)
    if (endpoint.subject) assert.ok((await actionsOf(subject)).includes(endpoint.action), name)
  }
  for (const { name, caller } of saved.filter((each) => isAmong(each.caller, maySave))) {
    tokens.set(caller, (await signedIn(service, caller as Role, `${caller}-${name}`)).token)
    const { status, code, text } = await send('GET', files[name], savedWith[name](), caller)
    assert.deepEqual([status, code], [200, 'a file'], `${caller} saves ${name}`)
    assert.equal(text.split('\r\n')[0]?.replace(byteOrderMark, ''), columnsOf[name])
    assert.equal((await newest(`export ${name}`))[0]?.actor, `${caller}-${name} in the console from 127.0.0.1`)
  }
})

/** The subject is sent in upper case: its case does not matter. */
async function actionsOf(subject: string): Promise<string[]> {
  const { text } = await send('GET', '/trail', { query: { subject: subject.toUpperCase() } }, 'admin')
  return JSON.parse(text).data.actions.map(({ command }: { command: string }) => command)
}

const countActions = async () =>
  (await service.database.query<{ count: number }>('select count(*)::int from operator_actions'))[0]?.count

test('an id that cannot exist is refused by every action, and is not in the action log', async () => {
  tokens.set('admin', (await signedIn(service, 'admin', 'admin-without-subject')).token)
  const before = await countActions()
  for (const [name, address] of Object.entries(endpoints) as [EndpointName, string][]) {
    const [method = '', path = ''] = address.split(' ')
    const { params = {}, ...rest } = sent[name]()
    const wrong = Object.fromEntries(Object.keys(params).map((key) => [key, 'a%00b']))
    if (Object.keys(wrong).length === 0) continue
    const { code, text } = await send(method, path, { ...rest, params: wrong }, 'admin')
    assert.match(code, /^(NOT000|VAL003)$/, `${name}: ${text}`)
  }
  assert.equal((await send('GET', files.statement, { params: { customerId: 'a%00b' } }, 'admin')).code, 'NOT000')
  for (const query of [{ subject: 'a\0b' }, { subject: '\n' }]) {
    assert.equal((await send('GET', '/trail', { query }, 'admin')).code, 'VAL003')
  }
  assert.equal(await countActions(), before)
})

test('fields that an action does not have are ignored and are not in the action log', async () => {
  const params = { customerId: ids.customerId }
  const body = { credits: [7, 9], reason, 'a\0b': 'c\0d', note: 'x'.repeat(5_000), __proto__: null }
  assert.equal((await send('POST', '/customers/:customerId/low-credits', { params, body }, 'admin')).code, 'SUCCESS')
  const [action] = await service.database.query<{ arguments: string[] }>(
    `select arguments from operator_actions where step = 'BEGUN' order by happened_at desc limit 1`,
  )
  assert.deepEqual(action?.arguments, [ids.customerId, '--credits', '7,9'])
})

test('the longest reason is in the action log unchanged', async () => {
  const long = '💳'.repeat(200)
  const params = { customerId: ids.customerId }
  const { code } = await send(
    'POST',
    '/customers/:customerId/low-credits',
    { params, body: { credits: [], reason: long } },
    'admin',
  )
  assert.deepEqual([code, (await newest('customers low-credits'))[0]?.reason], ['SUCCESS', long])
})

test('a wrong path or method of the API is NOT000, and the answer does not mention API keys', async () => {
  for (const [method, path] of [
    ['PUT', '/session'],
    ['DELETE', '/orders'],
    ['POST', '/nothing'],
    ['GET', '/nothing'],
  ] as const) {
    for (const caller of ['anonymous', 'admin'] as const) {
      const { status, code, text } = await send(method, path, {}, caller)
      assert.deepEqual([status, code], [404, 'NOT000'], `${method} ${path}`)
      assert.doesNotMatch(text, /key/i)
    }
  }
})

test('the action log can be read page by page, and for one subject', async () => {
  const { token } = await signedIn(service, 'viewer', 'reader')
  tokens.set('viewer', token)
  type Page = { data: { actions: { actionId: string; subject: string | null }[]; nextCursor: string | null } }
  async function read(query: Record<string, string>): Promise<Page['data']> {
    return (JSON.parse((await send('GET', '/trail', { query }, 'viewer')).text) as Page).data
  }
  const whole = (await read({ limit: '200' })).actions.map(({ actionId }) => actionId)
  const paged: string[] = []
  let cursor: string | null = null
  do {
    const page: Page['data'] = await read({ limit: '7', ...(cursor && { cursor }) })
    paged.push(...page.actions.map(({ actionId }) => actionId))
    cursor = page.nextCursor
  } while (cursor)
  assert.ok(whole.length > 20)
  assert.deepEqual(paged, whole)
  const { actions } = await read({ subject: ids.orderId })
  assert.ok(actions.length >= 3 && actions.every(({ subject }) => subject === ids.orderId))
  for (const wrong of ['x', '1~x', '99999999999999999~00000000-0000-0000-0000-000000000000']) {
    assert.equal((await send('GET', '/trail', { query: { cursor: wrong } }, 'viewer')).code, 'VAL003')
  }
})
