// A program that runs simulations for programs.ts, one after the other: a run in a fresh one depends on nothing but its seed
// and steps. A guard is broken while the service is loaded.
import './core/patches.ts'
import { appendFileSync, writeFileSync } from 'node:fs'
import { breakGuards } from '../../guards/apply.ts'
import { guards } from '../../guards/guards.ts'
import type { Step } from './plan/steps.ts'
import type { RunResult } from './scenario/result.ts'

/** Where the template database is. */
export type Place = { directory: string; socketPath: string; owner: Record<string, unknown>; servingRole: string }

export type RunRequest = {
  place: Place
  /** The one that is broken. */
  guard: string | undefined
  seed: number
  steps: Step[]
  /** Without them the answer is short. */
  withLines: boolean
  /** A file for the events of the scheduler, one a line. */
  trace?: string | undefined
}

export type RunAnswer = { result: RunResult } | { error: string }

let load: Promise<(request: RunRequest) => Promise<RunResult>> | undefined

async function prepare({ guard }: RunRequest): Promise<(request: RunRequest) => Promise<RunResult>> {
  const broken = guard === undefined ? undefined : guards[guard]
  const finish = broken && breakGuards([broken])
  const { attachTemplate } = await import('./scenario/attach.ts')
  const { runSteps } = await import('./scenario/run.ts')
  await finish?.()
  return async ({ place, seed, steps, withLines, trace }) => {
    const template = await attachTemplate(place)
    try {
      if (trace !== undefined) writeFileSync(trace, '')
      const onLine = trace === undefined ? undefined : (line: string) => appendFileSync(trace, `${line}\n`)
      const result = await runSteps({ seed, steps, template, ...(onLine && { onLine }) })
      return withLines ? result : { ...result, lines: [] }
    } finally {
      await template.close()
    }
  }
}

process.on('message', async (request: RunRequest) => {
  load ??= prepare(request)
  const answer: RunAnswer = await load
    .then((run) => run(request))
    .then(
      (result) => ({ result }),
      (error) => ({ error: String((error as Error).stack ?? error) }),
    )
  process.send?.(answer)
})
process.on('disconnect', () => process.exit())
