// The plots of a run, made from its JSON alone: throughput, latency, and the ratios beside their targets.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bar, draw, type Plot } from '../report/plot.ts'
import type { Spread } from '../report/spread.ts'
import type { Colour } from '../report/svg.ts'
import { counted, short } from '../report/table.ts'
import type { Results } from './results.ts'
import type { RatioName, Summary } from './summary.ts'
import { busyConnections, type Judged } from './targets.ts'

const thousands = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** `ratio`: the target that is drawn beside it. */
type Series = { name: string; colour: Colour; of(summary: Summary): Spread | null; ratio?: RatioName }

const throughputs: Series[] = [
  { name: 'service', colour: 'blue', of: ({ contenders }) => contenders.service.perSecond },
  { name: 'bare route', colour: 'grey', of: ({ contenders }) => contenders.bare.perSecond },
  { name: 'naive twin', colour: 'amber', of: ({ contenders }) => contenders.naive.perSecond },
]

const latencies: Series[] = [
  { name: 'service, p50', colour: 'blue', of: ({ contenders }) => contenders.service.p50Ms },
  { name: 'service, p99', colour: 'paleBlue', of: ({ contenders }) => contenders.service.p99Ms },
  { name: 'naive twin, p50', colour: 'amber', of: ({ contenders }) => contenders.naive.p50Ms },
  { name: 'naive twin, p99', colour: 'paleAmber', of: ({ contenders }) => contenders.naive.p99Ms },
]

const ratios: Series[] = [
  { name: 'to the bare route', ratio: 'bare', colour: 'grey', of: (each) => each.ratios.bare },
  { name: 'to plain inserts', ratio: 'plain insert', colour: 'green', of: (each) => each.ratios['plain insert'] },
  { name: 'to the naive twin', ratio: 'naive', colour: 'amber', of: (each) => each.ratios.naive },
]

/** Returns the names of the files. */
export function writePlots(directory: string, results: Results): string[] {
  const { connections } = results.options
  const drawnConnections = connections.includes(busyConnections) ? busyConnections : Math.max(...connections)
  const summaries = results.summaries.filter((each) => each.connections === drawnConnections)
  if (summaries.length === 0) return []
  const { rounds, seconds } = results.options
  const conditions = `${counted(drawnConnections, 'connection')}, median of ${counted(rounds, 'round')} of ${seconds} s; thin line: least to most`
  const plots: Record<string, Plot> = {
    throughput: throughputPlot(summaries, conditions),
    latency: latencyPlot(summaries, conditions),
    ratios: ratioPlot(summaries, results.targets, conditions),
  }
  return Object.entries(plots).map(([name, plot]) => {
    writeFileSync(join(directory, `workloads-${name}.svg`), draw(plot))
    return `workloads-${name}.svg`
  })
}

function throughputPlot(summaries: Summary[], subtitle: string): Plot {
  return {
    title: 'Throughput',
    subtitle,
    unit: 'requests a second',
    scale: 'linear',
    series: throughputs,
    groups: groupsOf(summaries, throughputs),
    format: (value) => thousands.format(value),
  }
}

function latencyPlot(summaries: Summary[], subtitle: string): Plot {
  return {
    title: 'Latency',
    subtitle,
    unit: 'milliseconds, on a logarithmic scale',
    scale: 'logarithmic',
    series: latencies,
    groups: groupsOf(summaries, latencies),
    format: (value) => (Number.isInteger(value) ? `${value}` : short(value)),
  }
}

function ratioPlot(summaries: Summary[], targets: Judged[], subtitle: string): Plot {
  return {
    title: 'Throughput of the service beside its ceilings',
    subtitle,
    unit: 'ratio',
    scale: 'linear',
    series: ratios,
    groups: groupsOf(summaries, ratios, targets),
    markName: 'target, at least',
    format: (value) => value.toFixed(2),
  }
}

function groupsOf(summaries: Summary[], series: Series[], targets: Judged[] = []): Plot['groups'] {
  return summaries.map((summary) => {
    const { workload, connections } = summary
    const ofThese = targets.filter((each) => each.workload === workload && each.connections === connections)
    return {
      label: workload,
      bars: series.flatMap(({ name, ratio, of }): Bar[] => {
        const spread = of(summary)
        if (!spread) return []
        const { median: value, least, most } = spread
        return [{ series: name, value, least, most, mark: ofThese.find((each) => each.ratio === ratio)?.limit }]
      }),
    }
  })
}
