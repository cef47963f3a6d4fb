// The customer pages of the console, and the changes that operators make there.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import type { ConsoleContext } from '../../src/console/context.ts'
import type { Data, Query } from '../../src/console/contract.ts'
import { customerHandlers } from '../../src/console/customers/customers.ts'
import { newCustomerId } from '../../src/core/ids.ts'
import { type AdjustmentLimits, adjust, isRequest } from '../../src/credits/adjustments/adjust.ts'
import { createCustomerAndKey, issueKey, issueKeyTo, rotateKey } from '../../src/customers/api-keys.ts'
import { areTooManyToRead, maxCustomersRead } from '../../src/customers/customer-list.sql.ts'
import { findOrCreateCustomer } from '../../src/customers/customers.sql.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { platformCustomer } from '../../src/events/outbox.sql.ts'
import { recordAction } from '../../src/operators/action-log.ts'
import { createAggregateFigures } from '../../src/payments/books/figures.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { losingAnswerOf } from '../support/service/recovery.ts'
import {
  assertRefused,
  assertSuccess,
  startTestService,
  type TestService,
  testPeppers,
} from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let support: Operator
let admin: Operator
let viewer: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  support = await api.newOperator('support')
  admin = await api.newOperator('admin')
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

const body = { reason: 'asked for by the customer' }
const unknownId = crypto.randomUUID()

async function pagesOf(query: Query<'customers'>): Promise<Data<'customers'>['customers'][]> {
  const pages: Data<'customers'>['customers'][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Data<'customers'> = await viewer.get('customers', { query: { ...query, ...(cursor && { cursor }) } })
    pages.push(page.customers)
    cursor = page.nextCursor
  }
  return pages
}

test('customers are listed newest first, each once, although many were created at the same time; or by a prefix of the name', async () => {
  const twins = [1, 2, 3, 4, 5, 6, 7].map((number) => `(gen_random_uuid(), 'Twin ${number}')`)
  await service.database.query(`insert into customers (customer_id, name) values ${twins.join(', ')}`)
  await issueKey(service.payments.database, testPeppers, 'the newest')
  const pages = await pagesOf({ limit: '3' })
  assert.ok(pages.every((page) => page.length <= 3))
  const listed = pages.flat()
  assert.equal(listed[0]?.name, 'the newest')
  assert.equal(new Set(listed.map(({ customerId }) => customerId)).size, listed.length)
  const [count] = await service.database.query<{ count: number }>('select count(*) as count from customers')
  assert.equal(listed.length, Number(count?.count))
  // Two names that differ by their case are two customers.
  await issueKey(service.payments.database, testPeppers, 'TWIN 3')
  const found = (await pagesOf({ limit: '3', q: 'tWin' })).flat().map(({ name }) => name)
  assert.deepEqual(
    found.map((name) => name?.toLowerCase()),
    ['twin 1', 'twin 2', 'twin 3', 'twin 3', 'twin 4', 'twin 5', 'twin 6', 'twin 7'],
  )
  assert.equal(new Set(found).size, 8)
  assertRefused(await viewer.request('customers', { query: { cursor: '7' } }), 'VAL003')
})

test('customers are sorted by net payments, last purchase or balance, each once, page by page; without a purchase by balance alone', async () => {
  const { database } = service.payments
  const [big, early, late] = await Promise.all([1, 2, 3].map(() => service.newCustomer()))
  assert.ok(big && early && late)
  await early.confirmedOrder('STANDARD')
  await big.confirmedOrder('PRO')
  await late.confirmedOrder('STANDARD')
  await late.cancel((await late.confirmedOrder('PRO')).paymentKey)
  const addUp = createAggregateFigures(database, { lag: 0 })
  while ((await addUp()).more);
  const names = new Map([
    [big.customerId, 'big'],
    [early.customerId, 'early'],
    [late.customerId, 'late'],
  ])
  const sorted = async (sort: Query<'customers'>['sort']) =>
    (await pagesOf({ sort, limit: '2' } as Query<'customers'>)).flat()
  const ours = (rows: { customerId: string }[]) => rows.flatMap(({ customerId }) => names.get(customerId) ?? [])
  const byNetPaid = await sorted('netPaid')
  // The other two have paid the same, and a page ends between them.
  assert.deepEqual([ours(byNetPaid)[0], ours(byNetPaid).toSorted()], ['big', ['big', 'early', 'late']])
  const amounts = byNetPaid.map(({ netPaid }) => netPaid)
  assert.deepEqual(
    amounts,
    amounts.toSorted((a, b) => b - a),
  )
  assert.ok(byNetPaid.every(({ orders }) => orders > 0))
  assert.deepEqual(ours(await sorted('lastPurchase')), ['late', 'big', 'early'])
  const byBalance = await sorted('balance')
  const balances = byBalance.map(({ balance }) => balance)
  assert.deepEqual(
    balances,
    balances.toSorted((a, b) => b - a),
  )
  const [count] = await service.database.query<{ count: number }>('select count(*) as count from accounts')
  assert.equal(new Set(byBalance.map(({ customerId }) => customerId)).size, Number(count?.count))
  assert.equal(byBalance.length, Number(count?.count))
  const page = await viewer.get('customer', { params: { customerId: late.customerId } })
  const { lastPurchaseAt } = (await sorted('lastPurchase'))[0] ?? assert.fail('no purchase')
  assert.deepEqual([page.netPaid, page.orders, page.lastPurchaseAt], [20_000, 2, lastPurchaseAt])
  assertRefused(await viewer.request('customers', { query: { sort: 'netPaid', cursor: unknownId } }), 'VAL003')
  assertRefused(await viewer.request('customers', { query: { sort: 'name' } as never }), 'VAL003')
})

test('while the figures of customers are aggregated for the first time, the lists and the page of a customer tell how far they reach', async () => {
  const { customerId } = await service.newCustomer()
  const endOf = async () => [
    (await viewer.get('customers', { query: {} })).figuresUpTo,
    (await viewer.get('customers', { query: { sort: 'netPaid' } })).figuresUpTo,
    (await viewer.get('customer', { params: { customerId: customerId } })).figuresUpTo,
  ]
  assert.deepEqual(await endOf(), [null, null, null])
  // While they are counted for the first time.
  const marks = await service.database.query<{ id: string; at: Date }>(
    'select customer_id as id, details_reached as at from figures_reached',
  )
  await service.database.query(`update figures_reached set details_reached = '2026-01-02T03:04:05Z'`)
  assert.deepEqual(new Set(await endOf()), new Set(['2026-01-02T03:04:05.000Z']))
  for (const { id, at } of marks) {
    await service.database.query('update figures_reached set details_reached = $2 where customer_id = $1', [id, at])
  }
})

test('a customer is shown with balance, keys and limits, with at most ten of low credits, and an unknown customer is not found', async () => {
  const customer = await service.newCustomer()
  const params = { customerId: customer.customerId }
  await customer.confirmedOrder()
  await customer.purchase()
  await support.get('setLowCredits', { params, body: { ...body, credits: [5, 9] } })
  const page = await viewer.get('customer', { params: { customerId: customer.customerId.toUpperCase() } })
  assert.deepEqual([page.balance, page.held, page.available], [21, 0, 21])
  assert.deepEqual(page.limits, {
    pendingOrders: 1,
    pendingOrdersAtMost: 1_000,
    requestsPerSecond: null,
    lowCredits: [9, 5],
  })
  const [key, ...others] = page.keys
  assert.deepEqual(
    [key?.keyId, key?.lastFour, key?.status, key?.suspendedAt, others],
    [customer.keyId, customer.apiKey.slice(-4), 'ACTIVE', null, []],
  )
  const eleven = Array.from({ length: 11 }, (_, index) => index + 1)
  assertRefused(await support.request('setLowCredits', { params, body: { ...body, credits: eleven } }), 'VAL003')
  const never = { ...body, credits: [] }
  assert.deepEqual((await support.get('setLowCredits', { params, body: never })).lowCredits, [])
  assert.deepEqual((await viewer.get('customer', { params })).limits.lowCredits, [])
  for (const customerId of ['unknown', unknownId]) {
    for (const name of ['customer', 'statement', 'holds'] as const) {
      assertRefused(await viewer.request(name, { params: { customerId } }), 'NOT000')
    }
    assertRefused(await support.request('setLowCredits', { params: { customerId }, body: never }), 'NOT000')
    assertRefused(await admin.request('issueKey', { params: { customerId }, body }), 'NOT000')
  }
})

test('available is the balance without what is held, and keys are listed newest first', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  await customer.confirmedOrder()
  const hold = { customerId, holdId: crypto.randomUUID(), credits: 5, reference: crypto.randomUUID() }
  await service.payments.credits.openHold({ ...hold, serviceId: 'svc_test', expiresInSeconds: 300 })
  const { keyId } = await admin.get('issueKey', { params: { customerId }, body })
  const { balance, held, available, keys } = await viewer.get('customer', { params: { customerId } })
  assert.deepEqual([balance, held, available], [21, 5, 16])
  assert.deepEqual(
    keys.map((key) => key.keyId),
    [keyId, customer.keyId],
  )
})

test('active holds are listed by expiry, page by page, with their reference, and the statement is that of the internal API', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  await customer.confirmedOrder()
  const { credits } = service.payments
  const holdIds: string[] = []
  for (const expiresInSeconds of [300, 100, 200, 100]) {
    const hold = { customerId, holdId: crypto.randomUUID(), credits: 2, reference: crypto.randomUUID() }
    await credits.openHold({ ...hold, serviceId: 'svc_test', expiresInSeconds })
    holdIds.push(hold.holdId)
  }
  await credits.endHold({
    customerId,
    holdId: holdIds[2] ?? '',
    ending: 'RELEASE',
    captured: null,
    serviceId: 'svc_test',
  })
  // Two holds with the same expiry, and a page that ends between them.
  await service.database.queryUnguarded(
    `update holds set expires_at = (select expires_at from holds where hold_id = $1) where hold_id = $2`,
    [holdIds[1], holdIds[3]],
  )
  const first = await viewer.get('holds', { params: { customerId }, query: { limit: '1' } })
  const next = await viewer.get('holds', { params: { customerId }, query: { cursor: first.nextCursor ?? '' } })
  assert.deepEqual(
    [...first.holds, ...next.holds].map(({ holdId }) => holdId),
    [...[holdIds[1] ?? '', holdIds[3] ?? ''].toSorted(), holdIds[0]],
  )
  assert.equal(next.nextCursor, null)
  assert.deepEqual([first.holds[0]?.credits, typeof first.holds[0]?.reference], [2, 'string'])
  const statement = await viewer.get('statement', { params: { customerId }, query: { limit: '3', kind: 'HOLD' } })
  assert.deepEqual([statement.entries.length, statement.balance.held], [3, 6])
  assertRefused(
    await viewer.request('statement', { params: { customerId }, query: { from: '2026-02-30T00:00:00Z' } }),
    'VAL003',
  )
})

test('a hold is listed with what is still held, what was captured in parts, its reference and the service that holds', async () => {
  const customer = await service.newCustomer()
  const { customerId } = customer
  await customer.confirmedOrder()
  const { credits, database } = service.payments
  const { serviceId } = await issueToken(database, testPeppers, 'captions')
  const [holdId, reference] = [crypto.randomUUID(), crypto.randomUUID()]
  await credits.openHold({ customerId, holdId, credits: 9, reference, serviceId, expiresInSeconds: 300 })
  await credits.capturePart({ customerId, holdId, credits: 2, reference: crypto.randomUUID(), serviceId })
  const { holds } = await viewer.get('holds', { params: { customerId } })
  assert.deepEqual(
    holds.map(({ expiresAt: _, ...hold }) => hold),
    [{ holdId, credits: 7, capturedInParts: 2, reference, service: 'captions' }],
  )
})

test('a customer is created with a working key; a name that is taken or looks like an id is refused, and nothing is created', async () => {
  const issued = await admin.get('createCustomerWithKey', { body: { ...body, name: '  New Customer ' } })
  assertSuccess(await service.call('/public/v1/payments/credits', { key: issued.apiKey }), 200)
  assert.equal((await viewer.get('customer', { params: issued })).name, 'New Customer')
  for (const name of ['New Customer', crypto.randomUUID()]) {
    for (const endpoint of ['createCustomer', 'createCustomerWithKey'] as const) {
      const refused = await admin.request(endpoint, { body: { ...body, name } })
      assertRefused(refused, 'VAL003')
      assert.match(JSON.stringify(refused.body.metadata), /"field":"name"/)
    }
  }
  assert.equal((await pagesOf({ q: 'new customer' })).flat().length, 1)
  assertRefused(await viewer.request('createCustomer', { body: { ...body, name: 'Another' } }), 'AUTH003')
})

const called = (name: string) => ({ customerId: newCustomerId(), name })

test('a customer and its key are created together: both, also when the answer was lost, or neither', async () => {
  const connections = losingAnswerOf(service.database.pool, 'customers.createCustomerWithKey')
  const made = await createCustomerAndKey(createDatabase(connections, silentLog), testPeppers, called('Lost and Found'))
  assert.ok(connections.lost() && made)
  assertSuccess(await service.call('/public/v1/payments/credits', { key: made.apiKey }), 200)
  const { database } = service.payments
  await assert.rejects(
    createCustomerAndKey(database, [{ version: 2 ** 31, secret: 'no key is kept' }], called('Half Made')),
  )
  assert.ok(await createCustomerAndKey(database, testPeppers, called('Half Made')))
  assert.equal(await createCustomerAndKey(database, testPeppers, called('Half Made')), undefined)
})

test('names and reasons are single lines of visible characters, measured without the blanks around them', async () => {
  const refused: [name: string, reason: string][] = [
    ...([' ', '\u200bhidden', 'two\nlines', 'x'.repeat(101)] as const).map((name): [string, string] => [
      name,
      'a reason',
    ]),
    ...(['   x   ', 'a\u0085b', 'two\nlines', 'x'.repeat(201)] as const).map((reason): [string, string] => [
      'Fine',
      reason,
    ]),
  ]
  for (const [name, reason] of refused) {
    assertRefused(await support.request('createCustomer', { body: { name, reason } }), 'VAL003')
  }
  const [name, reason] = ['한'.repeat(100), 'x'.repeat(200)]
  assertSuccess(await support.request('createCustomer', { body: { name: `  ${name} `, reason: ` ${reason} ` } }), 200)
})

test('a key is issued, suspended, activated again, and rotated: the new key works, the old one is suspended', async () => {
  const customer = await service.newCustomer()
  const ask = async (key: string) => (await service.call('/public/v1/payments/credits', { key })).body.code
  const second = await admin.get('issueKey', { params: { customerId: customer.customerId }, body })
  assert.equal(await ask(second.apiKey), 'SUCCESS')
  const params = { keyId: second.keyId }
  assert.deepEqual(await support.get('suspendKey', { params, body }), { keyId: second.keyId, status: 'SUSPENDED' })
  const refused = await admin.request('rotateKey', { params, body })
  assert.deepEqual([refused.body.code, refused.body.metadata?.reason], ['VAL003', 'suspended key'])
  assert.deepEqual(await admin.get('activateKey', { params, body }), { keyId: second.keyId, status: 'ACTIVE' })
  const third = await admin.get('rotateKey', { params, body })
  assert.deepEqual([third.customerId, third.suspendedKeyId], [customer.customerId, second.keyId])
  assert.equal(await ask(third.apiKey), 'SUCCESS')
  const { keys } = await viewer.get('customer', { params: { customerId: customer.customerId } })
  const statusOf = Object.fromEntries(
    keys.map(({ keyId, status, suspendedAt }) => [keyId, [status, suspendedAt !== null]]),
  )
  assert.deepEqual(statusOf, {
    [customer.keyId]: ['ACTIVE', false],
    [second.keyId]: ['SUSPENDED', true],
    [third.keyId]: ['ACTIVE', false],
  })
  for (const keyId of ['key_none', `key_${'0'.repeat(20)}`]) {
    for (const name of ['suspendKey', 'activateKey', 'rotateKey'] as const) {
      assertRefused(await admin.request(name, { params: { keyId }, body }), 'NOT000')
    }
  }
  const logged = await service.database.query<{ text: string }>(
    'select row_to_json(a)::text as text from operator_actions a',
  )
  assert.ok(logged.some(({ text }) => text.includes('keys rotate') && text.includes(body.reason)))
  for (const { apiKey } of [second, third]) assert.ok(!logged.some(({ text }) => text.includes(apiKey)))
})

test('a key that was issued and whose answer was lost is given once, and works', async () => {
  const { customerId } = await service.newCustomer()
  const lossy = losingAnswerOf(service.database.pool, 'customers.insertKey')
  const issued = await issueKeyTo(createDatabase(lossy, silentLog), testPeppers, customerId)
  assert.ok(lossy.lost())
  assertSuccess(await service.call('/public/v1/payments/credits', { key: issued.apiKey }), 200)
  assert.equal((await viewer.get('customer', { params: { customerId } })).keys.length, 2)
})

test('a rotation whose answer was lost is not done twice, and two at once leave one working key', async () => {
  const customer = await service.newCustomer()
  const lossy = losingAnswerOf(service.database.pool, 'customers.replaceKey')
  const rotated = await rotateKey(createDatabase(lossy, silentLog), testPeppers, customer.keyId)
  assert.ok(lossy.lost() && rotated)
  const params = { keyId: rotated.keyId }
  const answers = await Promise.all([1, 2].map(() => admin.request('rotateKey', { params, body })))
  assert.deepEqual(answers.map(({ body: { code } }) => code).toSorted(), ['SUCCESS', 'VAL003'])
  const { keys } = await viewer.get('customer', { params: { customerId: customer.customerId } })
  assert.deepEqual([keys.length, keys.filter(({ status }) => status === 'ACTIVE').length], [3, 1])
})

test('a budget is removed under its own customer only', async () => {
  const [owner, other] = [await service.newCustomer(), await service.newCustomer()]
  const budget = { ...body, scope: 'CUSTOMER', period: 'DAY', credits: 5 } as const
  const { budgetId } = await admin.get('setBudget', { params: { customerId: owner.customerId }, body: budget })
  const under = (customerId: string) => ({ params: { customerId, budgetId }, body })
  const budgets = async () => (await viewer.get('budgets', { params: { customerId: owner.customerId } })).budgets.length
  assertRefused(await admin.request('removeBudget', under(other.customerId)), 'NOT000')
  assert.equal(await budgets(), 1)
  await admin.get('removeBudget', under(owner.customerId))
  assert.equal(await budgets(), 0)
})

test('an operator approves adjustments up to the limit of the own role', async () => {
  const [finance, other] = [await api.newOperator('finance'), await api.newOperator('admin')]
  const { customerId } = await service.newCustomer()
  const adjustmentId = crypto.randomUUID()
  const requested = await admin.get('grantGoodwill', {
    params: { customerId },
    body: { ...body, adjustmentId, credits: 600 },
  })
  assert.equal(requested.state, 'PENDING')
  const [action] = (await admin.get('actionLog', { query: { subject: customerId } })).actions
  assert.deepEqual([action?.command, action?.outcome], ['adjustments grant', 'requested'])
  const refused = await finance.request('approveAdjustment', { params: { adjustmentId }, body })
  assertRefused(refused, 'VAL003')
  assert.match(refused.body.message ?? '', /Not approved: .* limit of 500 credits a day, of which 0 are used/)
  const approved = await other.get('approveAdjustment', { params: { adjustmentId }, body })
  assert.deepEqual([approved.state, approved.available], ['DONE', 600])
})

test('the page of a customer shows the adjustments of this customer that wait for a second person, and no others', async () => {
  const requested = async () => {
    const operator = await api.newOperator('admin')
    const { customerId } = await service.newCustomer()
    const adjustmentId = crypto.randomUUID()
    await operator.get('grantGoodwill', { params: { customerId }, body: { ...body, adjustmentId, credits: 600 } })
    const { pending } = await operator.get('adjustments', { params: { customerId } })
    assert.deepEqual(
      pending.map((each) => each.adjustmentId),
      [adjustmentId],
    )
  }
  await requested()
  await requested()
})

test('an adjustment whose id came in capitals is made and charged once, with the id as it is stored', async () => {
  const operator = await api.newOperator('support')
  const { customerId } = await service.newCustomer()
  const params = { customerId }
  const adjustmentId = crypto.randomUUID()
  for (const id of [adjustmentId.toUpperCase(), adjustmentId]) {
    await operator.get('grantGoodwill', { params, body: { ...body, adjustmentId: id, credits: 7 } })
  }
  const days = await service.database.query('select credits, charges from adjustment_days where actor = $1', [
    operator.name,
  ])
  assert.deepEqual(days, [{ credits: 7, charges: [`${customerId}/${adjustmentId}/GOODWILL/7`] }])
})

test('customers are not sorted by balance when all groups together have too many', async () => {
  const withAccounts = (...counts: number[]) =>
    areTooManyToRead({ run: async () => counts.map((count) => ({ count })) } as unknown as Database)
  assert.equal(await withAccounts(maxCustomersRead - 1, 1), false)
  assert.equal(await withAccounts(maxCustomersRead - 1, 2), true)
  const { customers } = customerHandlers({
    database: { run: async () => [{ count: maxCustomersRead + 1 }] },
  } as unknown as ConsoleContext)
  const query = { query: { sort: 'balance' } } as Parameters<typeof customers>[0]
  await assert.rejects(customers(query), { code: 'VAL003', metadata: { reason: 'too many customers' } })
})

test('adjustments are listed newest first, page by page, each once, with the limit of the role and what of it is used today', async () => {
  const operator = await api.newOperator('support')
  const params = { customerId: (await service.newCustomer()).customerId }
  for (const credits of [1, 2, 3]) {
    await operator.get('grantGoodwill', { params, body: { ...body, adjustmentId: crypto.randomUUID(), credits } })
  }
  const first = await operator.get('adjustments', { params, query: { limit: '2' } })
  const rest = await operator.get('adjustments', { params, query: { limit: '2', cursor: first.nextCursor ?? '' } })
  assert.deepEqual(
    [...first.adjustments, ...rest.adjustments].map(({ credits }) => credits),
    [3, 2, 1],
  )
  assert.equal(rest.nextCursor, null)
  assert.deepEqual([rest.limits.perDay, rest.limits.usedToday], [20, 6])
  assert.equal((await viewer.get('adjustments', { params })).limits.perDay, 0)
})

test('what was typed on a command line shows the user of the machine beside the name, in the lists of adjustments and requests', async () => {
  const name = 'Typed For'
  const { customerId } = await service.newCustomer(name)
  const { database } = service.payments
  const log = { database, onUnwritten: () => undefined }
  const action = { actor: 'kim as root', command: 'adjustments grant', arguments: [], subject: customerId, reason: 'r' }
  const adjustment = { customerId, kind: 'GOODWILL', credits: 5, reason: 'r', actor: 'kim' } as const
  const grant = (limits: AdjustmentLimits) => {
    const work = () => adjust(database, { ...adjustment, adjustmentId: crypto.randomUUID() }, limits)
    return recordAction(log, action, work, { requested: isRequest })
  }
  await grant({ perDay: 10, approvalAbove: 10 })
  await grant({ perDay: 10, approvalAbove: 4 })
  const { adjustments, pending } = await viewer.get('adjustments', { params: { customerId } })
  assert.deepEqual(
    [...adjustments, ...pending].map((each) => each.typedBy),
    ['kim as root', 'kim as root'],
  )
  const [waiting] = (await viewer.get('home')).pendingAdjustments.filter((each) => each.customerId === customerId)
  assert.deepEqual([waiting?.customerName, waiting?.typedBy, waiting?.requestedBy], [name, 'kim as root', 'kim'])
})

test('what is more than is left of the limit of the role is a request, which no limit is charged with until it is approved', async () => {
  const operator = await api.newOperator('support')
  const params = { customerId: (await service.newCustomer()).customerId }
  const grant = (credits: number) =>
    operator.request('grantGoodwill', { params, body: { ...body, adjustmentId: crypto.randomUUID(), credits } })
  assert.equal((await grant(21)).body.data.state, 'PENDING')
  const { limits, pending } = await operator.get('adjustments', { params })
  assert.deepEqual([limits.perDay, limits.usedToday, limits.approvalAbove, pending.length], [20, 0, 20, 1])
  assert.equal((await grant(15)).body.data.state, 'DONE')
  assert.equal((await operator.get('adjustments', { params })).limits.approvalAbove, 5)
  assert.equal((await grant(6)).body.data.state, 'PENDING')
  assert.equal((await grant(5)).body.data.state, 'DONE')
  assert.equal((await grant(1)).body.data.state, 'PENDING')
})

test('the platform, which has an account for its events, is not listed as a customer', async () => {
  await findOrCreateCustomer(service.payments.database, platformCustomer, null)
  for (const sort of ['newest', 'balance'] as const) {
    const listed = (await pagesOf({ sort, limit: '200' })).flat()
    assert.ok(listed.length > 0 && listed.every(({ customerId }) => customerId !== platformCustomer), sort)
  }
})

test('an action on an id in capitals is in the action log under the id as it is stored', async () => {
  const { customerId } = await service.newCustomer()
  await support.get('suspendCustomer', { params: { customerId: customerId.toUpperCase() }, body })
  const { actions } = await viewer.get('actionLog', { query: { subject: customerId } })
  assert.deepEqual(
    actions.map(({ command, arguments: typed }) => [command, typed]),
    [['customers suspend', [customerId]]],
  )
})

test('goodwill is a whole number of credits from one on, and a correction any but zero', async () => {
  const params = { customerId: (await service.newCustomer()).customerId }
  const adjusted = async (name: 'grantGoodwill' | 'correctBalance', credits: number) =>
    admin.request(name, { params, body: { ...body, adjustmentId: crypto.randomUUID(), credits } })
  for (const credits of [-1, 0, 1.5]) assertRefused(await adjusted('grantGoodwill', credits), 'VAL003')
  for (const credits of [0, -1.5]) assertRefused(await adjusted('correctBalance', credits), 'VAL003')
  assertSuccess(await adjusted('grantGoodwill', 1), 200)
  const taken = await adjusted('correctBalance', -1)
  assert.equal(taken.body.data.available, 0)
})
