// Plays the steps of a run on a world of its own, checks it on the way, and stops at the first state that is wrong.
import { setTimeout as sleep } from 'node:timers/promises'
import { real } from '../core/real.ts'
import { createSimulation } from '../core/simulation.ts'
import type { Template } from '../core/template.ts'
import { makeDirectory } from '../core/temporary.ts'
import { episodesOf, type Step } from '../plan/steps.ts'
import { perform } from './actions.ts'
import { createChecks } from './checks.ts'
import { loadName } from './faults.ts'
import type { Failure, RunResult } from './result.ts'
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

type Played = { failed: Failure[]; begun: number; error?: unknown }

export async function runSteps({ seed, steps, template, onLine }: RunOptions): Promise<RunResult> {
  const startedMs = real.performanceNow()
  const { directory, remove } = makeDirectory()
  idle.afterMs = Number.POSITIVE_INFINITY
  const simulation = await createSimulation({ seed, template, idle, ...(onLine && { onLine }) })
  let stage: Stage | undefined
  const played: Played = { failed: [], begun: 0 }
  try {
    const playing = simulation.process(loadName).run(async () => {
      stage = await openStage(simulation, directory)
      await play(stage, steps, played).catch((error) => {
        played.error = error
        throw error
      })
    }, 'begins')
    await simulation.until(playing, limitMs).catch((error) => {
      if (!stage) throw error
      played.failed = [outsideOfRequests(error, simulation.now(), played.error === error)]
    })
    const [failure = null] = played.failed
    return {
      digest: simulation.digest(),
      failure,
      failed: played.failed.map(({ check }) => check),
      begun: played.begun,
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
    await simulation.close()
    remove()
  }
}

/** An error that a process would have ended by, or one of the run itself. */
function outsideOfRequests(error: unknown, atMs: number, isOfRun: boolean): Failure {
  const check = isOfRun
    ? 'every step and check can be carried out'
    : 'C-30 no process ended by itself, and SIGTERM ends a service with 0 in time'
  return { check, violations: [String((error as Error).stack ?? error)], atMs, when: 'an error outside of any request' }
}

async function play(stage: Stage, steps: Step[], played: Played): Promise<void> {
  const checks = createChecks(stage, new Date())
  for (const [place, episode] of episodesOf(steps).entries()) {
    const fromMs = performance.now()
    for (const step of episode.steps) {
      await waitUntil(stage, fromMs + step.atMs)
      begin(stage, step)
      played.begun += 1
      const failure = await checks.afterStep(`after step ${played.begun}, ${step.actor}: ${step.what}`)
      if (failure) {
        played.failed = [failure]
        return
      }
    }
    await waitUntil(stage, fromMs + episode.lastsMs)
    await endFaults(stage)
    played.begun += 1
    played.failed = await checks.atQuietMoment(`at quiet moment ${place + 1}`)
    if (played.failed.length > 0) return
    // Sessions end when they are not used for a while.
    for (const operator of stage.operators) operator.session = null
  }
}

function begin(stage: Stage, step: Step): void {
  const doing = perform(stage, step)
  stage.underWay.add(doing)
  doing.finally(() => stage.underWay.delete(doing))
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
