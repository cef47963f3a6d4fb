// Requests that share a statement: which of them share, in which order, and which of them fail together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AssertionFailed } from '../../src/core/assert.ts'
import { type BatchOptions, createBatch } from '../../src/core/batch.ts'
import { Refusal } from '../../src/core/errors.ts'
import type { Tracing } from '../../src/core/tracing.ts'

type Item = { key: string; number: number }

/** Runs that end when the test finishes them. */
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
    inputsOfRuns: () => runs.map((run) => run.inputs),
    async finish(index: number): Promise<void> {
      runs[index]?.finish()
      await turn()
    },
  }
}

test('a single input runs at once, alone', async () => {
  const { batch, inputsOfRuns, finish } = createHeldRuns()
  const output = batch('a')
  assert.deepEqual(inputsOfRuns(), [['a']])
  await finish(0)
  assert.equal(await output, 'did "a"')
})

test('inputs that arrive while a batch is running form the next one, in order of arrival', async () => {
  const { batch, inputsOfRuns, finish } = createHeldRuns()
  const outputs = ['a', 'b', 'c', 'd'].map((each) => batch(each))
  assert.deepEqual(inputsOfRuns(), [['a']])
  await finish(0)
  assert.deepEqual(inputsOfRuns(), [['a'], ['b', 'c', 'd']])
  await finish(1)
  assert.deepEqual(await Promise.all(outputs), ['did "a"', 'did "b"', 'did "c"', 'did "d"'])
})

test('a batch has at most maxSize inputs; the others form the next batches', async () => {
  const { batch, inputsOfRuns, finish } = createHeldRuns({ maxSize: 2 })
  const outputs = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => batch(each))
  for (let index = 0; index < 4; index += 1) await finish(index)
  assert.deepEqual(inputsOfRuns(), [['a'], ['b', 'c'], ['d', 'e'], ['f']])
  await Promise.all(outputs)
})

test('another batch runs concurrently when it would be full, never more than `concurrency` batches', async () => {
  for (const concurrency of [1, 2, 3]) {
    const { batch, inputsOfRuns, runs, finish } = createHeldRuns({ concurrency, maxSize: 2, patienceMs: 60_000 })
    const outputs = Array.from({ length: 20 }, (_, index) => batch(`${index}`))
    assert.equal(runs.length, concurrency)
    await turn()
    assert.deepEqual(inputsOfRuns().slice(0, 2), concurrency === 1 ? [['0']] : [['0'], ['1', '2']])
    assert.equal(runs.length, concurrency)
    await finish(0)
    assert.equal(runs.length, concurrency + 1)
    for (let index = 1; index < 12; index += 1) await finish(index)
    await Promise.all(outputs)
  }
})

test('a batch that is not full waits for the running one, at most for its patience', async () => {
  const { batch, inputsOfRuns, finish } = createHeldRuns({ concurrency: 2, patienceMs: 30 })
  const outputs = ['a', 'b', 'c'].map((each) => batch(each))
  await turn()
  assert.deepEqual(inputsOfRuns(), [['a']])
  while (inputsOfRuns().length === 1) await turn()
  assert.deepEqual(inputsOfRuns(), [['a'], ['b', 'c']])
  // The second batch has its own patience: a new input waits for either.
  const last = batch('d')
  await turn()
  assert.equal(inputsOfRuns().length, 2)
  await finish(1)
  assert.deepEqual(inputsOfRuns()[2], ['d'])
  await finish(0)
  await finish(2)
  await Promise.all([...outputs, last])
})

test('inputs with the same conflict key never share a batch, and keep their order', async () => {
  const { batch, inputsOfRuns, finish } = createHeldRuns<Item>({ conflictKey: (item) => item.key, maxSize: 3 })
  const items = ['x', 'a', 'a', 'b', 'a', 'c', 'd', 'b'].map((key, number) => ({ key, number }))
  const outputs = items.map((item) => batch(item))
  for (let index = 0; index < 4; index += 1) await finish(index)
  const names = inputsOfRuns().map((inputs) => inputs.map((item) => `${item.key}${item.number}`))
  assert.deepEqual(names, [['x0'], ['a1', 'b3', 'c5'], ['d6', 'a2', 'b7'], ['a4']])
  await Promise.all(outputs)
})

test('a conflict key in a running batch does not prevent the next batch from starting', async () => {
  const options = { conflictKey: (item: Item) => item.key, concurrency: 2, patienceMs: 1 }
  const { batch, inputsOfRuns, finish } = createHeldRuns<Item>(options)
  const outputs = [1, 2, 3].map((number) => batch({ key: 'a', number }))
  while (inputsOfRuns().length === 1) await turn()
  assert.deepEqual(
    inputsOfRuns().map((inputs) => inputs.map((item) => item.number)),
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

test('a single bad input is not run a second time', async () => {
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
  const unreachable = new Error('the database is unreachable')
  runs[1]?.fail(unreachable)
  assert.deepEqual(await settled, [
    { status: 'rejected', reason: unreachable },
    { status: 'rejected', reason: unreachable },
  ])
  await turn()
  assert.equal(runs.length, 3)
  await finish(2)
  assert.equal(await next, 'did "next"')
  assert.equal(await first, 'did "first"')
})

test('above maxQueued an input is refused with SVC001 and never runs; the waiting ones are served', async () => {
  const { batch, inputsOfRuns, finish } = createHeldRuns({ maxQueued: 2 })
  const served = ['a', 'b', 'c'].map((each) => batch(each))
  await assert.rejects(batch('d'), (error: Refusal) => error instanceof Refusal && error.code === 'SVC001')
  await finish(0)
  assert.deepEqual(inputsOfRuns(), [['a'], ['b', 'c']])
  const later = batch('e')
  await finish(1)
  await finish(2)
  await Promise.all([...served, later])
  assert.deepEqual(inputsOfRuns(), [['a'], ['b', 'c'], ['e']])
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

test('a row locked by another transaction: the inputs of other rows are run again without it, those that need it fail together', async () => {
  const runs: string[][] = []
  const locked = new Error('locked')
  const batch = createBatch<string, string>({
    retryScopeOf: (error) => (error === locked ? 'each-row' : undefined),
    rowKey: (input) => input.slice(0, 1),
    concurrency: 1,
    run: async (inputs) => {
      runs.push(inputs)
      if (inputs.some((input) => input.startsWith('k'))) throw locked
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
  current = 'of a request that is not in the batch'
  await finish(0)
  await finish(1)
  await Promise.all(outputs)
  assert.deepEqual(started, [{ parent: 'one', links: ['two'] }])
})

test('a span that cannot be started fails the inputs of its run, and the next run succeeds', async () => {
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
