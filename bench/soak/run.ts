// A mixed day for some minutes or hours: whether memory and throughput at the end are those of the beginning. Every
// order of a mixed day is confirmed, so that none accumulate.
import { megabytesOf } from '../../harness/process-usage.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { publish, short } from '../report/report.ts'
import { machineOf } from '../stage/machine.ts'
import { beginLoad } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { type Sample, tableOf } from './report.ts'

const connections = 64
const sampleSeconds = 10
const samplesPerMinute = 60 / sampleSeconds

export async function runSoak({ minutes, out }: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting PostgreSQL, the gateway and the service ...')
  const stage = await openStage(parts, ['service'])
  logLine(`A mixed day at ${connections} connections for ${minutes} min ...`)
  const { samples, failures } = await sample(stage, minutes)
  const how = `a mixed day at ${connections} connections; a point every ${sampleSeconds} s.`
  // A failure has ended the soak: nothing is compared.
  const tables = failures.length === 0 ? [tableOf(samples, minutes)] : []
  return publish(out, 'soak', { machine: await machineOf(stage), how, tables, failures }, { samples })
}

/** Samples taken before a failure are kept. */
async function sample(stage: Stage, minutes: number): Promise<{ samples: Sample[]; failures: string[] }> {
  const windows = minutes * samplesPerMinute
  const wanted = { workload: 'mixed day', connections, seconds: sampleSeconds, warmSeconds: 0, windows } as const
  const load = await beginLoad(stage, 'service', wanted)
  const samples: Sample[] = []
  try {
    await load.measuring()
    for (let number = 1; number <= windows; number += 1) {
      const { seconds, done } = await load.measured()
      const megabytes = megabytesOf(load.contender.pid)
      const perSecond = done.count / seconds
      samples.push({ minute: number / samplesPerMinute, perSecond, p99Ms: done.p99Ms, megabytes })
      logLine(
        `${number} of ${windows}: ${perSecond.toFixed(0)}/s, p99 ${short(done.p99Ms)} ms, ${megabytes?.toFixed(0)} MB`,
      )
    }
    return { samples, failures: [] }
  } catch (error) {
    if (stage.parts.disposed) throw error
    return { samples, failures: [(error as Error).message] }
  } finally {
    await load.finished()
  }
}
