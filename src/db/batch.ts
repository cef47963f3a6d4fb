// Batches of a statement: inputs of several requests share it. Where customers are in groups, those of different groups never do:
// their rows may be on different servers.
import { type Batch, type BatchOptions, createBatch } from '../core/batch.ts'
import { batchSizesOf, type Tallies } from '../core/tallies.ts'
import type { Tracing } from '../core/tracing.ts'
import { type Database, retryScopeOf } from './database.ts'

export type StatementBatch<Input, Output> = Pick<BatchOptions<Input, Output>, 'run' | 'conflictKey' | 'rowKey'> & {
  /** Counts how many inputs shared the statement. */
  tallies: Tallies
  /** Records a span for each run. */
  tracing?: Tracing
} & (Input extends { customerId: string } ? object : { customerOf: (input: Input) => string })

/** `run` runs the statement of that name, and may run others for what it did not answer. */
export function batchStatement<Input, Output>(
  { groupOf }: Database,
  name: string,
  options: StatementBatch<Input, Output>,
): Batch<Input, Output> {
  const { tallies, tracing, run, conflictKey, rowKey } = options
  const { customerOf = (input: Input) => (input as { customerId: string }).customerId } = options as {
    customerOf?: (input: Input) => string
  }
  return createBatch<Input, Output>({
    retryScopeOf,
    laneOf: groupOf && ((input) => groupOf(customerOf(input))),
    sizes: batchSizesOf(tallies, name),
    traced: tracing && { tracing, name },
    run,
    ...(conflictKey && { conflictKey }),
    ...(rowKey && { rowKey }),
  })
}
