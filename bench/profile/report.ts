// Whose code the processor runs and which functions are the most expensive: shares of self time in a .cpuprofile of V8,
// without idle time.
import { columnsTable, percent } from '../report/report.ts'

type CallFrame = { functionName: string; scriptId: string; url: string; lineNumber: number }

/** Times in microseconds. A sample lasts until the next one. */
export type CpuProfile = { nodes: { id: number; callFrame: CallFrame }[]; samples: number[]; timeDeltas: number[] }

/** The first match. Most of the rest of node_modules belongs to Fastify. */
const owners: [RegExp, string][] = [
  [/\/node_modules\/(pg|pg-[a-z-]+|postgres-[a-z-]+|pgpass)\//, 'driver'],
  [/\/node_modules\/undici\/|^wasm:/, 'undici'],
  [/\/node_modules\//, 'framework'],
  [/^node:/, 'Node'],
  [/^file:/, 'ours'],
]

/** The script id of code that is built into the engine. */
const noScript = '0'

export function ownerOf({ url, scriptId }: Pick<CallFrame, 'url' | 'scriptId'>): string {
  const found = owners.find(([pattern]) => pattern.test(url))
  // A script without a URL was generated at run time: validators, serializers and routes of the framework.
  return found?.[1] ?? (scriptId === noScript ? 'native and gc' : 'framework')
}

export type Cost = { name: string; place: string; owner: string; micros: number }

/** The cost of each function, without the samples of the first microseconds: the start. */
export function costsOf({ nodes, samples, timeDeltas }: CpuProfile, leftOutMicros: number): Cost[] {
  const byId = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const costs = new Map<string, Cost>()
  let at = 0
  samples.forEach((id, index) => {
    at += timeDeltas[index] ?? 0
    const frame = byId.get(id)
    if (!frame || at < leftOutMicros || frame.functionName === '(idle)') return
    const key = `${frame.functionName} ${frame.scriptId} ${frame.lineNumber}`
    const cost = costs.get(key) ?? describe(frame)
    costs.set(key, { ...cost, micros: cost.micros + Math.max(0, timeDeltas[index + 1] ?? 0) })
  })
  return [...costs.values()].filter(({ micros }) => micros > 0)
}

function describe(frame: CallFrame): Cost {
  const { functionName, url, lineNumber } = frame
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^file:.*\/((?:src|bench|sandbox)\/)/, '$1')
  // V8 counts lines from zero.
  const place = file === '' ? '' : `${file}:${lineNumber + 1}`
  return { name: functionName || '(anonymous)', place, owner: ownerOf(frame), micros: 0 }
}

const functionsShown = 10

export function tablesOf(workload: string, costs: Cost[]): string[] {
  const sum = (some: Cost[]) => some.reduce((total, { micros }) => total + micros, 0)
  const share = ({ micros }: { micros: number }) => percent(micros / sum(costs), 1)
  const greatestFirst = <Each extends { micros: number }>(list: Each[]) =>
    list.toSorted((left, right) => right.micros - left.micros)
  const ofOwners = [...Map.groupBy(costs, ({ owner }) => owner)].map(([owner, own]) => ({ owner, micros: sum(own) }))
  return [
    columnsTable(greatestFirst(ofOwners), { [`${workload}: self time by owner`]: ({ owner }) => owner, share }),
    columnsTable(greatestFirst(costs).slice(0, functionsShown), {
      function: ({ name }) => name,
      place: ({ place }) => place,
      owner: ({ owner }) => owner,
      'self time': share,
    }),
  ]
}
