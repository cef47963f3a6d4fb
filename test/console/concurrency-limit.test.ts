// The console's concurrency limit: a fixed number of reads at once, a short queue, and a cheap refusal when the queue is
// full. Reads do not delay anything else.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConcurrencyLimit, maxConcurrentReads, maxQueuedReads } from '../../src/console/concurrency-limit.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

test('as many calls as the limit run at once, queued calls follow in order, and a call beyond the queue is refused', async () => {
  const { run, runAdmitted } = createConcurrencyLimit(2, 2)
  const ends: (() => void)[] = []
  const begun: string[] = []
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((end) => ends.push(() => end(name)))
  }
  const inside = ['a', 'b', 'c', 'd'].map((name) => run(work(name)))
  await assert.rejects(
    run(() => assert.fail('it was admitted')),
    { code: 'SVC001', metadata: { reason: 'console busy', began: false } },
  )
  const longer = runAdmitted(work('e'))
  assert.deepEqual(begun, ['a', 'b'])
  for (let ended = 0; ended < 5; ended += 1) {
    ends[ended]?.()
    await new Promise(setImmediate)
    assert.ok(begun.length - ended - 1 <= 2)
  }
  assert.deepEqual([...(await Promise.all(inside)), await longer], begun)
  assert.equal(await run(async () => 'free again'), 'free again')
})

test('work that fails releases its slot', async () => {
  const { run } = createConcurrencyLimit(1, 0)
  for (const name of ['one', 'two']) {
    await assert.rejects(
      run(() => Promise.reject(new Error(name))),
      { message: name },
    )
  }
  assert.equal(await run(async () => 'free again'), 'free again')
})

test('reads beyond the queue are refused at once with SVC001, and a concurrent action is not', async () => {
  const finance = await api.newOperator('finance')
  const { orderId } = await (await service.newCustomer()).paidOrder()
  // No session can be looked up while the table is locked.
  const keeper = await service.database.pool.connect()
  await keeper.query('begin; lock table operator_sessions in access exclusive mode')
  const { promise: allRefused, resolve } = Promise.withResolvers<void>()
  let refused = 0
  const reads = Array.from({ length: maxConcurrentReads + maxQueuedReads + 9 }, async () => {
    const answer = await viewer.request('orders')
    if (answer.body.code === 'SVC001' && ++refused === 9) resolve()
    return answer
  })
  const action = finance.get('settleOrder', { params: { orderId }, body: { reason: 'nothing to lose' } })
  await allRefused
  await keeper.query('rollback')
  keeper.release()
  const answers = await Promise.all(reads)
  const busy = answers.filter(({ body }) => body.code === 'SVC001')
  assert.deepEqual(
    new Set(
      busy.map(({ status, headers, body }) => `${status} ${headers.get('retry-after')} ${body.metadata?.reason}`),
    ),
    new Set(['503 1 console busy']),
  )
  assert.deepEqual([busy.length, answers.filter(({ status }) => status === 200).length], [9, answers.length - 9])
  assert.equal((await action).status, 'PENDING')
})
