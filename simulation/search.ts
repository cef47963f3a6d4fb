// Runs seeds until one fails, and shrinks what failed to a short story.

import { minimize, simplifyTimes, withoutGroups } from './plan/shrink.ts'
import { episodesOf, type Step } from './plan/steps.ts'
import type { Programs, Runner } from './programs.ts'
import type { RunRequest } from './runner.ts'
import type { RunResult } from './scenario/result.ts'

export type Found = {
  seed: number
  /** Of the run that failed first. */
  whole: RunResult
  steps: Step[]
  /** Of the shrunk steps, in a program of its own. */
  shrunk: RunResult
  trials: number
}

/** In a fresh program. */
export async function runOnce(
  programs: Programs,
  request: Omit<RunRequest, 'place' | 'sabotage'>,
  sabotage?: string,
): Promise<RunResult> {
  const runner = programs.openRunner(sabotage)
  try {
    return await runner.run(request)
  } finally {
    await runner.close()
  }
}

/** Enough for a plan of a few hundred steps. */
export const mostTrials = 400

/** The fewest steps that fail in the same check; what failed has to be the result of `seed` and `steps`. */
export async function shrinkRun(
  programs: Programs,
  { seed, steps, whole, sabotage }: { seed: number; steps: Step[]; whole: RunResult; sabotage: string | undefined },
  { onTrial = () => undefined, limit = mostTrials }: { onTrial?: (line: string) => void; limit?: number } = {},
): Promise<Found> {
  const { failure } = whole
  if (!failure) throw new Error('there is nothing to shrink')
  let trials = 0
  let runner: Runner = programs.openRunner(sabotage)
  async function fails(candidate: Step[]): Promise<boolean> {
    if (trials >= limit) return false
    trials += 1
    const result = await runner.run({ seed, steps: candidate, withLines: false }).catch(async () => {
      await runner.close()
      runner = programs.openRunner(sabotage)
      return undefined
    })
    const isSame = result?.failed.includes(failure?.check ?? '') ?? false
    onTrial(`${candidate.length} steps: ${isSame ? 'fails' : 'passes'} in ${result?.tookMs} ms`)
    return isSame
  }
  try {
    const begun = steps.slice(0, whole.begun)
    const last = await lastEpisodes(begun, fails)
    const kinds = await withoutGroups(last, ({ actor }) => actor, fails)
    const few = await minimize(kinds, fails)
    const least = await simplifyTimes(few, fails)
    const shrunk = await runOnce(programs, { seed, steps: least, withLines: true }, sabotage)
    return { seed, whole, steps: least, shrunk, trials }
  } finally {
    await runner.close()
  }
}

/** Most failures need the last episode only: without the ones before, each trial is short. */
async function lastEpisodes(steps: Step[], fails: (steps: Step[]) => Promise<boolean>): Promise<Step[]> {
  const count = episodesOf(steps).length
  for (let kept = 1; kept < count; kept *= 2) {
    const from = episodesOf(steps)
      .slice(0, count - kept)
      .reduce((sum, { lastsMs }) => sum + lastsMs, 0)
    const last = steps.filter(({ atMs }) => atMs > from).map((step) => ({ ...step, atMs: step.atMs - from }))
    if (await fails(last)) return last
  }
  return steps
}
