// Spending over the internal API: its answers, its refusals, and that a reference spends once. spend-concurrency.test.ts
// covers simultaneous spends.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as breathe } from 'node:timers/promises'
import { silentLog } from '../../harness/silent-log.ts'
import { createCredits } from '../../src/credits/credits.ts'
import { createDatabase } from '../../src/db/database.ts'
import { wrapConnections } from '../support/database/connections.ts'
import { makeBeside } from '../support/database/places.ts'
import { countCodes } from '../support/service/cluster.ts'
import { movements } from '../support/service/orders.ts'
import { assertRefused, assertSuccess, type TestCustomer } from '../support/service/service.ts'
import {
  assertFieldRefused,
  assertLack,
  atOnce,
  creditsPath,
  type SpendingService,
  startInternal,
  startSpendingService,
} from '../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

const unknownCustomer = crypto.randomUUID()

async function newCustomer(packageType: 'BASIC' | 'STANDARD' | 'PRO' = 'STANDARD'): Promise<TestCustomer> {
  const customer = await service.newCustomer()
  await customer.confirmedOrder(packageType)
  return customer
}

test('a spend answers 200 with the reference, the credits and the balance after it', async () => {
  const customer = await newCustomer()
  const answer = await internal.spend(customer.customerId, 5, 'analysis-1')
  assertSuccess(answer, 200)
  assert.deepEqual(answer.body.data, { reference: 'analysis-1', credits: 5, balance: 16 })
  assert.equal(await customer.credits(), 16)
  assertSuccess(await internal.spend(customer.customerId.toUpperCase(), 16, 'analysis-2'), 200)
  assert.equal(await customer.credits(), 0)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -5', 'SPEND -16'])
})

test('the ledger has the token of the spend, and the statement the name of its service', async (t) => {
  const customer = await newCustomer()
  const batches = await startInternal(service.payments, 'batch submissions')
  t.after(() => batches.close())
  assertSuccess(await internal.spend(customer.customerId, 1, 'one'), 200)
  assertSuccess(await batches.spend(customer.customerId, 2, 'two'), 200)
  // The retry of another service gets the first answer, and does not become the spender.
  assertSuccess(await batches.spend(customer.customerId, 1, 'one'), 200)
  const rows = await service.database.query(
    `select reference, service_id as "serviceId" from ledger_entries where customer_id = $1 and kind = 'SPEND'
    order by entry_number`,
    [customer.customerId],
  )
  assert.deepEqual(rows, [
    { reference: 'one', serviceId: internal.issued.serviceId },
    { reference: 'two', serviceId: batches.issued.serviceId },
  ])
  const { entries } = (await internal.statement(customer.customerId, { kind: 'SPEND' })).body.data
  assert.deepEqual(
    entries.map((entry) => `${entry.reference} ${entry.service}`),
    ['two batch submissions', 'one analyses'],
  )
})

/** Null counts as missing, as on the public listener. */
const faultyValues: Record<string, unknown[]> = {
  customerId: [
    '',
    'x',
    5,
    true,
    [],
    `{${unknownCustomer}}`,
    ` ${unknownCustomer}`,
    `${unknownCustomer}0`,
    unknownCustomer.replaceAll('-', ''),
  ],
  credits: [0, -1, 1.5, 1e-9, 2 ** 53, 1e300, -(2 ** 53), '1', '', true, [1], { value: 1 }],
  reference: ['', ' ', 'two words', 'tab\t', 'line\n', 'é', '💳', '\u0000', '\u007f', 'r'.repeat(201), 5, ['r']],
}
test('every field of a spend is checked: missing is VAL002, a wrong value VAL003, and nothing moves', async () => {
  const customer = await newCustomer()
  const fields = { customerId: customer.customerId, credits: 1, reference: 'never' }
  const spend = (body: object) => internal.call(`${creditsPath}/spend`, { body })
  for (const [field, values] of Object.entries(faultyValues)) {
    assertFieldRefused(await spend({ ...fields, [field]: undefined }), 'VAL002', field)
    assertFieldRefused(await spend({ ...fields, [field]: null }), 'VAL002', field)
    for (const value of values) assertFieldRefused(await spend({ ...fields, [field]: value }), 'VAL003', field)
  }
  assertFieldRefused(await spend({ ...fields, credits: 0, reference: undefined }), 'VAL002', 'reference')
  const all = await spend({})
  assert.equal(all.body.code, 'VAL002')
  for (const raw of ['', '{', '[]', 'null', '5', '"text"']) {
    assertRefused(await internal.call(`${creditsPath}/spend`, { raw }), 'VAL001')
  }
  assertRefused(
    await internal.call(`${creditsPath}/spend`, { body: fields, headers: { 'content-type': 'text/plain' } }),
    'VAL001',
  )
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

test('a reference is any 1 to 200 visible ASCII characters, and references are case-sensitive', async () => {
  const customer = await newCustomer()
  const references = ['!', '~', 'r'.repeat(200), `';--"\\`, '=1+1', 'a', 'A', '%00', '{}']
  for (const reference of references) {
    const answer = await internal.spend(customer.customerId, 1, reference)
    assertSuccess(answer, 200)
    assert.equal(answer.body.data.reference, reference)
  }
  assert.equal(await customer.credits(), 21 - references.length)
})

test('an unknown customer is NOT000, for every request', async () => {
  for (const answer of [
    await internal.spend(unknownCustomer, 1),
    await internal.hold(unknownCustomer, 1),
    await internal.capture(unknownCustomer, crypto.randomUUID()),
    await internal.release(unknownCustomer, crypto.randomUUID()),
    await internal.statement(unknownCustomer),
  ]) {
    assert.deepEqual([answer.status, answer.body.code, answer.body.metadata], [404, 'NOT000', null])
  }
})

test('too little balance is 402 BUS002 with the requested and the available credits; nothing moves', async () => {
  const customer = await newCustomer()
  for (const requested of [22, 1_000_000, Number.MAX_SAFE_INTEGER]) {
    assertLack(await internal.spend(customer.customerId, requested), requested, 21)
  }
  assertSuccess(await internal.hold(customer.customerId, 15), 201)
  assertLack(await internal.spend(customer.customerId, 7), 7, 6)
  const withoutCredits = await service.newCustomer()
  assertLack(await internal.spend(withoutCredits.customerId, 1), 1, 0)
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

test('a retry gets the first answer byte for byte, also after other movements and when no credits are left', async () => {
  const customer = await newCustomer()
  const first = await internal.spend(customer.customerId, 4, 'once')
  assertSuccess(first, 200)
  const others = [
    () => internal.spend(customer.customerId, 2),
    () => internal.hold(customer.customerId, 5),
    () => customer.confirmedOrder('BASIC'),
    () => internal.spend(customer.customerId, 11),
  ]
  for (const move of others) {
    await move()
    assert.equal((await internal.spend(customer.customerId, 4, 'once')).text, first.text)
  }
  assert.equal(await customer.credits(), 0)
})

test('the same reference with another amount is VAL003 with its first use', async () => {
  const customer = await newCustomer()
  assertSuccess(await internal.spend(customer.customerId, 4, 'batch'), 200)
  for (const credits of [3, 5, 22, Number.MAX_SAFE_INTEGER]) {
    const answer = await internal.spend(customer.customerId, credits, 'batch')
    assertFieldRefused(answer, 'VAL003', 'reference')
    assert.match(answer.text, /was used to spend 4 credits/)
  }
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21', 'SPEND -4'])
})

test('a reference of a hold spends nothing and a reference that has spent holds nothing: VAL003', async () => {
  const customer = await newCustomer()
  assertSuccess(await internal.hold(customer.customerId, 4, { reference: 'held' }), 201)
  assertSuccess(await internal.spend(customer.customerId, 4, 'spent'), 200)
  for (const credits of [4, 5, 100]) {
    assertFieldRefused(await internal.spend(customer.customerId, credits, 'held'), 'VAL003', 'reference')
    assertFieldRefused(await internal.hold(customer.customerId, credits, { reference: 'spent' }), 'VAL003', 'reference')
  }
  assert.deepEqual(await service.entries(customer.customerId), ['GRANT 21/0', 'HOLD 0/4', 'SPEND -4/0'])
})

test('references belong to a customer: another may use the same', async () => {
  const [one, other] = [await newCustomer(), await newCustomer()]
  assertSuccess(await internal.spend(one.customerId, 4, 'shared'), 200)
  assertSuccess(await internal.spend(other.customerId, 9, 'shared'), 200)
  assert.deepEqual([await one.credits(), await other.credits()], [17, 12])
})

test('a reference refused for lack of credits can still be used: once there are enough it spends, any amount', async () => {
  const customer = await newCustomer('BASIC')
  assertLack(await internal.spend(customer.customerId, 2, 'later'), 2, 1)
  assertLack(await internal.spend(customer.customerId, 3, 'later'), 3, 1)
  await customer.confirmedOrder('BASIC')
  assertLack(await internal.spend(customer.customerId, 3, 'later'), 3, 2)
  const answer = await internal.spend(customer.customerId, 2, 'later')
  assert.deepEqual(answer.body.data, { reference: 'later', credits: 2, balance: 0 })
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 1', 'GRANT 1', 'SPEND -2'])
})

test('32 simultaneous duplicates are one entry and 32 times the same answer', async () => {
  const customer = await newCustomer()
  for (let round = 0; round < 5; round += 1) {
    const answers = await atOnce(32, () => internal.spend(customer.customerId, 2, `round-${round}`))
    assert.deepEqual(countCodes(answers), { SUCCESS: 32 })
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1)
    assert.equal(await customer.credits(), 21 - 2 * (round + 1))
  }
})

test('32 simultaneous duplicates that take the last credit all succeed: none is refused for lack of credits', async () => {
  for (let round = 0; round < 10; round += 1) {
    const customer = await newCustomer('BASIC')
    const answers = await atOnce(32, () => internal.spend(customer.customerId, 1, 'the-last'))
    assert.deepEqual(countCodes(answers), { SUCCESS: 32 })
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1)
    assert.deepEqual(await movements(service, customer.customerId), ['GRANT 1', 'SPEND -1'])
  }
})

test('32 simultaneous duplicates of a spend that cannot be covered are all BUS002', async () => {
  const customer = await newCustomer()
  for (const answer of await atOnce(32, () => internal.spend(customer.customerId, 22, 'too-much'))) {
    assertLack(answer, 22, 21)
  }
  assert.deepEqual(await movements(service, customer.customerId), ['GRANT 21'])
})

test('one reference for a spend and a hold at the same moment: only one of the two uses it', async () => {
  for (let round = 0; round < 20; round += 1) {
    const customer = await newCustomer('BASIC')
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => internal.spend(customer.customerId, 1, 'both')),
      ...[1, 2, 3].map(() => internal.hold(customer.customerId, 1, { reference: 'both' })),
    ])
    assert.deepEqual(countCodes(answers), { SUCCESS: 3, VAL003: 3 })
    assert.equal((await service.entries(customer.customerId)).length, 2)
  }
})

/** Credits over connections that record the number of spends of each statement. */
function watchedCredits() {
  const sizes: number[] = []
  const connections = wrapConnections(service.database.pool, (query, send) => {
    const [customerIds] = (query.values ?? []) as unknown[][]
    if (query.name === 'credits.spend') sizes.push(customerIds?.length ?? 0)
    return send()
  })
  const { tallies } = service.payments
  return { credits: createCredits(createDatabase(connections, silentLog), tallies), sizes }
}

test('spends of one customer in one statement are applied in order: a refused one leaves its credits to the next', async () => {
  const customer = await service.customerWith(10)
  const beside = <Made extends { customerId: string }>(make: () => Promise<Made> | Made) =>
    makeBeside(service.payments.database, customer.customerId, make)
  const [blocking, other] = [await beside(() => newCustomer()), await beside(() => newCustomer('BASIC'))]
  const unknownCustomer = await beside(() => ({ customerId: crypto.randomUUID() }))
  const { credits, sizes } = watchedCredits()
  const spend = (customerId: string, amount: number, reference: string = crypto.randomUUID()) =>
    credits.spend({ customerId, credits: amount, reference, serviceId: internal.issued.serviceId })
  assert.deepEqual(await spend(customer.customerId, 1, 'known'), {
    ordinal: 1,
    spent: 1,
    available: 9,
    usedFor: null,
    isNew: true,
    isRestricted: false,
  })
  await breathe()
  sizes.length = 0
  const amounts = [3, 100, 2, 5, 4, 1]
  // Requests that arrive while the first is running share the next statement.
  const [, , again, foreign, none, ...spends] = await Promise.all([
    spend(blocking.customerId, 1),
    spend(blocking.customerId, 1),
    spend(customer.customerId, 1, 'known'),
    spend(other.customerId, 2),
    spend(unknownCustomer.customerId, 1),
    ...amounts.map((amount) => spend(customer.customerId, amount)),
  ])
  assert.deepEqual(sizes, [1, amounts.length + 4])
  assert.deepEqual([again.spent, again.available], [1, 9])
  assert.deepEqual([foreign.spent, foreign.available], [0, 1])
  assert.deepEqual([none.spent, none.available], [0, null])
  assert.deepEqual(
    spends.map(({ spent, available }) => [spent, available]),
    [
      [3, 6],
      [0, 6],
      [2, 4],
      [0, 4],
      [4, 0],
      [0, 0],
    ],
  )
  assert.deepEqual((await movements(service, customer.customerId)).slice(2), [
    'SPEND -1',
    'SPEND -3',
    'SPEND -2',
    'SPEND -4',
  ])
})
