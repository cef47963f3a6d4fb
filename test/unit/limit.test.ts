// The semaphore of core/limit.ts. Its queue is also tested with the console's limits and sign-ins, the token buckets in
// test/http/rate-limit.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueue, createSemaphore, createTimedQueue } from '../../src/core/limit.ts'

function held() {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { work: () => promise, end: resolve, fail: () => reject(new Error('failed')) }
}

test('a semaphore has a limit in total and for each key, and a failed task frees its slot', async () => {
  const semaphore = createSemaphore(3, 2)
  const [first, second, third] = [held(), held(), held()]
  const running = [semaphore.run(first.work, 'a'), semaphore.run(second.work, 'a')]
  assert.deepEqual([semaphore.free('a'), semaphore.free('b')], [0, 1])
  running.push(semaphore.run(third.work, 'b'))
  assert.deepEqual([semaphore.free('b'), semaphore.free('c')], [0, 0])
  second.fail()
  await assert.rejects(running[1] as Promise<void>, /failed/)
  assert.deepEqual([semaphore.free('a'), semaphore.free('c')], [1, 1])
  first.end()
  third.end()
  await Promise.all([running[0], running[2]])
  assert.deepEqual([semaphore.free('a'), semaphore.free()], [2, 2])
})

test('a semaphore wakes waiting tasks when the next task ends, and not before', async () => {
  const semaphore = createSemaphore(2)
  const [first, second] = [held(), held()]
  const running = [semaphore.run(first.work), semaphore.run(second.work)]
  let woken = 0
  const waiting = [semaphore.released(), semaphore.released()].map((each) => each.then(() => (woken += 1)))
  await new Promise(setImmediate)
  assert.equal(woken, 0)
  second.end()
  await Promise.all(waiting)
  assert.equal(semaphore.free(), 1)
  first.end()
  await Promise.all(running)
})

test('a queue with a limit of one runs each task after the previous one, also after a failure', async () => {
  const queue = createQueue(1)
  const order: string[] = []
  const works = ['a', 'b', 'c'].map((name) =>
    queue.run(async () => {
      order.push(`${name} begins`)
      await new Promise(setImmediate)
      order.push(`${name} ends`)
      if (name === 'a') throw new Error('failed on purpose')
    }),
  )
  assert.equal(queue.isFull(), false, 'the queue has no limit')
  await assert.rejects(works[0] as Promise<void>, /failed on purpose/)
  await Promise.all(works.slice(1))
  assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('a queue with a longest wait refuses what waits longer, in order, and has room again', async () => {
  const queue = createTimedQueue(1, 2, 30)
  const { work, end } = held()
  const running = queue.run(work, () => assert.fail('it has a place'))
  const startedAt = performance.now()
  const waiting = ['a', 'b'].map((name) =>
    queue.run(
      async () => 'begun',
      () => `${name} is late`,
    ),
  )
  assert.deepEqual([queue.isFull(), queue.running(), queue.waiting()], [true, 1, 2])
  assert.deepEqual(await Promise.all(waiting), ['a is late', 'b is late'])
  assert.ok(performance.now() - startedAt >= 29)
  assert.deepEqual([queue.isFull(), queue.waiting()], [false, 0])
  const next = queue.run(
    async () => 'begun',
    () => 'late',
  )
  end()
  assert.deepEqual([await next, await running], ['begun', undefined])
  assert.equal(queue.running(), 0)
})

test('what comes later into a queue with a longest wait is refused later, at its own time', {
  timeout: 30_000,
}, async () => {
  const queue = createTimedQueue(1, 2, 30)
  const { work, end } = held()
  const running = queue.run(work, () => assert.fail('it has a place'))
  const refused: string[] = []
  const waitAs = (name: string) => queue.run(work, async () => void refused.push(name))
  const first = waitAs('first')
  const startedAt = performance.now()
  while (performance.now() - startedAt < 20) await new Promise(setImmediate)
  const [secondAt, second] = [performance.now(), waitAs('second')]
  await first
  if (performance.now() - secondAt < 29) assert.deepEqual(refused, ['first'])
  await second
  assert.deepEqual(refused, ['first', 'second'])
  const waitedMs = performance.now() - secondAt
  assert.ok(waitedMs >= 29 && waitedMs < 30_000, `${waitedMs} ms`)
  end()
  await running
})

test('a refusal that throws rejects what was late, each of them', async () => {
  const queue = createTimedQueue(1, 2, 5)
  const { work, end } = held()
  const running = queue.run(work, () => assert.fail('it has a place'))
  const refuse = () => {
    throw new Error('late')
  }
  const waiting = await Promise.allSettled([queue.run(work, refuse), queue.run(work, refuse)])
  assert.deepEqual(
    waiting.map((each) => each.status === 'rejected' && each.reason.message),
    ['late', 'late'],
  )
  end()
  await running
})

test('a task that throws before it returns a promise fails alone, and gives its place back', async () => {
  const queue = createQueue(1)
  const fail = () => assert.fail('at once')
  const both = [queue.run(fail), queue.run(fail)]
  for (const each of both) await assert.rejects(each, /at once/)
  assert.equal(await queue.run(async () => 'next'), 'next')
  assert.equal(queue.running(), 0)
})
