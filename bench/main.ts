// `npm run bench`: measures the service beside its ceilings. Starts all it needs and ends it, also on Ctrl-C; logs its
// progress on stderr, prints its tables and writes them. Exit code 0: measured, whether or not a target is met; 1: a
// measurement failed; 2: wrong arguments.
import { WrongArguments } from '../harness/options.ts'
import { runAttacks } from './attacks/run.ts'
import { measuredOnClusters } from './cluster/report.ts'
import { runCluster } from './cluster/run.ts'
import { runGrowth } from './growth/run.ts'
import { runLog } from './log/run.ts'
import { type Options, readOptions, type Takes } from './options.ts'
import { overloaded } from './overload/report.ts'
import { runOverload } from './overload/run.ts'
import { runPages } from './pages/run.ts'
import { runProfile } from './profile/run.ts'
import { logLine } from './report/progress.ts'
import { runSoak } from './soak/run.ts'
import { runWorkloads } from './workloads/run.ts'

/** `run` returns whether everything was measured. What it starts ends with `parts`. */
type Measurement = Takes & { run: (options: Options, parts: AsyncDisposableStack) => Promise<boolean> }

const measurements: Record<string, Measurement> = {
  workloads: { run: runWorkloads, options: ['seconds', 'rounds', 'connections', 'workloads', 'no-pgbench'] },
  overload: { run: runOverload, options: ['seconds', 'rounds', 'workloads'], can: overloaded },
  soak: { run: runSoak, options: ['minutes'] },
  profile: { run: runProfile, options: ['seconds', 'workloads'], workloads: ['purchase', 'confirm'] },
  growth: { run: runGrowth, options: ['orders', 'linear', 'books', 'keep', 'seconds', 'rounds'] },
  pages: { run: runPages, options: ['orders', 'books', 'keep', 'rounds'] },
  cluster: {
    run: runCluster,
    options: ['minutes', 'seconds', 'connections', 'workloads'],
    can: measuredOnClusters,
    usually: { minutes: '8', connections: '64' },
  },
  log: {
    run: runLog,
    options: ['seconds', 'rounds', 'leaves', 'entries'],
    usually: { seconds: '10', rounds: '7' },
  },
  attacks: { run: runAttacks, options: ['entries', 'attacks', 'seed'] },
}

async function main(args: string[]): Promise<boolean> {
  const options = readOptions(args, measurements)
  const { run } = measurements[options.measurement] as Measurement
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
