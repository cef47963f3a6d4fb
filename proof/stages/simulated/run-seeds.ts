// Runs one seed after the other until one fails, and prints what happened: a line for each, the story of what failed.
import { readFileSync, writeFileSync } from 'node:fs'
import { findGuards, outcomeOf, remarksOf } from '../../guards/find.ts'
import type { OptionsOf } from '../../options.ts'
import { ednOf } from '../../report/edn.ts'
import { countEffects, findWithoutEffect } from '../../report/enough.ts'
import type { Result } from '../../report/record.ts'
import { renderTable } from '../../report/report.ts'
import { storyOf } from '../../report/story.ts'
import { explainDifference } from './compare.ts'
import { planSteps } from './plan/plan.ts'
import { episodesOf, readSteps, type Step, writeSteps } from './plan/steps.ts'
import { openPrograms, type Programs } from './programs.ts'
import type { RunRequest } from './runner.ts'
import type { RunResult } from './scenario/result.ts'
import { runOnce, shrinkRun } from './search.ts'

type Output = {
  /** Results. */
  print(line: string): void
  /** Progress. */
  logLine(line: string): void
}

type SeedOptions = Omit<OptionsOf<'simulated'>, 'guards'> & Output & { guard: string | undefined }

type Seed = { seed: number; steps: Step[] }

type Outcome = { code: number; result: Result }

/** With several broken guards, the result has a row for each. */
export async function runSimulated(
  options: OptionsOf<'simulated'>,
  { stopped, ...output }: Output & { stopped: AbortSignal },
): Promise<Outcome> {
  await using parts = new AsyncDisposableStack()
  const programs = await openPrograms()
  parts.defer(() => programs.close())
  const { promise: ending, reject } = Promise.withResolvers<never>()
  stopped.addEventListener('abort', () => reject(stopped.reason))
  const { guards: names, 'no-shrink': noShrink, ...others } = options
  const [guard] = names
  const running =
    names.length > 1
      ? findGuards(programs, { ...others, names, noShrink, ...output }).then((found) => outcomeOf(found, { noShrink }))
      : runSeeds(programs, { ...options, ...output, guard })
  return await Promise.race([running, ending])
}

async function runSeeds(programs: Programs, options: SeedOptions): Promise<Outcome> {
  const { seed: first, seeds, minutes, hours, json, print } = options
  const startedMs = performance.now()
  const goesOn = (seed: number) =>
    minutes === undefined ? seed < first + seeds : seed === first || performance.now() - startedMs < minutes * 60_000
  const results: object[] = []
  const figuresOfSeeds: Record<string, number>[] = []
  let episodes = 0
  let steps = 0
  let code = 0
  for (let seed = first; goesOn(seed) && code === 0; seed += 1) {
    const planned = options.steps ? readSteps(readFileSync(options.steps, 'utf8')) : planSteps(seed, hours)
    const { result, isRepeated } = await runSeed(programs, { seed, steps: planned }, options)
    const { digest, simulatedMs, tookMs, startedSteps, figures } = result
    const [failure] = result.failures
    figuresOfSeeds.push(figures)
    episodes += episodesOf(planned).length
    steps += startedSteps
    const row = { seed, digest, isRepeated, simulatedMs, tookMs, startedSteps, figures }
    if (failure) {
      const foundMs = Math.round(performance.now() - startedMs)
      results.push({
        ...row,
        failure,
        foundMs,
        ...(await reportFailure(programs, { seed, steps: planned }, result, options)),
      })
      code = failure.isOfHarness ? 3 : 1
    } else {
      results.push(row)
      code = isRepeated === false ? 1 : 0
    }
  }
  if (json) writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`)
  const count = figuresOfSeeds.length
  const rows = countEffects(figuresOfSeeds)
  if (seeds > 1 || count > 1) {
    print(`\n${renderTable({ title: `Faults that took effect in ${count} seeds`, rows })}`)
    const missing = findWithoutEffect(rows, { seeds: count, episodes })
    if (code === 0 && missing.length > 0) {
      print(`WITHOUT EFFECT: ${missing.join(', ')}`)
      code = 1
    }
  }
  const faults = Object.values(rows).reduce((sum, times) => sum + times, 0)
  const figures = { seeds: count, steps, 'faults that took effect': faults }
  return { code, result: { verdict: verdicts[code] ?? '', figures } }
}

/** By exit code. */
const verdicts: Record<number, string> = { 0: 'PASSED', 1: 'FAILED', 3: 'NOT CARRIED OUT' }

/** `isRepeated`: whether the second run had the same events; undefined without one. */
async function runSeed(
  programs: Programs,
  { seed, steps }: Seed,
  options: SeedOptions,
): Promise<{ result: RunResult; isRepeated: boolean | undefined }> {
  const { guard, trace, edn, twice, print } = options
  const run = (request: Pick<RunRequest, 'withLines' | 'trace'>) =>
    runOnce(programs, { seed, steps, ...request }, guard)
  const result = await run({ withLines: true, trace })
  print(lineOf(seed, result))
  if (edn) writeFileSync(edn, ednOf(result.lines))
  if (!twice) return { result, isRepeated: undefined }
  const again = await run({ withLines: false, trace: trace && `${trace}.2` })
  const isRepeated = again.digest === result.digest
  print(`seed ${seed}: ${again.digest}  the second time${isRepeated ? '' : ': NOT THE SAME'}`)
  if (!isRepeated) print(await explainDifference((file) => run({ withLines: false, trace: file })))
  return { result, isRepeated }
}

function lineOf(seed: number, { digest, failures, startedSteps, simulatedMs, tookMs }: RunResult): string {
  const [failure] = failures
  const took = `${(simulatedMs / 3_600_000).toFixed(2)} h in ${(tookMs / 1_000).toFixed(1)} s`
  const failed = failure ? `, ${failure.isOfHarness ? 'CANNOT BE CARRIED OUT' : 'FAILED'}: ${failure.check}` : ''
  return `seed ${seed}: ${digest}  ${startedSteps} steps, ${took}${failed}`
}

/** Prints the story of a failing run, shrunk where that is possible and wanted. */
async function reportFailure(
  programs: Programs,
  { seed, steps }: Seed,
  whole: RunResult,
  options: SeedOptions,
): Promise<object> {
  const { guard, edn, print, logLine } = options
  const [failure] = whole.failures
  if (!failure) return {}
  if (failure.isOfHarness || options['no-shrink'] || options.steps) {
    print(`\n${storyOf(whole.lines, failure)}`)
    return {}
  }
  logLine(`shrinking ${whole.startedSteps} steps`)
  const found = await shrinkRun(programs, { seed, steps, whole, guard }, { onTrial: logLine })
  const remarks = remarksOf(found)
  print(`\nThe same with ${found.steps.length} steps, after ${found.trials} trials:\n`)
  if (found.failure) print(storyOf(found.shrunk.lines, found.failure))
  for (const remark of remarks) print(`Note: ${remark}.`)
  print(`Steps, for --seed ${seed} --steps FILE:\n\n${writeSteps(found.steps)}`)
  if (edn) writeFileSync(`${edn}.shrunk`, ednOf(found.shrunk.lines))
  return { steps: found.steps, trials: found.trials, shrunk: found.failure ?? null, remarks }
}
