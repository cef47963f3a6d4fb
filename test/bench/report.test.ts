// The results of the measurements: medians, ratios within a round, targets, tables, plots; and the options of the command
// line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../bench/options.ts'
import { draw } from '../../bench/report/plot.ts'
import { createProgress } from '../../bench/report/progress.ts'
import { spreadOf } from '../../bench/report/spread.ts'
import type { ContenderName } from '../../bench/stage/stage.ts'
import { planOf } from '../../bench/workloads/plan.ts'
import type { Results } from '../../bench/workloads/results.ts'
import { type Measurement, summarise } from '../../bench/workloads/summary.ts'
import { tablesOf } from '../../bench/workloads/tables.ts'
import { judge } from '../../bench/workloads/targets.ts'
import { WrongArguments } from '../../harness/options.ts'

const names = ['workloads', 'soak']

test('a spread has the median, the least and the most; an empty list has none', () => {
  assert.deepEqual(spreadOf([3, 1, 2]), { median: 2, least: 1, most: 3 })
  assert.deepEqual(spreadOf([4, 1, 3, 2]), { median: 2.5, least: 1, most: 4 })
  assert.deepEqual(spreadOf([10, 9]), { median: 9.5, least: 9, most: 10 })
  assert.equal(spreadOf([]), null)
})

function measurement(round: number, contender: ContenderName, perSecond: number, connections = 64): Measurement {
  return {
    round,
    connections,
    workload: 'purchase',
    contender,
    perSecond,
    p50Ms: 64_000 / perSecond,
    p99Ms: 123.4,
    serviceCpuMicroseconds: 250.4,
    databaseCpuMicroseconds: null,
    megabytes: 180,
    stolen: 0.034,
  }
}

// In the second round the machine was half as fast; in the third the naive contender failed.
const measurements = [
  measurement(1, 'service', 7_000),
  measurement(1, 'bare', 10_000),
  measurement(1, 'naive', 2_000),
  measurement(2, 'naive', 1_000),
  measurement(2, 'bare', 5_000),
  measurement(2, 'service', 3_000),
  measurement(3, 'service', 8_000),
  measurement(3, 'bare', 10_000),
]
const plainInserts = [1, 2, 3].map((round) => ({ round, connections: 64, perSecond: round === 2 ? 5_000 : 10_000 }))
const summaries = summarise(measurements, plainInserts)

test('ratios are taken within a round, and left out of a round in which one side failed', () => {
  assert.equal(summaries.length, 1)
  assert.deepEqual(summaries[0]?.ratios, {
    bare: { median: 0.7, least: 0.6, most: 0.8 },
    'plain insert': { median: 0.7, least: 0.6, most: 0.8 },
    naive: { median: 3.25, least: 3, most: 3.5 },
    'p50 to naive': spreadOf([2_000 / 7_000, 1_000 / 3_000]),
  })
  assert.equal(summaries[0]?.contenders.service.databaseCpuMicroseconds, null)
  assert.deepEqual(summaries[0]?.contenders.naive.perSecond, { median: 1_500, least: 1_000, most: 2_000 })
})

test('plain inserts are compared with purchases at the number of connections they were measured beside', () => {
  const alone = summarise([measurement(1, 'service', 500, 1)], plainInserts)
  assert.equal(alone[0]?.ratios['plain insert'], null)
})

test('a target is judged by the median, and only where its ratio was measured', () => {
  assert.deepEqual(
    judge(summaries).map(({ ratio, limit, met }) => ({ ratio, limit, met })),
    [
      { ratio: 'bare', limit: 0.65, met: true },
      { ratio: 'plain insert', limit: 0.75, met: false },
      { ratio: 'naive', limit: 2, met: true },
    ],
  )
  const alone = summarise([measurement(1, 'service', 500, 1), measurement(1, 'naive', 600, 1)], [])
  assert.deepEqual(
    judge(alone).map(({ ratio, bound, met }) => ({ ratio, bound, met })),
    [{ ratio: 'p50 to naive', bound: 'at most', met: false }],
  )
})

const results: Results = {
  machine: { cores: 2, architecture: 'arm64', node: 'v24.0.0', postgres: '18.4', date: '2026-01-02T03:04:05.678Z' },
  options: { seconds: 3, rounds: 3, connections: [64], workloads: ['purchase'] },
  plainInsertBy: 'pgbench',
  stolen: 0.034,
  targets: judge(summaries),
  summaries,
  measurements,
  plainInserts,
  failures: [{ round: 3, connections: 64, workload: 'purchase', contender: 'naive', reason: '503 to POST' }],
}

test('the tables have targets, figures and failures, with a dash for missing measurements', () => {
  const tables = tablesOf(JSON.parse(JSON.stringify(results))).split('\n')
  assert.match(tables[0] ?? '', /^2026-01-02: 2 cores \(arm64\), Node v24\.0\.0, PostgreSQL 18\.4; 3 rounds of 3 s\. /)
  assert.match(tables[0] ?? '', /by pgbench, in each round: 10000, 5000, 10000\.$/)
  assert.deepEqual(tables.slice(1), [
    '',
    '| target | wanted | measured |  |',
    '| --- | ---: | ---: | ---: |',
    '| purchase, 64 connections: requests a second to the bare route | at least 0.65 | 0.70 (0.60 to 0.80) | met |',
    '| purchase, 64 connections: requests a second to plain inserts | at least 0.75 | 0.70 (0.60 to 0.80) | missed |',
    '| purchase, 64 connections: requests a second to the naive twin | at least 2.00 | 3.25 (3.00 to 3.50) | met |',
    '',
    '| workload | connections | service/s | bare/s | naive/s | to bare | to naive | p50 | p99 | CPU bare | CPU service | CPU database | memory |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    '| purchase | 64 | 7,000 | 10,000 | 1,500 | 0.70 (0.60 to 0.80) | 3.25 (3.00 to 3.50) | 9.14 ms | 123 ms | 250 µs | 250 µs | – | 180 MB |',
    '',
    '- FAILED: round 3, 64 connections, purchase, naive: 503 to POST',
    '',
  ])
})

test('the order of the contenders alternates by round, with the plain insert beside purchases with 64 connections', () => {
  const steps = planOf({ rounds: 2, connections: [1, 64], workloads: ['purchase', 'balance'] })
  const names = (round: number, connections: number, workload: string) =>
    steps
      .filter((step) => step.round === round && step.connections === connections && step.workload === workload)
      .map(({ contender }) => contender)
  assert.deepEqual(names(1, 64, 'purchase'), ['service', 'bare', 'naive', 'plain insert'])
  assert.deepEqual(names(2, 64, 'purchase'), ['plain insert', 'naive', 'bare', 'service'])
  assert.deepEqual(names(1, 1, 'purchase'), ['service', 'bare', 'naive'])
  assert.deepEqual(names(2, 64, 'balance'), ['naive', 'bare', 'service'])
  assert.equal(steps.length, 2 * (2 * 2 * 3 + 1))
})

test('progress shows how many steps are done and how long the rest takes', () => {
  let now = 0
  const progress = createProgress(81, () => now)
  now += 60_000
  assert.equal(progress('one'), '1 of 81, about 80 min left: one')
  now += 30_000
  assert.equal(progress('two'), '2 of 81, about 60 min left: two')
})

test('a plot has a bar with its figure for each value, a mark where there is a target, and escaped names', () => {
  const bars = [
    { series: 'a < b', value: 500, least: 400, most: 700, mark: 900 },
    { series: 'c', value: 40, least: 40, most: 40 },
  ]
  const series = [
    { name: 'a < b', colour: 'blue' as const },
    { name: 'c', colour: 'amber' as const },
  ]
  for (const scale of ['linear', 'logarithmic'] as const) {
    const groups = [{ label: 'first', bars }]
    const svg = draw({
      title: 'T',
      subtitle: 'S',
      unit: 'u',
      markName: 'wanted',
      scale,
      series,
      groups,
      format: String,
    })
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /)
    assert.match(svg, /<title>a &lt; b: 500 \(400 to 700\), wanted 900<\/title><rect class="blue"/)
    assert.match(svg, /<title>c: 40 \(40 to 40\)<\/title><rect class="amber"/)
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/)
    // Everything is drawn inside the picture.
    const xs = [...svg.matchAll(/ x="([\d.-]+)"/g)].map(([, x]) => Number(x))
    assert.ok(Math.min(...xs) >= 0 && Math.max(...xs) <= 900)
  }
})

test('without arguments everything is measured', () => {
  const { out, ...options } = readOptions([], names)
  assert.match(out, /bench\/results$/)
  assert.equal(options.workloads.length, 9)
  assert.deepEqual(
    { ...options, workloads: [] },
    { measurement: 'workloads', seconds: 3, rounds: 3, connections: [1, 64, 256], workloads: [], pgbench: true },
  )
})

test('measurement, lists and switches are parsed', () => {
  const args = ['soak', '--connections', '64, 1,64', '--workloads', 'spend on one customer,balance', '--no-pgbench']
  const { measurement, connections, workloads, pgbench } = readOptions(args, names)
  assert.deepEqual({ measurement, connections, pgbench }, { measurement: 'soak', connections: [64, 1], pgbench: false })
  assert.deepEqual(workloads, ['spend on one customer', 'balance'])
})

for (const { args, line } of [
  { args: ['dance'], line: /^what to measure: expected one of workloads, soak, got "dance"$/ },
  { args: ['soak', 'workloads'], line: /^one measurement at a time, got "soak workloads"$/ },
  { args: ['--seconds', '0'], line: /^--seconds: expected a whole number from 1 to 3600, got "0"$/ },
  { args: ['--rounds', 'many'], line: /^--rounds: expected a whole number from 1 to 100, got "many"$/ },
  { args: ['--connections', '1,,64'], line: /^--connections: expected a whole number from 1 to 1024, got ""$/ },
  { args: ['--workloads', 'purchase,sale'], line: /^--workloads: expected one of purchase, .*, got "sale"$/ },
  { args: ['--fast'], line: /^Unknown option '--fast'/ },
]) {
  test(`wrong arguments are reported in one line and the usage: ${args.join(' ')}`, () => {
    assert.throws(
      () => readOptions(args, names),
      (error) => {
        assert.ok(error instanceof WrongArguments)
        const [first = '', second = '', ...more] = error.message.split('\n')
        assert.match(first, line)
        assert.match(second, /^npm run bench -- \[workloads\|soak\] /)
        return more.length === 0
      },
    )
  })
}
