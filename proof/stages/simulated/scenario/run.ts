// Plays the steps of a run on a world of its own, checks it on the way, and stops at the first state that is wrong.
import { setTimeout as sleep } from 'node:timers/promises'
import { effectPrefix } from '../../../faults.ts'
import { processEndCheck } from '../../../model/checks/all.ts'
import { real } from '../core/real.ts'
import { createSimulation } from '../core/simulation.ts'
import type { Template } from '../core/template.ts'
import { makeDirectory } from '../core/temporary.ts'
import { episodesOf, type Step } from '../plan/steps.ts'
import { perform } from './actions.ts'
import { createChecks } from './checks.ts'
import { watchErrors } from './errors.ts'
import { loadName } from './faults.ts'
import { type Failure, harnessCheck, kindOfError, type RunResult } from './result.ts'
import { openStage, type Stage } from './stage.ts'

export type RunOptions = {
  seed: number
  steps: Step[]
  template: Template
  /** Each event of the scheduler. */
  onLine?: (line: string) => void
}

/** After the last step, for the start and for each quiet moment: hundreds of times as long as one takes. */
const spareMs = 3_600_000
const shortGapMs = 60_000
/** Between steps that are far apart: soon, past the limits of a call, past a lease and its recovery. */
const lookAfterMs = [500, 3_000, 15_000]
/** Longer than the holds that sibling services forget, and than their extensions. */
const shortHoldsMs = 15_000

type Played = {
  failures: Failure[]
  startedSteps: number
  /** Steps that have not ended. */
  underWay: Set<string>
  /** Errors of steps that could not be done. */
  stepErrors: string[]
}

export async function runSteps({ seed, steps, template, onLine }: RunOptions): Promise<RunResult> {
  const startedMs = real.performanceNow()
  const { directory, remove } = makeDirectory(template)
  const errors = watchErrors(onLine)
  const simulation = await createSimulation({ seed, template, onLine: errors.onLine })
  simulation.setIdle(false)
  let stage: Stage | undefined
  const played: Played = { failures: [], startedSteps: 0, underWay: new Set(), stepErrors: [] }
  try {
    const load = simulation.process(loadName)
    load.isPunctual = true
    const playing = load.run(async () => {
      stage = await openStage(simulation, directory)
      await play(stage, steps, played).catch((error) => {
        errors.remember(error)
        throw error
      })
    }, 'begins')
    const limitMs = limitOf(steps)
    await simulation.until(playing, limitMs).catch((error) => {
      if (!stage) throw error
      const atMs = simulation.now()
      played.failures = [atMs >= limitMs ? endless(played, atMs) : failureOf(error, errors.processOf(error), atMs)]
    })
    return {
      digest: simulation.digest(),
      failures: played.failures,
      startedSteps: played.startedSteps,
      simulatedMs: Math.round(simulation.now()),
      tookMs: Math.round(real.performanceNow() - startedMs),
      figures: {
        ...simulation.figures(),
        calls: stage?.history.calls.length ?? 0,
        ...Object.fromEntries(stage?.counts ?? []),
        ...(stage && effectsAtGateway(stage)),
      },
      lines: stage?.world.lines ?? [],
    }
  } finally {
    errors.close()
    await simulation.close()
    remove()
  }
}

/** By kind, on whatever call. */
function effectsAtGateway({ gatewayFaults }: Stage): Record<string, number> {
  const effects: Record<string, number> = {}
  for (const { on, kind, times } of gatewayFaults.fired()) {
    const name = `${effectPrefix}${on === 'webhook' ? 'webhook' : 'gateway'} ${kind}`
    effects[name] = (effects[name] ?? 0) + times
  }
  return effects
}

function limitOf(steps: Step[]): number {
  return Math.max(0, ...steps.map(({ atMs }) => atMs)) + spareMs * (episodesOf(steps).length + 1)
}

function endless({ underWay }: Played, atMs: number): Failure {
  const names = underWay.size > 0 ? [...underWay].join(', ') : 'no step: a check waits'
  return {
    check: harnessCheck,
    kind: harnessCheck,
    violations: [`not over after ${(atMs / 3_600_000).toFixed(1)} simulated hours; under way: ${names}`],
    atMs,
    when: 'at the limit of the run',
    isOfHarness: true,
  }
}

/** An error that nothing has caught: a service or the gateway would have ended by it; any other is of the run itself. */
function failureOf(
  error: unknown,
  { name, isOfProduct }: { name: string; isOfProduct: boolean },
  atMs: number,
): Failure {
  const check = isOfProduct ? processEndCheck : harnessCheck
  return {
    check,
    kind: kindOfError(check, error),
    violations: [String((error as Error).stack ?? error)],
    atMs,
    when: `an error of ${name} that nothing has caught`,
    isOfHarness: !isOfProduct,
  }
}

/** Returns at the first moment at which something is wrong, with all that is wrong then. */
async function play(stage: Stage, steps: Step[], played: Played): Promise<void> {
  const checks = createChecks(stage, new Date())
  /** Whether something is wrong now. */
  const isWrong = async (when: string): Promise<boolean> => {
    const failure = failureOfSteps(stage, played, when) ?? (await checks.betweenSteps(when))
    if (failure) played.failures = [failure]
    return failure !== null
  }
  let last = 'the start'
  for (const [place, episode] of episodesOf(steps).entries()) {
    const quiet = `quiet moment ${place + 1}`
    const fromMs = performance.now()
    for (const [number, step] of episode.steps.entries()) {
      const next = `step ${played.startedSteps + 1} (${step.actor}: ${step.what})`
      // After a quiet moment nothing is under way, and everything was checked.
      if (number === 0) await waitUntil(stage, fromMs + step.atMs)
      else if (await isWrongUntil(stage, fromMs + step.atMs, last, isWrong)) return
      if (await isWrong(`before ${next}, after ${last}`)) return
      start(stage, step, next, played)
      last = next
    }
    if (await isWrongUntil(stage, fromMs + episode.lastsMs, last, isWrong)) return
    if (await isWrong(`before ${quiet}, after ${last}`)) return
    await endFaults(stage)
    if (await isWrong(`before ${quiet}, when every step had ended`)) return
    played.startedSteps = Math.min(played.startedSteps + 1, steps.length)
    played.failures = await checks.atQuietMoment(`at ${quiet}`)
    if (played.failures.length > 0) return
    last = quiet
    // Sessions end when they are not used for a while.
    for (const operator of stage.operators) operator.session = null
  }
}

/** A wait in which the state is looked at some times: what a step has done is there a moment later, or when a lease is over. */
async function isWrongUntil(
  stage: Stage,
  untilMs: number,
  last: string,
  isWrong: (when: string) => Promise<boolean>,
): Promise<boolean> {
  const sinceMs = performance.now()
  for (const afterMs of lookAfterMs.filter((each) => sinceMs + each < untilMs)) {
    await waitUntil(stage, sinceMs + afterMs)
    if (await isWrong(`${afterMs / 1_000} s after ${last}`)) return true
  }
  await waitUntil(stage, untilMs)
  return false
}

/** Not awaited: the next step may come before its end. */
function start(stage: Stage, step: Step, name: string, played: Played): void {
  const doing = perform(stage, step).catch((error) => {
    played.stepErrors.push(`${name}: ${String((error as Error).stack ?? error)}`)
  })
  played.startedSteps += 1
  played.underWay.add(name)
  stage.underWay.add(doing)
  doing.finally(() => {
    played.underWay.delete(name)
    stage.underWay.delete(doing)
  })
}

function failureOfSteps({ history }: Stage, { stepErrors }: Played, when: string): Failure | null {
  if (stepErrors.length === 0) return null
  const atMs = history.nowMs()
  return { check: harnessCheck, kind: harnessCheck, violations: stepErrors, atMs, when, isOfHarness: true }
}

async function waitUntil({ simulation }: Stage, ms: number): Promise<void> {
  const leftMs = ms - performance.now()
  if (leftMs <= 0) return
  if (leftMs <= shortGapMs) return sleep(leftMs)
  // Between bursts the polls of idle workers come late, because nothing waits for them.
  simulation.setIdle(true)
  await sleep(leftMs)
  simulation.setIdle(false)
}

/** Faults end by themselves, except those that wait at the gateway. Every action under way has its answer then, or has given up. */
async function endFaults({ underWay, siblings, gatewayFaults }: Stage): Promise<void> {
  await gatewayFaults.stop()
  while (underWay.size > 0) await Promise.all(underWay)
  await siblings.finish()
  // What came to the gateway in the meantime.
  await gatewayFaults.stop()
  // The checks take a short hold that was forgotten as expired.
  await sleep(shortHoldsMs)
}
