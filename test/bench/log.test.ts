// The summaries of the transparency log and of the attacks on it, and that one side of the comparison has no log.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { Attacked } from '../../bench/attacks/experiment.ts'
import { summarise } from '../../bench/attacks/results.ts'
import { comparisonsOf, type Measurement, percentilesOf, type Side } from '../../bench/log/results.ts'
import { repository } from '../../harness/processes.ts'

function measurement(round: number, side: Side, perSecond: number, cpu: number): Measurement {
  const figures = { p50Ms: 1, p99Ms: 2, megabytes: null, stolen: 0, serviceCpuMicroseconds: cpu }
  const behind = side === 'with the log' ? round : null
  return { round, side, workload: 'confirm', perSecond, ...figures, databaseCpuMicroseconds: 100, behind }
}

test('services with the log and without it are compared within a round, and a round with one side does not count', () => {
  const [compared, ...more] = comparisonsOf([
    measurement(1, 'with the log', 980, 110),
    measurement(1, 'without it', 1_000, 100),
    measurement(2, 'without it', 500, 100),
    measurement(2, 'with the log', 500, 100),
    measurement(3, 'with the log', 9_000, 100),
  ])
  assert.deepEqual(compared?.ratio, { median: 0.99, least: 0.98, most: 1 })
  assert.deepEqual(compared?.cpuRatio, { median: (1.05 + 1) / 2, least: 1, most: 1.05 })
  assert.deepEqual([compared?.behind?.most, more], [3, []])
})

test('percentiles are values that were measured', () => {
  const values = Array.from({ length: 200 }, (_, place) => 200 - place)
  assert.deepEqual(percentilesOf(values), { p50: 100, p99: 198, most: 200 })
})

test('attacks are counted by what was done, with those that were not found', () => {
  const attack = (found: string | null): Attacked => ({
    verb: 'change',
    object: 'time',
    log: 'runs only',
    kept: 'receipt',
    drawnInVain: 0,
    noticed: [],
    entry: { customerId: '', entryNumber: 1, kind: 'SPEND' },
    found,
    attackMs: 1_000,
    checkMs: 2_000,
  })
  const { byVerb, byLog, seconds } = summarise([attack('a rule'), attack('a rule'), attack(null)])
  assert.deepEqual(byVerb, [{ name: 'change', attacks: 3, found: 2, ways: 'time 3' }])
  assert.deepEqual(byLog, [{ name: 'runs only', attacks: 3, found: 2, ways: 'a rule 2; not found 1' }])
  assert.equal(seconds.all, 9)
})

test('the worker of the side without the log has no job of it', () => {
  const program = `import { logJobs } from './src/worker/jobs.ts'; process.stdout.write(String(logJobs().length))`
  const args = ['--import', './bench/log/without-log.ts', '--input-type=module', '--eval', program]
  assert.equal(execFileSync(process.execPath, args, { cwd: repository, encoding: 'utf8' }), '0')
})
