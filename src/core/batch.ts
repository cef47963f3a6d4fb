// Lets requests share a statement. What arrives while batches are under way forms the next one, so a commit is paid once
// for all who wait, and a request that comes alone waits for nobody. A batch that fails because of one of its inputs is
// run again in parts: the bad one fails alone. Nothing is acknowledged before its own batch has returned.
import { assert } from './assert.ts'
import { refuse } from './errors.ts'

export type Batch<Input, Output> = (input: Input) => Promise<Output>

/** The content of an input, or a row that it needs and somebody else keeps. */
export type Blame = 'input' | 'row'

export type BatchOptions<Input, Output> = {
  /** One output per input, in the same order. */
  run: (inputs: Input[]) => Promise<Output[]>
  /** Inputs with the same key never share a batch: they would change the same row in one statement. */
  conflictKey?: (input: Input) => string
  /** What of the inputs has caused an error, so that running the others alone may succeed; undefined: nothing has. */
  blame: (error: unknown) => Blame | undefined
  /** Inputs with the same key change the same row: what keeps one of them waiting too long keeps all of them. */
  rowKey?: (input: Input) => string
  maxSize?: number
  maxQueued?: number
  /** Two: while one batch waits for its commit, the database works on the other. */
  concurrency?: number
}

type Waiting<Input, Output> = {
  input: Input
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

export function createBatch<Input, Output>(options: BatchOptions<Input, Output>): Batch<Input, Output> {
  const { run, conflictKey, blame, rowKey } = options
  const { maxSize = 128, maxQueued = 20_000, concurrency = 2 } = options
  const lanes = new Map<unknown, Waiting<Input, Output>[]>()
  let queued = 0
  let underWay = 0

  /** An input without a key has a lane of its own. */
  function enqueue(waiting: Waiting<Input, Output>): void {
    const key = conflictKey ? conflictKey(waiting.input) : waiting
    const lane = lanes.get(key)
    if (lane) lane.push(waiting)
    else lanes.set(key, [waiting])
    queued += 1
  }

  /** The first of each lane, longest waiting first. A lane with more goes to the end: it does not hold up the others. */
  function takeNext(): Waiting<Input, Output>[] {
    const taken: Waiting<Input, Output>[] = []
    for (const [key, lane] of [...lanes.entries().take(maxSize)]) {
      taken.push(lane.shift() as Waiting<Input, Output>)
      lanes.delete(key)
      if (lane.length > 0) lanes.set(key, lane)
    }
    queued -= taken.length
    return taken
  }

  async function runTogether(batch: Waiting<Input, Output>[]): Promise<void> {
    const outputs = await run(batch.map((waiting) => waiting.input))
    assert(outputs.length === batch.length, `a batch of ${batch.length} returned ${outputs.length} outputs`)
    for (const [index, waiting] of batch.entries()) waiting.resolve(outputs[index] as Output)
  }

  async function settle(batch: Waiting<Input, Output>[]): Promise<void> {
    try {
      await runTogether(batch)
    } catch (error) {
      const parts = partsOf(batch, blame(error))
      if (parts.length > 1) for (const part of parts) await settle(part)
      else for (const waiting of batch) waiting.reject(error)
    }
  }

  /** By row when one was kept: it costs the others one more wait, and those who need it are refused together. */
  function partsOf(batch: Waiting<Input, Output>[], blamed: Blame | undefined): Waiting<Input, Output>[][] {
    if (!blamed) return [batch]
    if (blamed === 'input' || !rowKey) return batch.map((waiting) => [waiting])
    return [...Map.groupBy(batch, (waiting) => rowKey(waiting.input)).values()]
  }

  function startNext(): void {
    if (queued === 0 || underWay >= concurrency) return
    underWay += 1
    settle(takeNext()).finally(() => {
      underWay -= 1
      startNext()
    })
  }

  return (input) =>
    new Promise((resolve, reject) => {
      if (queued >= maxQueued) return reject(refuse('SVC001'))
      enqueue({ input, resolve, reject })
      startNext()
    })
}

/** All of them, whatever becomes of one: the first failure is thrown when the others are done. */
export async function runAll<Input, Output>(batch: Batch<Input, Output>, inputs: Input[]): Promise<Output[]> {
  const ends = await Promise.allSettled(inputs.map(batch))
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
}
