// A failing test run ends by itself with exit code 1 and reports the handles that were left open; one that is ended by a signal
// leaves nothing running. Files are started as `npm test` starts them, on the PostgreSQL of this run or of their own.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, type Cleaner, type Ended, launch, newDirectory, repository } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { findPostmaster, isAlive } from '../src/db/embedded/postmaster.ts'
import { runOptions, writeLane } from './run.ts'
import { serverVariable } from './support/database/database.ts'
import { everyPart } from './support/outer.ts'
import { alone, isOuter, outer, planOf } from './support/plan.ts'
import { refusedPrograms } from './support/refused-programs.ts'
import { readTimes } from './support/times.ts'
import { idleLimitVariable } from './support/watchdog.ts'

/** As `npm test` starts a file. */
const flags = [...runOptions.execArgv, '--test', `--test-timeout=${runOptions.timeout}`]

function run(t: Cleaner, name: string, idleLimitMs?: number): Promise<Ended> {
  const env = bareEnvironment({
    [serverVariable]: process.env[serverVariable],
    ...(idleLimitMs && { [idleLimitVariable]: `${idleLimitMs}` }),
  })
  const entry = writeLane(newDirectory(t), name, [`test/support/runs/${name}.ts`])
  return launch(t, process.execPath, [...flags, entry], { cwd: repository, env }).ended
}

const stays = /No test has begun or ended for \d+ ms, and the process stays\. It is kept by: (.*)/

test('npm test has these options', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  assert.match(scripts.test, / exec node test\/run\.ts$/)
  assert.deepEqual(flags, ['--import=./test/support/watchdog.ts', '--test', '--test-timeout=480000'])
})

test('every test file runs once, in npm test or in the outer ring, and every file in the plan exists', async () => {
  const planned = planOf()
  const inOuterRing = (await everyPart()).flatMap(({ files }) => files)
  assert.deepEqual(
    [...planned.alone, ...planned.shared, ...planned.last, ...inOuterRing.filter(isOuter)].sort(),
    globSync('test/**/*.test.ts', { cwd: repository }).sort(),
  )
  assert.deepEqual(
    Object.keys({ ...alone, ...outer }).filter((path) => !existsSync(join(repository, path))),
    [],
  )
})

test('test/times.md names the files there are, with the seconds of each', () => {
  const times = readTimes()
  assert.deepEqual([...times.keys()].sort(), globSync('test/**/*.test.ts', { cwd: repository }).sort())
})

test('a run in which a test calls a program that changes the machine fails, and names the call', {
  timeout: 120_000,
}, async (t) => {
  const args = ['test/run.ts', 'test/support/runs/installs.ts']
  const env = bareEnvironment()
  const { code, stdout } = await launch(t, process.execPath, args, { cwd: repository, env }).ended
  assert.match(stdout, /✔ a program is called/)
  const calls = refusedPrograms.map(
    (name) => `A test has called a program that changes the machine: ${name} install it`,
  )
  assert.deepEqual(stdout.trimEnd().split('\n').slice(-calls.length), calls)
  assert.equal(code, 1)
})

test('a file whose books are wrong still closes its servers and pools, and fails', {
  timeout: 60_000,
}, async (t) => {
  const { code, stdout, stderr } = await run(t, 'wrong-books')
  assert.equal(code, 1)
  assert.match(stdout, /I-\d+/, 'the findings of the audit')
  assert.doesNotMatch(`${stdout}${stderr}`, stays)
})

test('a file that leaves a server open fails although its tests passed, and names the open handle', {
  timeout: 60_000,
}, async (t) => {
  const { code, stdout, stderr } = await run(t, 'open-server', 500)
  assert.equal(code, 1)
  assert.match(stdout, /✔ a server is opened/)
  assert.match(stays.exec(`${stdout}${stderr}`)?.[1] ?? '', /1 TCPServerWrap/)
})

test('a file whose tests never begin fails', { timeout: 60_000 }, async (t) => {
  const { code, stdout, stderr } = await run(t, 'endless-start', 500)
  assert.equal(code, 1)
  assert.match(stays.exec(`${stdout}${stderr}`)?.[1] ?? '', /1 Timeout/)
})

/** `npm test` with a file whose event loop never yields, once it has begun. */
async function runStarved(t: Cleaner, settings: Record<string, string> = {}) {
  const env = bareEnvironment(settings)
  const launched = launch(t, process.execPath, ['test/run.ts', 'test/support/runs/starved.ts'], {
    cwd: repository,
    env,
  })
  const begun = () => /starved: (\d+) (\S+)\n/.exec(launched.output.stdout) ?? []
  await until('the file has begun', () => begun().length > 0, 60_000)
  const [, id, directory = ''] = begun()
  const pid = Number(id)
  t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  const postmaster = findPostmaster(join(directory, 'data/postgres')) ?? assert.fail('PostgreSQL does not run')
  return { ...launched, directory, processes: [pid, postmaster.pid] }
}

test('a file whose event loop never yields is killed after the idle limit by the process that has started it, and the run fails', {
  timeout: 120_000,
}, async (t) => {
  const { ended, processes } = await runStarved(t, { [idleLimitVariable]: '5000' })
  const { code, stderr } = await ended
  assert.equal(code, 1)
  assert.match(stderr, /^test\/support\/runs\/starved\.ts: no test has begun or ended for 5500 ms/m)
  assert.deepEqual(processes.filter(isAlive), [])
})

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  test(`${signal} ends a run with its files, its PostgreSQL and its directory, also a file whose event loop never yields`, {
    timeout: 120_000,
  }, async (t) => {
    const { child, ended, processes, directory } = await runStarved(t)
    child.kill(signal)
    assert.equal((await ended).code, code)
    assert.deepEqual(processes.filter(isAlive), [])
    assert.equal(existsSync(directory), false)
  })
}
