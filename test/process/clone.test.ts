// A fresh clone: what lies in the repository is enough, wherever it was cloned to, and set-up installs when and only
// when something is missing.
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
test('npm start in a clone that only root may enter: the server gets a place its user can go to', {
  skip: needsRoot,
}, async (t) => {
  const directory = newDirectory(t, 0o700, diskDirectory())
  const clone = cloneInto(directory)
  renameServer(clone, version)
  const dataDir = cleanedUp(t, join(clone, 'data'))
  const binaries = () => join(dirname(clusterOf(dataDir)), '../..', `postgres-${version}`)
  defer(t, () => fs.rmSync(binaries(), { recursive: true, force: true }))
  const options = { cwd: clone, env: shellIn(directory) }
  const service = await waitUntilReady(() => launch(t, 'npm', ['start'], options))
  const pid = Number(processIdFile(dataDir))
  defer(t, () => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  assert.match(service.output.stderr, /^Building the console \(once, about \d+ seconds\) \.\.\.\n$/)
  assert.notEqual(pid, service.pid)
  assert.match(service.output.stdout, new RegExp(`^Ready \\(process ${pid}\\)\\.$`, 'm'))

  const cluster = clusterOf(dataDir)
  assert.equal(cluster.startsWith(directory), false)
  assert.ok(service.output.stdout.includes(`database   PostgreSQL, ${cluster}\n`))
  const [server] = postgresProcesses(dataDir)
  assert.ok(server)
  assert.equal(fs.readlinkSync(`/proc/${server}/exe`), join(binaries(), 'bin/postgres'))
  assert.notEqual(fs.statSync(`/proc/${server}`).uid, 0)
  assert.equal(fs.statSync(directory).mode & 0o777, 0o700, 'nothing was opened to others')

  assert.equal(await callerOf(service.publicUrl, demoKeyIn(service.output.stdout) ?? '').credits(), 0)
  const command = launch(t, 'npm', ['run', '-s', 'credits', '--', 'keys', 'list', '--json'], options)
  const listed = await command.ended
  assert.deepEqual([listed.code, listed.stderr], [0, ''])
  assert.equal(JSON.parse(listed.stdout).length, 2, 'the key that is shown and the key of the shop')

  await service.stop()
  assert.equal(isAlive(pid), false)
  assertNothingRuns(dataDir)
})

test('package-lock.json names no host: any registry will do', () => {
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

/** setup.mjs in a project of its own, with an npm that says what it was asked and fails. */
async function setUp(t: TestContext, installed: Lock['packages'] | null, settings: Environment = {}) {
  const directory = newDirectory(t)
  fs.copyFileSync(join(repository, 'setup.mjs'), join(directory, 'setup.mjs'))
  fs.writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(wanted))
  for (const path of Object.keys(installed ?? {})) fs.mkdirSync(join(directory, path), { recursive: true })
  const lock = join(directory, 'node_modules/.package-lock.json')
  if (installed) fs.writeFileSync(lock, JSON.stringify({ packages: installed }))
  const ended = await runSetUp(t, directory, settings)
  const asked = join(directory, 'asked.json')
  return { ...ended, asked: fs.existsSync(asked) ? JSON.parse(fs.readFileSync(asked, 'utf8')) : null }
}

/** The `node` it finds is the one that runs the tests, unless the settings say otherwise. */
function runSetUp(t: Cleaner, directory: string, settings: Environment = {}): Promise<Ended> {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
  return runScript(t, join(directory, 'setup.mjs'), { npm_execpath: stubbedNpm(t), PATH, ...settings })
}

function stubbedNpm(t: Cleaner): string {
  const script = join(newDirectory(t), 'npm.cjs')
  const line = `require('node:fs').writeFileSync('asked.json', JSON.stringify(process.argv.slice(2))); process.exit(1)`
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
  test(`set-up when ${name}: npm ci with the development tools; its failure is told and is exit code 1`, async (t) => {
    const { code, stdout, stderr, asked } = await setUp(t, installed)
    assert.deepEqual(asked, ['ci', '--include=dev', '--loglevel=error'])
    assert.deepEqual([code, stdout], [1, ''])
    const [first, second, ...others] = stderr.trimEnd().split('\n')
    assert.match(first ?? '', /^Installing dependencies/)
    assert.match(second ?? '', /^The installation failed: .*npm ci/)
    assert.deepEqual(others, [])
  })
}

test('set-up when everything is there: nothing is said and nothing is done', async (t) => {
  for (const installed of [one, { ...one, ...otherPlatform('1.0.0') }]) {
    const ended = await setUp(t, installed)
    assertSilent(ended)
    assert.equal(ended.asked, null)
  }
  assertSilent(await runSetUp(t, repository))
})

test('set-up where the Node that will run is too old: one line says which is needed', async (t) => {
  const bin = newDirectory(t)
  fs.writeFileSync(join(bin, 'node'), '#!/bin/sh\necho v20.1.0\n', { mode: 0o755 })
  const PATH = `${bin}${delimiter}${process.env.PATH}`
  const { code, stdout, stderr, asked } = await setUp(t, one, { PATH })
  assert.deepEqual([code, stdout, asked], [1, '', null])
  assert.match(stderr, /^Node 24 or later is needed, this is v20\.1\.0\. .*\n$/)
})
