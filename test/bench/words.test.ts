// The results of the measurements other than the workloads: overloads, soaks, profiles; and the options that each
// measurement takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMeter, type Metered } from '../../bench/load/meter.ts'
import { readOptions } from '../../bench/options.ts'
import { overloaded, planOf } from '../../bench/overload/plan.ts'
import { plotOf, tablesOf } from '../../bench/overload/report.ts'
import { judge, linesOf, type Taken } from '../../bench/overload/summary.ts'
import { type CpuProfile, mergeFrames, sharesOf } from '../../bench/profile/cpu-profile.ts'
import { boxesOf, drawFlame } from '../../bench/profile/flame.ts'
import { ownerOf } from '../../bench/profile/owners.ts'
import { drawLines } from '../../bench/report/lines.ts'
import { type Sample, summarise } from '../../bench/soak/summary.ts'
import { placesOf } from '../../src/http/limits/admission.ts'

test('a meter counts work, refusals and settling requests, and starts from zero in each window', () => {
  let now = 0
  const meter = createMeter(() => now)
  for (const latencyMs of [3, 1, 2]) meter.note('done', latencyMs, latencyMs === 3)
  meter.note('refused', 7, false)
  now = 2_000
  assert.deepEqual(meter.take(), {
    seconds: 2,
    done: { count: 3, p50Ms: 2, p99Ms: 3 },
    refused: { count: 1, p50Ms: 7, p99Ms: 7 },
    settled: 1,
    settlesRefused: 0,
  })
  now = 3_000
  const { seconds, done, settled } = meter.take()
  assert.deepEqual({ seconds, done, settled }, { seconds: 1, done: { count: 0, p50Ms: 0, p99Ms: 0 }, settled: 0 })
})

function metered(done: number, refused = 0, settled = 0, settlesRefused = 0): Metered {
  const tally = (count: number) => ({ count, p50Ms: 1, p99Ms: 2 })
  return { seconds: 2, done: tally(done), refused: tally(refused), settled, settlesRefused }
}

function round(number: number, peak: number, polite: number, rude: number, crowded: number): Taken[] {
  const balance = { round: number, subject: 'balance' as const }
  const payers = { round: number, subject: 'payers' as const, connections: 32 }
  return [
    { ...balance, phase: 'peak', connections: 64, measured: metered(peak - 100) },
    { ...balance, phase: 'peak', connections: 128, measured: metered(peak) },
    { ...balance, phase: 'polite', connections: 384, measured: metered(polite, 50) },
    { ...balance, phase: 'rude', connections: 384, measured: metered(rude, 500) },
    { ...payers, phase: 'calm', measured: metered(2_000, 0, 1_000) },
    { ...payers, phase: 'crowded', measured: metered(4_000, 0, crowded, number === 2 ? 1 : 0) },
  ]
}

// In the second round the machine was half as fast.
const taken = [
  ...round(1, 10_000, 9_800, 9_100, 950),
  ...round(2, 5_000, 4_500, 4_000, 900),
  ...round(3, 10_000, 9_500, 8_800, 990),
]

test('work is compared with the peak of its own round, payers with their own calm phase, and a single refused payer misses the target', () => {
  assert.deepEqual(
    judge(taken).map(({ name, measured, met }) => ({ name, measured, met })),
    [
      { name: 'balance, polite: work to its peak', measured: { median: 0.95, least: 0.9, most: 0.98 }, met: true },
      { name: 'balance, rude: work to its peak', measured: { median: 0.88, least: 0.8, most: 0.91 }, met: false },
      { name: 'payers, crowded: work to its calm', measured: { median: 0.95, least: 0.9, most: 0.99 }, met: true },
      { name: 'payers, crowded: confirms and cancels refused', measured: { median: 0, least: 0, most: 1 }, met: false },
    ],
  )
})

test('an overload is reported in tables and a plot', () => {
  const results = {
    machine: { cores: 2, architecture: 'arm64', node: 'v24.0.0', postgres: '18.4', date: '2026-01-02T03:04:05.678Z' },
    options: { seconds: 2, rounds: 3, workloads: ['balance'] },
    targets: judge(taken),
    lines: linesOf(taken),
    taken,
    failures: [],
  }
  const tables = tablesOf(results)
  assert.match(tables, /\| balance, peak \| 128 \| 5,000 \| 0 \| 1\.00 ms \| 2\.00 ms \| – \| – \|/)
  assert.match(tables, /\| balance, rude \| 384 \| 4,400 \| 250 \| 1\.00 ms \| 2\.00 ms \| 1\.00 ms \| 2\.00 ms \|/)
  const plot = plotOf(results)
  assert.match(plot, /<title>work done: 4,400 \(2,000 to 4,550\), 0\.9 of the peak, or of the calm 4,500<\/title>/)
  assert.doesNotMatch(plot, /NaN|Infinity|undefined/)
})

test('an overload sends three times the load of the peak, more than is admitted, with every other round in reverse order', () => {
  const steps = planOf({ rounds: 2, workloads: [...overloaded] })
  const tooMany = 3 * 256
  assert.ok(tooMany > placesOf.read && tooMany > placesOf.write)
  const [first, second] = [1, 2].map((number) => steps.filter((step) => step.round === number))
  assert.deepEqual(first?.map(({ subject, phase, play }) => `${subject} ${phase} ${play.connections}`).slice(0, 5), [
    'balance peak 64',
    'balance peak 128',
    'balance peak 256',
    `balance polite ${tooMany}`,
    `balance rude ${tooMany}`,
  ])
  assert.deepEqual(first?.at(-1)?.besides, { workload: 'balance', connections: tooMany, refusals: 'insist' })
  assert.deepEqual(
    second?.map(({ phase }) => phase),
    first?.map(({ phase }) => phase).toReversed(),
  )
})

test('a soak compares its last minute with its second', () => {
  const samples = Array.from({ length: 24 }, (_, index): Sample => {
    const minute = (index + 1) / 6
    return { minute, perSecond: 1_000, p99Ms: 9, megabytes: minute <= 1 ? 500 : 100 + 5 * Math.ceil(minute - 2) }
  })
  const { second, last, memoryRatio, met } = summarise(samples, 4) ?? {}
  assert.deepEqual([second?.megabytes, last?.megabytes, memoryRatio, met], [100, 110, 1.1, true])
  assert.equal(summarise(samples.slice(0, 12), 2), null)
  const points = samples.map(({ minute, perSecond }) => ({ minute, value: perSecond }))
  const panels = [{ name: 'requests', colour: 'blue' as const, points, format: String }]
  assert.doesNotMatch(drawLines({ title: 'T', subtitle: 'S' }, panels), /NaN|Infinity|undefined/)
})

const frame = (functionName: string, url: string, scriptId: string, lineNumber = 9) => ({
  callFrame: { functionName, scriptId, url, lineNumber },
})
const ours = frame('confirm', 'file:///app/src/payments/confirm.ts', '7')

/** `confirm` twice below the root: V8 has separate nodes for recompiled code. */
const profile: CpuProfile = {
  nodes: [
    { id: 1, ...frame('(root)', '', '0', -1), children: [2, 3, 4, 6] },
    { id: 2, ...frame('(idle)', '', '0', -1) },
    { id: 3, ...ours, children: [5] },
    { id: 4, ...ours },
    { id: 5, ...frame('parse', 'file:///app/node_modules/pg-protocol/dist/parser.js', '8') },
    { id: 6, ...frame('(garbage collector)', '', '0', -1) },
  ],
  // The first sample belongs to the start, and is left out.
  samples: [5, 3, 4, 5, 2, 6, 6],
  timeDeltas: [0, 1_000, 100, 200, 300, 5_000, 400, 0],
}

test('frames are merged from the root, without idle time and without the start', () => {
  const root = mergeFrames(profile, 1_000)
  assert.equal(root.micros, 1_000)
  const [merged, collector] = root.children
  assert.deepEqual(
    { name: merged?.name, place: merged?.place, micros: merged?.micros, selfMicros: merged?.selfMicros },
    { name: 'confirm', place: 'src/payments/confirm.ts:10', micros: 600, selfMicros: 300 },
  )
  assert.deepEqual([merged?.children[0]?.micros, collector?.micros, root.children.length], [300, 400, 2])
  const { owners, functions } = sharesOf(root)
  assert.deepEqual(owners, [
    { owner: 'native and gc', share: 0.4 },
    { owner: 'ours', share: 0.3 },
    { owner: 'driver', share: 0.3 },
  ])
  assert.equal(functions[0]?.name, '(garbage collector)')
})

test('a flame graph has a box for each frame that is wide enough, siblings beside and callees above each other', () => {
  const root = mergeFrames(profile, 1_000)
  assert.deepEqual(
    boxesOf(root).map(({ frame: { name }, depth, from, share }) => [name, depth, from, share]),
    [
      ['(root)', 0, 0, 1],
      ['confirm', 1, 0, 0.6],
      ['parse', 2, 0, 0.3],
      ['(garbage collector)', 1, 0.6, 0.4],
    ],
  )
  const narrow = { ...root, children: root.children.map((child) => ({ ...child, micros: 2 })) }
  assert.equal(boxesOf(narrow).length, 1)
  const svg = drawFlame({ title: 'T', subtitle: 'S' }, root)
  assert.match(svg, /<title>confirm \(src\/payments\/confirm\.ts:10\), ours: 60\.0 %<\/title><rect class="blue"/)
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/)
})

for (const { url, scriptId, owner } of [
  { url: 'file:///app/src/main.ts', scriptId: '1', owner: 'ours' },
  { url: 'file:///app/node_modules/find-my-way/index.js', scriptId: '1', owner: 'framework' },
  { url: '', scriptId: '1', owner: 'framework' },
  { url: 'file:///app/node_modules/pg/lib/client.js', scriptId: '1', owner: 'driver' },
  { url: 'file:///app/node_modules/undici/index.js', scriptId: '1', owner: 'undici' },
  { url: 'node:internal/timers', scriptId: '1', owner: 'Node' },
  { url: '', scriptId: '0', owner: 'native and gc' },
]) {
  test(`code of "${url}", script ${scriptId}, belongs to: ${owner}`, () => {
    assert.equal(ownerOf({ url, scriptId }), owner)
  })
}

test('a measurement takes its own options and refuses those of others', () => {
  const measurements = ['workloads', 'soak', 'overload']
  const takes = {
    soak: { options: ['minutes', 'out'] },
    overload: { options: ['seconds', 'workloads'], can: overloaded },
  } as const
  assert.equal(readOptions(['soak', '--minutes', '7'], measurements, takes).minutes, 7)
  assert.deepEqual(readOptions(['overload'], measurements, takes).workloads, [...overloaded])
  const wrong = (args: string[], line: RegExp) => assert.throws(() => readOptions(args, measurements, takes), line)
  wrong(['soak', '--seconds', '2'], /^WrongArguments: --seconds: soak does not take it/)
  wrong(['--minutes', '2'], /^WrongArguments: --minutes: workloads does not take it/)
  wrong(['soak', '--minutes', '0'], /^WrongArguments: --minutes: expected a whole number from 1 to 1440/)
  wrong(
    ['overload', '--workloads', 'status'],
    /^WrongArguments: --workloads: expected one of balance, purchase, mixed day/,
  )
})
