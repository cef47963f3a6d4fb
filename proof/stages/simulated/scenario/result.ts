// What a run of the simulation returns.
import type { Line } from '../../../report/edn.ts'

/** The check that every step and check of the run itself ends, without an error of its own. */
export const harnessCheck = 'every step and check can be carried out'

export type Failure = {
  /** Its id and title. */
  check: string
  /**
   * The check and what breaks it, where one check stands for many: a rule of the audit, an error. The same while a run is
   * shrunk.
   */
  kind: string
  violations: string[]
  /** Since the start of the run. */
  atMs: number
  /** At which moment it was found. */
  when: string
  /** The run could not be carried out: this shows nothing about the product. */
  isOfHarness: boolean
}

export const kindOf = (check: string, about?: string) => (about === undefined ? check : `${check}: ${about}`)

/** By its first line, without whatever has a digit: ids and numbers change when steps are left out. */
export function kindOfError(check: string, error: unknown): string {
  const [line = ''] = String(error).split('\n')
  return kindOf(check, line.replace(/[\w-]*\d[\w-]*/g, '…'))
}

export type RunResult = {
  /** SHA-256 of the history. */
  digest: string
  /** All that failed at the first moment at which something did, the most telling one first; empty: the run passed. */
  failures: Failure[]
  /** How many steps had started when the run ended, quiet moments included. */
  startedSteps: number
  simulatedMs: number
  tookMs: number
  figures: Record<string, number>
  /** Requests, answers and what else happened. */
  lines: Line[]
}
