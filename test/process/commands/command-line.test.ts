// The command line as a process, for people and for scripts: its stdout and stderr, its exit codes, its end when it is
// interrupted, and calls from other directories.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  assertNothingRuns,
  bareEnvironment,
  type Cleaner,
  databaseUrl,
  defer,
  type Environment,
  launch,
  newDataDir,
  newDirectory,
  repository,
  runCommand,
  usedDataDir,
} from '../../../harness/processes.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { callCli } from '../../support/service/cli-call.ts'

const wholeFile = { after }
const dataDir = newDataDir(wholeFile)
let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  defer(wholeFile, () => database.drop())
})
const run = (t: Cleaner, ...args: string[]) =>
  runCommand(t, dataDir, args, { DATABASE_URL: databaseUrl(database.connection) })

test('help is on stdout with exit code 0, and needs no valid settings', async (t) => {
  const ends = await Promise.all(
    [['--help'], ['help', 'keys', 'issue'], ['keys', 'issue', '--help']].map((args) =>
      callCli(t, newDataDir(t), args, { PORT: 'not even read' }),
    ),
  )
  for (const { code, stderr } of ends) assert.deepEqual([code, stderr], [0, ''])
  assert.match(ends[0]?.stdout ?? '', /^Usage: credits <command>/)
  assert.match(ends[1]?.stdout ?? '', /\nUsage\n {2}credits keys issue --customer NAME\|UUID /)
  assert.equal(ends[2]?.stdout, ends[1]?.stdout)
})

test('with --json an error is one JSON document on stderr, with the exit code, and stdout is empty', async (t) => {
  const faults: [args: string[], settings: object, expected: object][] = [
    [['keys', 'suspend', 'key_none'], {}, { error: 'There is no key key_none.', exitCode: 1 }],
    [['keys', 'suspend'], {}, { error: 'keys suspend: exactly one KEYID is needed (see: keys list)', exitCode: 2 }],
    [['kyes'], {}, { error: 'There is no command "kyes". Did you mean "keys"?', exitCode: 2 }],
    [[], {}, { error: 'No command was given.', exitCode: 2 }],
    [['keys', 'list'], { PORT: 'x' }, { error: 'PORT: expected a whole number from 0 to 65535, got "x"', exitCode: 1 }],
  ]
  await Promise.all(
    faults.map(async ([args, settings, expected]) => {
      const DATABASE_URL = databaseUrl(database.connection)
      const { code, stdout, stderr } = await callCli(t, dataDir, [...args, '--json'], { DATABASE_URL, ...settings })
      assert.deepEqual([stdout, JSON.parse(stderr)], ['', expected])
      assert.equal(code, 'exitCode' in expected && expected.exitCode)
    }),
  )
})

test('times are in the time zone of the machine', async (t) => {
  const { stdout } = await run(t, 'keys', 'issue', '--customer', 'zones', '--json')
  const { keyId } = JSON.parse(stdout)
  const listed = await runCommand(t, dataDir, ['keys', 'list'], {
    DATABASE_URL: databaseUrl(database.connection),
    TZ: 'Asia/Seoul',
  })
  assert.match(listed.stdout, new RegExp(`^${keyId} .* \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\+09:00$`, 'm'))
  assert.equal(listed.stdout.includes('\x1b'), false, 'colours are for terminals')
})

test('a closed stdout ends the command without an error message, with the exit code of a broken pipe', async (t) => {
  const env = bareEnvironment({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl(database.connection) })
  const launched = launch(t, process.execPath, ['src/cli.ts', 'keys', 'list'], { cwd: repository, env })
  launched.child.stdout.destroy()
  const { code, stderr } = await launched.ended
  assert.deepEqual([code, stderr], [141, ''])
})

/** A gateway that accepts every request and never answers. */
async function silentGateway(t: Cleaner): Promise<{ url: string; requested: Promise<unknown> }> {
  const server = createServer()
  const requested = once(server, 'request')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(t, () => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requested }
}

/** Runs a command and sends it the signal while it waits for the gateway. */
async function interrupted(t: Cleaner, signal: NodeJS.Signals, settings: Environment) {
  const gateway = await silentGateway(t)
  const keys = { TOSS_CLIENT_KEY: 'test_ck_x', TOSS_SECRET_KEY: 'test_sk_x', KEY_PEPPER: 'a pepper for the tests only' }
  const env = bareEnvironment({ GATEWAY: 'toss', TOSS_API_URL: gateway.url, ...keys, ...settings })
  const args = ['src/cli.ts', 'reconcile', '--from', '2026-01-01', '--to', '2026-01-02', '--json']
  const launched = launch(t, process.execPath, args, { cwd: repository, env })
  await Promise.race([gateway.requested, launched.ended])
  launched.child.kill(signal)
  const { code, stdout, stderr } = await launched.ended
  const error = 'Interrupted. Finished changes remain; the worker completes operations begun at the gateway.'
  assert.deepEqual([stdout, JSON.parse(stderr)], ['', { error, exitCode: code }])
  return code
}

async function newestAction(t: Cleaner, directory: string, settings: Environment = {}): Promise<unknown[]> {
  const { stdout } = await runCommand(t, directory, ['actions', 'list', '--limit', '1', '--json'], settings)
  const [{ command, outcome }] = JSON.parse(stdout)
  return [command, outcome]
}

test('Ctrl-C during a command: exit code 130, the command is in the action log, and nothing is left running', async (t) => {
  const directory = await usedDataDir(t)
  assert.equal(await interrupted(t, 'SIGINT', { DATA_DIR: directory }), 130)
  assertNothingRuns(directory)
  assert.deepEqual(await newestAction(t, directory), ['reconcile', 'interrupted'])
})

/** Before the command: a terminal, and a person who types an answer. */
function typing(answer: string): string {
  const code = `import { Readable } from 'node:stream'
    Object.defineProperty(process, 'stdin', { value: Object.assign(Readable.from([${JSON.stringify(`${answer}\n`)}]), { isTTY: true }) })
    Object.assign(process.stderr, { isTTY: true, columns: 100, hasColors: () => false })`
  return `data:text/javascript,${encodeURIComponent(code)}`
}

test('a question that is answered with no ends the command with exit code 1: nothing is changed or in the action log', async (t) => {
  const settings = { DATABASE_URL: databaseUrl(database.connection), DATA_DIR: dataDir }
  await run(t, 'keys', 'issue', '--customer', 'asked')
  const command = ['src/cli.ts', 'adjustments', 'grant', '--customer', 'asked', '--credits', '5', '--reason', 'slow']
  for (const [answer, code, balance, newest] of [
    ['n', 1, 0, 'keys issue'],
    ['y', 0, 5, 'adjustments grant'],
  ] as const) {
    const args = ['--import', typing(answer), ...command]
    const { ended } = launch(t, process.execPath, args, { cwd: repository, env: bareEnvironment(settings) })
    const end = await ended
    assert.equal(end.code, code, end.stderr)
    assert.match(end.stderr, /The customer sees it at once\. \[y\/N\]/)
    assert.equal(end.stderr.includes('Nothing was changed.'), code === 1)
    const { stdout } = await run(t, 'balances', 'show', '--customer', 'asked', '--json')
    assert.equal(JSON.parse(stdout).balance, balance)
    assert.equal((await newestAction(t, dataDir, settings))[0], newest)
  }
})

test('SIGTERM during a command: exit code 143, and the command is in the action log', async (t) => {
  const settings = { DATABASE_URL: databaseUrl(database.connection), DATA_DIR: dataDir }
  assert.equal(await interrupted(t, 'SIGTERM', settings), 143)
  assert.deepEqual(await newestAction(t, dataDir, settings), ['reconcile', 'interrupted'])
})

test('bin/credits works from any directory, through a link too, and a relative path is resolved in the working directory', async (t) => {
  const directory = newDirectory(t)
  fs.symlinkSync(join(repository, 'bin/credits'), join(directory, 'credits'))
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
  const env = bareEnvironment({
    PATH: [directory, dirname(process.execPath), ...path].join(delimiter),
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl(database.connection),
  })
  const listed = await launch(t, 'credits', ['keys', 'list', '--json'], { cwd: directory, env }).ended
  assert.deepEqual([listed.code, listed.stderr], [0, ''])
  assert.ok(Array.isArray(JSON.parse(listed.stdout)))
  const saved = await launch(t, 'credits', ['backup', '--to', 'all.backup'], { cwd: directory, env }).ended
  assert.deepEqual([saved.code, saved.stderr], [0, ''])
  assert.ok(fs.existsSync(join(directory, 'all.backup')))
})

test('bin/credits and npm run credits start the same program in the same way', () => {
  const { scripts, bin } = JSON.parse(fs.readFileSync(join(repository, 'package.json'), 'utf8'))
  assert.deepEqual(bin, { credits: 'bin/credits' })
  const script = fs.readFileSync(join(repository, 'bin/credits'), 'utf8')
  assert.ok(script.endsWith(`\n${scripts.credits} "$@"\n`))
})
