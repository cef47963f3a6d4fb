// `npm run bench` started from the command line, as short as possible: its output, its files, and that it leaves nothing
// running.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Measured } from '../../bench/workloads/report.ts'
import { bareEnvironment, launch, newDirectory, repository } from '../../harness/processes.ts'
import { longOnly } from '../support/long.ts'

function launchBench(t: TestContext, temporary: string, args: string[]) {
  const env = bareEnvironment({ TMPDIR: temporary })
  return launch(t, process.execPath, ['bench/main.ts', ...args], { cwd: repository, env })
}

test('a short run prints its tables, writes them and every measurement, and leaves nothing behind', {
  skip: longOnly,
}, async (t) => {
  const [out, temporary] = [join(newDirectory(t), 'results'), newDirectory(t)]
  const short = ['--seconds', '1', '--rounds', '1', '--connections', '2', '--workloads', 'purchase,packages']
  const { code, stdout, stderr } = await launchBench(t, temporary, ['workloads', ...short, '--out', out]).ended
  assert.equal(code, 0, stderr)

  const results = JSON.parse(readFileSync(join(out, 'workloads.json'), 'utf8')) as Measured & { failures: string[] }
  assert.equal(stdout, readFileSync(join(out, 'workloads.md'), 'utf8'))
  assert.match(stdout, /^\| purchase \| 2 \| .*\n\| packages \| 2 \| /m)
  assert.deepEqual(
    results.measurements.map(({ workload, contender }) => `${workload}, ${contender}`),
    ['purchase', 'packages'].flatMap((name) =>
      ['service', 'bare', 'naive'].map((contender) => `${name}, ${contender}`),
    ),
  )
  assert.ok(results.measurements.every(({ perSecond, p50Ms, p99Ms }) => perSecond > 0 && p50Ms > 0 && p99Ms >= p50Ms))
  assert.ok((results.plainInserts[0]?.perSecond ?? 0) > 0)
  assert.deepEqual(results.failures, [])

  assert.deepEqual(readdirSync(out).sort(), ['workloads.json', 'workloads.md'])
  assert.match(stderr, /^7 of 7, about 0 min left: round 1, 2 connections, packages, naive: \d+\/s, /m)
  assert.deepEqual(readdirSync(temporary), [])
})

for (const { moment, output } of [
  { moment: 'while it starts', output: 'Starting ' },
  { moment: 'while it measures', output: 'Measuring: ' },
]) {
  test(`a signal ${moment} ends all processes it has started`, { skip: longOnly }, async (t) => {
    const [out, temporary] = [join(newDirectory(t), 'results'), newDirectory(t)]
    const bench = launchBench(t, temporary, ['--workloads', 'packages', '--out', out])
    while (!bench.output.stderr.includes(output)) await once(bench.child.stderr, 'data')
    bench.child.kill('SIGTERM')
    const { code, stdout, stderr } = await bench.ended
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.match(stderr, /\nended by SIGTERM\n$/)
    assert.equal(existsSync(out), false)
    assert.deepEqual(readdirSync(temporary), [])
  })
}

test('wrong arguments are reported with exit code 2, before anything is started', async (t) => {
  const { code, stdout, stderr } = await launchBench(t, newDirectory(t), ['--workloads', 'sale']).ended
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
  assert.match(
    stderr,
    /^--workloads: expected one of .*, got "sale"\nnpm run bench -- \[workloads\|overload\|soak\|profile\|growth\|pages\|cluster\|log\|attacks\] .*\n$/,
  )
})
