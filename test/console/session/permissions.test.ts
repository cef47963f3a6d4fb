// Who may do what, asked of the API itself: every endpoint and every file to save, for every role and for nobody, by a table
// that is written down here from docs/console.md and not read from the code. Whoever may not is refused before anything
// happens; whoever may is on the trail with who, what and why.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ConsoleEndpoint, contract } from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints, exports as files } from '../../../src/console/endpoints.ts'
import { byteOrderMark } from '../../../src/core/text/csv.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { permissions, type Role, roles } from '../../../src/operators/permissions.ts'
import { saveDiscrepancy } from '../../../src/payments/recovery/discrepancies.sql.ts'
import { cookieName, signedIn } from '../../support/console/console.ts'
import { assertListedFields, columnsOf, fieldDifferences, namedEndpoints } from '../../support/console/fields.ts'
import { silentLog } from '../../support/database/database.ts'
import { clientOf } from '../../support/service/clients.ts'
import { startWholeService } from '../../support/service/whole-service.ts'

const wholeFile = { after }
type Somebody = Role | 'nobody'
type Sent = { params?: Record<string, string>; query?: Record<string, string>; body?: object }

const everybody: Somebody[] = ['nobody', ...roles]
const reason = 'asked for by the customer'
const today = new Date().toISOString().slice(0, 10)

const service = await startWholeService(wholeFile, { WORKER: 'off' })
const tokens = new Map<Somebody, string>()
for (const role of roles) tokens.set(role, (await signedIn(service, role)).token)
const ids = await things()

/** One of each kind of thing that something can be done to. */
async function things() {
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
  return { ...order, keyId, discrepancyId, reconciliationId: crypto.randomUUID(), auditId: crypto.randomUUID() }
}

/** What would be done, with what is there. Of those about signing in, what is refused for another reason than who asks. */
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
  refundOrder: () => ({ params: { orderId: ids.orderId }, body: { reason } }),
  customers: () => ({}),
  createCustomer: () => ({ body: { name: `customer ${crypto.randomUUID()}`, reason } }),
  createCustomerWithKey: () => ({ body: { name: `customer ${crypto.randomUUID()}`, reason } }),
  customer: () => ({ params: { customerId: ids.customerId } }),
  statement: () => ({ params: { customerId: ids.customerId } }),
  holds: () => ({ params: { customerId: ids.customerId } }),
  setLowCredits: () => ({ params: { customerId: ids.customerId }, body: { credits: 5, reason } }),
  issueKey: () => ({ params: { customerId: ids.customerId }, body: { reason } }),
  suspendKey: () => ({ params: { keyId: ids.keyId }, body: { reason } }),
  activateKey: () => ({ params: { keyId: ids.keyId }, body: { reason } }),
  rotateKey: () => ({ params: { keyId: ids.keyId }, body: { reason } }),
  days: () => ({}),
  runs: () => ({}),
  run: () => ({ params: { reconciliationId: ids.reconciliationId } }),
  reconcile: () => ({ body: { from: today, to: today, reason } }),
  newKeyCancels: () => ({}),
  audits: () => ({}),
  audit: () => ({ params: { auditId: ids.auditId } }),
  discrepancies: () => ({}),
  discrepancy: () => ({ params: { discrepancyId: ids.discrepancyId } }),
  resolveDiscrepancy: () => ({ params: { discrepancyId: ids.discrepancyId }, body: { reason } }),
  actionLog: () => ({}),
  operators: () => ({}),
  // The last: nothing else is answered behind it.
  signOut: () => ({}),
}
const savedWith: Record<keyof typeof files, () => Sent> = {
  days: () => ({}),
  payments: () => ({}),
  discrepancies: () => ({}),
  statement: () => ({ params: { customerId: ids.customerId } }),
}

async function send(method: string, path: string, { params = {}, query = {}, body }: Sent, who: Somebody) {
  const filled = path.replace(/:(\w+)/g, (_, name) => params[name] ?? assert.fail(`${path} has no ${name}`))
  const token = tokens.get(who)
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

function ask(name: EndpointName, who: Somebody) {
  const [method = '', path = ''] = endpoints[name].split(' ')
  return send(method, path, sent[name](), who)
}

const all = 'nobody viewer support finance admin'
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
  resendEvents: 'support finance admin',
  customers: signedInRoles,
  createCustomer: 'support admin',
  createCustomerWithKey: 'admin',
  customer: signedInRoles,
  statement: signedInRoles,
  holds: signedInRoles,
  setLowCredits: 'support admin',
  issueKey: 'admin',
  suspendKey: 'support finance admin',
  activateKey: 'admin',
  rotateKey: 'admin',
  days: signedInRoles,
  runs: signedInRoles,
  run: signedInRoles,
  reconcile: 'finance admin',
  newKeyCancels: 'finance admin',
  audits: signedInRoles,
  audit: signedInRoles,
  discrepancies: signedInRoles,
  discrepancy: signedInRoles,
  resolveDiscrepancy: 'finance admin',
  actionLog: signedInRoles,
  operators: 'admin',
}
/** Every file. */
const maySave = 'finance admin'

const isAmong = (who: Somebody, names: string) => names.split(' ').includes(who)
const isAllowed = (name: EndpointName, who: Somebody) => isAmong(who, allowed[name])

const asked = (Object.keys(sent) as EndpointName[]).flatMap((name) => everybody.map((who) => ({ name, who })))
const saved = (Object.keys(savedWith) as (keyof typeof files)[]).flatMap((name) =>
  everybody.map((who) => ({ name, who })),
)

/** All there is, table by table. */
async function everything(): Promise<Record<string, string>> {
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

test('every endpoint and every file to save has its case and its row', () => {
  for (const named of [Object.keys(sent), Object.keys(allowed), namedEndpoints]) {
    assert.deepEqual(named.toSorted(), Object.keys(endpoints).sort())
  }
  assert.deepEqual(Object.keys(savedWith).sort(), Object.keys(files).sort())
})

test('whoever may not is refused with AUTH003, nobody with AUTH001, and nothing in any table has changed', async () => {
  const before = await everything()
  for (const { name, who } of asked.filter((each) => !isAllowed(each.name, each.who))) {
    assert.equal((await ask(name, who)).code, who === 'nobody' ? 'AUTH001' : 'AUTH003', `${who} asks for ${name}`)
  }
  for (const { name, who } of saved.filter((each) => !isAmong(each.who, maySave))) {
    const { code } = await send('GET', files[name], savedWith[name](), who)
    assert.equal(code, who === 'nobody' ? 'AUTH001' : 'AUTH003', `${who} saves ${name}`)
  }
  assert.deepEqual(await everything(), before)
})

test('every answer has the fields that are listed and no others', () => {
  const differences = (Object.keys(contract) as EndpointName[]).flatMap((name) =>
    fieldDifferences(name, contract[name].data).map((difference) => `${name}: ${difference}`),
  )
  assert.deepEqual(differences, [])
})

test('the page is told what its role may do: exactly what the table allows', async () => {
  const rows: Record<string, EndpointName> = {
    read: 'home',
    settle: 'settleOrder',
    'resend events': 'resendEvents',
    'manage customers': 'setLowCredits',
    'suspend keys': 'suspendKey',
    'issue keys': 'issueKey',
    refund: 'refundOrder',
    reconcile: 'reconcile',
    'resolve discrepancies': 'resolveDiscrepancy',
    'see operators': 'operators',
  }
  assert.deepEqual([...Object.keys(rows), 'export'].sort(), Object.keys(permissions).sort())
  for (const role of roles) {
    const told: string[] = JSON.parse((await ask('session', role)).text).data.permissions
    const expected = Object.entries(rows).filter(([, name]) => isAllowed(name, role))
    const mine = [...expected.map(([permission]) => permission), ...(isAmong(role, maySave) ? ['export'] : [])]
    assert.deepEqual(told.toSorted(), mine.sort(), role)
  }
})

type Recorded = { actor: string; subject: string | null; reason: string | null; outcome: string | null }

/** Whose trail an action is on, by what the contract says of it. */
const subjects = {
  'the first id': (id: string | null) => id,
  'a new customer': (_: string | null, text: string) => JSON.parse(text).data.customerId,
  'the customer of the key': () => ids.customerId,
}

/** The newest of that name; a file's end is written when it has left. */
function newest(command: string): Promise<Recorded[]> {
  return service.database.query<Recorded>(
    `select b.actor, b.subject, b.reason, e.outcome from operator_actions b
     left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
     where b.step = 'BEGUN' and b.command = $1 order by b.happened_at desc limit 1`,
    [command],
  )
}

test('whoever may is not refused for who they are, and what they change is on the trail with who, what and why', async () => {
  for (const { name, who } of asked.filter((each) => isAllowed(each.name, each.who))) {
    const { status, text, code } = await ask(name, who)
    assert.ok(![401, 403, 500].includes(status), `${who} asks for ${name}: ${text}`)
    assertListedFields(name, JSON.parse(text).data)
    const endpoint: ConsoleEndpoint = contract[name]
    if (!endpoint.action) continue
    const [id = null] = Object.values(sent[name]().params ?? {})
    const subject = subjects[endpoint.subject ?? 'the first id'](id, text)
    const [action] = await newest(endpoint.action)
    const { outcome, ...rest } = action ?? assert.fail(`${endpoint.action} is not in the action log`)
    assert.deepEqual(rest, { actor: `${who} in the console from 127.0.0.1`, subject, reason })
    assert.match(outcome ?? '', code === 'SUCCESS' ? /^ok$/ : new RegExp(`^${code}: `), name)
    if (endpoint.subject) assert.ok((await actionsOf(subject)).includes(endpoint.action), name)
  }
  for (const { name, who } of saved.filter((each) => isAmong(each.who, maySave))) {
    tokens.set(who, (await signedIn(service, who as Role, `${who}-${name}`)).token)
    const { status, code, text } = await send('GET', files[name], savedWith[name](), who)
    assert.deepEqual([status, code], [200, 'a file'], `${who} saves ${name}`)
    assert.equal(text.split('\r\n')[0]?.replace(byteOrderMark, ''), columnsOf[name])
    assert.equal((await newest(`export ${name}`))[0]?.actor, `${who}-${name} in the console from 127.0.0.1`)
  }
})

/** However its capitals are typed. */
async function actionsOf(subject: string): Promise<string[]> {
  const { text } = await send('GET', '/trail', { query: { subject: subject.toUpperCase() } }, 'admin')
  return JSON.parse(text).data.actions.map(({ command }: { command: string }) => command)
}

const countActions = async () =>
  (await service.database.query<{ count: number }>('select count(*)::int from operator_actions'))[0]?.count

test('what cannot be an id is not found and not on the trail, whatever is done to it', async () => {
  tokens.set('admin', (await signedIn(service, 'admin', 'admin-of-nothing')).token)
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

test('fields that an action does not have are ignored, and nobody can write them into the trail', async () => {
  const params = { customerId: ids.customerId }
  const body = { credits: 7, reason, 'a\0b': 'c\0d', note: 'x'.repeat(5_000), __proto__: null }
  assert.equal((await send('POST', '/customers/:customerId/low-credits', { params, body }, 'admin')).code, 'SUCCESS')
  const [action] = await service.database.query<{ arguments: string[] }>(
    `select arguments from operator_actions where step = 'BEGUN' order by happened_at desc limit 1`,
  )
  assert.deepEqual(action?.arguments, [ids.customerId, '--credits', '7'])
})

test('the longest reason is on the trail as it was typed', async () => {
  const long = '💳'.repeat(200)
  const params = { customerId: ids.customerId }
  const { code } = await send('POST', '/customers/:customerId/low-credits', { params, body: { reason: long } }, 'admin')
  assert.deepEqual([code, (await newest('customers low-credits'))[0]?.reason], ['SUCCESS', long])
})

test('nothing is at a wrong address of the API or by a wrong method, and no word is of API keys', async () => {
  for (const [method, path] of [
    ['PUT', '/session'],
    ['DELETE', '/orders'],
    ['POST', '/nothing'],
    ['GET', '/nothing'],
  ] as const) {
    for (const who of ['nobody', 'admin'] as const) {
      const { status, code, text } = await send(method, path, {}, who)
      assert.deepEqual([status, code], [404, 'NOT000'], `${method} ${path}`)
      assert.doesNotMatch(text, /key/i)
    }
  }
})

test('the trail can be read page by page, and of one subject alone', async () => {
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
