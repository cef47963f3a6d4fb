// The summaries of the growth and pages measurements.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Line } from '../../bench/books/commands.ts'
import { commandsOf, type Measurement, type Side, statementsOf, workloadsOf } from '../../bench/growth/results.ts'
import { readingOf } from '../../bench/growth/statement.ts'
import { spentOf, tablesOf as tablesOfPages } from '../../bench/pages/results.ts'
import { takeTurns } from '../../bench/stage/turns.ts'

function measurement(round: number, side: Side, perSecond: number): Measurement {
  const unmeasured = { serviceCpuMicroseconds: null, databaseCpuMicroseconds: null, megabytes: null, stolen: 0 }
  return { round, side, workload: 'balance', perSecond, p50Ms: 1, p99Ms: 2, ...unmeasured }
}

test('big books are compared with new ones within a round, and a round with one side does not count', () => {
  const [first, second] = [
    [measurement(1, 'empty', 1_000), measurement(1, 'full', 900)],
    [measurement(2, 'full', 400), measurement(2, 'empty', 500)],
  ]
  const [workload, ...more] = workloadsOf([...first, ...second, measurement(3, 'full', 9_000)])
  assert.deepEqual(workload?.ratio, { median: (0.9 + 0.8) / 2, least: 0.8, most: 0.9 })
  assert.deepEqual(more, [])
  assert.deepEqual(workloadsOf([measurement(1, 'full', 1)]), [])
})

test('the order of the sides alternates by round', () => {
  const turns = takeTurns(2, ['confirm', 'balance'], ['empty', 'full'])
  assert.deepEqual(
    turns.map(({ round, workload, side }) => `${round} ${workload} ${side}`),
    [
      '1 confirm empty',
      '1 confirm full',
      '1 balance empty',
      '1 balance full',
      '2 confirm full',
      '2 confirm empty',
      '2 balance full',
      '2 balance empty',
    ],
  )
})

test('a command is compared with the same on smaller books by its time per row, unless it failed', () => {
  const line = (step: string, rows: number, seconds: number, outcome = 'exit 0'): Line => ({
    step,
    rows,
    seconds,
    peakMegabytes: null,
    outcome,
  })
  const large = [line('audit', 4_000_000, 24), line('reconcile', 4_000_000, 1), line('audit again', 4, 1)]
  const small = [line('audit', 1_000_000, 5), line('reconcile', 1_000_000, 1, 'FAILED: exit 2')]
  assert.deepEqual(commandsOf(small, large), [{ step: 'audit', smallPerMillion: 5, largePerMillion: 6, growth: 1.2 }])
})

test('pages of a statement are reported for the first tenth and for all, and compared with smaller books', () => {
  const pagesMs = [...Array<number>(10).fill(10), ...Array<number>(90).fill(20)]
  assert.deepEqual(readingOf(pagesMs), { firstMs: 10, allMs: 19 })
  const full = [{ entries: 100_000, firstMs: 10, allMs: 20 }]
  const growths = statementsOf({ small: [{ entries: 25_000, firstMs: 10, allMs: 10 }], full })
  assert.deepEqual(
    growths.map(({ growth }) => growth.median),
    [2, 2],
  )
  assert.equal(statementsOf({ small: [], full }).length, 1)
})

test('a page is reported with p50, p95 and maximum, and judged only by its requests one after the other', () => {
  const tookMs = Array.from({ length: 100 }, (_, place) => 100 - place)
  assert.deepEqual(spentOf(tookMs), { p50Ms: 50, p95Ms: 95, mostMs: 100 })
  const [alone, crowded] = [spentOf([201]), spentOf([1])]
  const counts = { customers: 1, orders: 2, entries: 3, operations: 0, holds: 0, events: 0, movements: 0 }
  const tables = tablesOfPages({
    machine: { cores: 2, architecture: 'arm64', node: 'v24.0.0', postgres: '18.4', date: '2026-01-02T03:04:05.678Z' },
    counts,
    options: { requests: 1 },
    addedUp: { seconds: 60, slices: 7 },
    failures: ['trail: gone'],
    pages: [
      { page: 'home', alone, crowded },
      { page: 'order', alone: crowded, crowded: alone },
    ],
  })
  assert.match(tables, /The first adding up took 60 s in 7 slices\./)
  assert.match(
    tables,
    /\| home \| 201 ms .* \| missed \|\n\| order \| 1\.00 ms .* \| met \|\n\n- FAILED: trail: gone\n$/,
  )
})
