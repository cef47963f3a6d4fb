// Sections 4.3, 4.4 and 4.5: the read endpoints, and that no customer ever reads the data of another.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { orderInState, spend } from '../support/service/orders.ts'
import { assertRefused, assertSuccess, startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
type Status = Record<'orderId' | 'status' | 'packageType' | 'createdAt', string> & {
  amount: number
  confirmedAt: string | null
}

test('4.3: the status holds orderId, status, packageType, amount, createdAt and confirmedAt', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder('PRO')
  const before = await customer.as<Status>(`/${order.orderId}`)
  assertSuccess(before, 200)
  assert.equal(typeof before.body.message, 'string')
  const { createdAt, ...rest } = before.body.data
  assert.match(createdAt, timestamp)
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000)
  const { orderId } = order
  assert.deepEqual(rest, { orderId, status: 'PENDING', packageType: 'PRO', amount: 100_000, confirmedAt: null })

  await order.confirm()
  const { confirmedAt, ...confirmed } = (await customer.as<Status>(`/${orderId}`)).body.data
  assert.match(confirmedAt ?? '', timestamp)
  assert.ok(Date.parse(confirmedAt ?? '') >= Date.parse(createdAt))
  assert.deepEqual(confirmed, { orderId, status: 'CONFIRMED', packageType: 'PRO', amount: 100_000, createdAt })
})

for (const [status, confirmed] of [
  ['PENDING', false],
  ['FAILED', false],
  ['CONFIRMED', true],
  ['CANCELLED', true],
  ['REFUNDED', true],
] as const) {
  test(`3: an order that is ${status} has that status, with confirmedAt ${confirmed ? 'set' : 'null'}`, async () => {
    const customer = await service.newCustomer()
    const order = await orderInState(service, customer, status)
    const first = await customer.as<Status>(`/${order.orderId}`)
    assert.equal(first.body.data.status, status)
    if (confirmed) assert.match(first.body.data.confirmedAt ?? '', timestamp)
    else assert.equal(first.body.data.confirmedAt, null)
    assert.equal((await customer.as(`/${order.orderId}`)).text, first.text)
  })
}

test('3: confirmedAt does not change when the order is cancelled', async () => {
  const customer = await service.newCustomer()
  const order = await customer.confirmedOrder()
  const { confirmedAt } = (await customer.as<Status>(`/${order.orderId}`)).body.data
  assertSuccess(await customer.cancel(order.paymentKey), 200)
  assert.equal((await customer.as<Status>(`/${order.orderId}`)).body.data.confirmedAt, confirmedAt)
})

test('4.3, 5.5: an order that does not exist or belongs to another customer gives the same 404 NOT000, byte for byte', async () => {
  const [owner, otherCustomer] = [await service.newCustomer(), await service.newCustomer()]
  const { orderId } = (await owner.purchase()).body.data
  const foreign = await otherCustomer.as(`/${orderId}`)
  assertRefused(foreign, 'NOT000')
  assert.equal(foreign.status, 404)
  const lastChanged = orderId.slice(0, -1) + (orderId.endsWith('A') ? 'B' : 'A')
  const unknown = [
    lastChanged,
    orderId.toLowerCase(),
    `${orderId}A`,
    orderId.slice(0, -1),
    `${orderId}%20`,
    `${orderId}%00`,
    'x',
    'purchase',
    'confirm',
    'cancel',
    '..%2Fcredits',
    '%27%20or%201%3D1--',
    '__proto__',
    '%F0%9F%92%B3',
    'a'.repeat(100),
    'a'.repeat(101),
    owner.customerId,
  ]
  for (const id of unknown) {
    const answer = await owner.as(`/${id}`)
    assert.equal(answer.text, foreign.text, id)
    assert.deepEqual([...answer.headers.keys()], [...foreign.headers.keys()], id)
  }
  assert.equal(await owner.status(orderId), 'PENDING')
})

test('5.5: when many customers read many statuses at once, each gets only its own orders', async () => {
  const customers = await Promise.all(Array.from({ length: 4 }, () => service.newCustomer()))
  const orders = await Promise.all(
    customers.map(async (owner, index) => {
      const packageType = (['BASIC', 'STANDARD', 'PRO'] as const)[index % 3] ?? 'BASIC'
      return { owner, packageType, orderId: (await owner.purchase(packageType)).body.data.orderId }
    }),
  )
  const requests = Array.from({ length: 20 }, () =>
    orders.flatMap((order) => customers.map((caller) => ({ order, caller }))),
  )
  const answers = await Promise.all(
    requests
      .flat()
      .map(async ({ order, caller }) => ({ order, caller, answer: await caller.as<Status>(`/${order.orderId}`) })),
  )
  assert.equal(answers.length, 320)
  for (const { order, caller, answer } of answers) {
    if (caller !== order.owner) assertRefused(answer, 'NOT000')
    else {
      const { orderId, packageType } = answer.body.data
      assert.deepEqual({ orderId, packageType }, { orderId: order.orderId, packageType: order.packageType })
    }
  }
})

test('4.4: the balance holds credits and customerId, and nothing else', async () => {
  const customer = await service.newCustomer()
  const answer = await customer.as<{ customerId: string }>('/credits')
  assertSuccess(answer, 200)
  assert.equal(typeof answer.body.message, 'string')
  assert.deepEqual(answer.body.data, { credits: 0, customerId: customer.customerId })
  assert.match(answer.body.data.customerId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('4.4: the balance reflects every movement: confirms add, spending and cancels subtract', async () => {
  const customer = await service.newCustomer()
  const standard = await customer.confirmedOrder('STANDARD')
  assert.equal(await customer.credits(), 21)
  await customer.confirmedOrder('PRO')
  assert.equal(await customer.credits(), 131)
  assert.equal(await spend(service, customer.customerId, 31), true)
  assert.equal(await customer.credits(), 100)
  assertSuccess(await customer.cancel(standard.paymentKey), 200)
  assert.equal(await customer.credits(), 79)
  assert.equal(await spend(service, customer.customerId, 80), false)
  assert.equal(await customer.credits(), 79)
})

test('4.4: when many customers read their balances at once, each gets its own', async () => {
  const customers = await Promise.all(Array.from({ length: 6 }, () => service.newCustomer()))
  for (const [index, customer] of customers.entries()) {
    if (index % 2) await customer.confirmedOrder('BASIC')
  }
  const requests = Array.from({ length: 50 }, () => [...customers.entries()]).flat()
  const answers = await Promise.all(
    requests.map(async ([index, customer]) => ({ index, customer, answer: await customer.as('/credits') })),
  )
  for (const { index, customer, answer } of answers) {
    assert.deepEqual(answer.body.data, { credits: index % 2, customerId: customer.customerId })
  }
})

test('4.5, 2: the packages are the fixed catalogue, in the order BASIC, STANDARD, PRO', async () => {
  const customer = await service.newCustomer()
  const answer = await customer.as<unknown[]>('/packages')
  assertSuccess(answer, 200)
  assert.equal(typeof answer.body.message, 'string')
  assert.deepEqual(answer.body.data, [
    {
      packageType: 'BASIC',
      credits: 1,
      price: 1000,
      displayName: 'Basic Plan - 1 Credit',
      description: '1 credit(s) for ₩1,000',
      bonusPercentage: 0,
      bonusCredits: 0,
    },
    {
      packageType: 'STANDARD',
      credits: 21,
      price: 20000,
      displayName: 'Standard Plan - 21 Credits',
      description: '21 credit(s) for ₩20,000',
      bonusPercentage: 5,
      bonusCredits: 1,
    },
    {
      packageType: 'PRO',
      credits: 110,
      price: 100000,
      displayName: 'Pro Plan - 110 Credits',
      description: '110 credit(s) for ₩100,000',
      bonusPercentage: 10,
      bonusCredits: 10,
    },
  ])
})

test('4: reads take no parameters: a query string changes nothing', async () => {
  const [customer, other] = [await service.newCustomer(), await service.newCustomer()]
  const { orderId } = await customer.confirmedOrder('BASIC')
  for (const path of ['/credits', '/packages', `/${orderId}`]) {
    const plain = await customer.as(path)
    const withQuery = await customer.as(`${path}?customerId=${other.customerId}&orderId=x&limit=1&sort=price`)
    assert.equal(withQuery.text, plain.text)
  }
})

test('1: reading changes nothing and does not call the gateway', async () => {
  const customer = await service.newCustomer()
  const order = await customer.paidOrder()
  const before = { ...service.calls }
  for (const path of ['/credits', '/packages', `/${order.orderId}`]) {
    assert.equal((await customer.as(path)).text, (await customer.as(path)).text)
  }
  assert.deepEqual(service.calls, before)
})
