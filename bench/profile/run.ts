// Where the service's time goes under a workload: sampled by V8, in a new process for each workload, as a flame graph
// and a table.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stopProcess } from '../../harness/launch.ts'
import type { WorkloadName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { table } from '../report/table.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { describeMachine, machineOf } from '../stage/machine.ts'
import { measure } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { type CpuProfile, type Frame, mergeFrames, sharesOf } from './cpu-profile.ts'
import { drawFlame } from './flame.ts'

const connections = 64
/** How long the load runs before it counts; left out of the samples, like everything before it. */
const warmSeconds = 2
const functionsShown = 10

export async function runProfile(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const { seconds, workloads, out } = options
  logLine('Starting PostgreSQL and the gateway ...')
  const stage = await openStage(parts, [])
  mkdirSync(out, { recursive: true })
  process.stdout.write(`${describeMachine(await machineOf(stage))}; ${connections} connections for ${seconds} s.\n`)
  let failures = 0
  for (const workload of workloads) {
    try {
      const { profile, startMicros, perSecond } = await sample(stage, workload, seconds)
      const root = mergeFrames(profile, startMicros + warmSeconds * 1_000_000)
      const fileName = `flame-${workload.replaceAll(' ', '-')}.svg`
      const title = `Where the time goes: ${workload}`
      const subtitle = `${connections} connections, ${perSecond.toFixed(0)} requests a second while sampled; width: share of the time that was not idle`
      writeFileSync(join(out, fileName), drawFlame({ title, subtitle }, root))
      process.stdout.write(`\n${tablesOf(workload, root)}`)
      logLine(`Written to ${out}: ${fileName}`)
    } catch (error) {
      if (parts.disposed) throw error
      failures += 1
      process.stdout.write(`\n- FAILED: ${workload}: ${(error as Error).message}\n`)
    }
  }
  return failures === 0
}

async function sample(
  stage: Stage,
  workload: WorkloadName,
  seconds: number,
): Promise<{ profile: CpuProfile; startMicros: number; perSecond: number }> {
  const { directory } = stage.books
  const name = `${workload.replaceAll(' ', '-')}.cpuprofile`
  const execArgv = ['--cpu-prof', `--cpu-prof-dir=${directory}`, `--cpu-prof-name=${name}`]
  const startedAt = performance.now()
  const { running } = await stage.enter('service', execArgv)
  const startMicros = (performance.now() - startedAt) * 1_000
  try {
    logLine(`${workload}: ${seconds} s, and ${warmSeconds} s to warm up ...`)
    const { perSecond } = await measure(stage, 'service', { workload, connections, seconds, warmSeconds })
    // It is written when the process ends.
    await stopProcess(running)
    return { profile: JSON.parse(readFileSync(join(directory, name), 'utf8')), startMicros, perSecond }
  } finally {
    await stopProcess(running)
    if (!stage.parts.disposed) await removeOpenOrders(stage.books)
  }
}

function tablesOf(workload: WorkloadName, root: Frame): string {
  const { owners, functions } = sharesOf(root)
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  return [
    table(
      [`${workload}: self time by owner`, 'share'],
      owners.map(({ owner, share }) => [owner, percent(share)]),
    ),
    table(
      ['function', 'place', 'owner', 'self time'],
      functions.slice(0, functionsShown).map(({ name, place, owner, share }) => [name, place, owner, percent(share)]),
    ),
  ].join('\n')
}
