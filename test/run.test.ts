// A run of the tests that fails ends by itself, red, and reports what was left open: as `npm test` runs a file, on the
// PostgreSQL of this run.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, type Cleaner, type Ended, launch, repository } from '../harness/processes.ts'
import { serverVariable } from './support/database/database.ts'
import { idleLimitVariable } from './support/watchdog.ts'

/** Of `npm test`: the options that decide how a file ends. */
const flags = ['--import=./test/support/watchdog.ts', '--test', '--test-timeout=240000']

function run(t: Cleaner, name: string, idleLimitMs?: number): Promise<Ended> {
  const env = bareEnvironment({
    [serverVariable]: process.env[serverVariable],
    ...(idleLimitMs && { [idleLimitVariable]: `${idleLimitMs}` }),
  })
  return launch(t, process.execPath, [...flags, `test/support/runs/${name}.ts`], { cwd: repository, env }).ended
}

const stays = /No test has begun or ended for \d+ ms, and the process stays\. It is kept by: (.*)/

test('npm test has these options', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
  for (const flag of flags) assert.ok(scripts.test.split(' ').includes(flag), flag)
})

test('a file whose books are wrong closes its servers and pools all the same, and ends red', {
  timeout: 60_000,
}, async (t) => {
  const { code, stdout, stderr } = await run(t, 'wrong-books')
  assert.equal(code, 1)
  assert.match(stdout, /I-\d+/, 'what the audit has found')
  assert.doesNotMatch(`${stdout}${stderr}`, stays)
})

test('a file that leaves a server open ends red, though its tests passed, and names what kept it', {
  timeout: 60_000,
}, async (t) => {
  const { code, stdout, stderr } = await run(t, 'open-server', 500)
  assert.equal(code, 1)
  assert.match(stdout, /✔ a server is opened/)
  assert.match(stays.exec(`${stdout}${stderr}`)?.[1] ?? '', /1 TCPServerWrap/)
})

test('a file whose tests never begin ends red', { timeout: 60_000 }, async (t) => {
  const { code, stdout, stderr } = await run(t, 'endless-start', 500)
  assert.equal(code, 1)
  assert.match(stays.exec(`${stdout}${stderr}`)?.[1] ?? '', /1 Timeout/)
})
