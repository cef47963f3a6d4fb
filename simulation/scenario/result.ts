// What a run of the simulation returns.
import type { Line } from '../report/edn.ts'

export type Failure = {
  /** Its id and title: the same while a run is shrunk. */
  check: string
  violations: string[]
  /** Since the start of the run. */
  atMs: number
  /** At which moment it was found. */
  when: string
}

export type RunResult = {
  /** SHA-256 of the history. */
  digest: string
  /** The first check that failed; null: none. */
  failure: Failure | null
  /** All that failed then. */
  failed: string[]
  /** How many steps had begun when the run ended. */
  begun: number
  simulatedMs: number
  tookMs: number
  figures: Record<string, number>
  /** Requests, answers and what else happened. */
  lines: Line[]
}
