// Metric families whose numbers are kept elsewhere and read at each scrape. The counters of prom-client look up their labels
// with every addition, which costs a request more than all of its counting may. So prom-client has the registry, the text
// format and the metrics of the process, and the additions are plain numbers (src/core/tallies.ts). Counters off the hot path
// use the same tallies: features then depend on core alone, and there is one kind of counter.
import type { Metric, Registry } from 'prom-client'
import type { Distribution } from '../core/tallies.ts'

type Labels = Record<string, string>
type Value = { labels: Labels; value: number; metricName?: string }

/** Unknown values are left out: a zero would be wrong. */
export type Read<Reading> = () => Iterable<[Labels, Reading]> | Promise<Iterable<[Labels, Reading]>>

type Family = { name: string; help: string }

function add(
  registry: Registry,
  type: 'counter' | 'gauge' | 'histogram',
  { name, help }: Family,
  read: () => Promise<Value[]>,
) {
  const get = async () => ({ name, help, type, aggregator: 'sum', values: await read() })
  // The registry needs nothing else of a metric.
  registry.registerMetric({ name, get } as unknown as Metric)
}

function scalars(read: Read<number>): () => Promise<Value[]> {
  return async () => [...(await read())].map(([labels, value]) => ({ labels, value }))
}

export function addCounter(registry: Registry, name: `${string}_total`, help: string, read: Read<number>): void {
  add(registry, 'counter', { name, help }, scalars(read))
}

export function addGauge(registry: Registry, name: string, help: string, read: Read<number>): void {
  add(registry, 'gauge', { name, help }, scalars(read))
}

/** `unit`: values are divided by it; 1000 for milliseconds that are exposed as seconds. */
export function addHistogram(
  registry: Registry,
  { name, help, unit = 1 }: Family & { unit?: number },
  read: Read<Distribution>,
): void {
  add(registry, 'histogram', { name, help }, async () =>
    [...(await read())].flatMap(([labels, distribution]) => histogramValues(name, labels, distribution, unit)),
  )
}

function histogramValues(name: string, labels: Labels, { bounds, counts, sum }: Distribution, unit: number): Value[] {
  let count = 0
  const buckets = bounds.map((bound, place): Value => {
    count += counts[place] as number
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : `${bound / unit}`
    return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` }
  })
  return [
    ...buckets,
    { labels, value: sum / unit, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}
