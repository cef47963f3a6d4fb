// What the transparency log costs and takes: throughput with it and without it, the time from a commit to the log, proofs in a log
// of many millions of leaves, the appending of old entries, disk.
import type { Options } from '../options.ts'
import { writeJson } from '../report/json.ts'
import { logLine } from '../report/progress.ts'
import { type Machine, machineOf } from '../stage/machine.ts'
import { measureBigLog } from './big-log.ts'
import { measureDelays } from './delay.ts'
import { comparisonsOf, type Measurement, percentilesOf, type Results, tablesOf } from './results.ts'
import { connections, measureSides, openSides } from './throughput.ts'

const delayRounds = 3

export async function runLog(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  const { seconds, rounds, log: wanted, out } = options
  if (!wanted) throw new Error('the size of the log is missing')
  const failures: string[] = []
  logLine('Starting the gateway and the service, with the log and without it ...')
  const ofService = await measureService(parts, options, failures)
  const { sealing, bigLog } = await measureBigLog(parts, wanted)
  const { measurements, delays, machine } = ofService
  const results: Results = {
    machine,
    options: { seconds, rounds, connections },
    comparisons: comparisonsOf(measurements),
    delay: { entries: delays.length, seconds: percentilesOf(delays) },
    sealing,
    bigLog,
    measurements,
    failures,
  }
  writeJson(out, 'log', results, ['measurements'])
  process.stdout.write(tablesOf(results))
  logLine(`Written to ${out}: log.json`)
  return failures.length === 0
}

/** All of it has ended before the large log is built: the processors are for one thing at a time. */
async function measureService(
  parts: AsyncDisposableStack,
  { seconds, rounds }: Options,
  failures: string[],
): Promise<{ measurements: Measurement[]; delays: number[]; machine: Machine }> {
  const own = new AsyncDisposableStack()
  parts.defer(() => own.disposeAsync())
  const stages = await openSides(own, seconds)
  const measurements = await measureSides(stages, { rounds, seconds }, failures)
  logLine('Measuring the time from a commit to the log ...')
  const kept = stages['with the log']
  const delays = await measureDelays(kept, seconds * delayRounds)
  const machine = await machineOf(kept)
  await own.disposeAsync()
  return { measurements, delays, machine }
}
