// A fresh clone: the repository alone is enough, in any directory, and set-up installs if and only if something is
// missing.
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  assertNothingRuns,
  type Cleaner,
  callerOf,
  cleanedUp,
  clusterOf,
  defer,
  demoKeyIn,
  diskDirectory,
  type Ended,
  type Environment,
  isRoot,
  launch,
  newDirectory,
  postgresProcesses,
  processIdFile,
  repository,
  runScript,
  waitUntilReady,
} from '../../harness/processes.ts'
import { isAlive } from '../../src/db/embedded/postmaster.ts'
import { cloneInto, renameServer, shellIn } from '../support/service/clone.ts'

const version = `0.0.0-clone-${process.pid}`

const needsRoot = isRoot ? false : 'only root runs PostgreSQL as another user'
test('npm start in a clone that only root may enter: the server is put in a directory that its user can enter', {
  skip: needsRoot,
}, async (t) => {
  const temporary = newDirectory(t, 0o755, diskDirectory())
  const directory = newDirectory(t, 0o700, temporary)
  const clone = cloneInto(directory)
  renameServer(clone, version)
  const dataDir = cleanedUp(t, join(clone, 'data'))
  const binaries = () => join(dirname(clusterOf(dataDir)), '../..', `postgres-${version}`)
  defer(t, () => fs.rmSync(binaries(), { recursive: true, force: true }))
  const options = { cwd: clone, env: { ...shellIn(directory), TMPDIR: temporary } }
  const service = await waitUntilReady(() => launch(t, 'npm', ['start'], options))
  const pid = Number(processIdFile(dataDir))
  defer(t, () => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  assert.match(service.output.stderr, /^Building the console \(once, about \d+ seconds\) \.\.\.\n$/)
  assert.notEqual(pid, service.pid)
  assert.match(service.output.stdout, new RegExp(`^Ready \\(process ${pid}\\)\\.$`, 'm'))

  const cluster = clusterOf(dataDir)
  assert.equal(cluster.startsWith(directory), false)
  assert.ok(cluster.startsWith(temporary))
  assert.ok(service.output.stdout.includes(`database   PostgreSQL, ${cluster}\n`))
  const [server] = postgresProcesses(dataDir)
  assert.ok(server)
  assert.equal(fs.readlinkSync(`/proc/${server}/exe`), join(binaries(), 'bin/postgres'))
  assert.notEqual(fs.statSync(`/proc/${server}`).uid, 0)
  assert.equal(fs.statSync(directory).mode & 0o777, 0o700, 'the mode of the directory is unchanged')

  assert.equal(await callerOf(service.publicUrl, demoKeyIn(service.output.stdout) ?? '').credits(), 0)
  const command = launch(t, 'npm', ['run', '-s', 'credits', '--', 'keys', 'list', '--json'], options)
  const listed = await command.ended
  assert.deepEqual([listed.code, listed.stderr], [0, ''])
  assert.equal(JSON.parse(listed.stdout).length, 2, 'the printed key and the key of the shop')

  await service.stop()
  assert.equal(isAlive(pid), false)
  assertNothingRuns(dataDir)
})

test('package-lock.json names no host: any registry can be used', () => {
  const { packages } = JSON.parse(fs.readFileSync(join(repository, 'package-lock.json'), 'utf8'))
  const entries = Object.entries<{ resolved?: string; integrity?: string }>(packages).filter(([path]) => path !== '')
  assert.ok(entries.length > 0)
  const hosts = entries.filter(([, { resolved }]) => resolved !== undefined && /^[a-z+]+:|^\/\//.test(resolved))
  assert.deepEqual(hosts, [])
  const unchecked = entries.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
  assert.deepEqual(
    unchecked.map(([path]) => path),
    [],
  )
})

type Lock = { packages: Record<string, { version: string; optional?: boolean }> }
const wanted: Lock = {
  packages: {
    '': { version: '0.1.0' },
    'node_modules/one': { version: '1.0.0' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
}

/** Runs setup.mjs in a project of its own, with an npm that records its arguments and fails. */
async function setUp(t: TestContext, installed: Lock['packages'] | null, settings: Environment = {}) {
  const directory = newDirectory(t)
  fs.copyFileSync(join(repository, 'setup.mjs'), join(directory, 'setup.mjs'))
  fs.writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(wanted))
  for (const path of Object.keys(installed ?? {})) fs.mkdirSync(join(directory, path), { recursive: true })
  const lock = join(directory, 'node_modules/.package-lock.json')
  if (installed) fs.writeFileSync(lock, JSON.stringify({ packages: installed }))
  const ended = await runSetUp(t, directory, settings)
  const recorded = join(directory, 'arguments.json')
  const npmArguments = fs.existsSync(recorded) ? JSON.parse(fs.readFileSync(recorded, 'utf8')) : null
  return { ...ended, npmArguments }
}

/** Its `node` is the one that runs the tests, unless the settings have another PATH. */
function runSetUp(t: Cleaner, directory: string, settings: Environment = {}): Promise<Ended> {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
  return runScript(t, join(directory, 'setup.mjs'), { npm_execpath: stubbedNpm(t), PATH, ...settings })
}

function stubbedNpm(t: Cleaner): string {
  const script = join(newDirectory(t), 'npm.cjs')
  const line = `require('node:fs').writeFileSync('arguments.json', JSON.stringify(process.argv.slice(2))); process.exit(1)`
  fs.writeFileSync(script, line)
  return script
}

function assertSilent({ code, stdout, stderr }: Ended): void {
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' })
}

const one = { 'node_modules/one': { version: '1.0.0' } }
const otherPlatform = (version: string) => ({ 'node_modules/other-platform': { version, optional: true } })
const incomplete = [
  { name: 'node_modules is missing', installed: null },
  { name: 'a package is missing', installed: otherPlatform('1.0.0') },
  { name: 'a package has another version', installed: { 'node_modules/one': { version: '0.9.0' } } },
  { name: 'an optional package has another version', installed: { ...one, ...otherPlatform('0.9.0') } },
]
for (const { name, installed } of incomplete) {
  test(`set-up when ${name}: npm ci with the development tools; its failure is reported with exit code 1`, async (t) => {
    const { code, stdout, stderr, npmArguments } = await setUp(t, installed)
    assert.deepEqual(npmArguments, ['ci', '--include=dev', '--loglevel=error'])
    assert.deepEqual([code, stdout], [1, ''])
    const [first, second, ...others] = stderr.trimEnd().split('\n')
    assert.match(first ?? '', /^Installing dependencies/)
    assert.match(second ?? '', /^The installation failed: .*npm ci/)
    assert.deepEqual(others, [])
  })
}

test('set-up when everything is installed: no output and no npm call', async (t) => {
  for (const installed of [one, { ...one, ...otherPlatform('1.0.0') }]) {
    const ended = await setUp(t, installed)
    assertSilent(ended)
    assert.equal(ended.npmArguments, null)
  }
  assertSilent(await runSetUp(t, repository))
})

test('set-up when the Node of PATH is too old: one line states the version needed', async (t) => {
  const bin = newDirectory(t)
  fs.writeFileSync(join(bin, 'node'), '#!/bin/sh\necho v20.1.0\n', { mode: 0o755 })
  const PATH = `${bin}${delimiter}${process.env.PATH}`
  const { code, stdout, stderr, npmArguments } = await setUp(t, one, { PATH })
  assert.deepEqual([code, stdout, npmArguments], [1, '', null])
  assert.match(stderr, /^Node 24 or later is needed, this is v20\.1\.0\. .*\n$/)
})
