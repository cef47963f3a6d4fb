// Tries every sabotage: seeds run with the guard broken until a check fails, and what failed is shrunk. One row each.
import { writeFileSync } from 'node:fs'
import { planSteps } from './plan/plan.ts'
import type { Programs } from './programs.ts'
import { storyOf } from './report/story.ts'
import { sabotages } from './sabotage/sabotages.ts'
import { shrinkRun } from './search.ts'

export type HuntOptions = {
  seed: number
  /** At most so many for each sabotage. */
  seeds: number
  hours: number
  /** Only those after this one, in their order. */
  names: string[]
  json: string | undefined
  /** What failed is not shrunk. */
  whole: boolean
  /** At most so many for each sabotage. */
  trials?: number
  print(line: string): void
}

export type Hunted = {
  name: string
  seed: number | null
  check: string | null
  /** Until a check failed, the seeds that passed included. */
  foundMs: number
  stepsOfRun: number
  steps: number | null
  trials: number | null
  shrunkMs: number
  story: string | null
}

export async function huntAll(programs: Programs, options: HuntOptions): Promise<Hunted[]> {
  const { names, json, print } = options
  const rows: Hunted[] = []
  for (const name of names) {
    const row = await hunt(programs, name, options)
    rows.push(row)
    const steps = row.steps === null ? '' : `, ${row.steps} steps after ${row.trials} trials`
    const found = `seed ${row.seed} after ${(row.foundMs / 1_000).toFixed(0)} s: ${row.check}${steps}`
    print(`${name}: ${row.seed === null ? 'not found' : found}`)
    if (json) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`)
  }
  return rows
}

export const huntedNames = Object.keys(sabotages).filter((name) => !sabotages[name]?.outside)

async function hunt(programs: Programs, name: string, options: HuntOptions): Promise<Hunted> {
  const { seed: first, seeds, hours } = options
  const startedMs = performance.now()
  const unfound: Hunted = {
    name,
    seed: null,
    check: null,
    foundMs: 0,
    stepsOfRun: 0,
    steps: null,
    trials: null,
    shrunkMs: 0,
    story: null,
  }
  // One program for all seeds: loading the service takes as long as a run of a few steps.
  await using parts = new AsyncDisposableStack()
  const runner = programs.openRunner(name)
  parts.defer(() => runner.close())
  for (let seed = first; seed < first + seeds; seed += 1) {
    const steps = planSteps(seed, hours)
    const whole = await runner.run({ seed, steps, withLines: false })
    if (!whole.failure) continue
    const foundMs = Math.round(performance.now() - startedMs)
    const found = { ...unfound, seed, check: whole.failure.check, foundMs, stepsOfRun: whole.begun }
    if (options.whole) return found
    const {
      steps: few,
      trials,
      shrunk,
    } = await shrinkRun(
      programs,
      { seed, steps, whole, sabotage: name },
      options.trials === undefined ? {} : { limit: options.trials },
    )
    const shrunkMs = Math.round(performance.now() - startedMs) - foundMs
    const story = shrunk.failure && storyOf(shrunk.lines, shrunk.failure)
    return { ...found, steps: few.length, trials, shrunkMs, story }
  }
  return { ...unfound, foundMs: Math.round(performance.now() - startedMs) }
}
