// Commands that need programs which npm does not have, where these are missing: they install nothing, name the packages and
// what --install would do, and fail.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { findCitus } from '../../harness/citus/citus.ts'
import { ProgramsMissing } from '../../harness/debian.ts'
import { bareEnvironment, type Cleaner, launch, newDirectory, repository } from '../../harness/processes.ts'
import { refusePrograms } from '../support/refused-programs.ts'

/** With a PATH that has a shell, and programs that record when they are called. */
async function run(t: Cleaner, args: string[]) {
  const refusal = refusePrograms()
  t.after(() => refusal.remove())
  const bin = newDirectory(t)
  symlinkSync('/bin/sh', join(bin, 'sh'))
  const env = bareEnvironment({ PATH: [refusal.directory, bin].join(delimiter) })
  const ended = await launch(t, process.execPath, args, { cwd: repository, env }).ended
  return { ...ended, calls: refusal.calls() }
}

const patroni = /Not on this machine: .*etcd \(etcd-server\), .*Patroni 3\.0\.3 or later \(patroni, python3-etcd\)\./
const installing = /Nothing was installed\. The same command with --install does it, (as root )?on Debian: /
const citus =
  /has the extension citus\. Nothing was installed\. Install PostgreSQL 15 or later \(postgresql-15 .* Citus 13/

function isCitusThere(): boolean {
  try {
    return findCitus() !== ''
  } catch (error) {
    if (error instanceof ProgramsMissing) return false
    throw error
  }
}
const skipCitus = isCitusThere() ? 'this machine has Citus' : false

const commands: { args: string[]; expected: RegExp[]; exitCode?: number; skip?: string | false }[] = [
  { args: ['proof/main.ts', '--stage', 'patroni'], expected: [patroni, installing], exitCode: 2 },
  {
    args: ['proof/main.ts', '--stage', 'processes', '--cluster', 'citus'],
    expected: [citus],
    exitCode: 2,
    skip: skipCitus,
  },
  { args: ['bench/main.ts', 'cluster'], expected: [citus], skip: skipCitus },
  { args: ['test/run.ts', '--cluster'], expected: [citus], skip: skipCitus },
  {
    args: ['test/run.ts', '--outer', 'test/faults/failover.test.ts'],
    expected: [/^Not run: the failover campaign/, patroni, installing, /The outer ring: 0 tests were run/],
  },
  {
    args: ['test/support/console/take-pictures.ts'],
    expected: [/a Chromium \(chromium-headless-shell\)|a font with Korean letters/, installing],
  },
]

for (const { args, expected, exitCode = 1, skip = false } of commands) {
  test(`node ${args.join(' ')}: what is missing is named, nothing is installed, and it fails`, { skip }, async (t) => {
    const { code, stdout, stderr, calls } = await run(t, args)
    for (const text of expected) assert.match(`${stdout}${stderr}`, text)
    assert.deepEqual({ code, calls }, { code: exitCode, calls: [] })
  })
}

test('only the commands that can install something take --install', async (t) => {
  for (const args of [
    ['proof/main.ts', '--stage', 'processes'],
    ['proof/main.ts', '--stage', 'processes', '--cluster', 'citus'],
    ['bench/main.ts', 'cluster'],
  ]) {
    const { code, calls } = await run(t, [...args, '--install'])
    assert.deepEqual({ code, calls }, { code: 2, calls: [] })
  }
  const { code, stderr, calls } = await run(t, ['test/run.ts', '--install'])
  assert.deepEqual({ code, calls }, { code: 1, calls: [] })
  assert.match(stderr, /--install: only npm run test:outer installs programs/)
})
