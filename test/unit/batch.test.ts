// Requests that share a statement: who shares with whom, in which order, and who fails with whom.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AssertionFailed } from '../../src/core/assert.ts'
import { type BatchOptions, createBatch } from '../../src/core/batch.ts'
import { Refusal } from '../../src/core/errors.ts'
import type { Tracing } from '../../src/core/tracing.ts'

type Item = { key: string; number: number }

/** Runs that end when the test says so. */
function createHeldRuns<Input = string>(options: Partial<BatchOptions<Input, string>> = {}) {
  const runs: { inputs: Input[]; finish: () => void; fail: (error: unknown) => void }[] = []
  const batch = createBatch<Input, string>({
    retryScopeOf: () => undefined,
    concurrency: 1,
    run: (inputs) =>
      new Promise((resolve, reject) => {
        runs.push({ inputs, finish: () => resolve(inputs.map((each) => `did ${JSON.stringify(each)}`)), fail: reject })
      }),
    ...options,
  })
  return {
    batch,
    runs,
    /** The inputs of each run so far. */
    shares: () => runs.map((run) => run.inputs),
    async finish(index: number): Promise<void> {
      runs[index]?.finish()
      await turn()
    },
  }
}

test('an input that comes alone runs at once, alone', async () => {
  const { batch, shares, finish } = createHeldRuns()
  const output = batch('a')
  assert.deepEqual(shares(), [['a']])
  await finish(0)
  assert.equal(await output, 'did "a"')
})

test('what arrives while a batch is under way forms the next one, in order of arrival', async () => {
  const { batch, shares, finish } = createHeldRuns()
  const outputs = ['a', 'b', 'c', 'd'].map((each) => batch(each))
  assert.deepEqual(shares(), [['a']])
  await finish(0)
  assert.deepEqual(shares(), [['a'], ['b', 'c', 'd']])
  await finish(1)
  assert.deepEqual(await Promise.all(outputs), ['did "a"', 'did "b"', 'did "c"', 'did "d"'])
})

test('a batch has at most maxSize inputs; the others form the ones after it', async () => {
  const { batch, shares, finish } = createHeldRuns({ maxSize: 2 })
  const outputs = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => batch(each))
  for (let index = 0; index < 4; index += 1) await finish(index)
  assert.deepEqual(shares(), [['a'], ['b', 'c'], ['d', 'e'], ['f']])
  await Promise.all(outputs)
})

test('another batch goes beside the one under way when it would be full, never more than `concurrency`', async () => {
  for (const concurrency of [1, 2, 3]) {
    const { batch, shares, runs, finish } = createHeldRuns({ concurrency, maxSize: 2, patienceMs: 60_000 })
    const outputs = Array.from({ length: 20 }, (_, index) => batch(`${index}`))
    assert.equal(runs.length, concurrency)
    await turn()
    assert.deepEqual(shares().slice(0, 2), concurrency === 1 ? [['0']] : [['0'], ['1', '2']])
    assert.equal(runs.length, concurrency)
    await finish(0)
    assert.equal(runs.length, concurrency + 1)
    for (let index = 1; index < 12; index += 1) await finish(index)
    await Promise.all(outputs)
  }
})

test('a batch that is not full waits for the one under way, and no longer than that has patience', async () => {
  const { batch, shares, finish } = createHeldRuns({ concurrency: 2, patienceMs: 30 })
  const outputs = ['a', 'b', 'c'].map((each) => batch(each))
  await turn()
  assert.deepEqual(shares(), [['a']])
  while (shares().length === 1) await turn()
  assert.deepEqual(shares(), [['a'], ['b', 'c']])
  // That one has its own patience: what comes now waits for either.
  const last = batch('d')
  await turn()
  assert.equal(shares().length, 2)
  await finish(1)
  assert.deepEqual(shares()[2], ['d'])
  await finish(0)
  await finish(2)
  await Promise.all([...outputs, last])
})

test('inputs with the same conflict key never share a batch, and keep their order', async () => {
  const { batch, shares, finish } = createHeldRuns<Item>({ conflictKey: (item) => item.key, maxSize: 3 })
  const items = ['x', 'a', 'a', 'b', 'a', 'c', 'd', 'b'].map((key, number) => ({ key, number }))
  const outputs = items.map((item) => batch(item))
  for (let index = 0; index < 4; index += 1) await finish(index)
  const names = shares().map((inputs) => inputs.map((item) => `${item.key}${item.number}`))
  assert.deepEqual(names, [['x0'], ['a1', 'b3', 'c5'], ['d6', 'a2', 'b7'], ['a4']])
  await Promise.all(outputs)
})

test('a conflict key that is in a batch under way does not keep the next batch from starting', async () => {
  const options = { conflictKey: (item: Item) => item.key, concurrency: 2, patienceMs: 1 }
  const { batch, shares, finish } = createHeldRuns<Item>(options)
  const outputs = [1, 2, 3].map((number) => batch({ key: 'a', number }))
  while (shares().length === 1) await turn()
  assert.deepEqual(
    shares().map((inputs) => inputs.map((item) => item.number)),
    [[1], [2]],
  )
  await finish(0)
  await finish(1)
  await finish(2)
  await Promise.all(outputs)
})

class BadInput extends Error {}

test('one bad input fails alone: the batch is run again input by input', async () => {
  const runs: string[][] = []
  const batch = createBatch<string, string>({
    concurrency: 1,
    retryScopeOf: (error) => (error instanceof BadInput ? 'each-input' : undefined),
    run: async (inputs) => {
      runs.push(inputs)
      await turn()
      if (inputs.includes('bad')) throw new BadInput('bad')
      return inputs.map((each) => `did ${each}`)
    },
  })
  const results = await Promise.allSettled(['first', 'a', 'bad', 'b'].map((each) => batch(each)))
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    ['did first', 'did a', 'bad', 'did b'],
  )
  assert.deepEqual(runs, [['first'], ['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
})

test('a bad input that came alone is not run a second time', async () => {
  let runs = 0
  const batch = createBatch<string, string>({
    retryScopeOf: () => 'each-input',
    run: async () => {
      runs += 1
      throw new BadInput('bad')
    },
  })
  await assert.rejects(batch('bad'), BadInput)
  assert.equal(runs, 1)
})

test('any other error fails all of its batch, once, and the next batch runs', async () => {
  const { batch, runs, finish } = createHeldRuns()
  const [first, ...others] = ['first', 'a', 'b'].map((each) => batch(each))
  const settled = Promise.allSettled(others)
  await finish(0)
  const next = batch('next')
  const away = new Error('the database is away')
  runs[1]?.fail(away)
  assert.deepEqual(await settled, [
    { status: 'rejected', reason: away },
    { status: 'rejected', reason: away },
  ])
  await turn()
  assert.equal(runs.length, 3)
  await finish(2)
  assert.equal(await next, 'did "next"')
  assert.equal(await first, 'did "first"')
})

test('past maxQueued an input is refused with SVC001 and never runs; those who wait are served', async () => {
  const { batch, shares, finish } = createHeldRuns({ maxQueued: 2 })
  const served = ['a', 'b', 'c'].map((each) => batch(each))
  await assert.rejects(batch('d'), (error: Refusal) => error instanceof Refusal && error.code === 'SVC001')
  await finish(0)
  assert.deepEqual(shares(), [['a'], ['b', 'c']])
  const later = batch('e')
  await finish(1)
  await finish(2)
  await Promise.all([...served, later])
  assert.deepEqual(shares(), [['a'], ['b', 'c'], ['e']])
})

test('a run that returns another number of outputs than inputs acknowledges nothing', async () => {
  for (const outputs of [[], ['one', 'two']]) {
    const batch = createBatch<string, string>({ retryScopeOf: () => undefined, run: async () => outputs })
    await assert.rejects(batch('a'), AssertionFailed)
  }
})

test('every input gets its own output, and runs once, under random load', async () => {
  const handedOut = new Map<string, number[]>()
  let underWay = 0
  const batch = createBatch<Item, string>({
    conflictKey: (item) => item.key,
    retryScopeOf: (error) => (error instanceof BadInput ? 'each-input' : undefined),
    maxSize: 7,
    concurrency: 3,
    run: async (inputs) => {
      underWay += 1
      assert.ok(underWay <= 3)
      assert.ok(inputs.length <= 7)
      assert.equal(new Set(inputs.map((item) => item.key)).size, inputs.length)
      for (let turns = Math.floor(Math.random() * 4); turns >= 0; turns -= 1) await turn()
      underWay -= 1
      if (inputs.some((item) => item.number % 97 === 0)) throw new BadInput('97')
      for (const { key, number } of inputs) handedOut.set(key, [...(handedOut.get(key) ?? []), number])
      return inputs.map((item) => `${item.key}/${item.number}`)
    },
  })
  const outputs: Promise<void>[] = []
  for (let number = 1; number <= 3_000; number += 1) {
    const key = `${Math.floor(Math.random() * 20)}`
    const output = batch({ key, number })
    outputs.push(
      number % 97 === 0
        ? assert.rejects(output, BadInput)
        : output.then((each) => assert.equal(each, `${key}/${number}`)),
    )
    if (Math.random() < 0.05) await turn()
  }
  await Promise.all(outputs)
  const all = [...handedOut.values()].flat()
  assert.equal(all.length, new Set(all).size)
  assert.equal(all.length, 3_000 - Math.floor(3_000 / 97))
})

test('a row that somebody keeps: the inputs of other rows are run again without it, those that need it fail together', async () => {
  const runs: string[][] = []
  const kept = new Error('kept')
  const batch = createBatch<string, string>({
    retryScopeOf: (error) => (error === kept ? 'each-row' : undefined),
    rowKey: (input) => input.slice(0, 1),
    concurrency: 1,
    run: async (inputs) => {
      runs.push(inputs)
      if (inputs.some((input) => input.startsWith('k'))) throw kept
      return inputs
    },
  })
  const ends = await Promise.allSettled(['first', 'k1', 'a1', 'k2', 'a2', 'k3'].map(batch))
  assert.deepEqual(
    ends.map((end) => end.status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected'],
  )
  assert.deepEqual(runs, [['first'], ['k1', 'a1', 'k2', 'a2', 'k3'], ['k1', 'k2', 'k3'], ['a1', 'a2']])
})

test('a shared run is a span of the first request that is traced, with links to the others, not of the one that started it', async () => {
  let current: string | null = null
  const started: { parent: string | null; links: string[] | undefined }[] = []
  const tracing: Tracing = {
    current: () => current,
    start(_name, { parent, links }) {
      started.push({ parent, links })
      return { run: (work) => work(), end: () => undefined }
    },
    close: async () => undefined,
  }
  const { batch, finish } = createHeldRuns({ traced: { tracing, name: 'a statement' } })
  const outputs = [null, null, 'one', 'two'].map((traceParent, index) => {
    current = traceParent
    return batch(`${index}`)
  })
  current = 'of a request that is in none of them'
  await finish(0)
  await finish(1)
  await Promise.all(outputs)
  assert.deepEqual(started, [{ parent: 'one', links: ['two'] }])
})

test('a span that cannot be started fails the inputs of its run, and the next run goes on', async () => {
  let isBroken = true
  const tracing: Tracing = {
    current: () => 'a request',
    start() {
      if (isBroken) throw new Error('no span')
      return undefined
    },
    close: async () => undefined,
  }
  const batch = createBatch<string, string>({
    run: async (inputs) => inputs,
    retryScopeOf: () => undefined,
    traced: { tracing, name: 'a statement' },
  })
  await assert.rejects(batch('first'), /no span/)
  isBroken = false
  assert.equal(await batch('second'), 'second')
})
