// The supply chain: dependencies, their bill of materials, and no secrets in the repository.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  link?: boolean
  resolved?: string
  integrity?: string
  hasInstallScript?: boolean
  license?: string
}
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> }
const installed = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1) as string, ...entry }))
const runtime = installed.filter(({ dev }) => !dev)
const { scripts, allowScripts, dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))

test('every dependency is an exact version from the registry: no range, no repository, no address, no file', () => {
  const named = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
  const exact = /^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/
  assert.deepEqual(
    named.filter(([, version]) => !exact.test(version as string)),
    [],
  )
  assert.deepEqual(
    installed.filter(({ version = '', link }) => link || !exact.test(version)),
    [],
  )
})

test('the lockfiles name no host, and every package in them has its hash', () => {
  for (const lockfile of files.filter((file) => file.endsWith('package-lock.json'))) {
    const all = JSON.parse(read(lockfile)).packages as Record<string, Entry>
    const others = Object.entries(all).filter(([path, { resolved, integrity }]) => path && (resolved || !integrity))
    assert.deepEqual(others, [], lockfile)
  }
})

test('the client package is compiled with the compiler of the service', () => {
  const own = Object.entries(JSON.parse(read('client/package-lock.json')).packages as Record<string, Entry>)
  for (const [path, entry] of own) if (path) assert.deepEqual(entry, packages[path], path)
  assert.deepEqual(JSON.parse(read('client/package.json')).devDependencies, { typescript: devDependencies.typescript })
})

test('install scripts run only for the packages in allowScripts', () => {
  const withScripts = installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
  assert.deepEqual(withScripts.toSorted(), Object.keys(allowScripts).toSorted())
})

/** Counts the packages of all platforms. A change that raises it gives its reason in docs/decisions.md. */
const mostPackages = 115

test(`no more than ${mostPackages} packages run, and every direct one has its reason in docs/architecture.md`, () => {
  assert.ok(runtime.length <= mostPackages, `${runtime.length}`)
  const [, table = ''] = read('docs/architecture.md').split('\n## Dependencies\n')
  const rows = table.split('\n').filter((line) => line.startsWith('| '))
  const listed = rows.flatMap(
    (line) =>
      line
        .split('|')[1]
        ?.split(',')
        .map((name) => name.trim()) ?? [],
  )
  const isTold = (name: string) =>
    listed.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : each === name))
  const direct = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
  assert.deepEqual(
    direct.filter((name) => !isTold(name)),
    [],
  )
})

test('npm is configured to run only named install scripts, and to save exact versions and no addresses', () => {
  const settings = read('.npmrc').trimEnd().split('\n')
  for (const line of ['strict-allow-scripts=true', 'save-exact=true', 'omit-lockfile-registry-resolved=true']) {
    assert.ok(settings.includes(line), line)
  }
  assert.doesNotMatch(read('.npmrc'), /registry=|auth|token|password|ignore-scripts|dangerously/i)
})

/** A project of one package, which has an install script; its lockfile is like ours. */
function newProject(t: TestContext, allowScripts: Record<string, boolean>): string {
  const directory = mkdtempSync(join(tmpdir(), 'prepaid-credits-supply-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const project = { name: 'victim', version: '1.0.0', dependencies: { 'has-script': '1.0.0' }, allowScripts }
  const integrity = `sha512-${'A'.repeat(86)}==`
  const locked = { version: '1.0.0', integrity, hasInstallScript: true }
  const packages = { '': { ...project, allowScripts: undefined }, 'node_modules/has-script': locked }
  const lockfile = { name: 'victim', version: '1.0.0', lockfileVersion: 3, requires: true, packages }
  writeFileSync(join(directory, '.npmrc'), read('.npmrc'))
  writeFileSync(join(directory, 'package.json'), JSON.stringify(project))
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lockfile))
  return directory
}

const [npmMajor = 0, npmMinor = 0] = execFileSync('npm', ['--version'], { encoding: 'utf8' }).split('.').map(Number)
const olderNpm = npmMajor < 11 || (npmMajor === 11 && npmMinor < 16) ? 'this npm runs every install script' : false
test('an installation stops before it begins when a package that is not named has an install script', {
  skip: olderNpm,
}, (t) => {
  const install = (allowScripts: Record<string, boolean>) =>
    spawnSync('npm', ['ci', '--offline', '--loglevel=error'], { cwd: newProject(t, allowScripts), encoding: 'utf8' })
      .stderr
  assert.match(install({}), /ESTRICTALLOWSCRIPTS.*has-script@1\.0\.0/s)
  // A named package passes the check, and then is not in the cache.
  assert.match(install({ 'has-script': true }), /ENOTCACHED/)
})

test('the service and every command are started without __proto__', () => {
  const starts = {
    'npm start': scripts.start,
    'npm run credits': scripts.credits,
    'bin/credits': read('bin/credits').trimEnd().split('\n').at(-1),
    'the container': read('Dockerfile')
      .trimEnd()
      .split('\n')
      .at(-1)
      ?.replaceAll(/[",[\]]/g, ''),
  }
  for (const [name, command] of Object.entries(starts)) {
    assert.match(command, /\bnode --disable-proto=delete .*\bsrc\/(main|cli)\.ts\b/, name)
  }
})

test('the licences of all runtime packages allow their use', () => {
  const allowed = [
    'MIT',
    'ISC',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'PostgreSQL',
    '0BSD',
    'Unlicense',
  ]
  // The user may choose one of several licences.
  const choices = (license = '') => license.replaceAll(/[()]/g, '').split(' OR ')
  const others = runtime.filter(({ license }) => !choices(license).some((choice) => allowed.includes(choice)))
  assert.deepEqual(
    others.map(({ name, license }) => `${name}: ${license}`),
    [],
  )
})

test('the bill of materials names every runtime package with its version', () => {
  const bill = JSON.parse(
    execFileSync('npm', ['run', '-s', 'sbom', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 50_000_000,
    }),
  ) as { bomFormat: string; components: { name: string; group?: string; version: string }[] }
  assert.equal(bill.bomFormat, 'CycloneDX')
  const listed = new Set(
    bill.components.map(({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`),
  )
  const there = runtime.filter(({ name }) => existsSync(join(root, 'node_modules', name)))
  const missing = there.map(({ name, version }) => `${name}@${version}`).filter((each) => !listed.has(each))
  assert.deepEqual(missing, [])
})

/** Patterns of real secrets. Secrets made up by tests are written so that they do not match. */
const secrets: [name: string, pattern: RegExp][] = [
  ['a gateway key', /\b(?:live|test)_g?[sc]k_[A-Za-z0-9]{20,}\b/],
  ['an API key', /\bcpk_[0-9A-Za-z]{43}\b/],
  ['a service token', /\bcst_[0-9A-Za-z]{43}\b/],
  ['a signing secret', /\bwhsec_[A-Za-z0-9+/]{32,}={0,2}/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a cloud access key', /\bAKIA[0-9A-Z]{16}\b/],
  ['a password in an address', /\b[a-z]+:\/\/[^\s:@/]+:(?!password\b|hunter2)[^\s:@/$<{]{12,}@/],
]

for (const [name, pattern] of secrets) {
  test(`no file contains ${name}`, () => {
    assert.deepEqual(
      files.filter((file) => pattern.test(read(file))),
      [],
    )
  })
}
