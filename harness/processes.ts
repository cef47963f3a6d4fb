// The service and its CLI as processes: started as a person starts them, each with its own DATA_DIR, ended by process
// id. What a test started is gone after it, including the embedded PostgreSQL of a killed service and its files outside
// of DATA_DIR.
import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPool } from '../src/db/database.ts'
import { findPostmaster, stopPostmaster } from '../src/db/embedded/postmaster.ts'
import { startEmbedded } from '../src/db/embedded/server.ts'
import type { TestDatabase } from '../test/support/database/database.ts'
import { placesOf, type ServerConnection } from '../test/support/database/places.ts'
import { assertNoSecretPrinted } from '../test/support/leaks.ts'
import { type ProcessEnd, startProcess, stopProcess } from './launch.ts'
import { silentLog } from './silent-log.ts'

export type Environment = Record<string, string | undefined>
/** A test, or the whole file: `{ after }` of node:test. */
export type Cleaner = { after(cleanUp: () => unknown): void }
export type Ended = ProcessEnd

export const repository = fileURLToPath(new URL('..', import.meta.url))
export const isRoot = process.getuid?.() === 0
const startLimitMs = 240_000
const runLimitMs = 120_000
const outputGraceMs = 100

/** Saves half of what a start costs; undefined where the start itself is measured. */
const compileCache = { NODE_COMPILE_CACHE: join(repository, 'node_modules/.cache/compile') }

/** As in a fresh shell: without the settings of the developer or of npm. */
export function bareEnvironment(settings: Environment = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, ...compileCache, ...settings }
}

/** Any free ports, so that test files do not collide. */
const anyPorts = { PORT: '0', INTERNAL_PORT: '0', SANDBOX_PORT: '0', WEBHOOK_PORT: '0', STOREFRONT_PORT: '0' }

export function settingsFor(dataDir: string, settings: Environment): NodeJS.ProcessEnv {
  return bareEnvironment({ ...anyPorts, DATA_DIR: dataDir, ...settings })
}

const cleanUps = new WeakMap<Cleaner, AsyncDisposableStack>()

/** In reverse order: a process before its directory. node:test runs `after` in order. */
export function defer(t: Cleaner, cleanUp: () => unknown): void {
  let stack = cleanUps.get(t)
  if (!stack) {
    const created = new AsyncDisposableStack()
    stack = created
    cleanUps.set(t, created)
    t.after(() => created.disposeAsync())
  }
  stack.defer(async () => {
    await cleanUp()
  })
}

/** Where a run of the tests would write if it did not write to memory. */
export const diskVariable = 'TEST_DISK_DIRECTORY'
/** For files that are too large for memory, or hard links to files on the disk. */
export const diskDirectory = () => process.env[diskVariable] ?? tmpdir()

/**
 * Mode 755 gives the database server's user access, as an ordinary directory does; mktemp -d makes 700. The name is short,
 * because the path of a socket is limited and one of these may contain another.
 */
export function newDirectory(t: Cleaner, mode = 0o755, place = tmpdir()): string {
  const directory = fs.mkdtempSync(join(fs.realpathSync(place), 'credits-'))
  fs.chmodSync(directory, mode)
  defer(t, () => fs.rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
  return directory
}

/** A DATA_DIR that does not exist yet, in a directory of its own. */
export function newDataDir(t: Cleaner): string {
  return cleanedUp(t, join(newDirectory(t), 'data'))
}

/** A copy of a stopped one, in a tenth of the time of a first start. */
export function copyDataDir(t: Cleaner, stopped: string): string {
  const dataDir = newDataDir(t)
  assert.equal(spawnSync('cp', ['-a', stopped, dataDir]).status, 0)
  return dataDir
}

/**
 * A DATA_DIR that was used before, for tests that are not about a first start: its cluster has the migrations and the
 * role. The first caller in a run makes it, and every caller gets a copy; outside of a run it is not shared.
 */
export async function usedDataDir(t: Cleaner): Promise<string> {
  if (!process.env[diskVariable]) return newDataDir(t)
  const shared = join(fs.realpathSync(tmpdir()), 'used')
  if (!fs.existsSync(shared)) {
    const first = newDataDir(t)
    const { code, stderr } = await runCommand(t, first, ['keys', 'list'])
    assert.equal(code, 0, stderr)
    const copy = copyDataDir(t, first)
    try {
      fs.renameSync(copy, shared)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
  }
  return copyDataDir(t, shared)
}

export function cleanedUp(t: Cleaner, dataDir: string): string {
  defer(t, async () => {
    await stopPostmaster(clusterOf(dataDir))
    fs.rmSync(dirname(clusterOf(dataDir)), { recursive: true, force: true, maxRetries: 3 })
  })
  return dataDir
}

export function clusterOf(dataDir: string): string {
  const pointer = join(dataDir, 'postgres.location')
  return join(fs.existsSync(pointer) ? fs.readFileSync(pointer, 'utf8').trim() : dataDir, 'postgres')
}

/** All processes in the cluster's directory: the server and its children. A zombie has no directory. */
export function postgresProcesses(dataDir: string): number[] {
  const cluster = clusterOf(dataDir)
  if (process.platform !== 'linux') return [findPostmaster(cluster)?.pid ?? []].flat()
  const ids = fs.readdirSync('/proc').map(Number).filter(Number.isInteger)
  return ids.filter((pid) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`) === cluster
    } catch {
      return false
    }
  })
}

export function processIdFile(dataDir: string): string | null {
  const file = join(dataDir, 'service.pid')
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : null
}

/** Only the data of the service is left. */
export function assertNothingRuns(dataDir: string): void {
  assert.deepEqual(postgresProcesses(dataDir), [])
  assert.equal(processIdFile(dataDir), null)
}

export type LaunchOptions = { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number }

/** A process that is gone after the test, and has printed no secret. */
export function launch(t: Cleaner, command: string, args: string[], options: LaunchOptions) {
  const launched = startProcess(command, args, options)
  const { pid, output, isGone } = launched
  const child = launched.child as ChildProcessByStdio<null, Readable, Readable>
  defer(t, async () => {
    await stopProcess(launched, 'SIGKILL')
    assertNoSecretPrinted(output, args, options.env)
  })
  // A PostgreSQL that was started by the process may outlive it and hold its output open.
  const afterExit = launched.exited.then(async (exit) => {
    await sleep(outputGraceMs)
    return { ...exit, ...output }
  })
  afterExit.catch(() => undefined)
  const ended: Promise<Ended> = Promise.race([launched.ended, afterExit])
  return { pid, child, output, isGone, ended }
}

async function runToExit(t: Cleaner, args: string[], env: NodeJS.ProcessEnv, cwd = repository): Promise<Ended> {
  const launched = launch(t, process.execPath, args, { cwd, env })
  const late = sleep(runLimitMs, 'late' as const, { ref: false })
  const ended = await Promise.race([launched.ended, late])
  if (ended !== 'late') return ended
  throw new Error(`${args.join(' ')} did not end: ${launched.output.stdout}${launched.output.stderr}`)
}

/** As in the scripts of package.json: `__proto__` does not exist. */
const flags = ['--disable-proto=delete']

/** What `npm run -s credits -- …` runs. */
export async function runCommand(
  t: Cleaner,
  dataDir: string,
  args: string[],
  settings: Environment = {},
): Promise<EndedCommand> {
  const ended = await runToExit(t, [...flags, 'src/cli.ts', ...args], settingsFor(dataDir, settings))
  return { ...ended, ...splitStatus(ended.stderr) }
}

/** `status`: the lines in which it said after five seconds that it was running or waited: how fast it is is up to the machine. */
export type EndedCommand = Ended & { status: string[] }

export function splitStatus(stderr: string): { stderr: string; status: string[] } {
  const line = /^(\{"progress":")?(Running|Waiting for the database) for \d+ s.*\n/gm
  return { stderr: stderr.replaceAll(line, ''), status: stderr.match(line) ?? [] }
}

/** A service that ends by itself. */
export function runService(t: Cleaner, dataDir: string, settings: Environment = {}): Promise<Ended> {
  return runToExit(t, [...flags, 'src/main.ts'], settingsFor(dataDir, settings))
}

export function runScript(t: Cleaner, script: string, settings: Environment): Promise<Ended> {
  return runToExit(t, [script], bareEnvironment(settings), dirname(script))
}

export type RunningService = Awaited<ReturnType<typeof startService>>

/** What `npm start` runs, until /readyz returns 200. */
export function startService(t: Cleaner, dataDir: string, settings: Environment = {}) {
  return waitUntilReady(() => launchService(t, dataDir, settings))
}

/** The same, without waiting for it. */
export function launchService(t: Cleaner, dataDir: string, settings: Environment = {}) {
  const env = settingsFor(dataDir, settings)
  return launch(t, process.execPath, [...flags, 'src/main.ts'], { cwd: repository, env })
}

export async function waitUntilReady(start: () => ReturnType<typeof launch>) {
  const startedAt = performance.now()
  const launched = start()
  for (;;) {
    const addresses = addressesIn(launched.output.stdout)
    const ready = addresses && (await fetch(`${addresses.internalUrl}/readyz`).catch(() => undefined))
    const tookMs = performance.now() - startedAt
    if (addresses && ready?.status === 200) return { ...launched, ...addresses, readyMs: tookMs, stop, kill }
    if (launched.isGone() || tookMs > startLimitMs) {
      assert.fail(`the service did not start: ${launched.output.stdout}${launched.output.stderr}`)
    }
    await sleep(10)
  }

  function end(signal: NodeJS.Signals): Promise<Ended> {
    launched.child.kill(signal)
    return launched.ended
  }
  async function stop(): Promise<void> {
    const { code, stderr } = await end('SIGTERM')
    assert.equal(code, 0, stderr)
  }
  async function kill(): Promise<void> {
    await end('SIGKILL')
  }
}

type Addresses = { publicUrl: string; internalUrl: string; sandboxUrl: string }

/** From the banner, or in production mode from the log. */
function addressesIn(stdout: string): Addresses | undefined {
  const entry = stdout.split('\n').find((line) => line.startsWith('{') && line.includes('"msg":"ready"'))
  if (entry) return JSON.parse(entry)
  const [, publicUrl = ''] = /API +(http:\S+)\/public\/v1\/payments\n/.exec(stdout) ?? []
  const [, internalUrl = ''] = /health +(http:\S+)\/readyz\n/.exec(stdout) ?? []
  const [, sandboxUrl = ''] = /sandbox +(http:\S+)\/sandbox(?:\/payments)? /.exec(stdout) ?? []
  return internalUrl ? { publicUrl, internalUrl, sandboxUrl } : undefined
}

export function demoKeyIn(stdout: string): string | undefined {
  return /^ {2}KEY=(cpk_\w+)$/m.exec(stdout)?.[1]
}

/** A connection to the embedded database of a running service. */
export async function openBooks(t: Cleaner, dataDir: string): Promise<TestDatabase> {
  const { connection } = await startEmbedded({ dataDir })
  const pool = createPool({ connection, maxConnections: 2, log: silentLog })
  let open = true
  async function drop(): Promise<void> {
    if (open) await pool.end()
    open = false
  }
  defer(t, drop)
  return {
    connection,
    pool,
    drop,
    ...placesOf(pool, { owner: connection, serving: connection }, false),
    query: async (text, values = []) => (await pool.query(text, values)).rows,
  }
}

/** The test server's database as DATABASE_URL; it listens on a socket. */
export function databaseUrl({ host, port, user, password, database }: ServerConnection): string {
  return `postgres:///${database}?${new URLSearchParams({ host, port: `${port}`, user, password })}`
}

/** A port in use by another listener. */
export async function takePort(t: Cleaner): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(t, () => server.close())
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  return `${address.port}`
}

export type Caller = ReturnType<typeof callerOf>

/** A customer's program: the endpoints it needs, independent of the service's code. */
export function callerOf(publicUrl: string, apiKey: string) {
  async function call<Data>(path: string, body?: object, headers: Record<string, string> = {}) {
    const json = body && { 'content-type': 'application/json' }
    const response = await fetch(`${publicUrl}/public/v1/payments/${path}`, {
      headers: { 'service-api-key': apiKey, ...json, ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as { code: string; data: Data } }
  }
  return {
    call,
    purchase: (packageType: string, idempotencyKey?: string) =>
      call<{ orderId: string; amount: number }>(
        'purchase',
        { packageType },
        { ...(idempotencyKey && { 'x-idempotency-key': idempotencyKey }) },
      ),
    /** With a made-up payment key, which the sandbox accepts as a finished checkout. */
    confirm: (orderId: string, amount: number) =>
      call<{ totalCredits: number }>('confirm', { orderId, paymentKey: `pay_${orderId}`, amount }),
    status: async (orderId: string) => (await call<{ status: string }>(orderId)).body.data.status,
    credits: async () => (await call<{ credits: number }>('credits')).body.data.credits,
    code: async () => (await call('credits')).body.code,
  }
}
