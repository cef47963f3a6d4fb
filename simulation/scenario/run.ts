// Plays the steps of a run on a world of its own, checks it on the way, and stops at the first state that is wrong.
import { setTimeout as sleep } from 'node:timers/promises'
import { processEndCheck } from '../../chaos/checks/all.ts'
import { checkName } from '../../chaos/checks/evidence.ts'
import { real } from '../core/real.ts'
import { createSimulation } from '../core/simulation.ts'
import type { Template } from '../core/template.ts'
import { makeDirectory } from '../core/temporary.ts'
import { episodesOf, type Step } from '../plan/steps.ts'
import { perform } from './actions.ts'
import { createChecks } from './checks.ts'
import { watchErrors } from './errors.ts'
import { loadName } from './faults.ts'
import { type Failure, harnessCheck, type RunResult } from './result.ts'
import { openStage, type Stage } from './stage.ts'

export type RunOptions = {
  seed: number
  steps: Step[]
  template: Template
  /** Each event of the scheduler. */
  onLine?: (line: string) => void
}

/** Longer than any run. */
const limitMs = 400 * 86_400_000
/** Between bursts the polls of idle workers come late, because nothing waits for them. */
const idle = { afterMs: Number.POSITIVE_INFINITY, fromMs: 100, factor: 200, mostMs: 120_000 }
const idleAfterMs = 3_000
const shortGapMs = 60_000
/** Longer than the holds that sibling services forget, and than their extensions. */
const shortHoldsMs = 15_000

type Played = {
  failures: Failure[]
  startedSteps: number
  /** Errors of the steps themselves, each with its step. */
  stepErrors: string[]
}

export async function runSteps({ seed, steps, template, onLine }: RunOptions): Promise<RunResult> {
  const startedMs = real.performanceNow()
  const { directory, remove } = makeDirectory()
  idle.afterMs = Number.POSITIVE_INFINITY
  const errors = watchErrors(onLine)
  const simulation = await createSimulation({ seed, template, idle, onLine: errors.onLine })
  let stage: Stage | undefined
  const played: Played = { failures: [], startedSteps: 0, stepErrors: [] }
  try {
    const playing = simulation.process(loadName).run(async () => {
      stage = await openStage(simulation, directory)
      await play(stage, steps, played).catch((error) => {
        errors.remember(error)
        throw error
      })
    }, 'begins')
    await simulation.until(playing, limitMs).catch((error) => {
      if (!stage) throw error
      played.failures = [failureOf(error, errors.processOf(error), simulation.now())]
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
      },
      lines: stage?.world.lines ?? [],
    }
  } finally {
    errors.close()
    await simulation.close()
    remove()
  }
}

/** An error that nothing has caught: a service or the gateway would have ended by it; any other is of the run itself. */
function failureOf(
  error: unknown,
  { name, isOfProduct }: { name: string; isOfProduct: boolean },
  atMs: number,
): Failure {
  return {
    check: isOfProduct ? checkName(processEndCheck) : harnessCheck,
    violations: [String((error as Error).stack ?? error)],
    atMs,
    when: `an error of ${name} that nothing has caught`,
    isOfHarness: !isOfProduct,
  }
}

async function play(stage: Stage, steps: Step[], played: Played): Promise<void> {
  const checks = createChecks(stage, new Date())
  for (const [place, episode] of episodesOf(steps).entries()) {
    const fromMs = performance.now()
    for (const step of episode.steps) {
      await waitUntil(stage, fromMs + step.atMs)
      start(stage, step, played)
      played.startedSteps += 1
      const when = `after step ${played.startedSteps}, ${step.actor}: ${step.what}`
      const failure = failureOfSteps(stage, played, when) ?? (await checks.afterStep(when))
      if (failure) {
        played.failures = [failure]
        return
      }
    }
    await waitUntil(stage, fromMs + episode.lastsMs)
    await endFaults(stage)
    played.startedSteps += 1
    const when = `at quiet moment ${place + 1}`
    const failure = failureOfSteps(stage, played, when)
    played.failures = failure ? [failure] : await checks.atQuietMoment(when)
    if (played.failures.length > 0) return
    // Sessions end when they are not used for a while.
    for (const operator of stage.operators) operator.session = null
  }
}

function start(stage: Stage, step: Step, { stepErrors }: Played): void {
  const doing = perform(stage, step).catch((error) => {
    stepErrors.push(`${step.actor}: ${step.what}: ${String((error as Error).stack ?? error)}`)
  })
  stage.underWay.add(doing)
  doing.finally(() => stage.underWay.delete(doing))
}

function failureOfSteps({ history }: Stage, { stepErrors }: Played, when: string): Failure | null {
  if (stepErrors.length === 0) return null
  return { check: harnessCheck, violations: stepErrors, atMs: history.nowMs(), when, isOfHarness: true }
}

async function waitUntil({ simulation }: Stage, ms: number): Promise<void> {
  const leftMs = ms - performance.now()
  if (leftMs <= 0) return
  if (leftMs <= shortGapMs) return sleep(leftMs)
  idle.afterMs = idleAfterMs
  await sleep(leftMs)
  idle.afterMs = Number.POSITIVE_INFINITY
  simulation.hasten()
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
