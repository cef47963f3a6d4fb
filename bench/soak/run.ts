// A mixed day for some minutes or hours: whether memory and throughput at the end are those of the beginning. Every
// order of a mixed day is confirmed, so that none accumulate.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { megabytesOf } from '../../harness/process-usage.ts'
import type { Options } from '../options.ts'
import { writeJson } from '../report/json.ts'
import { drawLines } from '../report/lines.ts'
import { logLine } from '../report/progress.ts'
import { short, table } from '../report/table.ts'
import { describeMachine, type Machine, machineOf } from '../stage/machine.ts'
import { beginLoad } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { leastMinutes, type Minute, mostGrowth, type Sample, type Summary, summarise } from './summary.ts'

const connections = 64
const sampleSeconds = 10
const samplesPerMinute = 60 / sampleSeconds

export async function runSoak({ minutes = 1, out }: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting PostgreSQL, the gateway and the service ...')
  const stage = await openStage(parts, ['service'])
  logLine(`A mixed day at ${connections} connections for ${minutes} min ...`)
  const { samples, failure } = await sample(stage, minutes)
  const machine = await machineOf(stage)
  const summary = failure ? null : summarise(samples, minutes)
  const results: Results = { machine, options: { minutes, connections }, summary, samples, failure }
  writeJson(out, 'soak', results, ['samples'])
  writeFileSync(join(out, 'soak.svg'), drawLines({ title: `${minutes} min under load`, subtitle }, panelsOf(samples)))
  process.stdout.write(tablesOf(results))
  logLine(`Written to ${out}: soak.json, soak.svg`)
  return failure === null
}

export type Results = {
  machine: Machine
  options: { minutes: number; connections: number }
  summary: Summary | null
  samples: Sample[]
  failure: string | null
}

const subtitle = `a mixed day at ${connections} connections; a point every ${sampleSeconds} s`

export function tablesOf({ machine, summary, failure }: Results): string {
  const failed = failure ? `- FAILED: ${failure}\n` : ''
  return `${describeMachine(machine)}; ${subtitle}.\n\n${tableOf(summary)}${failed}`
}

/** Samples taken before a failure are kept. */
async function sample(stage: Stage, minutes: number): Promise<{ samples: Sample[]; failure: string | null }> {
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
    return { samples, failure: null }
  } catch (error) {
    if (stage.parts.disposed) throw error
    return { samples, failure: (error as Error).message }
  } finally {
    await load.finished()
  }
}

function panelsOf(samples: Sample[]) {
  const format = (value: number) => value.toFixed(0)
  const panel = (name: string, colour: 'blue' | 'green' | 'amber', of: (each: Sample) => number | null) => ({
    name,
    colour,
    format,
    points: samples.flatMap((each) => {
      const value = of(each)
      return value === null ? [] : [{ minute: each.minute, value }]
    }),
  })
  return [
    panel('resident memory of the service, MB', 'blue', ({ megabytes }) => megabytes),
    panel('requests a second', 'green', ({ perSecond }) => perSecond),
    panel('p99, ms', 'amber', ({ p99Ms }) => p99Ms),
  ]
}

function tableOf(summary: Summary | null): string {
  if (!summary) return `Minute 2 and the last one are compared from ${leastMinutes} min on.\n`
  const { second, last, throughputRatio, memoryRatio, met } = summary
  const line = (name: string, of: (minute: Minute) => number | null, ratio: number | null, wanted: string) => [
    name,
    of(second)?.toFixed(1) ?? '–',
    of(last)?.toFixed(1) ?? '–',
    ratio?.toFixed(2) ?? '–',
    wanted,
  ]
  const wanted = `at most ${mostGrowth}: ${met === null ? 'not measured' : met ? 'met' : 'missed'}`
  return table(
    ['', 'minute 2', 'last minute', 'ratio', 'target'],
    [
      line('memory, MB', ({ megabytes }) => megabytes, memoryRatio, wanted),
      line('requests a second', ({ perSecond }) => perSecond, throughputRatio, ''),
      line('p99, ms', ({ p99Ms }) => p99Ms, last.p99Ms / second.p99Ms, ''),
    ],
  )
}
