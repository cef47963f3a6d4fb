// `npm run bench`: measures the service beside its ceilings. Starts all it needs and ends it, also on Ctrl-C; logs its
// progress on stderr, prints tables, writes JSON and plots. Exit code 0: measured, whether or not a target is met; 1: a
// measurement failed; 2: wrong arguments.
import { WrongArguments } from '../harness/options.ts'
import { runAttacks } from './attacks/run.ts'
import { measuredOnClusters } from './cluster/results.ts'
import { runCluster } from './cluster/run.ts'
import { runGrowth } from './growth/run.ts'
import { runLog } from './log/run.ts'
import { type Options, readOptions, type Takes } from './options.ts'
import { overloaded } from './overload/plan.ts'
import { runOverload } from './overload/run.ts'
import { runPages } from './pages/run.ts'
import { runProfile } from './profile/run.ts'
import { logLine } from './report/progress.ts'
import { runSoak } from './soak/run.ts'
import { runWorkloads } from './workloads/run.ts'

/** Returns whether everything was measured. What it starts ends with `parts`. */
type Run = (options: Options, parts: AsyncDisposableStack) => Promise<boolean>

const runs: Record<string, Run> = {
  workloads: runWorkloads,
  overload: runOverload,
  soak: runSoak,
  profile: runProfile,
  growth: runGrowth,
  pages: runPages,
  cluster: runCluster,
  log: runLog,
  attacks: runAttacks,
}

const takes: Record<string, Takes> = {
  overload: { options: ['seconds', 'rounds', 'workloads', 'out'], can: overloaded },
  soak: { options: ['minutes', 'out'] },
  profile: { options: ['seconds', 'workloads', 'out'], workloads: ['purchase', 'confirm'] },
  growth: { options: ['orders', 'linear', 'books', 'keep', 'seconds', 'rounds', 'out'] },
  pages: { options: ['orders', 'books', 'keep', 'rounds', 'out'] },
  cluster: {
    options: ['minutes', 'seconds', 'connections', 'workloads', 'out'],
    can: measuredOnClusters,
    usually: { minutes: '8', connections: '64' },
  },
  log: { options: ['seconds', 'rounds', 'leaves', 'entries', 'out'], usually: { seconds: '10', rounds: '7' } },
  attacks: { options: ['entries', 'attacks', 'seed', 'out'] },
}

async function main(args: string[]): Promise<boolean> {
  const options = readOptions(args, Object.keys(runs), takes)
  const run = runs[options.measurement] as Run
  await using parts = new AsyncDisposableStack()
  const interrupted = Promise.withResolvers<never>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupted.reject(new Error(`ended by ${signal}`)))
  }
  return await Promise.race([run(options, parts), interrupted.promise])
}

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
} catch (error) {
  logLine(error instanceof Error ? error.message : String(error))
  process.exitCode = error instanceof WrongArguments ? 2 : 1
}
