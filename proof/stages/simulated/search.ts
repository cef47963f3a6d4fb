// Runs seeds until one fails, and shrinks what failed to a short story.
import { minimize, simplifyTimes, withoutGroups } from '../../shrink.ts'
import { episodesOf, type Step } from './plan/steps.ts'
import type { Programs, Runner } from './programs.ts'
import type { RunRequest } from './runner.ts'
import type { Failure, RunResult } from './scenario/result.ts'

export type Found = {
  seed: number
  /** The run that failed first. */
  whole: RunResult
  steps: Step[]
  /** The run of the shrunk steps, in a fresh program. */
  shrunk: RunResult
  /** The one that was looked for, in the shrunk run; undefined: it does not fail in that way there. */
  failure: Failure | undefined
  trials: number
  /** There were more trials to make: fewer steps may do. */
  isAtLimit: boolean
  /** Errors of trials that could not be carried out, and showed nothing. */
  harnessErrors: string[]
}

/** In a fresh program. */
export async function runOnce(
  programs: Programs,
  request: Omit<RunRequest, 'place' | 'guard'>,
  guard?: string,
): Promise<RunResult> {
  const runner = programs.openRunner(guard)
  try {
    return await runner.run(request)
  } finally {
    await runner.close()
  }
}

/** Enough for a plan of a few hundred steps. */
export const mostTrials = 400
/** Each trial leaves some of its memory behind, and a program of gigabytes is slow. */
const trialsPerProgram = 30

/** The fewest steps that fail in the same way; what failed has to be the result of `seed` and `steps`. */
export async function shrinkRun(
  programs: Programs,
  { seed, steps, whole, guard }: { seed: number; steps: Step[]; whole: RunResult; guard: string | undefined },
  { onTrial = () => undefined, limit = mostTrials }: { onTrial?: (line: string) => void; limit?: number } = {},
): Promise<Found> {
  const [wanted] = whole.failures
  if (!wanted || wanted.isOfHarness) throw new Error('there is nothing to shrink')
  const { kind } = wanted
  const harnessErrors: string[] = []
  let isAtLimit = false
  let trials = 0
  let runner: Runner = programs.openRunner(guard)
  async function renewProgram(): Promise<void> {
    await runner.close()
    runner = programs.openRunner(guard)
  }
  async function fails(candidate: Step[]): Promise<boolean> {
    if (trials >= limit) {
      isAtLimit = true
      return false
    }
    if (trials % trialsPerProgram === trialsPerProgram - 1) await renewProgram()
    trials += 1
    const tried = await runner.run({ seed, steps: candidate, withLines: false }).then(
      (result) => evaluateTrial(result, kind),
      async (error): Promise<Trial> => {
        await renewProgram()
        return { fails: false, says: `the program failed: ${error}`, isOfHarness: true }
      },
    )
    if (tried.isOfHarness) harnessErrors.push(`${candidate.length} steps: ${tried.says}`)
    onTrial(`${candidate.length} steps: ${tried.says}`)
    return tried.fails
  }
  try {
    const started = steps.slice(0, whole.startedSteps)
    const last = await lastEpisodes(started, fails)
    const kinds = await withoutGroups(last, ({ actor }) => actor, fails)
    const few = await minimize(kinds, fails)
    const simple = await simplifyTimes(few, fails)
    // At other times other steps may be enough.
    const least = simple === few ? few : await minimize(simple, fails)
    const shrunk = await runOnce(programs, { seed, steps: least, withLines: true }, guard)
    const failure = shrunk.failures.find((each) => each.kind === kind)
    return { seed, whole, steps: least, shrunk, failure, trials, isAtLimit, harnessErrors }
  } finally {
    await runner.close()
  }
}

type Trial = { fails: boolean; says: string; isOfHarness?: boolean }

/** Whether it fails in this way; what else fails does not count. */
function evaluateTrial({ failures, tookMs }: RunResult, kind: string): Trial {
  const [first] = failures
  if (first?.isOfHarness)
    return { fails: false, says: `cannot be carried out: ${first.violations[0]}`, isOfHarness: true }
  const fails = failures.some((each) => each.kind === kind)
  const other = first && !fails ? `, and fails in ${first.kind}` : ''
  return { fails, says: `${fails ? 'fails' : 'passes'} in ${tookMs} ms${other}` }
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
