// A short run of the fuzzer (proof/stages/bytes) as a part of every run of the tests: a real service, a fixed seed, no findings.
// `npm run fuzz` runs for any duration; test/bench/fuzz-oracles.test.ts shows that the fuzzer can find faults.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { bareEnvironment, launch, newDirectory, repository } from '../../harness/processes.ts'
import { createRandom } from '../../harness/random.ts'
import { until } from '../../harness/until.ts'
import { renderReport, reportOfBytes } from '../../proof/report/report.ts'
import { caseOf } from '../../proof/stages/bytes/cases/cases.ts'
import { rightRequest, routesWithoutSample, toBytes } from '../../proof/stages/bytes/cases/requests.ts'
import { routes } from '../../proof/stages/bytes/cases/routes.ts'
import { fillIn, standIns, type Values } from '../../proof/stages/bytes/cases/stand-ins.ts'
import { runFuzz } from '../../proof/stages/bytes/run.ts'
import { escaped } from '../../proof/stages/bytes/trial/findings.ts'
import { frame } from '../../proof/stages/bytes/trial/framing.ts'

const seed = 2_026

test('the service answers any bytes at its ports in its envelope, keeps its secrets and keeps running', async (t) => {
  const lines: string[] = []
  const logLine = (line: string) => lines.push(line)
  const report = await runFuzz({
    seed,
    minutes: 0.1,
    leastRequests: 1_500,
    connections: 16,
    logLine,
    stopped: t.signal,
  })
  const text = `${lines.join('\n')}\n${renderReport(reportOfBytes(report))}`
  assert.deepEqual(report.findings, [], text)
  // No findings mean something only after many different requests.
  const codes = ['SUCCESS', 'INVALID_API_KEY', 'AUTH001', 'AUTH003', 'VAL001', 'VAL002', 'VAL003', 'VAL004', 'NOT000']
  for (const code of codes) assert.ok(report.codes[code], `nothing was answered with ${code}\n${text}`)
  assert.match(text, /\nNOTHING FOUND \(seed 2026\)\n$/)
  t.diagnostic(`${report.requests} requests, ${report.answers} answers, ${report.connections} connections`)
})

test('the seed, the connection and the number determine the bytes of a case', () => {
  const planned = (of: number, connection: number) =>
    Array.from({ length: 200 }, (_, ordinal) => {
      const { bytes, sending, listener } = caseOf(of, connection, ordinal)
      return { bytes: escaped(bytes), sending, listener }
    })
  assert.deepEqual(planned(1, 0), planned(1, 0))
  assert.notDeepEqual(planned(1, 0), planned(2, 0))
  assert.notDeepEqual(planned(1, 0), planned(1, 1))
})

test('every route of the three listeners has a valid sample request, and all of them are sent', () => {
  assert.deepEqual(routesWithoutSample, [])
  assert.ok(routes.length >= 14)
  for (const { listener } of routes) {
    const bytes = toBytes(rightRequest(createRandom(1), listener, 'a').message)
    assert.deepEqual([frame(bytes).requests.length, frame(bytes).rest], [1, 'none'])
  }
  const paths = Array.from({ length: 3_000 }, (_, ordinal) => caseOf(1, 0, ordinal).bytes.toString('latin1')).join('')
  const missing = routes.filter(({ path }) => !paths.includes(path.split(':')[0] ?? path))
  assert.deepEqual(missing, [])
})

test('real values replace their stand-ins, and the length stays the same', () => {
  const values = Object.fromEntries(Object.entries(standIns).map(([name, text]) => [name, 'v'.repeat(text.length)]))
  const { bytes } = caseOf(1, 0, 0)
  const filled = fillIn(bytes, values as Values)
  assert.equal(filled.length, bytes.length)
  assert.ok(bytes.includes(standIns.apiKey) && !filled.includes(standIns.apiKey))
})

test('wrong arguments of the fuzzer are reported with one line and exit code 2', async (t) => {
  for (const args of [['--minutes', 'soon'], ['--seed', '-1'], ['--connections', '0'], ['--fast'], ['now']]) {
    const env = bareEnvironment()
    const { code, stdout, stderr } = await launch(t, process.execPath, ['proof/main.ts', '--stage', 'bytes', ...args], {
      cwd: repository,
      env,
    }).ended
    assert.deepEqual({ code, stdout, lines: stderr.trim().split('\n').length }, { code: 2, stdout: '', lines: 1 })
  }
})

test('a signal ends all processes the fuzzer has started', async (t) => {
  const temporary = newDirectory(t)
  const env = bareEnvironment({ TMPDIR: temporary })
  const fuzz = launch(t, process.execPath, ['proof/main.ts', '--stage', 'bytes', '--seed', '1'], {
    cwd: repository,
    env,
  })
  await until('the fuzzer sends', () => /process \d+/.test(fuzz.output.stderr) || fuzz.isGone(), 120_000)
  const [, pid] = /process (\d+)/.exec(fuzz.output.stderr) ?? []
  fuzz.child.kill('SIGTERM')
  const { code, stdout, stderr } = await fuzz.ended
  assert.deepEqual({ code, stdout }, { code: 130, stdout: '' }, stderr)
  assert.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' })
  assert.deepEqual(readdirSync(temporary), [])
})
