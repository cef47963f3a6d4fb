// Faults in the environment: the service prints one readable line per fault, exits with 1 and leaves nothing running.
// And the settings that change how a service starts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  assertNothingRuns,
  bareEnvironment,
  type Cleaner,
  callerOf,
  databaseUrl,
  defer,
  demoKeyIn,
  type Ended,
  type Environment,
  launch,
  newDataDir,
  newDirectory,
  processIdFile,
  type RunningService,
  repository,
  runCommand,
  runService,
  startService,
  takePort,
  usedDataDir,
} from '../../../harness/processes.ts'
import { createTestDatabase, type TestDatabase, testServer } from '../../support/database/database.ts'
import { callCli } from '../../support/service/cli-call.ts'
import { clientOf, codeOf } from '../../support/service/clients.ts'
import { startInProcess } from '../../support/service/in-process.ts'
import { separateNotes } from '../../support/service/notes.ts'

const wholeFile = { after }

function assertRefusedWith({ code, stdout, stderr }: Ended, lines: (string | RegExp)[]): void {
  assert.deepEqual([code, stdout], [1, ''], stderr)
  assertLines(stderr, lines)
}

function assertLines(stderr: string, lines: (string | RegExp)[]): void {
  const printed = stderr.trimEnd().split('\n')
  assert.equal(printed.length, lines.length, stderr)
  for (const line of lines) {
    const found = printed.some((text) => (typeof line === 'string' ? text.startsWith(line) : line.test(text)))
    assert.ok(found, `${line} is not in:\n${stderr}`)
  }
  assert.doesNotMatch(stderr, /^\s+at |node:internal|\.ts:\d/m)
}

async function newDatabase(t: Cleaner): Promise<TestDatabase> {
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  return database
}

test('faults of every kind are reported all at once: one line each, exit code 1, no DATA_DIR', async (t) => {
  const dataDir = newDataDir(t)
  const ended = await runService(t, dataDir, {
    PORT: 'http',
    INTERNAL_PORT: '65536',
    SANDBOX_PORT: '-1',
    DATABASE_URL: 'mysql://user:hunter2hunter2@localhost/credits',
    KEY_PEPPER: 'too short',
    GATEWAY: 'stripe',
    SANDBOX_STRICT: 'yes',
    SUCCESS_URL: '/success',
    FAIL_URL: 'ftp://shop.example/fail',
    LOG_LEVEL: 'loud',
    BODY_LIMIT_BYTES: '0',
    OPERATION_LEASE_MS: '1000',
  })
  assertRefusedWith(ended, [
    'PORT: expected a whole number from 0 to 65535, got "http"',
    'INTERNAL_PORT: expected a whole number from 0 to 65535, got "65536"',
    'SANDBOX_PORT: expected a whole number from 0 to 65535, got "-1"',
    'DATABASE_URL: expected postgres://user:password@host:port/database',
    'KEY_PEPPER: expected a secret of at least 16 characters',
    'GATEWAY: expected one of sandbox, toss, got "stripe"',
    'SANDBOX_STRICT: expected one of 0, 1, got "yes"',
    'SUCCESS_URL: expected an absolute URL',
    'FAIL_URL: expected an absolute URL',
    'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, got "loud"',
    'BODY_LIMIT_BYTES: expected a whole number from 256',
    'OPERATION_LEASE_MS: expected at least GATEWAY_TIMEOUT_MS + GATEWAY_LOOKUP_TIMEOUT_MS, which is 35000',
  ])
  assert.doesNotMatch(ended.stderr, /hunter2|too short/)
  assert.equal(fs.existsSync(dataDir), false)
})

/** What `runService` would print, from a start in this process. */
async function refusedStart(t: Cleaner, dataDir: string, settings: Environment): Promise<string> {
  const error = await startInProcess(t, dataDir, settings).catch((each: Error) => each)
  assert.ok(error instanceof Error, 'the service has started')
  return error.message
}

test('a port in use is reported with the name of its setting; the embedded PostgreSQL is stopped again', async (t) => {
  const dataDir = await usedDataDir(t)
  const taken = await takePort(t)
  const lineFor = (setting: string) =>
    `Port ${taken} on 127.0.0.1 is in use: stop the program that uses it, or set ${setting} to another.`
  assertRefusedWith(await runService(t, dataDir, { PORT: taken }), [lineFor('PORT')])
  // A command meanwhile must not take it for a running service, so not even a short-lived note is written.
  const written: (string | null)[] = []
  const watcher = fs.watch(separateNotes(t), (_, name) => written.push(name))
  defer(t, () => watcher.close())
  for (const setting of ['INTERNAL_PORT', 'SANDBOX_PORT', 'WEBHOOK_PORT']) {
    assertLines(await refusedStart(t, dataDir, { [setting]: taken }), [lineFor(setting)])
    assert.ok(fs.existsSync(join(dataDir, 'postgres')))
    assertNothingRuns(dataDir)
  }
  assert.deepEqual(written, [])
})

const badHosts = [
  { setting: 'HOST', value: '203.0.113.1' },
  { setting: 'INTERNAL_HOST', value: 'nowhere.invalid' },
]
for (const { setting, value } of badHosts) {
  test(`${setting}=${value}: one line with the name of the setting`, async (t) => {
    const { connection } = await newDatabase(t)
    const printed = await refusedStart(t, newDataDir(t), { [setting]: value, DATABASE_URL: databaseUrl(connection) })
    assertLines(printed, [new RegExp(`${value}.*\\b${setting}\\b`)])
  })
}

const unreachable = [
  {
    name: 'nothing listens',
    url: 'postgres://credits:hunter2@127.0.0.1:1/credits',
    line: /127\.0\.0\.1:1 .*ECONNREFUSED/,
  },
  { name: 'no such host', url: 'postgres://credits:hunter2@nowhere.invalid/credits', line: /nowhere\.invalid cannot/ },
  { name: 'wrong password', url: '', line: /password authentication failed/ },
]
for (const { name, url, line } of unreachable) {
  test(`DATABASE_URL, ${name}: one line without the password, nothing left`, async (t) => {
    const dataDir = newDataDir(t)
    const DATABASE_URL = url || databaseUrl({ ...testServer(), password: 'hunter2' })
    const printed = await refusedStart(t, dataDir, { DATABASE_URL, DATABASE_WAIT_MS: '0' })
    assertLines(printed, [/^The database .* cannot be reached: /])
    assert.match(printed, line)
    assert.doesNotMatch(printed, /hunter2/)
    assertNothingRuns(dataDir)
  })
}

let sharedDatabase: TestDatabase | undefined
let sharedService: RunningService | undefined
const sharedDataDir = newDataDir(wholeFile)
const sharedNotes = newDirectory(wholeFile)

/** One service with a DATABASE_URL for two tests. */
async function startShared() {
  sharedDatabase ??= await newDatabase(wholeFile)
  const DATABASE_URL = databaseUrl(sharedDatabase.connection)
  // With a port and a directory for its note: commands can find it.
  const settings = { DATABASE_URL, TMPDIR: sharedNotes, INTERNAL_PORT: await findFreePort() }
  sharedService ??= await startService(wholeFile, sharedDataDir, settings)
  return { dataDir: sharedDataDir, database: sharedDatabase, service: sharedService, DATABASE_URL }
}

async function findFreePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `${port}`
}

test('DATABASE_URL works without an embedded server', async () => {
  const { dataDir, service, database } = await startShared()
  const { connection } = database
  const orderId = await clientOf(service.publicUrl, demoKeyIn(service.output.stdout) ?? '').buy('STANDARD')
  const orders = await database.query('select order_id as id, status from orders')
  assert.deepEqual(orders, [{ id: orderId, status: 'CONFIRMED' }])
  assert.match(service.output.stdout, new RegExp(`database +PostgreSQL, ${connection.database} at the local socket`))
  assert.equal(service.output.stdout.includes(connection.password), false)
  const left = ['key-pepper', 'sandbox', 'sandbox.url', 'service.pid', 'storefront', 'webhook-token']
  assert.deepEqual(fs.readdirSync(dataDir).sort(), left)
})

test('a printed command leads to the data of the service from any shell that knows its secrets', async (t) => {
  const { service, database, DATABASE_URL } = await startShared()
  const [, printed = ''] = /^ {2}(DATA_DIR=.* operators add NAME --role admin)$/m.exec(service.output.stdout) ?? []
  assert.ok(printed.startsWith(`DATA_DIR='${sharedDataDir}' DATABASE_URL="`), service.output.stdout)
  const line = printed.replace('npm run -s credits --', `${process.execPath} src/cli.ts`).replace('NAME', 'kim')
  const paste = (settings: Environment) =>
    launch(t, 'sh', ['-c', line], { cwd: repository, env: bareEnvironment(settings) }).ended
  assert.notEqual((await paste({})).code, 0, 'without DATABASE_URL it does not go elsewhere')
  assert.equal((await paste({ DATABASE_URL })).code, 0)
  assert.deepEqual(await database.query('select name from operators'), [{ name: 'kim' }])
})

test('a command warns on stderr when the running service uses other data, and not beside its own service; notes of ended services do not count, also where their process id is in use again', async (t) => {
  const { dataDir, service, DATABASE_URL } = await startShared()
  const directory = join(sharedNotes, `prepaid-credits-${process.getuid?.()}`)
  const note = join(directory, `${service.pid}.json`)
  assert.equal(fs.statSync(note).mode & 0o777, 0o600)
  assert.equal(fs.readFileSync(note, 'utf8').includes(sharedDatabase?.connection.password ?? ''), false)
  // Notes of a process that is gone, and of one whose id another process has got.
  const gone = join(directory, '4194305.json')
  fs.writeFileSync(gone, fs.readFileSync(note))
  const reused = join(directory, `${process.pid}.json`)
  fs.writeFileSync(reused, JSON.stringify({ ...JSON.parse(fs.readFileSync(note, 'utf8')), data: 'old' }))
  const list = (settings: Environment) => runCommand(t, dataDir, ['keys', 'list', '--json'], settings)
  assert.equal((await list({ DATABASE_URL, TMPDIR: sharedNotes })).stderr, '')
  assert.equal(fs.existsSync(gone), false)
  if (fs.existsSync('/proc/self/stat')) assert.equal(fs.existsSync(reused), false)
  else fs.rmSync(reused)
  const elsewhere = databaseUrl((await newDatabase(t)).connection)
  const other = await list({ DATABASE_URL: elsewhere, TMPDIR: sharedNotes })
  const { warning } = JSON.parse(other.stderr)
  assert.match(warning, new RegExp(`^This command uses the data of .*process ${service.pid}\\) uses `))
  assert.deepEqual([other.code, JSON.parse(other.stdout)], [0, []])
})

test('DATABASE_URL: a start that fails beside a running service leaves its pid file alone', async (t) => {
  const { dataDir, service, DATABASE_URL } = await startShared()
  assert.equal(processIdFile(dataDir), `${service.pid}`)
  const { port } = new URL(service.publicUrl)
  assertRefusedWith(await runService(t, dataDir, { DATABASE_URL, PORT: port }), ['The sandbox data in '])
  assert.equal(processIdFile(dataDir), `${service.pid}`)
  await service.stop()
  assert.equal(processIdFile(dataDir), null)
  assert.deepEqual(fs.readdirSync(join(sharedNotes, `prepaid-credits-${process.getuid?.()}`)), [])
})

test('NODE_ENV=production with GATEWAY=sandbox warns that no money moves, takes only payment keys of the sandbox, and shows no key', async (t) => {
  const { connection, query } = await newDatabase(t)
  const settings = {
    NODE_ENV: 'production',
    GATEWAY: 'sandbox',
    DATABASE_URL: databaseUrl(connection),
    KEY_PEPPER: 'a pepper for this test alone',
    INTERNAL_HOST: '0.0.0.0',
  }
  const dataDir = newDataDir(t)
  const issued = await callCli(t, dataDir, ['keys', 'issue', '--customer', 'acme', '--json'], settings)
  const service = await startService(t, dataDir, settings)
  assert.equal(new URL(service.sandboxUrl).hostname, '127.0.0.1')
  const caller = callerOf(service.publicUrl, JSON.parse(issued.stdout).apiKey)
  const { orderId, amount } = (await caller.purchase('BASIC')).body.data
  assert.equal((await caller.confirm(orderId, amount)).body.code, 'VAL003')
  const ready = await fetch(`http://127.0.0.1:${new URL(service.internalUrl).port}/readyz`)
  assert.match(await ready.text(), /"money":"no money moves: the sandbox as the gateway"/)
  await service.stop()
  const entries = service.output.stdout
    .trim()
    .split('\n')
    .map((entry) => JSON.parse(entry) as Record<string, unknown>)
  const warnings = entries.filter(({ level }) => level === 40).map(({ msg }) => msg)
  assert.ok(warnings.includes('production with the sandbox as the gateway: no money moves'), warnings.join('\n'))
  const started = entries.find(({ msg }) => msg === 'ready')
  assert.deepEqual([started?.pid, started?.publicUrl], [service.pid, service.publicUrl])
  assert.doesNotMatch(service.output.stdout + service.output.stderr, /cpk_/)
  assert.equal((await query('select key_id from api_keys')).length, 1, 'no key was issued without being shown')
})

test('KEY_PEPPER: a key is valid only with its pepper, and an old pepper may be listed beside a new one', async (t) => {
  const dataDir = newDataDir(t)
  const { connection } = await newDatabase(t)
  const DATABASE_URL = databaseUrl(connection)
  const [old, other] = ['the pepper of last year', 'the pepper of this year']
  const issued = await callCli(t, dataDir, ['keys', 'issue', '--customer', 'peppered', '--json'], {
    DATABASE_URL,
    KEY_PEPPER: old,
  })
  const { apiKey } = JSON.parse(issued.stdout)
  for (const [KEY_PEPPER, code] of [
    [other, 'AUTH001'],
    [`2:${other},1:${old}`, 'SUCCESS'],
  ]) {
    const service = await startInProcess(t, dataDir, { DATABASE_URL, KEY_PEPPER })
    assert.equal(await codeOf(clientOf(service.publicUrl, apiKey).getCreditBalance()), code, KEY_PEPPER)
    await service.close()
  }
  assert.equal(fs.existsSync(join(dataDir, 'key-pepper')), false)
})

const noDirectories = [
  { name: 'below a file, with the embedded PostgreSQL', path: 'file/below', embedded: true },
  { name: 'that is a file, with the embedded PostgreSQL', path: 'file', embedded: true },
  { name: 'below a file, with DATABASE_URL', path: 'file/below', embedded: false },
]
for (const { name, path, embedded } of noDirectories) {
  test(`a DATA_DIR ${name}: one line with its path and the name of the setting`, async (t) => {
    const directory = newDirectory(t)
    fs.writeFileSync(join(directory, 'file'), '')
    const settings = embedded ? {} : { DATABASE_URL: databaseUrl((await newDatabase(t)).connection) }
    const printed = await refusedStart(t, join(directory, path), settings)
    assertLines(printed, [new RegExp(`${join(directory, path)}\\b.*\\bDATA_DIR\\b`)])
  })
}
