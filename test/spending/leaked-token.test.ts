// What a leaked service token can take: no hold of another service, with the scope manage-holds no more than the budgets of its own
// service allow, and only what its scopes open.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import fastify from 'fastify'
import { type TokenScope, tokenScopes } from '../../src/core/token-scopes.ts'
import { type BudgetSetting, listBudgets, setBudget } from '../../src/credits/budgets/budgets.sql.ts'
import { allCustomers } from '../../src/credits/budgets/kinds.ts'
import { hashKey } from '../../src/customers/api-keys.ts'
import { updateSuspension } from '../../src/customers/customers.sql.ts'
import { listTokens } from '../../src/customers/service-tokens.sql.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { listLatestEvents } from '../../src/events/events.sql.ts'
import { type InternalRouteParts, internalRoutes } from '../../src/listeners/internal.ts'
import { operationRequests } from '../support/documents/documented-answers.ts'
import { type Answer, assertRefused, assertSuccess, testPeppers } from '../support/service/service.ts'
import { assertFieldRefused, atOnce, type SpendingService, startSpendingService } from '../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

async function callerWith(scopes: TokenScope[], name: string = crypto.randomUUID()) {
  const issued = await issueToken(service.payments.database, testPeppers, name, scopes)
  return { ...internal.as(issued.token), name, serviceId: issued.serviceId }
}

async function limit(name: string, credits: number, setting: Partial<BudgetSetting> = {}): Promise<string> {
  const common = { customerId: allCustomers, scope: 'SERVICE', value: name, period: 'MONTH', warnAt: null } as const
  const set = await setBudget(service.payments.database, { ...common, credits, ...setting })
  return set?.budgetId ?? assert.fail('too many budgets')
}

async function usedOf(budgetId: string): Promise<number> {
  const budgets = await listBudgets(service.payments.database, null, 1_000)
  const budget = budgets.find((each) => each.budgetId === budgetId) ?? assert.fail('no such budget')
  return budget.uses[0]?.used ?? 0
}

async function heldBy(calls: Pick<typeof internal, 'hold'>, customerId: string, credits: number): Promise<string> {
  const answer = await calls.hold(customerId, credits)
  assertSuccess(answer, 201)
  return answer.body.data.holdId
}

function assertOver(answer: Answer<unknown>, budgetId: string, left: number): void {
  assert.deepEqual([answer.status, answer.body.code], [402, 'BUS002'], answer.text)
  const { limit: exceeded } = answer.body.metadata as { limit: { budgetId: string; left: number } }
  assert.deepEqual([exceeded.budgetId, exceeded.left], [budgetId, left])
}

test('a leaked token whose service has a budget cannot take the holds of other services', async () => {
  const { database } = service.payments
  const leaked = internal.as((await issueToken(database, testPeppers, 'leaky')).token)
  await limit('leaky', 1, { period: 'DAY' })
  const { customerId } = await service.customerWith(110)
  const holdId = await heldBy(internal, customerId, 100)
  assert.equal((await leaked.spend(customerId, 2)).body.code, 'BUS002')
  const [shown] = (await leaked.statement(customerId)).body.data.setAside
  assert.equal(shown?.holdId, holdId)
  assertRefused(await leaked.capture(customerId, holdId), 'NOT000')
  assertRefused(await leaked.capturePart(customerId, holdId, 1), 'NOT000')
  assertRefused(await leaked.extend(customerId, holdId, 604_800), 'NOT000')
  assertRefused(await leaked.release(customerId, holdId), 'NOT000')
  assertSuccess(await internal.capture(customerId, holdId), 200)
})

test('a hold of another service is answered like one that does not exist, also after its end and for its own references', async () => {
  const { customerId } = await service.customerWith(20)
  const holdId = await heldBy(internal, customerId, 10)
  assertSuccess(await internal.capturePart(customerId, holdId, 4, 'a-part'), 200)
  const other = await callerWith(['hold'])
  async function assertHidden(): Promise<void> {
    const missing = crypto.randomUUID()
    const requests = [
      (id: string) => other.capture(customerId, id, 6),
      (id: string) => other.capturePart(customerId, id, 4, 'a-part'),
      (id: string) => other.capturePart(customerId, id, 5, 'a-part'),
      (id: string) => other.extend(customerId, id, 60),
      (id: string) => other.release(customerId, id),
    ]
    for (const request of requests) {
      const [present, absent] = [await request(holdId), await request(missing)]
      assertRefused(present, 'NOT000')
      assert.equal(present.text, absent.text)
      assert.match(present.body.message ?? '', /manage-holds/)
    }
  }
  await assertHidden()
  assertSuccess(await internal.capture(customerId, holdId, 6), 200)
  await assertHidden()
})

test('any token of the service that holds may end the hold, and it counts once in the budgets of the service', async () => {
  const first = await callerWith(['hold'])
  const second = await callerWith(['hold'], first.name)
  const withScope = await callerWith(['hold', 'manage-holds'], first.name)
  const budgetId = await limit(first.name, 10)
  const { customerId } = await service.customerWith(20)
  for (const caller of [first, second, withScope]) {
    const holdId = await heldBy(first, customerId, 3)
    assertSuccess(await caller.extend(customerId, holdId, 60), 200)
    assertSuccess(await caller.capturePart(customerId, holdId, 1), 200)
    assertSuccess(await caller.capture(customerId, holdId, 1), 200)
  }
  assert.equal(await usedOf(budgetId), 6)
})

test('with manage-holds a service ends holds of others, and what it captures counts in its own budgets beside theirs, and not again in those of the customer', async () => {
  const holder = await callerWith(['hold'])
  const manager = await callerWith(['hold', 'manage-holds'])
  const { customerId } = await service.customerWith(50)
  const ofHolder = await limit(holder.name, 40)
  const ofManager = await limit(manager.name, 10, { warnAt: 6 })
  const ofCustomer = await limit(manager.name, 9, { customerId })
  const ofAll = await limit(manager.name, 50, { customerId, scope: 'CUSTOMER', value: null })

  const whole = await heldBy(holder, customerId, 12)
  assertSuccess(await manager.extend(customerId, whole, 604_800), 200)
  assertOver(await manager.capture(customerId, whole), ofCustomer, 9)
  assertOver(await manager.capturePart(customerId, whole, 10), ofCustomer, 9)
  const part = await manager.capturePart(customerId, whole, 3, 'first')
  assert.deepEqual(part.body.data, { holdId: whole, captured: 3, remaining: 9, balance: 38 })
  assert.equal((await manager.capturePart(customerId, whole, 3, 'first')).text, part.text)
  const end = await manager.capture(customerId, whole, 4)
  assert.deepEqual(end.body.data, { holdId: whole, captured: 4, released: 5, balance: 43 })
  assert.equal((await manager.capture(customerId, whole, 4)).text, end.text)
  assert.equal((await holder.capture(customerId, whole, 4)).text, end.text)
  assert.deepEqual(await Promise.all([ofHolder, ofManager, ofCustomer, ofAll].map(usedOf)), [7, 7, 7, 7])

  const released = await heldBy(holder, customerId, 5)
  assertSuccess(await manager.release(customerId, released), 200)
  const last = await heldBy(holder, customerId, 2)
  assert.equal((await manager.capturePart(customerId, last, 2)).body.data.remaining, 0)
  assert.deepEqual(await Promise.all([ofHolder, ofManager, ofCustomer, ofAll].map(usedOf)), [9, 9, 9, 9])
  assertOver(await manager.capture(customerId, await heldBy(holder, customerId, 1)), ofCustomer, 0)

  const { entries } = (await internal.statement(customerId, { kind: 'CAPTURE' })).body.data
  assert.deepEqual(new Set(entries.map((entry) => entry.service)), new Set([manager.name]))
  const events = await listLatestEvents(service.payments.database, customerId, 100)
  const low = events.filter(({ type }) => type === 'budget.low').map(({ data }) => data as Record<string, unknown>)
  assert.deepEqual(
    low.filter((each) => each.budgetId === ofManager).map(({ used }) => used),
    [7],
  )
})

test('a part that another service captures gives nothing back to the budgets that counted the hold; its end gives back the rest', async () => {
  const holder = await callerWith(['hold'])
  const manager = await callerWith(['hold', 'manage-holds'])
  const { customerId } = await service.customerWith(20)
  const budgets = [
    await limit(holder.name, 40),
    await limit(holder.name, 40, { customerId, scope: 'CUSTOMER', value: null }),
  ]
  const used = () => Promise.all(budgets.map(usedOf))
  const holdId = await heldBy(holder, customerId, 12)
  assertSuccess(await manager.capturePart(customerId, holdId, 3), 200)
  assert.deepEqual(await used(), [12, 12])
  assertSuccess(await manager.capture(customerId, holdId, 4), 200)
  assert.deepEqual(await used(), [7, 7])
})

test('captures of holds of another service are counted in the metrics: a part as captured, an end also as released, a refused one not at all', async () => {
  const { credits } = service.payments.tallies
  const manager = await callerWith(['hold', 'manage-holds'])
  const { customerId } = await service.customerWith(20)
  const holdId = await heldBy(internal, customerId, 12)
  const { captured, released } = credits
  const counted = () => [credits.captured - captured, credits.released - released]
  assertSuccess(await manager.capturePart(customerId, holdId, 3), 200)
  assert.deepEqual(counted(), [3, 0])
  assertSuccess(await manager.capture(customerId, holdId, 4), 200)
  assert.deepEqual(counted(), [7, 5])
  const budgetId = await limit(manager.name, 1, { customerId })
  assertOver(await manager.capture(customerId, await heldBy(internal, customerId, 2)), budgetId, 1)
  assert.deepEqual(counted(), [7, 5])
})

test('no more is captured of a hold of another service than it holds, as a part or as a whole', async () => {
  const manager = await callerWith(['hold', 'manage-holds'])
  const { customerId } = await service.customerWith(20)
  const holdId = await heldBy(internal, customerId, 12)
  assertFieldRefused(await manager.capture(customerId, holdId, 13), 'VAL003', 'credits')
  assertFieldRefused(await manager.capturePart(customerId, holdId, 13), 'VAL003', 'credits')
  assertSuccess(await manager.capture(customerId, holdId, 12), 200)
})

test('a hold of a suspended customer is captured by a service with manage-holds, in part and as a whole', async () => {
  const { database } = service.payments
  const manager = await callerWith(['hold', 'manage-holds'])
  const { customerId } = await service.customerWith(20)
  const holdId = await heldBy(internal, customerId, 12)
  await updateSuspension(database, customerId, true)
  const part = await manager.capturePart(customerId, holdId, 3)
  assert.deepEqual(part.body.data, { holdId, captured: 3, remaining: 9, balance: 8 })
  const end = await manager.capture(customerId, holdId, 4)
  assert.deepEqual(end.body.data, { holdId, captured: 4, released: 5, balance: 13 })
  const { entries, setAside } = (await internal.statement(customerId, { kind: 'CAPTURE' })).body.data
  assert.deepEqual([entries.map(({ delta }) => delta), setAside], [[-4, -3], []])
  await updateSuspension(database, customerId, false)
})

test('after its expiry a hold is EXPIRED for a service with manage-holds too, for a part and for all, also before the sweep', async () => {
  const manager = await callerWith(['hold', 'manage-holds'])
  for (const capture of [
    (customerId: string, holdId: string) => manager.capturePart(customerId, holdId, 3),
    (customerId: string, holdId: string) => manager.capture(customerId, holdId),
  ]) {
    const { customerId } = await service.customerWith(20)
    const holdId = await heldBy(internal, customerId, 12)
    await service.database.queryUnguarded(
      `update holds set expires_at = now() - interval '1 ms' where customer_id = $1 and state = 'ACTIVE'`,
      [customerId],
    )
    const refused = await capture(customerId, holdId)
    assertFieldRefused(refused, 'VAL003', 'holdId')
    assert.match(refused.text, /the hold is EXPIRED/)
    assert.equal((await internal.statement(customerId)).body.data.closing.balance, 20)
  }
})

test('many captures at once of holds of another service: the budget of the service that captures is never exceeded', async () => {
  const holder = await callerWith(['hold'])
  const manager = await callerWith(['hold', 'manage-holds'])
  await limit(holder.name, 1_000)
  const budgetId = await limit(manager.name, 5)
  const customers = [await service.customerWith(40), await service.customerWith(40)]
  const holds = await Promise.all(
    Array.from({ length: 16 }, async (_, index) => {
      const customerId = customers[index % 2]?.customerId ?? assert.fail('no customer')
      return { customerId, holdId: await heldBy(holder, customerId, 2) }
    }),
  )
  const answers = await Promise.all(
    holds.flatMap(({ customerId, holdId }, index) => [
      manager.capture(customerId, holdId, 1),
      index % 3 === 0 ? manager.release(customerId, holdId) : manager.capture(customerId, holdId, 1),
      index % 4 === 0
        ? manager.capturePart(customerId, holdId, 1, `part-${index}`)
        : holder.capture(customerId, holdId, 2),
    ]),
  )
  const codes = new Set(answers.map(({ body }) => body.code))
  assert.ok(
    [...codes].every((code) => ['SUCCESS', 'BUS002', 'VAL003'].includes(code)),
    [...codes].join(),
  )
  const [{ captured = 0 } = {}] = await service.database.query<{ captured: number }>(
    `select coalesce(-sum(delta), 0)::int as captured from ledger_entries where kind = 'CAPTURE' and service_id = $1`,
    [manager.serviceId],
  )
  assert.ok(captured <= 5, `${captured} captured`)
  assert.equal(await usedOf(budgetId), captured)
})

test('two captures at once with room for one: one is done, the other is refused by the budget and leaves its hold', async () => {
  const manager = await callerWith(['hold', 'manage-holds'])
  const budgetId = await limit(manager.name, 5)
  const { customerId } = await service.customerWith(20)
  const holds = [await heldBy(internal, customerId, 5), await heldBy(internal, customerId, 5)]
  const answers = await atOnce(2, (index) => manager.capture(customerId, holds[index] ?? ''))
  assert.deepEqual(answers.map(({ body }) => body.code).sort(), ['BUS002', 'SUCCESS'])
  const left = answers.findIndex(({ body }) => body.code === 'BUS002')
  assertOver(answers[left] ?? assert.fail('none'), budgetId, 0)
  assertSuccess(await internal.capture(customerId, holds[left] ?? ''), 200)
})

/** Every route of the internal API, by the name of its operation. */
const scopeOf: Record<string, TokenScope> = {
  spendCredits: 'spend',
  reverseSpend: 'spend',
  holdCredits: 'hold',
  extendHold: 'hold',
  captureHold: 'hold',
  releaseHold: 'hold',
  getStatement: 'read',
  getUse: 'read',
  listLots: 'read',
  getBudgets: 'read',
  quoteRefund: 'refund',
  refundUnused: 'refund',
  getOrderReceipt: 'read',
  getReferenceReceipt: 'read',
  getStatementReceipt: 'read',
}

test('docs/spending.md has the scope of every route', () => {
  const rows = readFileSync('docs/spending.md', 'utf8').matchAll(/^\| `(spend|hold|refund|read)` \| (.*) \|$/gm)
  const documented = [...rows].flatMap(([, scope = '', text = '']) =>
    [...text.matchAll(/`(\w+)`/g)].map(([, operationId]) => [operationId, scope]),
  )
  assert.deepEqual(Object.fromEntries(documented), scopeOf)
})

test('every route of the internal API opens to one scope, and refuses a token without it before it reads the body', async () => {
  const routes = operationRequests.filter(({ scheme }) => scheme === 'ServiceToken')
  assert.deepEqual(routes.map(({ operationId }) => operationId).sort(), Object.keys(scopeOf).sort())
  const callers = new Map<TokenScope, Awaited<ReturnType<typeof callerWith>>>()
  for (const scope of ['spend', 'hold', 'refund', 'read'] as const) callers.set(scope, await callerWith([scope]))
  for (const { operationId, path, method, body } of routes) {
    for (const [scope, calls] of callers) {
      const needed = scopeOf[operationId]
      const answer = await calls.call(path, { method, ...(body && { raw: scope === needed ? '{}' : '{' }) })
      if (scope === needed) {
        assert.notEqual(answer.body.code, 'AUTH003', `${operationId} with ${scope}`)
      } else {
        assertRefused(answer, 'AUTH003')
        assert.match(answer.body.message ?? '', new RegExp(`lacks the scope ${needed}\\b`), operationId)
      }
    }
  }
})

test('a route of the internal listener without a scope is refused when it is added', () => {
  const app = fastify()
  internalRoutes(app, {} as InternalRouteParts)
  assert.throws(
    () => app.get('/internal/v1/forgotten', async () => ({})),
    /GET \/internal\/v1\/forgotten needs config\.scope/,
  )
})

test('a token of before keeps what it could do: it has every scope, and ends the holds of all services', async () => {
  const token = `cst_${'of0before'.repeat(5).slice(0, 43)}`
  const { pepperVersion, keyHash } = hashKey(token, testPeppers[0])
  await service.database.query(
    `insert into service_tokens (service_id, name, pepper_version, token_hash, last_four)
     values ('svc_of_before', 'of before', $1, $2, 'fore')`,
    [pepperVersion, keyHash],
  )
  const old = internal.as(token)
  const { customerId } = await service.customerWith(20)
  assertSuccess(await old.spend(customerId, 1), 200)
  assertSuccess(await old.statement(customerId), 200)
  assertSuccess(await old.capture(customerId, await heldBy(internal, customerId, 3)), 200)
  const listed = await listTokens(service.payments.database, 1_000)
  assert.deepEqual(listed.find(({ name }) => name === 'of before')?.scopes, [...tokenScopes])
})
