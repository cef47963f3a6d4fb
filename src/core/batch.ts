// Lets requests share a statement. What arrives together, or while batches are under way, forms the next one, so a commit
// is paid once for all who wait, and a request that comes alone waits for nobody. A batch that fails because of one of its inputs is
// run again in parts: the bad one fails alone. Nothing is acknowledged before its own batch has returned.
import { assert } from './assert.ts'
import { refuse } from './errors.ts'
import { type Distribution, observe } from './tallies.ts'
import { createLanes, createLine, type WaitingLine } from './waiting-line.ts'

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
  /** How many batches may be under way at once, when one is not enough. */
  concurrency?: number
  /** What takes longer than this waits for somebody else: a lock, a disk. */
  patienceMs?: number
  /** How many shared one. */
  sizes?: Distribution
}

type Waiting<Input, Output> = {
  input: Input
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

export function createBatch<Input, Output>(options: BatchOptions<Input, Output>): Batch<Input, Output> {
  const { run, conflictKey, blame, rowKey, sizes } = options
  const { maxSize = 128, maxQueued = 20_000, concurrency = 2, patienceMs = 10 } = options
  const line: WaitingLine<Waiting<Input, Output>> = conflictKey
    ? createLanes(({ input }) => conflictKey(input))
    : createLine()
  let underWay = 0
  /** Those under way that have used up their patience. */
  let late = 0

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

  /**
   * One batch at a time makes the largest ones, and they cost the database least. Another goes beside it when it would be
   * full, or when all that are under way are late: what keeps those waiting is not to keep everybody.
   */
  function isFree(): boolean {
    if (underWay === 0) return true
    return underWay < concurrency && (line.size >= maxSize || late === underWay)
  }

  function startNext(): void {
    if (line.size === 0 || !isFree()) return
    underWay += 1
    let isLate = false
    const patience = setTimeout(() => {
      isLate = true
      late += 1
      startNext()
    }, patienceMs)
    const batch = line.take(maxSize)
    if (sizes) observe(sizes, batch.length)
    settle(batch).finally(() => {
      clearTimeout(patience)
      if (isLate) late -= 1
      underWay -= 1
      startNext()
    })
  }

  return (input) =>
    new Promise((resolve, reject) => {
      if (line.size >= maxQueued) return reject(refuse('SVC001'))
      line.add({ input, resolve, reject })
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
