// The operator's commands beside a running service and without one; as processes where several run at once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertNothingRuns,
  type Cleaner,
  callerOf,
  copyDataDir,
  type Environment,
  newDataDir,
  postgresProcesses,
  processIdFile,
  type RunningService,
  runCommand,
  startService,
  usedDataDir,
} from '../../../harness/processes.ts'
import { callCli } from '../../support/service/cli-call.ts'

/** Runs a command in this process, or as a process of its own. */
type Run = typeof runCommand
type Issued = { keyId: string; customerId: string; apiKey: string }

const wholeFile = { after }
/** A directory for commands alone, without a service. */
const stopped = newDataDir(wholeFile)
const dataDir = await usedDataDir(wholeFile)
let service: RunningService
before(async () => {
  service = await startService(wholeFile, dataDir)
})

async function succeed(
  t: Cleaner,
  args: string[],
  { directory = dataDir, settings = {}, run = callCli }: { directory?: string; settings?: Environment; run?: Run } = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(t, directory, args, settings)
  assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  return stdout
}

async function issue(t: Cleaner, customer: string, directory = dataDir, run: Run = callCli): Promise<Issued> {
  return JSON.parse(await succeed(t, ['keys', 'issue', '--customer', customer, '--json'], { directory, run }))
}

/** As processes. */
function issueAtOnce(t: Cleaner, customers: string[], directory = dataDir): Promise<Issued[]> {
  return Promise.all(customers.map((customer) => issue(t, customer, directory, runCommand)))
}

async function list(t: Cleaner, directory = dataDir): Promise<Record<string, string>[]> {
  return JSON.parse(await succeed(t, ['keys', 'list', '--json'], { directory }))
}

function codeOf({ apiKey }: Issued): Promise<string> {
  return callerOf(service.publicUrl, apiKey).code()
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test('keys issue --json gives exactly keyId, customerId and apiKey, and the key works at once', async (t) => {
  const issued = await issue(t, 'Acme Corporation')
  assert.deepEqual(Object.keys(issued), ['keyId', 'customerId', 'apiKey'])
  assert.match(issued.keyId, /^key_[0-9A-Za-z]+$/)
  assert.match(issued.customerId, uuidPattern)
  assert.match(issued.apiKey, /^cpk_[0-9A-Za-z]{43}$/)
  const { body } = await callerOf(service.publicUrl, issued.apiKey).call('credits')
  assert.deepEqual(body.data, { credits: 0, customerId: issued.customerId })
})

test('keys issue without --json prints the same fields as text', async (t) => {
  const lines = (await succeed(t, ['keys', 'issue', '--customer', 'people'])).trim().split('\n')
  const names = lines.map((line) => line.split(/: +/)[0])
  assert.deepEqual(names, ['keyId', 'customerId', 'apiKey'])
})

test('the same name twice is one customer with two keys, which share the credits of the customer', async (t) => {
  const first = await issue(t, 'twice')
  const second = await issue(t, ' twice ')
  assert.equal(second.customerId, first.customerId)
  assert.notEqual(second.keyId, first.keyId)
  const caller = callerOf(service.publicUrl, first.apiKey)
  const { orderId } = (await caller.purchase('BASIC')).body.data
  assert.equal((await caller.confirm(orderId, 1_000)).status, 200)
  assert.equal(await callerOf(service.publicUrl, second.apiKey).credits(), 1)
})

test('keys issue accepts the UUID of a known customer, or of one to create', async (t) => {
  const { customerId } = await issue(t, 'by uuid')
  assert.equal((await issue(t, customerId.toUpperCase())).customerId, customerId)
  const chosen = crypto.randomUUID()
  const issued = await issue(t, chosen)
  assert.equal(issued.customerId, chosen)
  assert.equal(await codeOf(issued), 'SUCCESS')
})

test('keys list shows every key with its last four characters, newest first, and no secret', async (t) => {
  const issued = await issue(t, 'listed')
  const rows = await list(t)
  const { createdAt = '', ...newest } = rows[0] ?? {}
  assert.deepEqual(newest, {
    keyId: issued.keyId,
    customerId: issued.customerId,
    customerName: 'listed',
    customerSuspended: false,
    lastFour: issued.apiKey.slice(-4),
    status: 'ACTIVE',
    secretVersion: 1,
  })
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const table = await succeed(t, ['keys', 'list'], { settings: { TZ: 'UTC' }, run: runCommand })
  const [head = '', first = ''] = table.split('\n')
  assert.deepEqual(head.split(/ {2,}/), [
    'keyId',
    'customerId',
    'customerName',
    'customerSuspended',
    'lastFour',
    'status',
    'secretVersion',
    'createdAt',
  ])
  assert.deepEqual(first.split(/ {2,}/), [...Object.values(newest).map(String), createdAt.replace(/\.\d+Z/, 'Z')])
  for (const text of [table, JSON.stringify(rows)]) assert.doesNotMatch(text, /cpk_|hash|pepper/i)
})

test('5.4: after keys suspend the running service answers AUTH003 within a second, after keys activate SUCCESS again', async (t) => {
  const issued = await issue(t, 'suspended')
  const other = await issue(t, 'suspended')
  assert.equal(await codeOf(issued), 'SUCCESS')
  for (const [verb, status, code] of [
    ['suspend', 'SUSPENDED', 'AUTH003'],
    ['suspend', 'SUSPENDED', 'AUTH003'],
    ['activate', 'ACTIVE', 'SUCCESS'],
  ] as const) {
    const output = await succeed(t, ['keys', verb, issued.keyId, '--json'])
    assert.deepEqual(JSON.parse(output), { keyId: issued.keyId, status })
    // Keeps the key in the service's memory for as long as it may stay there.
    await codeOf(issued)
    await sleep(1_000)
    assert.equal(await codeOf(issued), code)
    assert.equal(await codeOf(other), 'SUCCESS')
  }
})

test('an unknown key id is refused with one line and exit code 1', async (t) => {
  for (const verb of ['suspend', 'activate']) {
    const { code, stdout, stderr } = await callCli(t, dataDir, ['keys', verb, 'key_unknown'])
    assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: 'There is no key key_unknown.\n' })
  }
})

const notCommands: { args: string[]; message: RegExp }[] = [
  { args: [], message: /^Usage: credits <command>/ },
  { args: ['keys'], message: /^Usage: credits keys <verb> .*\n\n {2}credits keys issue --customer NAME\|UUID /s },
  {
    args: ['keys', 'burn'],
    message: /^There is no command "keys burn"\. Commands of keys: issue, suspend, .*\n\nMore: credits help keys\n$/,
  },
  { args: ['keys', 'issue'], message: /^keys issue: --customer NAME\|UUID is needed/ },
  { args: ['keys', 'issue', '--customer'], message: /^keys issue: --customer NAME\|UUID: the value is missing\n/ },
  { args: ['keys', 'issue', '--customer', ' '], message: /^keys issue: --customer NAME\|UUID is needed/ },
  { args: ['keys', 'issue', '--customer', 'Acme', 'Corporation'], message: /^keys issue: / },
  { args: ['keys', 'suspend'], message: /^keys suspend: exactly one KEYID is needed/ },
  { args: ['keys', 'list', 'Acme'], message: /^keys list: / },
]
for (const { args, message } of notCommands) {
  test(`"${args.join(' ')}" is not a command: exit code 2 and the usage, without reading the settings`, async (t) => {
    const { code, stdout, stderr } = await callCli(t, newDataDir(t), args, { PORT: 'not even read' })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /^\s+at /m)
  })
}

test('a fault in the settings prints one line, with exit code 1', async (t) => {
  const { code, stdout, stderr } = await runCommand(t, dataDir, ['keys', 'list'], { LOG_LEVEL: 'loud' })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^LOG_LEVEL: expected one of .*\n$/)
})

test('five commands at once beside a running service all succeed, and leave it running', async (t) => {
  const issued = await issueAtOnce(t, Array(5).fill('at once'))
  assert.equal(new Set(issued.map(({ customerId }) => customerId)).size, 1)
  assert.equal(new Set(issued.map(({ apiKey }) => apiKey)).size, 5)
  for (const each of issued) assert.equal(await codeOf(each), 'SUCCESS')
  assert.equal(processIdFile(dataDir), `${service.pid}`)
})

test('without a service a command starts the embedded PostgreSQL, on the first call too, and stops it again', async (t) => {
  const issued = await issue(t, 'early', stopped)
  assertNothingRuns(stopped)
  const [row, ...others] = await list(t, stopped)
  assert.deepEqual([row?.keyId, others], [issued.keyId, []])
  assertNothingRuns(stopped)
})

test('five commands at once without a service all succeed, and nothing is left running', async (t) => {
  await issue(t, 'first', stopped)
  const directory = copyDataDir(t, stopped)
  const before = await list(t, directory)
  const customers = Array.from({ length: 5 }, (_, index) => `at once ${index}`)
  const issued = await issueAtOnce(t, customers, directory)
  assert.deepEqual(postgresProcesses(directory), [])
  const ids = (await list(t, directory)).map(({ keyId }) => keyId)
  assert.equal(ids.length, before.length + 5)
  for (const { keyId } of issued) assert.ok(ids.includes(keyId))
})

test('a command and a service that start at once both succeed', async (t) => {
  await issue(t, 'first', stopped)
  const directory = copyDataDir(t, stopped)
  const [issued, running] = await Promise.all([issue(t, 'beside', directory, runCommand), startService(t, directory)])
  assert.equal(await callerOf(running.publicUrl, issued.apiKey).code(), 'SUCCESS')
  await running.stop()
  assertNothingRuns(directory)
})
