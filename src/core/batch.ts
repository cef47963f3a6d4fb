// Lets requests share a statement. Inputs that arrive together, or while batches are running, form the next batch: one
// commit serves all of them, and an input that arrives alone runs at once. When a batch fails because of one of its inputs
// it is run again in parts, so that only the bad input fails. No input is answered before its own batch has returned.
import { assert } from './assert.ts'
import { refuse } from './errors.ts'
import { type Distribution, observe } from './tallies.ts'
import { errorAttributes, startSharedSpan, type TraceSpan, type Tracing } from './tracing.ts'
import { createLine, createLineByKey, type WaitingLine } from './waiting-line.ts'

export type Batch<Input, Output> = (input: Input) => Promise<Output>

/** How a failed batch is split: into its inputs, or into the inputs of each row that may be locked. */
export type RetryScope = 'each-input' | 'each-row'

export type BatchOptions<Input, Output> = {
  /** Returns one output per input, in the same order. */
  run: (inputs: Input[]) => Promise<Output[]>
  /** Inputs with the same key never share a batch: they would change the same row in one statement. */
  conflictKey?: (input: Input) => string
  /** Inputs of different lanes never share a batch, nor wait for one another: their rows are on different servers. */
  laneOf?: ((input: Input) => number) | undefined
  /** Undefined when the error concerns the whole batch: then all of it fails. */
  retryScopeOf: (error: unknown) => RetryScope | undefined
  /** Inputs with the same key change the same row: a lock on it delays all of them. */
  rowKey?: (input: Input) => string
  maxSize?: number
  maxQueued?: number
  /** How many batches may run at once, when one is not enough. */
  concurrency?: number
  /** A batch that takes longer waits for a lock or a disk, and another one may run beside it. */
  patienceMs?: number
  /** Counts how many inputs shared a statement. */
  sizes?: Distribution
  /** Records a span for each run under this name. */
  traced?: { tracing: Tracing; name: string } | undefined
}

type Waiting<Input, Output> = {
  input: Input
  /** The trace of the request that waits: a batch may run in the context of another one. */
  traceParent: string | null
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

export function createBatch<Input, Output>(options: BatchOptions<Input, Output>): Batch<Input, Output> {
  const { laneOf } = options
  if (!laneOf) return createLane(options)
  const lanes: Batch<Input, Output>[] = []
  return (input) => {
    const number = laneOf(input)
    lanes[number] ??= createLane(options)
    return lanes[number](input)
  }
}

function createLane<Input, Output>(options: BatchOptions<Input, Output>): Batch<Input, Output> {
  const { run, conflictKey, retryScopeOf, rowKey, sizes, traced } = options
  const { maxSize = 128, maxQueued = 20_000, concurrency = 2, patienceMs = 10 } = options
  const line: WaitingLine<Waiting<Input, Output>> = conflictKey
    ? createLineByKey(({ input }) => conflictKey(input))
    : createLine()
  let running = 0
  /** Running batches that have used up their patience. */
  let late = 0

  async function runBatch(batch: Waiting<Input, Output>[]): Promise<void> {
    let span: TraceSpan | undefined
    try {
      span = traced && startSharedSpan(traced.tracing, traced.name, batch)
      const outputs = await run(batch.map((waiting) => waiting.input))
      assert(outputs.length === batch.length, `a batch of ${batch.length} returned ${outputs.length} outputs`)
      span?.end()
      for (const [index, waiting] of batch.entries()) waiting.resolve(outputs[index] as Output)
    } catch (error) {
      span?.end(errorAttributes(error))
      const parts = partsOf(batch, retryScopeOf(error))
      if (parts.length > 1) for (const part of parts) await runBatch(part)
      else for (const waiting of batch) waiting.reject(error)
    }
  }

  /** By row when one was locked: the others wait once more, and the inputs that need the row are refused together. */
  function partsOf(batch: Waiting<Input, Output>[], scope: RetryScope | undefined): Waiting<Input, Output>[][] {
    if (!scope) return [batch]
    if (scope === 'each-input' || !rowKey) return batch.map((waiting) => [waiting])
    return [...Map.groupBy(batch, (waiting) => rowKey(waiting.input)).values()]
  }

  /**
   * One batch at a time makes the largest batches, which cost the database least. Another one runs beside it when it would
   * be full, or when all running ones are late: what delays those should not delay every input.
   */
  function isFree(): boolean {
    if (running === 0) return true
    return running < concurrency && (line.size >= maxSize || late === running)
  }

  function startNext(): void {
    if (line.size === 0 || !isFree()) return
    running += 1
    let isLate = false
    const patience = setTimeout(() => {
      isLate = true
      late += 1
      startNext()
    }, patienceMs)
    const batch = line.take(maxSize)
    if (sizes) observe(sizes, batch.length)
    runBatch(batch).finally(() => {
      clearTimeout(patience)
      if (isLate) late -= 1
      running -= 1
      startNext()
    })
  }

  return (input) => {
    if (line.size >= maxQueued) return Promise.reject(refuse('SVC001'))
    const { promise, resolve, reject } = Promise.withResolvers<Output>()
    line.add({ input, traceParent: traced?.tracing.current() ?? null, resolve, reject })
    startNext()
    return promise
  }
}

/** Runs all inputs; the first failure is thrown when the others are done. */
export async function runAll<Input, Output>(batch: Batch<Input, Output>, inputs: Input[]): Promise<Output[]> {
  const ends = await Promise.allSettled(inputs.map(batch))
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
}
