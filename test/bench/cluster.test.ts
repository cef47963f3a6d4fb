// The summary of the measurement on clusters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differenceOf, idleOf, linesOf, type Measurement, type Reach, tablesOf } from '../../bench/cluster/results.ts'

const counts = (cpuMicroseconds: number, transactions: number) => ({ cpuMicroseconds, transactions })

function measurement(round: number, workers: number, reach: Reach, perSecond: number, cpu: number[]): Measurement {
  const servers = cpu.map((each) => counts(each, each / 1_000))
  return { round, workers, reach, workload: 'balance', connections: 64, perSecond, serviceCpuMicroseconds: 80, servers }
}

// In the second round the machine was half as fast.
const measurements = [
  measurement(1, 0, 'one group', 8_000, [20]),
  measurement(1, 2, 'one group', 6_000, [0.2, 24.8, 0]),
  measurement(1, 2, 'all groups', 4_000, [0, 22, 22]),
  measurement(2, 2, 'all groups', 2_000, [0, 24, 24]),
  measurement(2, 2, 'one group', 3_000, [0.4, 29.6, 0]),
  measurement(2, 0, 'one group', 4_000, [20]),
]

test('what a server does for a request is the difference of its counts, of each request', () => {
  const [before, after] = [
    [counts(1_000, 10), counts(0, 0)],
    [counts(3_000, 30), counts(500, 5)],
  ]
  assert.deepEqual(differenceOf(before, after), [counts(2_000, 20), counts(500, 5)])
  assert.deepEqual(differenceOf(before, after, 10), [counts(200, 2), counts(50, 0.5)])
})

test('a cluster is compared with one PostgreSQL within a round, by the processor time of all its servers', () => {
  const lines = linesOf(measurements)
  const line = (reach: Reach) => lines.find((each) => each.workers === 2 && each.reach === reach)
  assert.deepEqual(line('one group')?.toPlain, {
    perSecond: { median: 0.75, least: 0.75, most: 0.75 },
    cpuOfAll: { median: 1.375, least: 1.25, most: 1.5 },
  })
  assert.deepEqual(line('all groups')?.toPlain.perSecond, { median: 0.5, least: 0.5, most: 0.5 })
  assert.equal(lines.length, 3)
})

test('each server has its column, and one PostgreSQL is in both tables, where the customers are', () => {
  const tables = tablesOf({
    machine: { cores: 2, architecture: 'arm64', node: 'v24.0.0', postgres: '15.1', date: '2026-01-02T03:04:05.678Z' },
    options: { seconds: 3, rounds: 2 },
    lines: linesOf(measurements),
    idle: idleOf([{ round: 1, workers: 2, servers: [counts(900, 0.5), counts(700, 0.4), counts(700, 0.4)] }]),
    measurements,
    failures: ['round 3: gone'],
  })
  const plain =
    '| balance | 64 | plain | 6,000 | 1.00 (1.00 to 1.00) | 80.0 µs | – | 20.0 µs | – | – | 20.0 µs | 1.00 (1.00 to 1.00) | 0.020 |\n'
  const [one, all] = [
    '| balance | 64 | 2 workers | 4,500 | 0.75 (0.75 to 0.75) | 80.0 µs | 0.30 µs | 27.2 µs | 0.00 µs | – | 27.5 µs | 1.38 (1.25 to 1.50) | 0.000, 0.027, 0.000 |\n',
    '| balance | 64 | 2 workers | 3,000 | 0.50 (0.50 to 0.50) | 80.0 µs | 0.00 µs | 23.0 µs | 23.0 µs | – | 46.0 µs | 2.30 (2.20 to 2.40) | 0.000, 0.023, 0.023 |\n',
  ]
  assert.ok(tables.includes(plain + one))
  assert.ok(tables.includes(plain + all))
  assert.match(tables, /\| 2 workers \| 900 µs \| 700 µs \| 700 µs \| – \| 0\.500 \| 0\.400 \| 0\.400 \| – \|\n/)
  assert.match(tables, /\n- FAILED: round 3: gone\n$/)
})
