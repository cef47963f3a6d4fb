// The results of a run: one JSON file with every measurement and their summary. Tables and plots are made from the file
// alone, so that they can be made again.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkloadName } from '../load/workloads.ts'
import { writeJson } from '../report/json.ts'
import type { Machine } from '../stage/machine.ts'
import type { Inserts, Measurement, Summary } from './summary.ts'
import type { Judged } from './targets.ts'

export type Failure = { round: number; connections: number; workload: WorkloadName; contender: string; reason: string }

export type Results = {
  machine: Machine
  options: { seconds: number; rounds: number; connections: number[]; workloads: WorkloadName[] }
  plainInsertBy: 'pgbench' | 'node'
  /** The largest share of the processors' time that the host gave to other machines during one measurement; older runs lack it. */
  stolen?: number
  targets: Judged[]
  summaries: Summary[]
  measurements: Measurement[]
  plainInserts: Inserts[]
  failures: Failure[]
}

const name = 'workloads'

export function writeResults(directory: string, results: Results): void {
  writeJson(directory, name, results, ['measurements'])
}

export function readResults(directory: string): Results {
  return JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8'))
}
