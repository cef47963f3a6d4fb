// A Citus cluster on this machine: a coordinator and workers, PostgreSQL servers of Debian's packages with the extension, which
// Debian does not have. For the tests, the campaign and the benchmarks.
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../../src/db/connect.ts'
import { ProgramsMissing } from '../debian.ts'
import { type Launched, stopProcess } from '../launch.ts'
import { takeFreePorts } from '../ports.ts'
import { findRunner, launchPart, makeDirectory, type Runner } from '../runner.ts'
import { until } from '../until.ts'

const base = '/usr/lib/postgresql'

/** The directory of postgres and initdb. */
export function findCitus(): string {
  const versions = existsSync(base) ? readdirSync(base).sort((one, other) => Number(other) - Number(one)) : []
  const found = versions.find((version) => existsSync(join(base, version, 'lib/citus.so')))
  if (found === undefined) {
    throw new ProgramsMissing(
      `No PostgreSQL in ${base} has the extension citus. Nothing was installed. Install PostgreSQL 15 or later ` +
        "(postgresql-15 of Debian 12) and Citus 13 for it, from Citus's own packages or source: Debian has none, so that " +
        '--install cannot do it.',
    )
  }
  return join(base, found, 'bin')
}

export type CitusConnection = { host: string; port: number; user: string; password: string; database: string }

export type CitusNode = {
  connection: CitusConnection
  dataDirectory: string
  /** Ends it without a checkpoint; returns when it serves again. */
  crash(): Promise<void>
  /** As when its machine is lost: its connections are reset, or nothing answers any more. */
  lose(how: 'killed' | 'frozen'): Promise<void>
}

export type CitusStandby = CitusNode & {
  /** It takes writes, and waits for no standby. Call citus_update_node afterwards. */
  promote(): Promise<void>
}

export type Citus = {
  /** The coordinator first. */
  nodes: CitusNode[]
  /** Connections of the superuser, to the coordinator and to each worker. */
  coordinator: CitusConnection
  workers: CitusConnection[]
  /** Streams from the node, whose commits wait for it from then on. */
  addStandby(node: CitusNode): Promise<CitusStandby>
  /** One statement after the other, on every node. */
  onEveryNode(...texts: string[]): Promise<void>
  /** An empty database on every node, whose coordinator knows the workers. */
  createDatabase(name: string, owner?: string): Promise<void>
  stop(): Promise<void>
  /** For a process that is about to exit. */
  endNow(): void
}

const nodeSettings = (port: number, directory: string) => `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = '${directory}'
max_connections = 400
max_worker_processes = 300
shared_buffers = 64MB
wal_level = logical
max_prepared_transactions = 400
max_wal_size = 256MB
timezone = 'UTC'
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.local_hostname = '127.0.0.1'
citus.enable_change_data_capture = off
citus.max_adaptive_executor_pool_size = 4
citus.max_cached_conns_per_worker = 1
`

const user = 'postgres'

export async function startCitus(directory: string, { workers = 3 } = {}): Promise<Citus> {
  const binaries = findCitus()
  const runner = findRunner()
  const home = join(directory, 'citus')
  makeDirectory(runner, home)
  const ports = await takeFreePorts(workers + 1)
  const running = new Map<number, Launched>()
  let isWanted = true
  const frozen: number[] = []
  const thaw = () => {
    for (const pid of frozen.splice(0)) process.kill(pid, 'SIGCONT')
  }
  const stop = async () => {
    isWanted = false
    thaw()
    await Promise.all([...running.values()].map((each) => stopProcess(each, 'SIGINT')))
  }
  const launch = (port: number) => void running.set(port, launchNode(runner, binaries, home, port))
  const connections = ports.map((port) => ({ host: '127.0.0.1', port, user, password: '', database: 'postgres' }))
  const [coordinator, ...others] = connections as [CitusConnection, ...CitusConnection[]]
  try {
    for (const port of ports) {
      initialise(runner, binaries, home, port)
      launch(port)
    }
    for (const connection of connections) await untilServing(connection)
  } catch (error) {
    await stop()
    throw error
  }
  const onEveryNode = async (...texts: string[]) => {
    await Promise.all(connections.map((connection) => query(connection, ...texts)))
  }
  async function crash(connection: CitusConnection): Promise<void> {
    const launched = running.get(connection.port)
    if (launched) await stopProcess(launched, 'SIGQUIT')
    if (!isWanted) return
    launch(connection.port)
    await untilServing(connection)
  }
  async function lose({ port }: CitusConnection, how: 'killed' | 'frozen'): Promise<void> {
    const launched = running.get(port)
    if (!launched) return
    if (how === 'killed') return stopProcess(launched, 'SIGQUIT')
    frozen.push(launched.pid, ...childrenOf(launched.pid))
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  }
  const nodeAt = (connection: CitusConnection): CitusNode => ({
    connection,
    dataDirectory: join(home, `${connection.port}`),
    crash: () => crash(connection),
    lose: (how) => lose(connection, how),
  })
  async function addStandby({ connection: primary }: CitusNode): Promise<CitusStandby> {
    const [port = 0] = await takeFreePorts(1)
    const connection = { ...primary, port }
    const name = `standby_${port}`
    const source = `host=${primary.host} port=${primary.port} user=${user} application_name=${name}`
    const options = ['-D', join(home, `${port}`), '-d', source, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']
    const copying = launchPart(runner, join(home, `${port}.log`), [join(binaries, 'pg_basebackup'), ...options])
    if ((await copying.exited).code !== 0) throw new Error(`There is no copy of the server at ${primary.port}.`)
    appendFileSync(join(home, `${port}`, 'postgresql.conf'), `port = ${port}\n`)
    launch(port)
    await untilServing(connection)
    await query(primary, `alter system set synchronous_standby_names = '${name}'`, 'select pg_reload_conf()')
    await until(`${name} is synchronous`, () => answers(primary, isSynchronousText(name)))
    return {
      ...nodeAt(connection),
      promote: () =>
        query(
          connection,
          'alter system reset synchronous_standby_names',
          'select pg_reload_conf()',
          'select pg_promote()',
        ),
    }
  }
  return {
    nodes: connections.map(nodeAt),
    addStandby,
    coordinator,
    workers: others,
    onEveryNode,
    async createDatabase(name, owner = user) {
      await onEveryNode(`create database ${name} encoding 'UTF8' template template0`)
      await formCluster(connections, name, owner)
    },
    stop,
    endNow() {
      isWanted = false
      thaw()
      for (const { child } of running.values()) child.kill('SIGQUIT')
    },
  }
}

/** Databases of one name, the coordinator's first, become one cluster. */
export async function formCluster(servers: CitusConnection[], database: string, owner = user): Promise<void> {
  const [coordinator, ...workers] = servers.map((server) => ({ ...server, database })) as [CitusConnection]
  const texts = [
    'create extension citus',
    `alter database ${database} owner to ${owner}`,
    `grant create on schema public to ${owner}`,
  ]
  await Promise.all([coordinator, ...workers].map((connection) => query(connection, ...texts)))
  await query(
    coordinator,
    `select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
    ...workers.map(({ host, port }: CitusConnection) => `select citus_add_node('${host}', ${port})`),
  )
}

function initialise(runner: Runner, binaries: string, home: string, port: number): void {
  const data = join(home, `${port}`)
  const options = ['-D', data, '-U', user, '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'trust', '--no-sync']
  execFileSync(join(binaries, 'initdb'), options, { ...runner, cwd: '/', stdio: 'ignore' })
  appendFileSync(join(data, 'postgresql.conf'), nodeSettings(port, home))
}

function launchNode(runner: Runner, binaries: string, home: string, port: number): Launched {
  return launchPart(runner, join(home, `${port}.log`), [join(binaries, 'postgres'), '-D', join(home, `${port}`)])
}

function untilServing(connection: CitusConnection): Promise<void> {
  return until(`PostgreSQL at port ${connection.port} answers`, () => answers(connection), 60_000)
}

/** Fails until it is. */
const isSynchronousText = (name: string) =>
  `select 1 / count(*) from pg_stat_replication where application_name = '${name}' and sync_state = 'sync'`

/** The server and its parts; a stopped one still has them. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

async function answers(connection: CitusConnection, text = 'select 1'): Promise<boolean> {
  return query(connection, text).then(
    () => true,
    () => false,
  )
}

async function query(connection: CitusConnection, ...texts: string[]): Promise<void> {
  const client = new Client(connection)
  try {
    await client.connect()
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}
