// Breaks guards one after the other: seeds run until a check fails, and what failed is shrunk. One row each.
import { writeFileSync } from 'node:fs'
import type { Result } from '../report/record.ts'
import { storyOf } from '../report/story.ts'
import { planSteps } from '../stages/simulated/plan/plan.ts'
import type { Programs } from '../stages/simulated/programs.ts'
import { type Found, shrinkRun } from '../stages/simulated/search.ts'
import type { Guard } from './guard.ts'
import { guards } from './guards.ts'

export type FindOptions = {
  seed: number
  /** The most for each guard. */
  seeds: number
  hours: number
  names: string[]
  json: string | undefined
  /** What failed is not shrunk. */
  noShrink: boolean
  /** The most for each guard. */
  trials?: number
  print(line: string): void
}

export type GuardResult = {
  name: string
  /** Null: not found. */
  seed: number | null
  check: string | null
  /** Until a check failed, the seeds that passed included. */
  foundMs: number
  stepsOfRun: number
  /** Null where it was not shrunk, or where the shrunk steps do not fail in a fresh program. */
  steps: number | null
  trials: number | null
  shrunkMs: number
  story: string | null
  /** What to know about the figures. */
  remarks: string[]
  /** Seeds that could not be carried out, and why. */
  harnessErrors: string[]
}

/** A story of more is not understood by reading it. */
export const mostSteps = 20

const verdicts: Record<number, string> = { 0: 'ALL FOUND', 1: 'NOT ALL FOUND', 3: 'NOT CARRIED OUT' }

/** 0: each was found, and shrunk to a short story; 3: seeds could not be carried out; 1: neither. */
export function outcomeOf(
  results: GuardResult[],
  { noShrink }: Pick<FindOptions, 'noShrink'>,
): { code: number; result: Result } {
  const found = results.filter(({ seed }) => seed !== null)
  const isShort = ({ steps }: GuardResult) => noShrink || (steps !== null && steps <= mostSteps)
  const isDone = found.length === results.length && found.every(isShort)
  const code = results.some(({ harnessErrors }) => harnessErrors.length > 0) ? 3 : isDone ? 0 : 1
  const figures = {
    'broken guards': results.length,
    found: found.length,
    's for the slowest': Math.round(Math.max(0, ...found.map(({ foundMs }) => foundMs)) / 1_000),
    'steps at most': Math.max(0, ...found.map(({ steps }) => steps ?? 0)),
  }
  return { code, result: { verdict: verdicts[code] ?? '', figures } }
}

export async function findGuards(programs: Programs, options: FindOptions): Promise<GuardResult[]> {
  const { names, json, print } = options
  const results: GuardResult[] = []
  for (const name of names) {
    const result = await findGuard(programs, name, options)
    results.push(result)
    print(rowOf(result))
    if (json) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`)
  }
  return results
}

function rowOf({ name, seed, foundMs, check, steps, trials, remarks, harnessErrors }: GuardResult): string {
  const shrunk = steps === null ? '' : `, ${steps} steps after ${trials} trials`
  const found = seed === null ? 'not found' : `seed ${seed} after ${(foundMs / 1_000).toFixed(0)} s: ${check}${shrunk}`
  return [`${name}: ${found}`, ...[...remarks, ...harnessErrors].map((each) => `  ${each}`)].join('\n')
}

async function findGuard(programs: Programs, name: string, options: FindOptions): Promise<GuardResult> {
  const { seed: first, seeds, hours } = options
  const startedMs = performance.now()
  const tookMs = () => Math.round(performance.now() - startedMs)
  const result: GuardResult = {
    name,
    seed: null,
    check: null,
    foundMs: 0,
    stepsOfRun: 0,
    steps: null,
    trials: null,
    shrunkMs: 0,
    story: null,
    remarks: [],
    harnessErrors: [],
  }
  // One program for all seeds: loading the service takes as long as a run of a few steps.
  let runner = programs.openRunner(name)
  try {
    for (let seed = first; seed < first + seeds; seed += 1) {
      const steps = planSteps(seed, hours)
      const whole = await runner.run({ seed, steps, withLines: false }).catch(async (error) => {
        await runner.close()
        runner = programs.openRunner(name)
        result.harnessErrors.push(`seed ${seed}: the program failed: ${error}`)
      })
      const [failure] = whole?.failures ?? []
      if (!whole || !failure) continue
      if (failure.isOfHarness) {
        result.harnessErrors.push(`seed ${seed}: ${failure.check}: ${failure.violations[0]}`)
        continue
      }
      const foundMs = tookMs()
      const { by } = guards[name] as Guard
      const isExpected = by.split(', ').some((id) => failure.check.startsWith(`${id} `))
      const remarks = isExpected ? [] : [`it was expected from ${by}`]
      const found = { ...result, seed, check: failure.check, foundMs, stepsOfRun: whole.startedSteps, remarks }
      if (options.noShrink) return found
      const limit = options.trials === undefined ? {} : { limit: options.trials }
      const shrunk = await shrinkRun(programs, { seed, steps, whole, guard: name }, limit)
      const story = shrunk.failure ? storyOf(shrunk.shrunk.lines, shrunk.failure) : null
      const count = story === null ? null : shrunk.steps.length
      const { trials } = shrunk
      return {
        ...found,
        steps: count,
        trials,
        shrunkMs: tookMs() - foundMs,
        story,
        remarks: [...remarks, ...remarksOf(shrunk)],
      }
    }
    return { ...result, foundMs: tookMs() }
  } finally {
    await runner.close()
  }
}

/** What the number of steps alone does not say. */
export function remarksOf({ failure, isAtLimit, trials, harnessErrors, steps }: Found): string[] {
  const [first] = harnessErrors
  return [
    ...(failure ? [] : [`the ${steps.length} steps do not fail in a fresh program`]),
    ...(isAtLimit ? [`stopped at the limit of ${trials} trials: fewer steps may do`] : []),
    ...(first === undefined ? [] : [`${harnessErrors.length} trials could not be carried out, the first: ${first}`]),
  ]
}
