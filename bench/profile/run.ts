// Where the service's time goes under a workload: sampled by V8, in a new process for each workload. The files that it
// writes are opened by the developer tools of a browser; the tables have the most expensive functions.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stopProcess } from '../../harness/launch.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { publish } from '../report/report.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { measure } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { takeAll } from '../stage/turns.ts'
import { type Cost, type CpuProfile, costsOf, tablesOf } from './report.ts'

const connections = 64
/** How long the load runs before it counts; left out of the samples, like everything before it. */
const warmSeconds = 2

export async function runProfile(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const { seconds, workloads, out } = options
  logLine('Starting PostgreSQL and the gateway ...')
  const stage = await openStage(parts, [])
  mkdirSync(out, { recursive: true })
  const profiles: { workload: WorkloadName; costs: Cost[] }[] = []
  const failures = await takeAll(parts, workloads, {
    nameOf: (workload) => workload,
    async take(workload) {
      const name = `${workload.replaceAll(' ', '-')}.cpuprofile`
      const execArgv = ['--cpu-prof', `--cpu-prof-dir=${out}`, `--cpu-prof-name=${name}`]
      const { leftOutMicros, perSecond } = await sample(stage, workload, { seconds, execArgv })
      const profile = JSON.parse(readFileSync(join(out, name), 'utf8')) as CpuProfile
      profiles.push({ workload, costs: costsOf(profile, leftOutMicros) })
      return `${perSecond.toFixed(0)}/s while sampled, written to ${name}`
    },
    afterEach: () => removeOpenOrders(stage.books),
  })
  const how = `${connections} connections for ${seconds} s.`
  const tables = profiles.flatMap(({ workload, costs }) => tablesOf(workload, costs))
  return publish(out, 'profile', { machine: await machineOf(stage), how, tables, failures }, { profiles })
}

type Wanted = { seconds: number; execArgv: string[] }

async function sample(stage: Stage, workload: WorkloadName, { seconds, execArgv }: Wanted) {
  const startedAt = performance.now()
  const { running } = await stage.enter('service', execArgv)
  const startMicros = (performance.now() - startedAt) * 1_000
  try {
    const { perSecond } = await measure(stage, 'service', { workload, connections, seconds, warmSeconds })
    return { leftOutMicros: startMicros + warmSeconds * 1_000_000, perSecond }
  } finally {
    // The profile is written when the process ends.
    await stopProcess(running)
  }
}
