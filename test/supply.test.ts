// What the project is made of, and what must not be in it: dependencies, their bill of materials, secrets.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  link?: boolean
  resolved?: string
  license?: string
}
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> }
const installed = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1) as string, ...entry }))
const runtime = installed.filter(({ dev }) => !dev)

test('every dependency is an exact version from the registry: no range, no repository, no address, no file', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))
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

test('the licences of what runs allow its use', () => {
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
  const others = runtime.filter(({ license = '' }) => !allowed.includes(license))
  assert.deepEqual(
    others.map(({ name, license }) => `${name}: ${license}`),
    [],
  )
})

test('the bill of materials names every package that runs, with its version', () => {
  const bill = JSON.parse(
    execFileSync('npm', ['run', '-s', 'sbom', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 50_000_000,
    }),
  ) as { bomFormat: string; components: { name: string; group?: string; version: string }[] }
  assert.equal(bill.bomFormat, 'CycloneDX')
  const told = new Set(
    bill.components.map(({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`),
  )
  const there = runtime.filter(({ name }) => existsSync(join(root, 'node_modules', name)))
  const missing = there.map(({ name, version }) => `${name}@${version}`).filter((each) => !told.has(each))
  assert.deepEqual(missing, [])
})

/** What a secret of somebody looks like; those that tests make up say of themselves what they are. */
const secrets: [name: string, pattern: RegExp][] = [
  ['a key of the gateway', /\b(?:live|test)_g?[sc]k_[A-Za-z0-9]{20,}\b/],
  ['an API key', /\bcpk_[0-9A-Za-z]{43}\b/],
  ['a token of a service', /\bcst_[0-9A-Za-z]{43}\b/],
  ['a signing secret', /\bwhsec_[A-Za-z0-9+/]{32,}={0,2}/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a key of a cloud', /\bAKIA[0-9A-Z]{16}\b/],
  ['a password in an address', /\b[a-z]+:\/\/[^\s:@/]+:(?!password\b|hunter2)[^\s:@/$<{]{12,}@/],
]

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

for (const [name, pattern] of secrets) {
  test(`no file holds ${name}`, () => {
    assert.deepEqual(
      files.filter((file) => pattern.test(read(file))),
      [],
    )
  })
}
