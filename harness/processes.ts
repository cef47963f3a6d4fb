// The service and its command line as processes of their own: started as a person starts them, told apart by their
// DATA_DIR, ended by process id. What a test started is gone after it, the embedded PostgreSQL of a killed service
// and what it keeps outside of DATA_DIR included.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPool } from '../src/db/database.ts'
import { findPostmaster, stopPostmaster } from '../src/db/embedded/postmaster.ts'
import { startEmbedded } from '../src/db/embedded/server.ts'
import { type ServerConnection, silentLog, type TestDatabase, unguardedBy } from '../test/support/database/database.ts'
import { assertSaidNoSecret } from '../test/support/leaks.ts'

export type Environment = Record<string, string | undefined>
/** A test, or the whole file: `{ after }` of node:test. */
export type Cleaner = { after(cleanUp: () => unknown): void }
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

export const repository = fileURLToPath(new URL('..', import.meta.url))
export const isRoot = process.getuid?.() === 0
const startLimitMs = 60_000
const runLimitMs = 60_000

/** As a shell has them: nothing of the settings of whoever runs the tests, nothing of an npm around us. */
export function bareEnvironment(settings: Environment = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, ...settings }
}

/** Free ports everywhere, so that test files do not meet. */
const anyPorts = { PORT: '0', INTERNAL_PORT: '0', SANDBOX_PORT: '0', WEBHOOK_PORT: '0', STOREFRONT_PORT: '0' }
/** Takes a third off the half hundred starts of the process tests; undefined where the start itself is measured. */
const compileCache = { NODE_COMPILE_CACHE: join(repository, 'node_modules/.cache/compile') }

export function settingsFor(dataDir: string, settings: Environment): NodeJS.ProcessEnv {
  return bareEnvironment({ ...anyPorts, ...compileCache, DATA_DIR: dataDir, ...settings })
}

const cleanUps = new WeakMap<Cleaner, AsyncDisposableStack>()

/** What came last goes first: a process before its directory. node:test goes the other way round. */
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
/** For what is too large for memory, or a hard link to something on the disk. */
export const diskDirectory = () => process.env[diskVariable] ?? tmpdir()

/**
 * Mode 755 lets the server's user in, as an ordinary directory does; 700 is what mktemp -d makes. A short name, since the
 * path of a socket is limited and one of these may lie in another.
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

/** The same as a stopped one, in a tenth of the time of a first start. */
export function copyDataDir(t: Cleaner, stopped: string): string {
  const dataDir = newDataDir(t)
  assert.equal(spawnSync('cp', ['-a', stopped, dataDir]).status, 0)
  return dataDir
}

/**
 * A DATA_DIR that was used before, for tests that are not about a first start: its cluster has the migrations and the
 * role. The first to ask in a run makes it, everybody gets a copy; without a run there is nobody to share it with.
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

/** All that lives in the cluster's directory: the server and every process it made. A zombie has no directory. */
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

/** Nothing of the service is left but its data. */
export function assertNothingRuns(dataDir: string): void {
  assert.deepEqual(postgresProcesses(dataDir), [])
  assert.equal(processIdFile(dataDir), null)
}

export type LaunchOptions = { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number }

/** For a test process that ends before its tests are through: nothing it has launched outlives it. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Collects what a process says and how it ends. Whatever happens, it is gone after the test. */
export function launch(t: Cleaner, command: string, args: string[], options: LaunchOptions) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  const gone = { code: null as number | null, signal: null as NodeJS.Signals | null, yet: false }
  const ended: Promise<Ended> = once(child, 'exit').then(([code, signal]) => {
    Object.assign(gone, { code, signal, yet: true })
    return { code, signal, ...said }
  })
  // Not "close": an orphan of the process may hold its output open. What it had said arrives with the next turns.
  const settled = ended.then(async ({ code, signal }) => {
    await Promise.race([once(child, 'close'), sleep(100)])
    return { code, signal, ...said }
  })
  defer(t, async () => {
    if (!gone.yet) {
      child.kill('SIGKILL')
      await ended
    }
    assertSaidNoSecret(said, args, options.env)
  })
  return { pid: child.pid as number, child, said, isGone: () => gone.yet, ended: settled }
}

async function runToItsEnd(t: Cleaner, args: string[], env: NodeJS.ProcessEnv, cwd = repository): Promise<Ended> {
  const launched = launch(t, process.execPath, args, { cwd, env })
  const late = sleep(runLimitMs, 'late' as const, { ref: false })
  const ended = await Promise.race([launched.ended, late])
  if (ended !== 'late') return ended
  throw new Error(`${args.join(' ')} did not end: ${launched.said.stdout}${launched.said.stderr}`)
}

/** As the scripts of package.json start them: nothing can get at a prototype by name. */
const flags = ['--disable-proto=delete']

/** What `npm run -s credits -- …` runs. */
export function runCommand(t: Cleaner, dataDir: string, args: string[], settings: Environment = {}): Promise<Ended> {
  return runToItsEnd(t, [...flags, 'src/cli.ts', ...args], settingsFor(dataDir, settings))
}

/** A service that is to end by itself. */
export function runService(t: Cleaner, dataDir: string, settings: Environment = {}): Promise<Ended> {
  return runToItsEnd(t, [...flags, 'src/main.ts'], settingsFor(dataDir, settings))
}

export function runScript(t: Cleaner, script: string, settings: Environment): Promise<Ended> {
  return runToItsEnd(t, [script], bareEnvironment(settings), dirname(script))
}

export type RunningService = Awaited<ReturnType<typeof startService>>

/** What `npm start` runs, until /readyz says 200. */
export function startService(t: Cleaner, dataDir: string, settings: Environment = {}) {
  return waitUntilReady(() => launchService(t, dataDir, settings))
}

/** The same, not waited for. */
export function launchService(t: Cleaner, dataDir: string, settings: Environment = {}) {
  const env = settingsFor(dataDir, settings)
  return launch(t, process.execPath, [...flags, 'src/main.ts'], { cwd: repository, env })
}

export async function waitUntilReady(start: () => ReturnType<typeof launch>) {
  const startedAt = performance.now()
  const launched = start()
  for (;;) {
    const addresses = addressesIn(launched.said.stdout)
    const ready = addresses && (await fetch(`${addresses.internalUrl}/readyz`).catch(() => undefined))
    const tookMs = performance.now() - startedAt
    if (addresses && ready?.status === 200) return { ...launched, ...addresses, readyMs: tookMs, stop, kill }
    if (launched.isGone() || tookMs > startLimitMs) {
      assert.fail(`the service did not start: ${launched.said.stdout}${launched.said.stderr}`)
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
  const [, sandboxUrl = ''] = /sandbox +(http:\S+)\/sandbox\/payments /.exec(stdout) ?? []
  return internalUrl ? { publicUrl, internalUrl, sandboxUrl } : undefined
}

export function demoKeyIn(stdout: string): string | undefined {
  return /^ {2}KEY=(cpk_\w+)$/m.exec(stdout)?.[1]
}

/** The embedded database of a running service, as an operator would look into it. */
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
    queryUnguarded: unguardedBy(pool),
    query: async (text, values = []) => (await pool.query(text, values)).rows,
  }
}

/** The test server's database as DATABASE_URL; it listens on a socket. */
export function databaseUrl({ host, port, user, password, database }: ServerConnection): string {
  return `postgres:///${database}?${new URLSearchParams({ host, port: `${port}`, user, password })}`
}

/** A port that somebody else listens on. */
export async function takePort(t: Cleaner): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(t, () => server.close())
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  return `${address.port}`
}

export type Caller = ReturnType<typeof callerOf>

/** A customer's program: the endpoints it needs, and nothing about how the service is built. */
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
    /** With a payment key of the caller's own making, which the sandbox takes for a finished checkout. */
    confirm: (orderId: string, amount: number) =>
      call<{ totalCredits: number }>('confirm', { orderId, paymentKey: `pay_${orderId}`, amount }),
    status: async (orderId: string) => (await call<{ status: string }>(orderId)).body.data.status,
    credits: async () => (await call<{ credits: number }>('credits')).body.data.credits,
    code: async () => (await call('credits')).body.code,
  }
}
